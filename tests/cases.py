"""What several test files share: the rows of tests/data, and the way between positions and the slow reference."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import reference

from draughts_env import VARIANTS, Position

DATA = Path(__file__).parent / "data"
NAMES = [v.name for v in VARIANTS]
REFERENCE = {
    "english": reference.ENGLISH,
    "international": reference.INTERNATIONAL,
    "russian": reference.RUSSIAN,
    "brazilian": reference.BRAZILIAN,
}


def rows(file: str) -> list[dict[str, Any]]:
    """The rows of a file of tests/data that are about a variant of this project."""
    found = [json.loads(line) for line in (DATA / file).read_text(encoding="utf-8").splitlines() if line.strip()]
    return [row for row in found if row["variant"] in NAMES]


def position_of(name: str, board: reference.Board, turn: str) -> Position:
    """The position of a reference board."""
    rules = Position.start(name).variant
    geometry = rules.geometry
    white, black = (geometry.mask(s for s, p in board.items() if p[0] == color) for color in ("white", "black"))
    return Position(rules, white, black, geometry.mask(s for s, p in board.items() if p[1]), turn)


def board_of(position: Position) -> reference.Board:
    """The reference board of a position."""
    pieces = {s: position.piece_at(s) for s in range(1, position.geometry.squares + 1)}
    return {square: piece for square, piece in pieces.items() if piece is not None}


@cache
def random_boards(name: str, count: int, seed: int = 1) -> list[tuple[reference.Board, str]]:
    """Random boards with their side to move, the same in every run."""
    return list(reference.random_positions(REFERENCE[name], count, seed))


def random_positions(name: str, count: int, seed: int = 1) -> list[Position]:
    """The positions of :func:`random_boards`."""
    return [position_of(name, board, turn) for board, turn in random_boards(name, count, seed)]
