"""Runs that are killed: the folder always holds a whole state, and the same command goes on from it."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from training_fakes import samples

from agents.training.command import main
from agents.training.run_folder import Counters, RunError, RunFolder, State
from agents.training.samples import COLUMNS

ROOT = Path(__file__).parent.parent
CONFIGS = ROOT / "configs"


def state(iteration: int, blocks: range) -> State:
    """A state that can be told from every other."""
    counters = Counters(iteration=iteration, games=10 * iteration, seconds=iteration / 3, cpu_seconds=iteration / 2)
    tensors = {"model/a": torch.full((3,), float(iteration))}
    chance = dict(np.random.default_rng(iteration).bit_generator.state)
    blocks_of = {i: samples(5, seed=i) for i in blocks}
    return State(counters, chance, tensors, blocks_of, before={"games": 7, "runs": ["a"]})


def check(folder: RunFolder, wanted: State) -> None:
    """The folder holds that state and no other file."""
    found = folder.load()
    assert found.counters == wanted.counters
    assert found.before == wanted.before
    assert found.chance == wanted.chance
    assert torch.equal(found.tensors["model/a"], wanted.tensors["model/a"])
    assert found.blocks.keys() == wanted.blocks.keys()
    for name in COLUMNS:
        for i, block in found.blocks.items():
            assert np.array_equal(getattr(block, name), getattr(wanted.blocks[i], name))
    names = {"state.json", f"weights-{wanted.counters.iteration}.safetensors"}
    names |= {f"replay-{i}.npz" for i in wanted.blocks}
    assert {p.name for p in (folder.path / "state").iterdir()} == names


# --- the folder -------------------------------------------------------------------------------------


class Killed(BaseException):
    """Stands for SIGKILL within one process: nothing but the patched calls runs after it."""


def die_after(patched: pytest.MonkeyPatch, operations: int) -> None:
    """Let so many operations on files happen and no more; not even tidying up is done by the dead."""
    left = [operations]

    def watch(owner: Any, name: str) -> None:
        real = getattr(owner, name)

        def operation(*args: Any, **options: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise Killed
            return real(*args, **options)

        patched.setattr(owner, name, operation)

    watch(os, "replace")
    watch(os, "fsync")
    watch(Path, "unlink")


def test_a_crash_at_any_file_operation_leaves_the_old_state_or_the_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after = state(3, range(1, 4)), state(5, range(3, 6))
    outcomes = []
    done = False
    while not done:
        path = tmp_path / str(len(outcomes))
        with RunFolder(path) as folder:
            folder.commit(before)
            with monkeypatch.context() as patched:
                die_after(patched, len(outcomes))
                try:
                    folder.commit(after)
                    done = True
                except Killed:
                    pass
        with RunFolder(path) as folder:
            found = folder.load().counters.iteration
            check(folder, after if found == 5 else before)
        outcomes.append(found)
    assert outcomes[0] == 3
    assert outcomes[-1] == 5
    assert outcomes == sorted(outcomes)
    assert len(outcomes) > 12


def test_a_half_written_file_is_cleaned_away(tmp_path: Path) -> None:
    with RunFolder(tmp_path) as folder:
        folder.commit(state(1, range(1, 2)))
    (tmp_path / "state" / ".state.json.77.tmp").write_bytes(b"{")
    (tmp_path / "state" / "weights-2.safetensors").write_bytes(b"half")
    (tmp_path / ".best.safetensors.77.tmp").write_bytes(b"half")
    with RunFolder(tmp_path) as folder:
        check(folder, state(1, range(1, 2)))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["lock", "state"]


def test_a_full_disk_leaves_the_state_and_the_next_commit_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with RunFolder(tmp_path) as folder:
        folder.commit(state(1, range(1, 2)))
        calls = [0]

        def fail(*_: object) -> None:
            calls[0] += 1
            if calls[0] == 3:
                raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", fail)
            with pytest.raises(OSError, match="No space left"):
                folder.commit(state(2, range(1, 3)))
        assert folder.load().counters.iteration == 1
        folder.commit(state(2, range(1, 3)))
        check(folder, state(2, range(1, 3)))


@pytest.mark.parametrize("damage", ["record", "weights", "samples", "missing", "version"])
def test_damage_is_reported(tmp_path: Path, damage: str) -> None:
    with RunFolder(tmp_path) as folder:
        folder.commit(state(1, range(1, 2)))
    files = {"record": "state.json", "weights": "weights-1.safetensors", "samples": "replay-1.npz"}
    if damage in files:
        path = tmp_path / "state" / files[damage]
        path.write_bytes(path.read_bytes()[:-9])
    elif damage == "missing":
        (tmp_path / "state" / "replay-1.npz").unlink()
    else:
        path = tmp_path / "state" / "state.json"
        path.write_text(path.read_text().replace('"version": 1', '"version": 7'))
    message = r"the state in .* (is damaged|cannot be read).*begin anew with another run.name"
    with pytest.raises(RunError, match=message), RunFolder(tmp_path) as folder:
        folder.load()


@pytest.mark.parametrize(
    "changes",
    [
        {"counters": {"iteration": -5}},
        {"counters": {"iteration": "x"}},
        {"counters": {"games": None}},
        {"counters": []},
        {"counters": {"iteration": 0}},
        {"final": "none"},
        {"files": {"weights": 3}},
        {"before": 5},
    ],
    ids=str,
)
def test_a_record_that_makes_no_sense_is_reported(tmp_path: Path, changes: dict[str, object]) -> None:
    with RunFolder(tmp_path) as folder:
        folder.commit(state(1, range(1, 2)))
    path = tmp_path / "state" / "state.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(RunError, match=r"begin anew with another run\.name"), RunFolder(tmp_path) as folder:
        folder.load()
    path.write_text("[" * 100_000)
    with pytest.raises(RunError, match="cannot be read"), RunFolder(tmp_path) as folder:
        folder.peek()


def test_metrics_that_are_no_text_are_cut_away(tmp_path: Path) -> None:
    with RunFolder(tmp_path) as folder:
        folder.append_metrics({"iteration": 1})
        with open(tmp_path / "metrics.jsonl", "ab") as file:
            file.write(b"\xff\x00{\n")
        folder.cut_metrics(1)
    assert (tmp_path / "metrics.jsonl").read_text() == '{"iteration": 1}\n'


def test_one_process_at_a_time_and_a_killed_one_does_not_count(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from agents.training.run_folder import RunFolder\n"
        "f = RunFolder(Path(sys.argv[1])); print('held', flush=True); time.sleep(600)"
    )
    holder = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, cwd=ROOT)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(RunError, match="another process is training in"):
            RunFolder(tmp_path)
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()  # type: ignore[union-attr]
    RunFolder(tmp_path).close()


def test_metrics_are_cut_back_to_the_state(tmp_path: Path) -> None:
    with RunFolder(tmp_path) as folder:
        folder.cut_metrics(0)
        for i in (1, 2, 3):
            folder.append_metrics({"iteration": i})
        with open(folder.file("metrics.jsonl"), "a") as file:
            file.write('{"itera')
        folder.cut_metrics(2)
        assert folder.file("metrics.jsonl").read_text() == '{"iteration": 1}\n{"iteration": 2}\n'


# --- the command ------------------------------------------------------------------------------------


def arguments(folder: Path, *more: str) -> list[str]:
    """A run of seconds: real games of few simulations."""
    return [
        f"run.folder={folder}",
        "run.name=tiny",
        "run.minutes=null",
        "run.iterations=4",
        "run.checkpoint_seconds=0",
        "network.hidden1=16",
        "network.hidden2=8",
        "search.simulations=4",
        "selfplay.simulations_start=null",
        "selfplay.games_per_iteration=6",
        "learner.batch_size=128",
        "learner.window_start=500",
        "evaluation.opponents=[]",
        "evaluation.final=[{opponent: random, simulations: 4, games: 2}]",
        *more,
    ]


def test_finished_extended_and_foreign_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments(tmp_path, "run.iterations=1"), CONFIGS) == 0
    first = capsys.readouterr().out
    assert "Strength of the trained network" in first
    best = tmp_path / "tiny" / "best.safetensors"
    assert f"draughts play --terminal --variant english --agent {best}" in first

    assert main(arguments(tmp_path, "run.iterations=1"), CONFIGS) == 0
    again = capsys.readouterr().out
    assert (
        "this run is finished; run.minutes=... or run.iterations=... extends it, run.name=... begins another" in again
    )
    assert "Strength of the trained network" in again

    assert main(arguments(tmp_path, "run.iterations=2", "selfplay.workers=1"), CONFIGS) == 0
    assert "going on with" in (text := capsys.readouterr().out)
    assert "iteration 1, 6 games" in text
    assert "2 iterations, 12 games" in text

    assert main(arguments(tmp_path, "search.simulations=5", "learner.reuse=7"), CONFIGS) == 2
    error = capsys.readouterr().err
    assert "was begun with other options; choose another run.name, or put back" in error
    assert "  search.simulations: 4 -> 5\n" in error
    assert "  learner.reuse: " in error


#: Runs train.py, and dies by SIGKILL at a chosen place: the n-th call of a function.
DRIVER = """
import importlib, os, signal, sys
module, name, count, *arguments = sys.argv[1:]
owner = importlib.import_module(module)
*path, last = name.split(".")
for part in path:
    owner = getattr(owner, part)
