"""FEN for draughts: positions as text, ``W:W31-50:B1-20``.

Reading understands, for every variant:

* side to move ``W`` or ``B``, then the pieces of White and of Black in either order, separated by colons; a colour
  without pieces may be left empty or out;
* squares as PDN numbers or as ``a1`` to ``h8`` (``j10``), separated by commas; ``K`` before a king's square;
* ascending ranges of numbers, ``31-50``; ``K1-3`` is three kings;
* small letters, blanks between the parts, a full stop at the end;
* ``H12``, the plies since the last capture or move of a man, and ``F20``, the number of the move, as further parts
  (lidraughts writes them). :class:`Game` starts its clock at the first; the second says nothing about the game.

It refuses, each with its reason and the place: a side to move that is missing or ``?`` (ask; nobody else knows),
squares that are off the board or taken, descending ranges, men that stand where they would have been crowned,
and a board without any piece.

Writing lists White first, squares ascending, and three or more neighbours of one kind as a range.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from draughts_env.errors import FenError, quoted
from draughts_env.variants import Color, Variant, variant

if TYPE_CHECKING:
    from draughts_env.position import Position

_COLORS: dict[str, Color] = {"W": "white", "B": "black"}
_ITEM = re.compile(r"(?P<name>[a-j]\d{1,2})|(?P<first>\d{1,9})(?:\s*-\s*(?P<last>\d{1,9}))?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Fen:
    """What a FEN says.

    Attributes:
        position: pieces and side to move.
        quiet: plies since the last capture or move of a man; 0 when not given.
        move_number: number of the move; ``None`` when not given.
    """

    position: Position
    quiet: int = 0
    move_number: int | None = None


class _Reader:
    def __init__(self, text: str, rules: Variant) -> None:
        self.text = text
        self.board = rules.geometry
        self.pieces: dict[int, tuple[Color, bool]] = {}

    def error(self, message: str, start: int) -> FenError:
        error = FenError(f"{message}, at column {start + 1} of {quoted(self.text, start)}")
        error.at = start
        return error

    def parts(self, start: int, end: int, separator: str) -> list[tuple[str, int]]:
        """The stripped parts of a stretch of the text, with their places."""
        found = []
        for raw in self.text[start:end].split(separator):
            found.append((raw.strip(), start + len(raw) - len(raw.lstrip())))
            start += len(raw) + 1
        return found

    def square(self, item: str, start: int) -> int:
        """One square, as a number or a name."""
        square = int(item) if item.isdigit() else self.board.named(item)
        if not 1 <= square <= self.board.squares:
            raise self.error(f"{item} is no square of this board (1-{self.board.squares})", start)
        return square

    def squares(self, item: str, start: int) -> range:
        """The squares of one item of a list, without its K."""
        match = _ITEM.match(item)
        if match is None:
            raise self.error("expected a square", start)
        if match.end() < len(item):
            raise self.error(f"unexpected {item[match.end()]!r}", start + match.end())
        first = self.square(match["name"] or match["first"], start)
        if match["last"] is None:
            return range(first, first + 1)
        last = self.square(match["last"], start + match.start("last"))
        if last < first:
            raise self.error(f"the range {item} runs backwards", start)
        return range(first, last + 1)

    def section(self, color: Color, start: int, end: int) -> None:
        """The list of one colour's pieces."""
        if not self.text[start:end].strip():
            return
        crowned = self.board.top if color == "white" else self.board.bottom
        for whole, place in self.parts(start, end, ","):
            item, at = whole, place
            king = item[:1] in ("K", "k")
            if king:
                item = item[1:].lstrip()
                at += len(whole) - len(item)
            for square in self.squares(item, at):
                if square in self.pieces:
                    raise self.error(f"a second piece on square {square}", place)
                if not king and crowned >> self.board.bit_of[square] & 1:
                    message = f"a {color} man cannot stand on {square}, where it is crowned (a king is K{square})"
                    raise self.error(message, place)
                self.pieces[square] = (color, king)


def read(text: str, of: Variant | str) -> Fen:
    """Read a FEN.

    Args:
        text: the FEN; of: the variant or its name.

    Raises:
        FenError: it cannot be read; the message names the place.
        VariantError: no variant of that name.
    """
    from draughts_env.position import Position  # the two need each other

    rules = variant(of)
    if not isinstance(text, str):
        raise FenError(f"a FEN is text, not {type(text).__name__}")
    reader = _Reader(text, rules)
    length = len(text.rstrip())
    if length and text[length - 1] == ".":
        length -= 1
    (side, at), *sections = reader.parts(0, length, ":")
    turn = _COLORS.get(side.upper())
    if turn is None:
        if side == "?":
            raise reader.error("the side to move is unknown: replace '?' by W or B", at)
        raise reader.error("a FEN begins with the side to move, 'W:' or 'B:'", at)
    seen: dict[str, int] = {}
    for section, start in sections:
        letter = section[:1].upper()
        if letter not in ("W", "B", "H", "F"):
            found = f"found {quoted(section)}" if section else "found nothing"
            raise reader.error(f"expected W or B and the squares of its pieces, {found}", start)
        if letter in seen:
            raise reader.error(f"a second part {letter}", start)
        seen[letter] = 0
        if letter in _COLORS:
            reader.section(_COLORS[letter], start + 1, start + len(section))
        elif re.fullmatch(r"\d{1,6}", section[1:], re.ASCII):
            seen[letter] = int(section[1:])
        else:
            raise reader.error(f"expected a number after {letter}", start + 1)
    if not reader.pieces:
        raise reader.error("no piece on the board", at)

    def mask(color: Color | None) -> int:
        """Bit set of a colour's pieces, or of all kings."""
        return rules.geometry.mask(
            s for s, (c, king) in reader.pieces.items() if (king if color is None else c == color)
        )

    position = Position(rules, mask("white"), mask("black"), mask(None), turn)
    return Fen(position, quiet=seen.get("H", 0), move_number=seen.get("F"))


def _list(squares: list[int], kings: frozenset[int]) -> str:
    """Squares ascending, runs of three or more of one kind as a range."""
    items: list[str] = []
    start = 0
    while start < len(squares):
        first = squares[start]
        end = start
        while (
            end + 1 < len(squares)
            and squares[end + 1] == squares[end] + 1
            and (squares[end + 1] in kings) == (first in kings)
        ):
            end += 1
        mark = "K" if first in kings else ""
        if end - start >= 2:
            items.append(f"{mark}{first}-{squares[end]}")
            start = end + 1
        else:
            items.append(f"{mark}{first}")
            start += 1
    return ",".join(items)


def write(position: Position, quiet: int = 0) -> str:
    """The FEN of a position; with a quiet clock that is not zero, ``:H`` and the clock follow."""
    board = position.geometry
    kings = frozenset(board.members(position.kings))
    white, black = (_list(board.members(mask), kings) for mask in (position.white, position.black))
    text = f"{position.turn[0].upper()}:W{white}:B{black}"
    return f"{text}:H{quiet}" if quiet else text
