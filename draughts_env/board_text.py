"""The board as plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from draughts_env.position import Position

_LETTERS = {("white", False): "w", ("white", True): "W", ("black", False): "b", ("black", True): "B"}


def draw(position: Position, flipped: bool = False) -> str:
    """One line per row: ``w`` and ``b`` are men, ``W`` and ``B`` kings, ``.`` empty dark squares.

    The PDN numbers of each row's first and last square stand on the sides.

    Args:
        position: the position.
        flipped: whether to look from Black's side.
    """
    board = position.geometry
    order = range(board.size - 1, -1, -1) if flipped else range(board.size)
    lines = []
    for row in order:
        cells = []
        for column in order:
            square = board.square_at(row, column)
            piece = position.piece_at(square) if square else None
            cells.append(_LETTERS[piece] if piece else "." if square else " ")
        ends = (row * board.half + 1, (row + 1) * board.half)
        left, right = reversed(ends) if flipped else ends
        lines.append(f"{left:>2} {' '.join(cells)} {right:>2}")
    return "\n".join(lines)
