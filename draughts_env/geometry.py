"""The board's squares: PDN numbers, rows and columns, bits, rotation.

Playable squares are numbered as in PDN, from 1, row by row from the top as White sees the board.
In bits they lie row by row with one ghost bit after every two rows, so that the four diagonal steps
are shifts by ``half`` and ``half + 1`` in either direction and no step wraps around an edge.
Rotating the board by 180 degrees reverses the order of the bits (and square ``s`` becomes ``squares + 1 - s``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Geometry:
    """Tables of one board size.

    Attributes:
        size: rows (and columns) of the board.
        mirrored: whether the dark corner is on the right of each player.
        half: playable squares in a row.
        squares: playable squares in all; PDN numbers run from 1 to this.
        bits: width of the bit layout, ghosts included.
        bit_of: bit index of each PDN square; entry 0 is unused (-1).
        square_of: PDN square of each bit index; 0 for ghosts.
        board: all playable squares as a bit set.
        top, bottom: the first and the last row as bit sets; White is crowned on top, Black at the bottom.
    """

    size: int
    mirrored: bool
    half: int
    squares: int
    bits: int
    bit_of: tuple[int, ...]
    square_of: tuple[int, ...]
    board: int
    top: int
    bottom: int

    def row_column(self, square: int) -> tuple[int, int]:
        """Row and column (both from 0, top left) of a PDN square on the full chequerboard."""
        row, place = divmod(square - 1, self.half)
        return row, 2 * place + (row + 1 + self.mirrored) % 2

    def square_at(self, row: int, column: int) -> int:
        """PDN square at a row and column of the full chequerboard; 0 for a light square or off the board."""
        if not (0 <= row < self.size and 0 <= column < self.size) or (row + column) % 2 == self.mirrored:
            return 0
        return row * self.half + column // 2 + 1

    def name(self, square: int) -> str:
        """Algebraic name of a PDN square, ``a1`` at White's lower left."""
        row, column = self.row_column(square)
        return f"{'abcdefghijklmnopqrst'[column]}{self.size - row}"

    def named(self, name: str) -> int:
        """PDN square of an algebraic name such as ``c3``; 0 when it names no playable square."""
        if not 2 <= len(name) <= 3 or not name.isascii() or not name[1:].isdigit():
            return 0
        return self.square_at(self.size - int(name[1:]), ord(name[0].lower()) - ord("a"))

    def mask(self, squares: object) -> int:
        """Bit set of an iterable of PDN squares."""
        bits = 0
        for square in squares:  # type: ignore[attr-defined]
            bits |= 1 << self.bit_of[square]
        return bits

    def members(self, mask: int) -> list[int]:
        """PDN squares of a bit set, ascending."""
        found = []
        while mask:
            low = mask & -mask
            found.append(self.square_of[low.bit_length() - 1])
            mask ^= low
        return found


@cache
def geometry(size: int, mirrored: bool = False) -> Geometry:
    """The tables for a board of ``size`` rows (8 or 10).

    Args:
        mirrored: whether the dark corner is on the right, as in Italy. The squares are numbered from left to right all
            the same, but the bits lie as if the board was seen in a mirror, so that the kernels know only one board.
    """
    half = size // 2
    period = size + 1
    bit_of = [-1]
    for row in range(size):
        for place in range(half):
            seen = half - 1 - place if mirrored else place
            bit_of.append(row // 2 * period + row % 2 * half + seen)
    bits = max(bit_of) + 1
    square_of = [0] * bits
    for square, bit in enumerate(bit_of[1:], start=1):
        square_of[bit] = square
    return Geometry(
        size=size,
        mirrored=mirrored,
        half=half,
        squares=size * half,
        bits=bits,
        bit_of=tuple(bit_of),
        square_of=tuple(square_of),
        board=sum(1 << bit for bit in bit_of[1:]),
        top=sum(1 << bit for bit in bit_of[1 : half + 1]),
        bottom=sum(1 << bit for bit in bit_of[-half:]),
    )
