"""The command line: results, exit statuses, and one clear line for every mistake."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path

import pytest
from typer.testing import CliRunner

from draughts_play.cli import app

RUNNER = CliRunner()


def run(*arguments: str, stdin: str | None = None) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of a command in this process."""
    result = RUNNER.invoke(app, list(arguments), input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def run_process(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """The command as a user starts it."""
    code = "import sys; sys.argv[0] = 'draughts'; from draughts_play.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], input=stdin, capture_output=True, text=True, timeout=120
    )


# Depth 1, 2, ... from the starting position; published and agreed on by many programs.
PERFT = {
    "english": [7, 49, 302, 1469, 7361, 36768],
    "international": [9, 81, 658, 4265, 27117, 167140],
    "russian": [7, 49, 302, 1469, 7482, 37986],
    "brazilian": [7, 49, 302, 1469, 7473, 37628],
}


@pytest.mark.parametrize("variant", PERFT)
def test_perft(variant: str) -> None:
    status, out, _ = run("perft", "--variant", variant, "--depth", "6")
    assert status == 0
    lines = [line.split() for line in out.splitlines()]
    assert lines[0] == ["depth", "nodes", "seconds", "M", "nodes/s"]
    assert [(int(depth), int(nodes)) for depth, nodes, *_ in lines[2:]] == list(enumerate(PERFT[variant], start=1))


def test_perft_divide_and_fen() -> None:
    status, out, _ = run("perft", "-v", "checkers", "-d", "3", "--divide")
    assert status == 0
    counts = [int(line.split()[1]) for line in out.splitlines()]
    assert len(counts) == 8
    assert sum(counts[:-1]) == counts[-1] == 302
    status, out, _ = run("perft", "--fen", "W:WK10:B7,8", "--depth", "1")
    assert out.splitlines()[-1].split()[:2] == ["1", "1"]


def test_perft_in_a_process_of_its_own_loads_no_network_library() -> None:
    code = (
        "import sys\nfrom draughts_play.cli import app\n"
        "try: app(['perft', '--depth', '4'])\n"
        "except SystemExit as end: assert end.code == 0\n"
        "assert 'torch' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "1469" in done.stdout


BAD = [
    (["perft", "--variant", "chess"], "unknown variant 'chess'"),
    (["perft", "--fen", "W:W99:B1"], "99"),
    (["perft", "--depth", "six"], "--depth"),
    (["perft", "--depth", "-1"], "--depth"),
    (["perft", "--deep", "3"], "--deep"),
    (["analyse", "W:W1;B2"], "column"),
    (["analyse", "nonsense"], "side to move"),
    (["analyse", "--agent", "nobody"], "known are random, alphabeta, pvs and best"),
    (["analyse", "--agent", "alphabeta:depth=x"], "depth must be a whole number"),
    (["analyse", "--agent", "alphabeta", "--depth", "0"], "depth must be greater than 0"),
    (["analyse", "--agent", "alphabeta", "--simulations", "5"], "cannot be limited by simulations"),
    (["analyse", "--agent", "missing.safetensors"], "there is no checkpoint missing.safetensors"),
    (["analyse", "--agent", ""], "unknown agent ''"),
    (["analyse", "--agent", "best", "--simulations", "99999999999999999999"], "at most 10,000,000"),
    (["perft", "--depth", "99999999999999999999", "--divide"], "--depth"),
    (["openings", "draw", "--count", "99999999999"], "--count"),
    (["match", "random", "random", "--games", "2", "--opening-plies", "1000"], "use shorter ones"),
    (["endgame-accuracy", "--agent", "random", "--pieces", "99"], "the tables hold"),
    (["match", "random"], "b"),
    (["match", "random", "random", "--games", "5"], "must be even"),
    (["match", "random", "random", "--games", "many"], "--games"),
    (["match", "random", "random", "--json", "no/such/folder/match.json"], "there is no folder"),
    (["match", "random", "random", "--pdn", "."], "it is a folder"),
    (["match", "random", "random", "--games", "400", "--opening-plies", "1"], "use longer ones"),
    (["play", "--terminal", "--color", "green"], "black, white or random"),
    (["play", "--terminal", "--agent", "alphabeta", "--simulations", "5"], "cannot be limited by simulations"),
    (["play", "--terminal", "--agent", "random", "--fen", "W:W"], "draughts: "),
    (["fly"], "fly"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=lambda x: " ".join(x) if isinstance(x, list) else "")
def test_mistakes(arguments: list[str], message: str) -> None:
    status, out, err = run(*arguments)
    assert status == 2
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("draughts: ")
    assert message in err


def test_a_huge_position_gives_a_short_message() -> None:
    status, _, err = run("analyse", f"W:W{'31,' * 30_000}")
    assert status == 2
    assert err.startswith("draughts: a second piece on square 31, at column 7 of 'W:W31,31")
    assert len(err) < 150


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a folder that takes no file, for root neither")
def test_an_output_that_cannot_be_written_is_found_before_the_match() -> None:
    status, out, err = run("match", "random", "random", "--games", "2", "--json", "/proc/match.json")
    assert status == 2
    assert out == ""
    assert "draughts: /proc/match.json cannot be written: " in err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no named pipes")
def test_a_match_is_written_into_a_pipe_and_through_a_link(tmp_path: Path) -> None:
    """Neither is replaced by a file."""
    pipe, link, file = tmp_path / "pipe", tmp_path / "link", tmp_path / "file"
    os.mkfifo(pipe)
    link.symlink_to(file)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    status, _, _ = run("match", "random", "random", "--games", "2", "--json", str(pipe), "--pdn", str(link))
    reader.join(60)
    assert status == 0
    assert json.loads(read[0])["games"]
    assert pipe.is_fifo()
    assert link.is_symlink()
    assert file.read_text().count("[Event ") == 2


def test_mistakes_in_a_process() -> None:
    for arguments in (["perft", "--variant", "chess"], ["perft", "--depth", "x"]):
        done = run_process(*arguments)
        assert done.returncode == 2
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1
        assert "Traceback" not in done.stderr


def test_help_and_version() -> None:
    status, out, _ = run("--version")
    assert status == 0
    assert out.startswith("draughts-zero 0.")
    for arguments in ([], ["--help"], ["-h"]):
        status, out, _ = run(*arguments)
        assert status == 0
        for command in ("perft", "match", "analyse", "play", "agents"):
            assert command in out
    for command in ("perft", "match", "analyse", "play"):
        status, out, _ = run(command, "--help")
        assert status == 0
        assert "Example" in out
        assert "--variant" in out


def test_agents_are_listed() -> None:
    status, out, _ = run("agents")
    assert status == 0
    for word in ("random", "alphabeta", "depth=N", "seconds=X", "seed=N", ".safetensors", "best", "simulations=N"):
        assert word in out


def test_match_writes_json_and_pdn(tmp_path: Path) -> None:
    report, games = tmp_path / "match.json", tmp_path / "match.pdn"
    arguments = ["match", "alphabeta:depth=2", "random", "-v", "russian", "-n", "4", "--seed", "3"]
    status, out, _ = run(*arguments, "--json", str(report), "--pdn", str(games))
    assert status == 0
    data = json.loads(report.read_text())
    assert data["variant"] == "russian"
    assert data["wins"] + data["draws"] + data["losses"] == len(data["games"]) == 4
    assert data["seed"] == 3
    assert f"won {data['wins']}, drawn {data['draws']}, lost {data['losses']}" in out
    text = games.read_text()
    assert text.count("[Event ") == 4
    assert text.count('[White "alphabeta:depth=2"]') == 2
    assert text.count('[Black "alphabeta:depth=2"]') == 2
    assert text.count('[GameType "25"]') == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["match.json", "match.pdn"]
    assert run(*arguments)[1].split("\n")[:4] == out.split("\n")[:4]  # the rest is about time


def test_match_limits_hold_for_agents_without_their_own() -> None:
    status, out, _ = run("match", "alphabeta:depth=1", "alphabeta", "-n", "2", "--nodes", "300", "--workers", "2")
    assert status == 0
    assert "nodes=300 unless the agent says otherwise" in out


def test_analyse() -> None:
    status, out, _ = run("analyse", "W:W31,27,19:B17,12,5", "--agent", "alphabeta:depth=15")
    assert status == 0
    for line in ("best    19-16", "value   +1.000 for White (-1 lost, 1 won, proven)", "line    19-16 12x19"):
        assert line in out
    assert "27 w" in out
    status, out, _ = run("analyse", "-v", "russian", "-a", "alphabeta", "--depth", "3")
    assert "c3" in out
    assert "depth   3" in out
    status, out, _ = run("analyse", "-a", "random", "--seconds", "1")
    assert "policy" in out


def test_analyse_a_finished_game() -> None:
    status, out, _ = run("analyse", "W:W:B1", "--agent", "random")
    assert status == 0
    assert "black wins" in out


def test_the_page_is_served_until_it_is_told_to_end(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "draughts_play", "play", "--no-browser", "--port", "0", "--data", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[4]
        with urllib.request.urlopen(address + "api/info", timeout=60) as answer:
            assert json.load(answer)["variants"]
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
        assert "Traceback" not in errors
        assert "Goodbye" in errors


def test_play_in_a_process() -> None:
    done = run_process("play", "-t", "-a", "alphabeta:depth=2", "-c", "black", stdin="11-15\nquit\n")
    assert done.returncode == 0, done.stderr
    assert "White plays" in done.stdout
    assert "Traceback" not in done.stderr
