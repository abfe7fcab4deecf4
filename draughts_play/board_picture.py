"""The board in colours for a terminal."""

from __future__ import annotations

from collections.abc import Collection

from rich.console import Console
from rich.style import Style
from rich.text import Text

from draughts_env.moves import Move
from draughts_env.position import Position

# Green and buff, from the 256 colours that nearly every terminal has.
_LIGHT = Style(bgcolor="color(187)")
_DARK = Style(bgcolor="color(65)", color="color(151)")
_MARKED = Style(bgcolor="color(100)", color="color(187)")
_PIECES = {"white": Style(color="color(231)", bold=True), "black": Style(color="color(16)", bold=True)}
_DISCS = {False: "●", True: "♛"}
_LETTERS = {("white", False): "w", ("white", True): "W", ("black", False): "b", ("black", True): "B"}


def move_text(move: Move, position: Position) -> str:
    """A move in the notation customary for the variant: ``11-15`` or ``c3-d4``."""
    return move.named(position.variant.size) if position.variant.algebraic else str(move)


def board_picture(position: Position, console: Console, *, flipped: bool = False, marked: Collection[int] = ()) -> Text:
    """The board with the names of its dark squares.

    Without colours the pieces are letters: ``w`` and ``b`` men, ``W`` and ``B`` kings.

    Args:
        position: what stands on the board.
        console: where it will be printed.
        flipped: whether Black is below.
        marked: PDN squares to set off, those of the last move.
    """
    board = position.geometry
    discs = console.color_system is not None and console.encoding.startswith("utf")
    order = range(board.size - 1, -1, -1) if flipped else range(board.size)
    picture = Text()
    for row in order:
        picture.append("  ")
        for column in order:
            square = board.square_at(row, column)
            if not square:
                picture.append("     ", _LIGHT)
                continue
            ground = _MARKED if square in marked else _DARK
            label = board.name(square) if position.variant.algebraic else str(square)
            picture.append(f"{label:>2} ", ground)
            piece = position.piece_at(square)
            if piece is None:
                picture.append("  ", ground)
            else:
                sign = _DISCS[piece[1]] if discs else _LETTERS[piece]
                picture.append(f"{sign} ", ground + _PIECES[piece[0]])
        picture.append("\n")
    return picture
