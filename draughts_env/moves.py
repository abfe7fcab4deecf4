"""Move: one complete move, multi-jumps included."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from draughts_env.errors import IllegalMoveError
from draughts_env.geometry import geometry
from draughts_env.routes import Placement, find_route

_NOTHING: frozenset[int] = frozenset()


class Move:
    """A move: origin, target and the set of captured squares, in PDN numbers. Immutable and hashable.

    Routes that agree in all three are one move. Moves come from :meth:`Position.legal_moves` and
    :meth:`Position.parse`; one made by hand equals the one of the position and can be played there.

    Args:
        origin: square the piece leaves.
        target: square it ends on.
        captured: squares of the men it takes.
        path: origin, every landing square, target; by default only the two ends.

    Raises:
        IllegalMoveError: a number that is no square of any board.
    """

    # A move made by a position keeps the bit set of its captured men and the position itself as plain values; the
    # set of squares and the path are made of these when somebody asks.
    __slots__ = ("_ambiguous", "_captured", "_captured_bits", "_code", "_path", "_placement")

    _code: int  # origin * 64 + target
    _captured: frozenset[int] | None
    _captured_bits: int
    _path: tuple[int, ...] | None
    _placement: Placement | None
    _ambiguous: bool  # whether another legal move of its position has the same origin and target

    def __init__(
        self, origin: int, target: int, captured: Iterable[int] = (), path: Iterable[int] | None = None
    ) -> None:
        taken = frozenset(captured)
        squares = (origin, target) if path is None else tuple(path)
        for square in (origin, target, *taken, *squares):
            if not 1 <= square <= 50:
                raise IllegalMoveError(f"there is no square {square}: squares are numbers from 1 to 50")
        if len(squares) < 2 or squares[0] != origin or squares[-1] != target:
            raise IllegalMoveError(f"a path from {origin} to {target} cannot be {squares}")
        self._code = origin << 6 | target
        self._captured = taken
        self._captured_bits = 0
        self._path = squares
        self._placement = None
        self._ambiguous = False

    @property
    def origin(self) -> int:
        """PDN square that the piece leaves."""
        return self._code >> 6

    @property
    def target(self) -> int:
        """PDN square that the piece ends on; the origin again after a round trip."""
        return self._code & 63

    @property
    def captured(self) -> frozenset[int]:
        """PDN squares of the men taken."""
        taken = self._captured
        if taken is None:
            assert self._placement is not None
            taken = self._captured = frozenset(self._placement.variant.geometry.members(self._captured_bits))
        return taken

    @property
    def is_capture(self) -> bool:
        """Whether the move takes anything."""
        return self._captured_bits != 0 or bool(self._captured)

    @property
    def path(self) -> tuple[int, ...]:
        """Origin, every landing square, target. Of several routes, the first in the order of their squares."""
        path = self._path
        if path is None:
            assert self._placement is not None
            path = find_route(self._placement, self.origin, self.target, self.captured)
            assert path is not None
            self._path = path
        return path

    @property
    def full(self) -> str:
        """The move with every landing square, such as ``7x16x23x32``."""
        return ("x" if self.is_capture else "-").join(map(str, self.path))

    @property
    def short_path(self) -> tuple[int, ...]:
        """What it takes to tell the move from the others of its position: the two ends, or the whole path."""
        return self.path if self._ambiguous else (self._code >> 6, self._code & 63)

    def __str__(self) -> str:
        if self._ambiguous:
            return self.full
        return f"{self._code >> 6}{'x' if self.is_capture else '-'}{self._code & 63}"

    def named(self, size: int) -> str:
        """The move in algebraic squares, such as ``c3-d4`` or ``h6:f8:b4:e1``, for a board of ``size`` rows."""
        return (":" if self.is_capture else "-").join(map(geometry(size).name, self.short_path))

    def __repr__(self) -> str:
        return f"<Move {self.full}>"

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Move):
            return NotImplemented
        return self._code == other._code and self.captured == other.captured

    def __hash__(self) -> int:
        return hash((self._code, self.captured))

    def __copy__(self) -> Move:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Move:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.origin, self.target, self.captured, self.path, self._ambiguous)


def _restore(origin: int, target: int, captured: frozenset[int], path: tuple[int, ...], ambiguous: bool) -> Move:
    move = Move(origin, target, captured, path)
    move._ambiguous = ambiguous
    return move


class QuietMoves(dict[int, Move]):
    """The moves without captures by code (``origin * 64 + target``), each made once and shared by all positions."""

    def __missing__(self, code: int) -> Move:
        return self.setdefault(code, Move(code >> 6, code & 63))


def capture_move(code: int, captured_bits: int, placement: Placement, ambiguous: bool) -> Move:
    """A capture of a position. ``captured_bits`` is in the bit layout of its board, without further flags."""
    move: Move = Move.__new__(Move)
    move._code = code
    move._captured = None
    move._captured_bits = captured_bits
    move._path = None
    move._placement = placement
    move._ambiguous = ambiguous
    return move
