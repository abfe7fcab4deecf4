"""The PDN snippets that broke other programs, and games written and read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from draughts_env import BRAZILIAN, ENGLISH, INTERNATIONAL, RUSSIAN, Game, Variant
from draughts_env.pdn import read_games, write_game

CASES = [
    case
    for line in (Path(__file__).parent / "data/pdn_cases.jsonl").read_text(encoding="utf-8").splitlines()
    if (case := json.loads(line))["kind"] == "pdn"
]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
@pytest.mark.parametrize("encoding", [None, "utf-8", "utf-8-sig", "cp1252"])
def test_case(case: dict[str, Any], encoding: str | None) -> None:
    text = case["input"]
    if encoding is not None:
        text = text.lstrip("\ufeff").encode(encoding)
    expect = case["expect"]
    games = list(read_games(text, case["variant"]))
    assert len(games) == expect["games"]
    if "plies" in expect:
        assert [len(game.moves) for game in games] == expect["plies"]
    if "result" in expect:
        assert [game.result for game in games] == expect["result"]
    if "moves" in expect:
        assert [str(move) for move in games[0].moves] == expect["moves"]
    if "winner" in expect:
        assert games[0].winner == expect["winner"]
    if "error" in expect:
        assert not games[0].errors
        assert games[1].errors
    else:
        assert not any(game.errors for game in games)


@pytest.mark.parametrize("variant", [ENGLISH, INTERNATIONAL, RUSSIAN, BRAZILIAN], ids=str)
def test_written_games_are_read_back(variant: Variant) -> None:
    rng = np.random.default_rng(3)
    games = []
    for _ in range(15):
        game = Game(variant)
        while not game.is_over:
            moves = game.legal_moves()
            game.push(moves[int(rng.integers(len(moves)))])
        games.append(game)
    text = "\n".join(write_game(game, {"Event": f"game {i}"}) for i, game in enumerate(games))
    assert max(map(len, text.splitlines())) <= 80
    read = list(read_games(text))
    assert [record.game().moves for record in read] == [game.moves for game in games]
    assert [record.winner for record in read] == [game.outcome().winner for game in games]
    assert not any(record.problems for record in read)


def test_check_command(tmp_path: Path) -> None:
    """Games, plies and problems of each file; 1 for errors in games, 2 for a file that cannot be read."""
    from typer.testing import CliRunner

    from draughts_play.cli import app

    good, bad = tmp_path / "good.pdn", tmp_path / "bad.pdn"
    good.write_text("1. 32-28 19-23 1-0\n")
    bad.write_text("1. 32-28 19-23 1-0\n\n36x27 1-0\n\n1. 33-29 *\n")
    run = CliRunner()
    done = run.invoke(app, ["pdn", "check", str(good)])
    assert (done.exit_code, "1 game, 2 plies, 0 errors" in done.output) == (0, True)
    done = run.invoke(app, ["pdn", "check", str(bad), str(good)])
    assert done.exit_code == 1
    assert "3 games, 3 plies, 1 error" in done.output
    assert "line 3, column 1" in done.output
    assert run.invoke(app, ["pdn", "check", str(tmp_path / "none.pdn")]).exit_code == 2


def test_a_long_stream_needs_no_more_memory_than_a_game() -> None:
    """Thousands of games through a file object: the peak stays far below the size of the text."""
    import io
    import tracemalloc

    one = b'[GameType "20"]\n1. 32-28 19-23 2. 28x19 14x23 { ' + b"x" * 400 + b" } 1-0\n\n"
    stream = io.BytesIO(one * 4_000)
    tracemalloc.start()
    count = sum(len(game.moves) == 4 for game in read_games(stream))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 4_000
    assert peak < 1_000_000 < len(one) * 20_000
