"""The board's squares: numbers, names, rows and columns, bits, rotation."""

from __future__ import annotations

import pytest

from draughts_env.geometry import Geometry, geometry

SIZES = [8, 10]


def squares(board: Geometry) -> range:
    return range(1, board.squares + 1)


@pytest.mark.parametrize(("size", "count", "bits"), [(8, 32, 35), (10, 50, 54)])
def test_sizes(size: int, count: int, bits: int) -> None:
    board = geometry(size)
    assert (board.squares, board.bits, board.half) == (count, bits, size // 2)
    assert board.board.bit_count() == count
    assert board.board.bit_length() == bits


@pytest.mark.parametrize(
    ("size", "square", "name", "place"),
    [
        (8, 1, "b8", (0, 1)),
        (8, 4, "h8", (0, 7)),
        (8, 5, "a7", (1, 0)),
        (8, 29, "a1", (7, 0)),
        (8, 32, "g1", (7, 6)),
        (10, 1, "b10", (0, 1)),
        (10, 6, "a9", (1, 0)),
        (10, 46, "a1", (9, 0)),
        (10, 50, "i1", (9, 8)),
    ],
)
def test_known_squares(size: int, square: int, name: str, place: tuple[int, int]) -> None:
    board = geometry(size)
    assert board.name(square) == name
    assert board.named(name) == board.named(name.upper()) == square
    assert board.row_column(square) == place
    assert board.square_at(*place) == square


@pytest.mark.parametrize("size", SIZES)
def test_every_way_to_say_a_square_agrees(size: int) -> None:
    board = geometry(size)
    for square in squares(board):
        row, column = board.row_column(square)
        assert (row + column) % 2 == 1
        assert board.square_at(row, column) == square
        assert board.named(board.name(square)) == square
        assert board.square_of[board.bit_of[square]] == square
        assert board.members(board.mask([square])) == [square]
    assert board.members(board.board) == list(squares(board))


@pytest.mark.parametrize("size", SIZES)
def test_light_squares_and_the_outside_are_no_squares(size: int) -> None:
    board = geometry(size)
    for row in range(-1, size + 1):
        for column in range(-1, size + 1):
            inside = 0 <= row < size and 0 <= column < size
            assert bool(board.square_at(row, column)) == (inside and (row + column) % 2 == 1)
    for name in ("", "a", "a0", "a2", f"a{size + 1}", "z1", "11", "a-1", "aa", "é1"):
        assert board.named(name) == 0


@pytest.mark.parametrize("size", SIZES)
def test_diagonal_steps_are_shifts_and_do_not_wrap(size: int) -> None:
    board = geometry(size)
    half = board.half
    # down right or left by half and half + 1, depending on the row; where there is no square, there is no bit either
    for square in squares(board):
        row, column = board.row_column(square)
        bit = 1 << board.bit_of[square]
        for row_step, shifted in ((1, (bit << half, bit << half + 1)), (-1, (bit >> half, bit >> half + 1))):
            targets = {board.square_at(row + row_step, column + side) for side in (-1, 1)} - {0}
            assert set(board.members((shifted[0] | shifted[1]) & board.board)) == targets


@pytest.mark.parametrize("size", SIZES)
def test_rotation_reverses_the_bits(size: int) -> None:
    board = geometry(size)
    for square in squares(board):
        other = board.squares + 1 - square
        assert board.bit_of[other] == board.bits - 1 - board.bit_of[square]
        row, column = board.row_column(square)
        assert board.row_column(other) == (size - 1 - row, size - 1 - column)


@pytest.mark.parametrize("size", SIZES)
def test_crown_rows(size: int) -> None:
    board = geometry(size)
    assert board.members(board.top) == list(range(1, board.half + 1))
    assert board.members(board.bottom) == list(range(board.squares - board.half + 1, board.squares + 1))


def test_tables_are_made_once() -> None:
    assert geometry(8) is geometry(8)
