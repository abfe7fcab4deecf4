"""Building tables: solves the signatures in order on all cores and writes each to the file as soon as it is done."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
import numpy.typing as npt

from agents.files import sync_folder
from agents.tablebase import retrograde
from agents.tablebase.files import (
    BLOCK,
    SHIPPED,
    Counts,
    TablebaseError,
    TableFile,
    block_ranges,
    check_rules,
    chosen_folder,
    encode_record,
    file_header,
    file_name,
    table_folder,
)
from agents.tablebase.indexing import CODES
from agents.tablebase.signatures import Signature, pairs, signatures
from draughts_env.kernels import MAX_MOVES
from draughts_env.variants import Variant, variant

try:
    import fcntl
except ImportError:  # Windows: two builders of one file are not kept apart
    fcntl = None  # type: ignore[assignment]

#: The most pieces that the numbering has room for.
MAX_PIECES = 8

#: Told how a long job goes: what is done, positions done, positions in all.
Report = Callable[[str, int, int], None]

_Result = TypeVar("_Result")


def silent(what: str, done: int, total: int) -> None:
    """A report that says nothing."""


class Solver:
    """Values of all positions of up to some number of pieces, in memory: two bytes each.

    Args:
        rules: the variant.
        pieces: the most pieces.
        workers: threads; default: one for each core.

    Raises:
        TablebaseError: a number of pieces out of range, or too many for the memory.
    """

    def __init__(self, rules: Variant, pieces: int, workers: int | None = None) -> None:
        check_pieces(pieces)
        self.rules = rules
        self.word = np.uint64(rules.rules)
        self.offsets = np.full(CODES, -1, np.int64)
        total = 0
        for n in range(2, pieces + 1):
            for signature in signatures(n):
                self.offsets[signature.code] = total
                total += signature.size(rules)
        try:
            self.values: npt.NDArray[np.uint16] = np.zeros(total, np.uint16)
        except MemoryError:
            raise TablebaseError(
                f"{pieces} pieces are {total:,} positions: {2 * total / 2**30:.0f} GiB of memory are needed"
            ) from None
        self.workers = workers or core_count()
        self._pool = ThreadPoolExecutor(self.workers)
        self._scratch = threading.local()

    def __enter__(self) -> Solver:
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def map(self, task: Callable[..., _Result], parts: Any) -> list[_Result]:
        """Results of a task for every part, computed by all threads."""
        parts = list(parts)
        if self.workers == 1 or len(parts) == 1:
            return [task(part) for part in parts]
        return list(self._pool.map(task, parts))

    def part(self, signature: Signature) -> npt.NDArray[np.uint16]:
        """Values of a signature, a view."""
        start = self.offsets[signature.code]
        return self.values[start : start + signature.size(self.rules)]

    def load(self, file: TableFile, signature: Signature) -> None:
        """Fill in the values of a signature from a file.

        Raises:
            TablebaseError: the file is damaged.
        """
        values = self.part(signature)

        def fill(part: tuple[int, int]) -> None:
            values[part[0] : part[1]] = file.codes(signature, part[0] // BLOCK)

        self.map(fill, block_ranges(len(values)))

    def solve(self, pair: tuple[Signature, ...], advance: Callable[[int], None]) -> None:
        """Solve a signature together with its swapped one. All those before are solved.

        Args:
            pair: one of :func:`agents.tablebase.signatures.pairs`.
            advance: told numbers of positions as they get done.
        """
        sizes = [signature.size(self.rules) for signature in pair]
        starts = {pair[0].code: 0, pair[-1].code: sum(sizes[:-1])}
        counters = np.zeros(sum(sizes), np.uint8)
        parts = [(signature, *part) for signature, size in zip(pair, sizes) for part in block_ranges(size)]

        def begin(part: tuple[Signature, int, int]) -> int:
            signature, start, stop = part
            code = signature.code
            found = retrograde.begin(
                code, start, stop, self.word, self.values, self.offsets, counters, starts[code], *self._move_list()
            )
            advance((stop - start) // 2)
            return int(found)

        def spread(part: tuple[Signature, int, int]) -> int:
            signature, start, stop = part
            before = signature.swapped.code
            return int(
                retrograde.spread(
                    signature.code,
                    start,
                    stop,
                    distance,
                    self.word,
                    self.values,
                    self.offsets,
                    before,
                    counters,
                    starts[before],
                )
            )

        furthest = max(self.map(begin, parts))
        distance = 0
        while distance <= furthest:
            furthest = max(furthest, *self.map(spread, parts))
            if furthest > retrograde.MAX_DISTANCE:
                raise TablebaseError(f"{pair[0].name} has distances beyond {retrograde.MAX_DISTANCE} plies")
            distance += 1
        for signature, size in zip(pair, sizes):
            offset = self.offsets[signature.code]
            retrograde.finish(offset, offset + size, self.values)
            advance(size - sum((stop - start) // 2 for start, stop in block_ranges(size)))

    def counts(self, signature: Signature) -> Counts:
        """Figures of a solved signature."""
        counts = np.zeros(1 << 16, np.int64)
        values = self.part(signature)
        retrograde.count_values(0, len(values), values, counts)
        return Counts.of_codes(counts)

    def check(self, signature: Signature) -> tuple[int, int]:
        """Compare every value of a signature with those after its moves.

        Returns:
            Number of positions that disagree, index of the first (-1: none).
        """

        def check(part: tuple[int, int]) -> tuple[int, int]:
            faults, first = retrograde.count_faults(
                signature.code, *part, self.word, self.values, self.offsets, *self._move_list()
            )
            return int(faults), int(first)

        found = self.map(check, block_ranges(signature.size(self.rules)))
        return sum(faults for faults, _ in found), next((first for _, first in found if first >= 0), -1)

    def _move_list(self) -> tuple[np.uint64, int]:
        """Address and capacity of a move list of this thread's own."""
        if not hasattr(self._scratch, "moves"):
            self._scratch.moves = np.empty((MAX_MOVES, 3), np.uint64)
        return np.uint64(self._scratch.moves.ctypes.data), MAX_MOVES


