"""The folder of a run, and how its state survives a crash at any moment.

::

    config.yaml            the configuration it was begun with
    metrics.jsonl          one line per iteration and per match
    latest.safetensors     the newest averaged network
    best.safetensors       the network to play
    events.out.tfevents.*  for TensorBoard
    lock                   held by the process that trains here
    state/state.json       the commit record
    state/weights-N.safetensors  network, averaged network, optimiser after iteration N
    state/replay-N.npz     samples of iteration N

A state consists of the files that ``state.json`` names, and that file is replaced last. Until then the
previous state stands, and its files are still there; what no record names is removed at the next opportunity.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import safetensors.torch
import torch

from agents.files import TEMPORARY, replace_file
from agents.network.checkpoint import CheckpointError, read_tensors
from agents.training.samples import SampleBlock, load_block, save_block
from draughts_env.errors import DraughtsError

STATE_VERSION = 1


class RunError(DraughtsError, ValueError):
    """A run folder that cannot be used; the message says what to do."""


@dataclass
class Counters:
    """How far a run has come. Everything counts from its first beginning, over all sessions."""

    iteration: int = 0
    games: int = 0
    positions: int = 0
    simulations: int = 0
    steps: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0  # of this process, over all its threads
    evaluated_at: float = 0.0  # seconds at the last evaluation
    evaluated_iteration: int = 0
    best_score: float | None = None
    finished: bool = False  # the closing table stands


@dataclass
class State:
    """What a commit holds.

    Attributes:
        counters: see there.
        chance: state of numpy's generator that draws batches.
        tensors: of :meth:`Learner.tensors`, and PyTorch's random state.
        blocks: samples by iteration; of those already on disk nothing is written.
        final: rows of the closing table, once measured.
        before: training behind the weights the run began with (:func:`agents.training.lineage.totals`), or empty.
    """

    counters: Counters
    chance: dict[str, Any]
    tensors: dict[str, torch.Tensor]
    blocks: dict[int, SampleBlock | None] = field(default_factory=dict)
    final: list[dict[str, Any]] = field(default_factory=list)
    before: dict[str, Any] = field(default_factory=dict)


class RunFolder:
    """One run's folder, held against other processes as long as it is open.

    Args:
        path: the folder; made when it does not exist.

    Raises:
        RunError: another process trains there, or the folder cannot be made.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._states = path / "state"
        try:
            self._states.mkdir(parents=True, exist_ok=True)
            self._lock = _lock(path / "lock")
        except OSError as error:
            raise RunError(f"cannot use the run folder {path}: {error}") from None
        if self._lock is None:
            raise RunError(f"another process is training in {path}; wait for it, or choose another run.name")
        self._named: set[str] = set()
        self.clean()

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let other processes train here."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def file(self, name: str) -> Path:
        """A file of the folder."""
        return self.path / name

    @property
    def has_state(self) -> bool:
        """Whether there is a run to go on with."""
        return (self._states / "state.json").is_file()

    def clean(self) -> None:
        """Remove what a process that was killed left half done."""
        record = self._record() if self.has_state else None
        named = {"state.json", *(record["files"].values() if record else ())}
        for file in (*self._states.iterdir(), *self.path.glob(f".*{TEMPORARY}")):
            if file.is_file() and file.name not in named:
                file.unlink(missing_ok=True)
        self._named = named

    def commit(self, state: State) -> None:
        """Make a state the one that a later session begins from. Takes effect whole or not at all.

        Raises:
            OSError: the disk is full, or the like; the previous state stands.
        """
        number = state.counters.iteration
        files = {"weights": f"weights-{number}.safetensors"}
        if files["weights"] not in self._named:  # only iterations change weights
            replace_file(self._states / files["weights"], safetensors.torch.save(state.tensors))
        for iteration, block in state.blocks.items():
            name = files[f"replay-{iteration}"] = f"replay-{iteration}.npz"
            if name not in self._named:
                if block is None:
                    raise RunError(f"the samples of iteration {iteration} are neither on disk nor in memory")
                save_block(self._states / name, block)
        record = {
            "version": STATE_VERSION,
            "counters": asdict(state.counters),
            "chance": state.chance,
            "final": state.final,
            "before": state.before,
            "files": files,
        }
        replace_file(self._states / "state.json", json.dumps(record, indent=1).encode())
        obsolete = self._named - {"state.json", *files.values()}
        self._named = {"state.json", *files.values()}
        for name in obsolete:
            (self._states / name).unlink(missing_ok=True)

    def load(self) -> State:
        """The committed state, with the samples of all its blocks.

        Raises:
            RunError: there is none, or it has been damaged.
        """
        record = self._record()
        try:
            _, tensors = read_tensors(self._states / record["files"]["weights"])
            blocks: dict[int, SampleBlock | None] = {
                int(name.removeprefix("replay-")): load_block(self._states / file)
                for name, file in record["files"].items()
                if name != "weights"
            }
            counters = _counters(record)
            if counters.iteration < max(blocks, default=0):
                raise ValueError("it has samples of iterations to come")
        except (CheckpointError, DraughtsError, KeyError, TypeError, ValueError) as error:
            raise RunError(f"the state in {self._states} is damaged ({error}); {_ANEW}") from None
        return State(
            counters, record["chance"], tensors, dict(sorted(blocks.items())), record["final"], record["before"]
        )

    def peek(self) -> tuple[Counters, list[dict[str, Any]]]:
        """Counters and closing table of the committed state.

        Raises:
            RunError: there is none, or it has been damaged.
        """
        record = self._record()
        try:
            return _counters(record), record["final"]
        except (KeyError, TypeError, ValueError) as error:
            raise RunError(f"the state in {self._states} is damaged ({error}); {_ANEW}") from None

    def _record(self) -> dict[str, Any]:
        try:
            record = json.loads((self._states / "state.json").read_bytes())
            if record["version"] != STATE_VERSION:
                raise ValueError(f"it has version {record['version']}, not {STATE_VERSION}")
            if not isinstance(record["files"], dict):
                raise ValueError("it names no files")
            if not isinstance(record["final"], list):
                raise ValueError("it has no closing table")
            record.setdefault("before", {})
            if not isinstance(record["before"], dict):
                raise ValueError("what was trained before it is no group")
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise RunError(f"the state in {self._states} cannot be read ({error}); {_ANEW}") from None
        return record

    def append_metrics(self, row: Mapping[str, Any]) -> None:
        """Add a line to ``metrics.jsonl``; numbers that are not finite become null."""
        row = {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in row.items()
        }
        with open(self.file("metrics.jsonl"), "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    def cut_metrics(self, iteration: int) -> None:
        """Drop the lines of iterations after the given one, which will be done again."""
        path = self.file("metrics.jsonl")
        if not path.exists():
            return
        kept = []
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                if json.loads(line)["iteration"] <= iteration:
                    kept.append(line + "\n")
            except (ValueError, KeyError, TypeError):
                continue  # the last line of a process that was killed
        replace_file(path, "".join(kept).encode())


def _counters(record: dict[str, Any]) -> Counters:
    """The counters of a record.

    Raises:
        KeyError, TypeError, ValueError: they are none.
    """
    counters = Counters(**record["counters"])
    for name, value in asdict(counters).items():
        if not ((isinstance(value, (int, float)) and value >= 0) or (name == "best_score" and value is None)):
            raise ValueError(f"{name} is {value!r}")
    return counters


_ANEW = "begin anew with another run.name, or delete the folder"


def _lock(path: Path) -> IO[bytes] | None:
    """The file, opened and locked, or None when another process holds it.

    The lock belongs to the process: it is gone when the process is, however that ended.
    """
    file = open(path, "ab")  # noqa: SIM115 (held open for as long as the lock is)
    try:
        if _try_lock(file):
            return file
    except BaseException:
        file.close()
        raise
    file.close()
    return None


def _try_lock(file: IO[bytes]) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):  # systems differ in which
        return False
    return True
