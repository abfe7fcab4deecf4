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
