"""Pictures of a position: text, pixels, SVG. None of them needs a further library."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

import numpy as np
import numpy.typing as npt

from draughts_env.moves import Move
from draughts_env.position import Position

_Rgb = tuple[int, int, int]

#: Colours of the picture: green and buff, as on tournament boards.
LIGHT: _Rgb = (235, 222, 184)
DARK: _Rgb = (75, 115, 77)
MARKED: _Rgb = (137, 150, 62)
NUMBER: _Rgb = (158, 186, 157)
PIECES: dict[str, tuple[_Rgb, _Rgb]] = {  # disc and rim
    "white": ((248, 243, 230), (150, 138, 112)),
    "black": ((48, 44, 42), (12, 11, 10)),
}
CROWNS: dict[str, _Rgb] = {"white": (176, 124, 22), "black": (226, 178, 64)}

# In units of a square, its middle at (0, 0).
_RADIUS = 0.41
_RIM = 0.045
_RING = (0.27, 0.30)  # the groove of a man
_CROWN = ((-0.2, 0.16), (0.2, 0.16), (0.25, -0.13), (0.1, 0.01), (0.0, -0.21), (-0.1, 0.01), (-0.25, -0.13))


def ansi(position: Position, last: Move | None = None, flipped: bool = False) -> str:
    """The board as text, and below it the side to move and the last move.

    Args:
        position: the position; last: the move that led to it.
        flipped: whether Black is below.
    """
    line = f"{position.turn.capitalize()} to move"
    if last is not None:
        line += f", after {last.named(position.variant.size) if position.variant.algebraic else last}"
    return f"{position.text(flipped)}\n{line}"


def _cells(position: Position, flipped: bool) -> list[tuple[int, int, int]]:
    """Row and column in the picture, and PDN square, of every dark square."""
    board = position.geometry
    found = []
    for square in range(1, board.squares + 1):
        row, column = board.row_column(square)
        if flipped:
            row, column = board.size - 1 - row, board.size - 1 - column
        found.append((row, column, square))
    return found


def svg(
    position: Position,
    last: Move | None = None,
    flipped: bool = False,
    size: int = 480,
    marked: Collection[int] = (),
) -> str:
    """The board as an SVG document.

    Args:
        position: the position; last: the move that led to it, whose squares are set off.
        flipped: whether Black is below.
        size: width and height, in pixels.
        marked: further squares to set off.
    """
    n = position.geometry.size
    marked = {*marked, *(last.path if last is not None else ())}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {n} {n}" width="{size}" height="{size}">',
        f"<desc>{position.fen}</desc>",
        f'<rect width="{n}" height="{n}" fill="{_hex(LIGHT)}"/>',
    ]
    for row, column, square in _cells(position, flipped):
        ground = MARKED if square in marked else DARK
        parts.append(f'<rect x="{column}" y="{row}" width="1" height="1" fill="{_hex(ground)}"/>')
        name = position.geometry.name(square) if position.variant.algebraic else square
        parts.append(
            f'<text x="{column + 0.04}" y="{row + 0.2}" font-size="0.2" font-family="sans-serif" '
            f'fill="{_hex(NUMBER)}">{name}</text>'
        )
        piece = position.piece_at(square)
        if piece is None:
            continue
        color, king = piece
        disc, rim = PIECES[color]
        parts.append(
            f'<g class="{color} {"king" if king else "man"}" transform="translate({column + 0.5} {row + 0.5})">'
            f'<circle r="{_RADIUS - _RIM / 2:g}" fill="{_hex(disc)}" stroke="{_hex(rim)}" stroke-width="{_RIM}"/>'
        )
        if king:
            points = " ".join(f"{x:g},{y:g}" for x, y in _CROWN)
            parts.append(f'<polygon points="{points}" fill="{_hex(CROWNS[color])}"/></g>')
        else:
            parts.append(
                f'<circle r="{sum(_RING) / 2:g}" fill="none" stroke="{_hex(rim)}" '
                f'stroke-width="{_RING[1] - _RING[0]:g}"/></g>'
            )
    parts.append("</svg>")
    return "\n".join(parts)


def _hex(color: _Rgb) -> str:
    return "#{:02x}{:02x}{:02x}".format(*color)


def rgb_array(
    position: Position,
    last: Move | None = None,
    flipped: bool = False,
    square_size: int = 48,
    marked: Collection[int] = (),
) -> npt.NDArray[np.uint8]:
    """The board as pixels.

    Args:
        position: the position; last: the move that led to it, whose squares are set off.
        flipped: whether Black is below.
        square_size: width of a square, in pixels.
        marked: further squares to set off.

    Returns:
        uint8 of shape ``(rows * square_size, rows * square_size, 3)``.
    """
    size = position.geometry.size * square_size
    picture = np.empty((size, size, 3), np.uint8)
    picture[:] = LIGHT
    marked = {*marked, *(last.path if last is not None else ())}
    for row, column, square in _cells(position, flipped):
        place = picture[row * square_size : (row + 1) * square_size, column * square_size : (column + 1) * square_size]
        place[:] = _tile(square_size, position.piece_at(square), square in marked)
    return picture


@cache
def _tile(size: int, piece: tuple[str, bool] | None, marked: bool) -> npt.NDArray[np.uint8]:
    """A dark square with what stands on it, shape ``(size, size, 3)``."""
    tile = np.empty((size, size, 3))
    tile[:] = MARKED if marked else DARK
    if piece is not None:
        color, king = piece
        disc, rim = PIECES[color]
        _paint(tile, _disc(size, _RADIUS), rim)
        _paint(tile, _disc(size, _RADIUS - _RIM), disc)
        if king:
            _paint(tile, _crown(size), CROWNS[color])
        else:
            _paint(tile, _disc(size, _RING[1]) - _disc(size, _RING[0]), rim)
    return np.round(tile).astype(np.uint8)


def _paint(tile: npt.NDArray[np.float64], cover: npt.NDArray[np.float64], color: _Rgb) -> None:
    """Blend a colour in where it covers, from 0 to 1."""
    tile += cover[:, :, np.newaxis] * (np.array(color, float) - tile)


def _grid(size: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Middles of the pixels of a square, x and y, in units of the square."""
    line = (np.arange(size) + 0.5) / size - 0.5
    return line[np.newaxis, :], line[:, np.newaxis]


def _disc(size: int, radius: float) -> npt.NDArray[np.float64]:
    """How much of each pixel a disc covers."""
    x, y = _grid(size)
    return np.clip((radius - np.hypot(x, y)) * size + 0.5, 0.0, 1.0)


def _crown(size: int, fine: int = 4) -> npt.NDArray[np.float64]:
    """How much of each pixel the crown covers, from ``fine`` x ``fine`` samples in each."""
    x, y = _grid(size * fine)
    inside = np.zeros((size * fine, size * fine), bool)
    for (x0, y0), (x1, y1) in zip(_CROWN, _CROWN[1:] + _CROWN[:1]):
        if y0 != y1:
            inside ^= ((y0 > y) != (y1 > y)) & (x < x0 + (y - y0) * (x1 - x0) / (y1 - y0))
    return inside.reshape(size, fine, size, fine).mean(axis=(1, 3))
