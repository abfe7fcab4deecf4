"""Counts of move sequences: the published numbers, and the ways of counting against each other."""

from __future__ import annotations

import pytest
from cases import NAMES, random_positions

from draughts_env import Position
from draughts_env.perft import perft_parallel
from draughts_env.variants import variant

WOLDOUBY = "W:B12,13,14,16,18,19,21,23,24,26:W25,27,28,30,32,33,34,35,37,38"
MANY_CAPTURES = "B:BK17,K24:W6,9,10,11,20,21,22,23,30,K31,33,37,41,42,43,44,46"
ALL_KINGS = "W:WK31-50:BK1-20"

#: Nodes at depth 1, 2, ...; the starting position where there is no FEN.
KNOWN: dict[tuple[str, str | None], list[int]] = {
    ("english", None): [7, 49, 302, 1469, 7361, 36768, 179740, 845931, 3963680, 18391564, 85242128],
    ("international", None): [9, 81, 658, 4265, 27117, 167140, 1049442, 6483961, 41022423],
    ("russian", None): [7, 49, 302, 1469, 7482, 37986, 190146, 929899],
    ("brazilian", None): [7, 49, 302, 1469, 7473, 37628, 187302, 907830],
    ("international", MANY_CAPTURES): [14, 55, 1168, 5432, 87195, 629010, 9041010],
    ("international", WOLDOUBY): [6, 12, 30, 73, 215, 590, 1944, 6269, 22369, 88050, 377436],
    ("international", ALL_KINGS): [17, 79, 352, 1399, 7062],
}
CASES = [
    pytest.param(name, fen, depth, nodes, id=f"{name}-{(fen or 'start')[:12]}-{depth}")
    for (name, fen), counts in KNOWN.items()
    for depth, nodes in enumerate(counts, start=1)
]
#: The English number is the one without duplicates; with them, counted by route, it is 388,623,673.
SLOW = [("english", 12, 388617999), ("international", 10, 258895763)]


def position(name: str, fen: str | None) -> Position:
    return Position.start(name) if fen is None else Position.from_fen(fen, name)


@pytest.mark.parametrize(("name", "fen", "depth", "nodes"), CASES)
def test_known_numbers(name: str, fen: str | None, depth: int, nodes: int) -> None:
    assert position(name, fen).perft(depth) == nodes


@pytest.mark.slow
@pytest.mark.parametrize(("name", "depth", "nodes"), SLOW)
def test_deep_numbers(name: str, depth: int, nodes: int) -> None:
    assert Position.start(name).perft(depth) == nodes


def count(position: Position, depth: int) -> int:
    """Perft through positions and moves as a caller uses them."""
    if depth == 0:
        return 1
    return sum(count(position.play(move), depth - 1) for move in position.legal_moves())


@pytest.mark.parametrize(("name", "fen", "depth"), [(*key, 4 if key[1] else 5) for key in KNOWN])
def test_positions_count_like_the_kernel(name: str, fen: str | None, depth: int) -> None:
    assert count(position(name, fen), depth - 1) == KNOWN[name, fen][depth - 2]


@pytest.mark.parametrize("name", NAMES)
def test_colours_count_alike(name: str) -> None:
    for place in random_positions(name, 100):
        assert place.perft(2) == place.turned().perft(2)


@pytest.mark.parametrize("megabytes", [0, 1])
@pytest.mark.parametrize("name", NAMES)
def test_threads_and_a_hash_table_change_nothing(name: str, megabytes: int) -> None:
    rules = variant(name)
    counts = KNOWN[name, None]
    for depth in (0, 1, 3, 4, 7, 8):
        expected = counts[depth - 1] if depth else 1
        found = perft_parallel(*rules.start, 0, rules.first == "white", rules.rules, depth, 2, megabytes)
        assert found == expected, depth


def test_a_crowded_hash_table_is_still_exact() -> None:
    place = Position.from_fen(MANY_CAPTURES, "international").placement
    words = place.white, place.black, place.kings, place.up, place.variant.rules
    assert perft_parallel(*words, 7, 3, 1) == KNOWN["international", MANY_CAPTURES][6]


def test_depth_zero_is_the_position_itself() -> None:
    assert Position.start("english").perft(0) == 1


def test_the_stack_of_moves_grows_when_it_has_to() -> None:
    # four kings among many pieces: 286 captures at once, and again on the way
    crowded = Position.from_fen("W:WK4,K5,K6,K46:B7,8,11,13,19,20,29,30,33,38,41,42", "international")
    assert crowded.perft(1) == 286
    assert crowded.perft(2) == count(crowded, 2)