def build(
    of: Variant | str,
    pieces: int,
    folder: Path | str | None = None,
    workers: int | None = None,
    report: Report = silent,
    again: bool = False,
) -> list[Path]:
    """Build the tables of up to a number of pieces, as far as they are missing.

    Each signature is written when it is solved; a build that was stopped, however rudely, goes on from there.
    Damaged files in the folder are built again. Tables that ship with the project count as built, unless a folder was
    chosen, by argument or DRAUGHTS_TABLEBASE_DIR.

    Args:
        of: the variant or its name.
        pieces: the most pieces.
        folder: where to build; default: DRAUGHTS_TABLEBASE_DIR or the user's data folder.
        workers: threads; default: one for each core.
        report: told how it goes.
        again: build even what is there.

    Returns:
        The files of 2, 3, ... pieces.

    Raises:
        TablebaseError: a number of pieces out of range, too little memory, or a folder that cannot be written.
        VariantError: no variant of that name.
    """
    rules = variant(of)
    check_rules(rules)
    check_pieces(pieces)
    places = [table_folder(folder)]
    if chosen_folder(folder) is None:
        places.append(SHIPPED)
    paths: dict[int, Path] = {}
    for n in range(2, pieces + 1):
        found = None if again else _sound_file(rules, n, places, report)
        if found is not None:
            paths[n] = found
    if len(paths) == pieces - 1:
        return [paths[n] for n in range(2, pieces + 1)]
    target = places[0]
    try:
        target.mkdir(parents=True, exist_ok=True)
        with Solver(rules, pieces, workers) as solver:
            for n in range(2, pieces + 1):
                if n in paths:
                    _load(solver, paths[n], n)
                else:
                    paths[n] = _build_file(solver, n, target / file_name(rules, n), report)
    except OSError as error:
        raise TablebaseError(f"cannot write tablebases in {target}: {error.strerror or error}") from error
    return [paths[n] for n in range(2, pieces + 1)]


