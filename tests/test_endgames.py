"""Endgame accuracy against the tablebase."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from agents.agent import load_agent
from agents.arena.endgames import measure_accuracy
from agents.tablebase import Tablebase, TablebaseError
from draughts_play.cli import app


def test_tables_play_perfectly_and_chance_does_not() -> None:
    """The judge's own moves keep every result; random moves lose some and win little."""
    tables = Tablebase.open("english", 3)

    class Perfect:
        name = "perfect"

        def choose(self, game, limit=None):  # type: ignore[no-untyped-def]
            from agents.agent import Decision

            return Decision(tables.probe(game.position).best_moves[0])

        def new_game(self) -> None: ...

        def seed(self, seed: int) -> None: ...

    perfect = measure_accuracy(Perfect(), tables, 3, 40, 10)
    assert (perfect.positions, perfect.kept, perfect.won_positions, perfect.won) == (40, 40, 10, 10)
    chance = measure_accuracy(load_agent("random", "english"), tables, 3, 40, 10)
    assert chance.kept < 40
    assert chance.won < 10


def test_too_many_pieces() -> None:
    with pytest.raises(TablebaseError):
        measure_accuracy(load_agent("random", "english"), Tablebase.open("english", 3), 4, 1, 0)


def test_command() -> None:
    done = CliRunner().invoke(
        app, ["endgame-accuracy", "--agent", "alphabeta:depth=3", "--pieces", "3", "--positions", "5", "--games", "2"]
    )
    assert done.exit_code == 0, done.output
    assert "result kept" in done.output
    assert "wins won" in done.output
