"""What the tests of reading and of writing PDN share."""

from __future__ import annotations

import random
from typing import Any

from cases import rows

from draughts_env import Game, Move
from draughts_env.pdn import PdnGame, Variation, read_games
from draughts_env.variants import MORE_VARIANTS, VARIANTS

ALL = [v.name for v in (*VARIANTS, *MORE_VARIANTS)]
RULES = {row["id"]: row for row in rows("rules.jsonl")}
AMBIGUOUS = ["EN-20", "IN-22", "IN-23", "IN-26", "IN-27", "IN-28"]


def read_one(source: Any, variant: str | None = None) -> PdnGame:
    [game] = read_games(source, variant)
    return game


def texts(game: PdnGame | Variation) -> list[str]:
    return [str(move) for move in game.moves]


def warned(game: PdnGame) -> list[str]:
    assert not game.errors
    return [problem.message for problem in game.warnings]


def random_game(name: str, rng: random.Random, fen: str | None = None, plies: int = 1000) -> Game:
    game = Game(name, fen)
    while not game.is_over and game.ply < plies:
        game.push(rng.choice(game.legal_moves()))
    return game


def short(move: Move) -> str:
    return f"{move.origin}{'x' if move.is_capture else '-'}{move.target}"


def pushed(game: Game, *moves: str) -> Game:
    for move in moves:
        game.push(move)
    return game