def check_pieces(pieces: int) -> None:
    """Raise TablebaseError for a number of pieces that no table can have."""
    if not 2 <= pieces <= MAX_PIECES:
        raise TablebaseError(f"tablebases hold 2 to {MAX_PIECES} pieces, not {pieces}")


def core_count() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def total_positions(rules: Variant, pieces: int) -> int:
    """Positions of exactly so many pieces, one side to move."""
    return sum(signature.size(rules) for signature in signatures(pieces))


def _sound_file(rules: Variant, pieces: int, places: list[Path], report: Report) -> Path | None:
    """A file that is there and not damaged."""
    for place in places:
        path = place / file_name(rules, pieces)
        if not path.is_file():
            continue
        try:
            file = TableFile(path, rules, pieces)
            file.verify()
            file.close()
        except TablebaseError as error:
            report(f"{error}: building it again", 0, 0)
            continue
        return path
    return None


def _load(solver: Solver, path: Path, pieces: int) -> None:
    file = TableFile(path, solver.rules, pieces)
    for signature in file.records:
        solver.load(file, signature)
    file.close()


def _open_part(path: Path, goal: Path, report: Report) -> IO[bytes] | None:
    """Open the file to build in, alone among all processes; None when another has finished it meanwhile."""
    while True:
        handle = open(path, "a+b")  # noqa: SIM115 (the caller closes it)
        if fcntl is None:
            return handle
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report(f"waiting for another process that builds {path.name}", 0, 0)
            fcntl.flock(handle, fcntl.LOCK_EX)
            if goal.is_file():
                handle.close()
                return None
        except OSError:
            return handle  # a file system without locks
        if path.exists() and os.fstat(handle.fileno()).st_ino == path.stat().st_ino:
            return handle
        handle.close()  # the file was finished and renamed between opening and locking


def _build_file(solver: Solver, pieces: int, path: Path, report: Report) -> Path:
    """Build one file, going on where an earlier build stopped."""
    rules = solver.rules
    part = path.with_suffix(".part")
    handle = _open_part(part, path, report)
    if handle is None:
        _load(solver, path, pieces)
        return path
    total = total_positions(rules, pieces)
    lock = threading.Lock()
    done = 0

    def advance(positions: int) -> None:
        nonlocal done
        with lock:
            done += positions
            report(f"{rules.name}, {pieces} pieces", done, total)

    with handle:
        finished = _resume(solver, pieces, part, handle)
        for pair in pairs(pieces):
            if pair[0] in finished:
                advance(sum(signature.size(rules) for signature in pair))
                continue
            advance(0)
            solver.solve(pair, advance)
            for signature in pair:
                record = encode_record(signature, solver.part(signature), solver.counts(signature), solver.map)
                handle.write(record)
            handle.flush()
            os.fsync(handle.fileno())
        if fcntl is None:
            handle.close()  # Windows renames no open file; elsewhere the lock is held until the name is there
        os.replace(part, path)
    sync_folder(path.parent)
    return path


def _resume(solver: Solver, pieces: int, part: Path, handle: IO[bytes]) -> set[Signature]:
    """Load what an earlier build finished and cut off the rest. Returns the signatures that are finished."""
    finished: set[Signature] = set()
    stop = 0
    try:
        file = TableFile(part, solver.rules, pieces, partial=True)
    except TablebaseError:
        pass  # empty, or not even a header
    else:
        stop = file.header_stop
        for pair in pairs(pieces):
            try:
                if not file.records.keys() >= set(pair):
                    break
                for signature in pair:
                    solver.load(file, signature)
            except TablebaseError:
                break
            finished.update(pair)
            stop = file.records[pair[-1]].stop
        file.close()
    handle.truncate(stop)
    handle.seek(0, os.SEEK_END)
    if stop == 0:
        handle.write(file_header(solver.rules, pieces))
    return finished
