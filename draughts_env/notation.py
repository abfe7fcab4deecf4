"""Moves as text.

Reading understands squares as PDN numbers (leading zeros too) or as ``a1`` to ``h8`` (``j10``), in every variant;
between them ``-``, ``x``, ``X``, ``:``, ``*``, ``×``, with or without blanks. Which sign is used does not matter: in
real games it is often the wrong one. Names may follow each other without a sign (``a3b4``), numbers of two digits too
(``3228``). A capture may be given by origin and target, with some of the landing squares in between, or with all of any
of its routes. Squares that are all of one move's and only some of another's mean the first.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from draughts_env.errors import IllegalMoveError, quoted
from draughts_env.geometry import Geometry
from draughts_env.routes import find_partial, find_route

if TYPE_CHECKING:
    from draughts_env.moves import Move
    from draughts_env.position import Position

_SIGN = re.compile(r"\s*[-–xX×:*]\s*")
_NAMES = re.compile(r"(?:[a-j](?:10|[1-9]))+", re.ASCII | re.IGNORECASE)
_NAME = re.compile(r"[a-j](?:10|[1-9])", re.ASCII | re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,3}", re.ASCII)
_GLUED = re.compile(r"(\d\d)(\d\d)", re.ASCII)
_SHOWN = 8  # moves listed in an error message


def parse(position: Position, text: str) -> Move:
    """The legal move that a text describes.

    Raises:
        IllegalMoveError: not understood, not legal, or ambiguous; says which, and why.
    """
    squares = read_squares(position.geometry, text)
    origin, target, through = squares[0], squares[-1], squares[1:-1]
    found = [m for m in position.legal_moves() if m.origin == origin and m.target == target]
    placement = position.placement
    if through:
        found = [
            m for m in found if m.is_capture and find_route(placement, origin, target, m.captured, through) is not None
        ]
    if len(found) > 1:  # all the landing squares of one, some of those of the others: `10x3` can be a move in full
        exact = [m for m in found if find_route(placement, origin, target, m.captured, through, exact=True)]
        found = exact or found
    if len(found) == 1:
        return found[0]
    if found:
        writer = _Writer(position.geometry, text)
        raise IllegalMoveError(f"{writer.shown} is ambiguous: {writer.moves(found, full=True)}")
    raise IllegalMoveError(why_illegal(position, squares, text))


def read_squares(board: Geometry, text: str) -> tuple[int, ...]:
    """The squares that a text names, as PDN numbers.

    Raises:
        IllegalMoveError: not understood as a move.
    """
    if not isinstance(text, str):
        raise IllegalMoveError(f"a move is text such as '11-15', not {text!r}")
    parts = _SIGN.split(text.strip())
    if len(parts) == 1:
        glued = _GLUED.fullmatch(parts[0])
        if glued:
            parts = [glued[1], glued[2]]
        elif _NAMES.fullmatch(parts[0]):
            parts = _NAME.findall(parts[0])
    squares = []
    for part in parts:
        if _NUMBER.fullmatch(part):
            square = int(part)
        elif _NAME.fullmatch(part):
            square = board.named(part)
        else:
            raise IllegalMoveError(f"{quoted(text)} is not understood as a move: moves look like '11-15' or '22x15'")
        if not 1 <= square <= board.squares:
            raise IllegalMoveError(
                f"{part} in {quoted(text)} is no square of this board: squares run from 1 to {board.squares}"
            )
        squares.append(square)
    if len(squares) < 2:
        raise IllegalMoveError(f"{quoted(text)} is not understood as a move: it names one square only")
    return tuple(squares)


class _Writer:
    """Squares and moves for an error message, in numbers or names as in the text it is about."""

    def __init__(self, board: Geometry, text: str) -> None:
        self.shown = quoted(text.strip())[1:-1]
        self._board = board
        self._named = any(letter in "abcdefghij" for letter in text.lower())

    def square(self, square: int) -> str:
        return self._board.name(square) if self._named else str(square)

    def move(self, move: Move, full: bool = False) -> str:
        if self._named:
            return (":" if move.is_capture else "-").join(map(self._board.name, move.path if full else move.short_path))
        return move.full if full else str(move)

    def moves(self, moves: list[Move], full: bool = False) -> str:
        """Moves as a list in a sentence, not too long."""
        texts = [self.move(m, full) for m in moves[:_SHOWN]]
        if len(moves) > _SHOWN:
            return f"{', '.join(texts)} and {len(moves) - _SHOWN} more"
        if len(texts) < 2:
            return "".join(texts)
        return f"{', '.join(texts[:-1])} or {texts[-1]}"


def why_illegal(position: Position, squares: tuple[int, ...], text: str | None = None) -> str:
    """What is wrong with a move that is not legal in the position.

    Args:
        position: the position.
        squares: origin, perhaps landing squares, target.
        text: the move as somebody wrote it.
    """
    board = position.geometry
    writer = _Writer(board, "-".join(map(str, squares)) if text is None else text)
    shown = writer.shown
    if max(squares) > board.squares:
        return f"{shown} leaves the board: squares run from 1 to {board.squares}"
    legal = position.legal_moves()
    origin, target = squares[0], squares[-1]
    start, end = writer.square(origin), writer.square(target)
    side = position.turn.capitalize()
    piece = position.piece_at(origin)
    if piece is None:
        return f"{shown}: there is no piece on {start}"
    if piece[0] != position.turn:
        return f"{shown}: the piece on {start} is {piece[0].capitalize()}'s, and {side} is to move"
    if not legal:
        return f"{shown}: {side} has no legal move"
    kind = "king" if piece[1] else "man"
    mine = [m for m in legal if m.origin == origin]
    if not legal[0].is_capture:
        where = f"it can play {writer.moves(mine)}" if mine else "it has no move"
        return f"{shown}: the {kind} on {start} cannot go to {end}; {where}"
    everything = writer.moves(legal)
    attempt = find_partial(position.placement, squares)
    if attempt is None:
        if position.piece_at(target) is not None and target != origin:
            return f"{shown}: there is a piece on {end}; {side} must capture: {everything}"
        if not mine or len(squares) == 2:
            return f"{shown}: capturing is compulsory, and this takes nothing; {side} must play {everything}"
        return f"{shown} is no capture that the {kind} on {start} can make; it can play {writer.moves(mine)}"
    taken, unfinished = attempt
    most = len(legal[0].captured)
    if position.variant.most and taken < most and not (unfinished and mine):
        return f"{shown} takes {taken}, but the most men must be taken, which is {most}: {everything}"
    if unfinished and mine:
        return f"{shown}: the capture is not complete; the {kind} on {start} must play {writer.moves(mine)}"
    return f"{shown} is no legal capture; {side} must play {everything}"
