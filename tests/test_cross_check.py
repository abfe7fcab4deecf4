"""Legal moves against independent packages: pydraughts and dame-rs. 5,000 positions a variant with ``-m slow``."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from draughts_env import Position, variant

Key = tuple[int, int, frozenset[int]]

pytestmark = pytest.mark.filterwarnings("ignore")


def positions(name: str, count: int) -> Iterator[Position]:
    """Distinct positions that have moves: from random games, and of pieces strewn over the board, kings among them."""
    chance = random.Random(f"cross-check {name}")
    rules = variant(name)
    board = rules.geometry
    seen: set[Position] = set()
    game = Position.start(rules)
    while len(seen) < count:
        if chance.random() < 0.5:
            moves = game.legal_moves()
            game = game.play(chance.choice(moves)) if moves and chance.random() < 0.99 else Position.start(rules)
            position = game
        else:
            squares = chance.sample(range(1, board.squares + 1), chance.randint(2, board.squares // 2))
            cut = chance.randint(1, len(squares) - 1)
            white, black = board.mask(squares[:cut]), board.mask(squares[cut:])
            kings = board.mask(chance.sample(squares, min(len(squares), chance.randint(0, 4))))
            kings |= white & board.top | black & board.bottom
            if kings.bit_count() > 8:
                continue
            position = Position(rules, white, black, kings, chance.choice(["white", "black"]))
        if position not in seen and position.legal_moves():
            seen.add(position)
            yield position


def ours(position: Position) -> set[Key]:
    found = [(m.origin, m.target, m.captured) for m in position.legal_moves()]
    assert len(found) == len(set(found))
    return set(found)


def long_fen(position: Position) -> str:
    """A FEN without ranges, which pydraughts does not know in all variants."""
    board = position.geometry
    sides = []
    for letter, mask in (("W", position.white), ("B", position.black)):
        squares = (f"K{s}" if position.kings >> board.bit_of[s] & 1 else str(s) for s in board.members(mask))
        sides.append(letter + ",".join(squares))
    return f"{position.turn[0].upper()}:{':'.join(sides)}"


def of_pydraughts(position: Position) -> set[Key]:
    from draughts.core.game import Game

    moves, captures = Game(position.variant.name, long_fen(position)).legal_moves()
    return {
        (steps[0][0], steps[-1][1], frozenset(c for c in taken if c is not None))
        for steps, taken in zip(moves, captures)
    }


def of_dame(position: Position) -> set[Key]:
    import dame

    return {(m.from_square, m.to_square, frozenset(m.captured)) for m in dame.Board(long_fen(position)).legal_moves}


def check(name: str, count: int) -> None:
    pytest.importorskip("dame" if name == "international" else "draughts.core.game")
    other = of_dame if name == "international" else of_pydraughts
    for position in positions(name, count):
        assert ours(position) == other(position), position.fen


@pytest.mark.parametrize("name", ["english", "russian", "brazilian", "italian", "international"])
def test_some_positions(name: str) -> None:
    check(name, 120)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["english", "russian", "brazilian", "italian", "international"])
def test_five_thousand_positions(name: str) -> None:
    check(name, 5000)