real = getattr(owner, last)
calls = 0
def dying(*args, **options):
    global calls
    calls += 1
    if calls == int(count):
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*args, **options)
setattr(owner, last, dying)
from pathlib import Path
from agents.training.command import main
sys.exit(main(arguments, Path("configs")))
"""


def killed_at(place: str, count: int, options: list[str]) -> None:
    module, _, name = place.partition(":")
    command = [sys.executable, "-c", DRIVER, module, name, str(count), *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stdout + done.stderr


def committed(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "tiny" / "state" / "state.json").read_text())["counters"]


def same_run(a: Path, b: Path) -> bool:
    """Whether two runs came to the same network by the same games."""
    losses = []
    for folder in (a, b):
        rows = [json.loads(line) for line in (folder / "tiny" / "metrics.jsonl").read_text().splitlines()]
        losses.append(
            [(r["iteration"], r["games"], r["positions"], r["steps"], r["policy_loss"]) for r in rows if "steps" in r]
        )
    weights = [next((folder / "tiny" / "state").glob("weights-*")).read_bytes() for folder in (a, b)]
    return losses[0] == losses[1] and weights[0] == weights[1]


def test_killed_in_self_play_in_a_step_and_in_a_checkpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    # Self-play of the second iteration: its third game has just ended.
    killed_at("agents.training.selfplay:_Record.of", 9, arguments(killed))
    assert committed(killed)["iteration"] == 1
    games = committed(killed)["games"]
    assert games == 6
    # A learner step of the second iteration.
    killed_at("agents.training.learner:Learner.step", 3, arguments(killed))
    assert committed(killed)["iteration"] == 1
    # The state record of the second iteration's checkpoint: its weights and samples are on disk already.
    # (The folder's third file, after metrics and weights.)
    killed_at("agents.training.run_folder:replace_file", 3, arguments(killed))
    assert committed(killed)["iteration"] == 1
    assert {"weights-2.safetensors", "replay-2.npz"} <= {p.name for p in (killed / "tiny" / "state").iterdir()}
    # And the same command to the end.
    done = subprocess.run(
        [sys.executable, "train.py", *arguments(killed)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "going on with" in done.stdout
    assert "iteration 1, 6 games" in done.stdout
    assert "4 iterations, 24 games" in done.stdout

    assert main(arguments(whole), CONFIGS) == 0
    assert same_run(killed, whole)


def test_a_signal_ends_the_run_after_saving(tmp_path: Path) -> None:
    command = [sys.executable, "train.py", *arguments(tmp_path, "run.iterations=100000")]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("iteration    2"):
            process.send_signal(signal.SIGINT)
            break
    rest = process.stdout.read()
    assert process.wait(timeout=60) == 130
    process.stdout.close()
    assert "stopping at the next safe point" in rest
    assert "the same command goes on: python train.py" in rest
    assert "Traceback" not in rest
    assert committed(tmp_path)["iteration"] >= 2


@pytest.mark.slow
def test_killed_ten_times_at_random(tmp_path: Path) -> None:
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    options = ("run.iterations=60", "selfplay.games_per_iteration=20", "search.simulations=16")
    chance = random.Random(1)
    kills = 0
    while True:
        with open(tmp_path / "log", "w") as log:
            process = subprocess.Popen(
                [sys.executable, "train.py", *arguments(killed, *options)], cwd=ROOT, stdout=log, stderr=log
            )
            while kills < 10 and process.poll() is None and "iteration " not in (tmp_path / "log").read_text():
                time.sleep(0.01)
            if kills < 10:
                time.sleep(chance.uniform(0, 1.5))
                process.kill()
            process.wait()
        if process.returncode == -signal.SIGKILL:
            kills += 1
        else:
            assert process.returncode == 0, (tmp_path / "log").read_text()
            break
    assert kills >= 3
    assert main(arguments(whole, *options), CONFIGS) == 0
    assert same_run(killed, whole)
