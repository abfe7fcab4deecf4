"""A line of moves that is read while it is not yet sure which moves they are.

``47x36`` can be two captures of different men. A record that does not say which usually decides it later: only one of
them lets the rest be legal. So every *reading* is played on until it fails, and those that come to the same position
are followed as one. A game with an unknown side to move begins with two readings.

Where the variant is not known, the likeliest is played first. If it comes to a move that is not legal, the moves are
played again in the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from draughts_env import notation
from draughts_env.errors import IllegalMoveError
from draughts_env.geometry import Geometry
from draughts_env.kernels import ALL
from draughts_env.moves import Move, QuietMoves, capture_move
from draughts_env.position import Position
from draughts_env.routes import find_route

#: So many readings are followed at most.
MAX_READINGS = 64

_ALL = int(ALL)
_QUIET_MOVES = QuietMoves()

#: Plies at which the text fits several moves, with the move taken.
_Choices = tuple[tuple[int, Move], ...]


@dataclass(slots=True)
class _Reading:
    start: Position
    before: Position | None  # before the last move
    position: Position
    moves: list[Move]
    choices: _Choices = ()
    twins: tuple[_Choices, ...] = ()  # choices that led to the same position


class Doubt(NamedTuple):
    """A ply whose text fits several moves that all agree with the rest of the line.

    Attributes:
        ply: its number in the line, from 1.
        moves: the moves, the one that is taken first.
    """

    ply: int
    moves: tuple[Move, ...]


class Played(NamedTuple):
    """What came of a move.

    Attributes:
        capture: whether it is a capture.
        remark: what is odd about its text.
        open: whether the text fits several moves.
    """

    capture: bool
    remark: str | None = None
    open: bool = False


class Candidates(NamedTuple):
    """Legal moves that a text can mean.

    Attributes:
        indices: their places among the legal moves, the likeliest first.
        certain: whether the first is named in full.
        remark: what is odd about the text.
    """

    indices: list[int]
    certain: bool = False
    remark: str | None = None


def candidates(position: Position, squares: tuple[int, ...]) -> Candidates:
    """The legal moves with these squares: origin, perhaps landing squares, target."""
    code = squares[0] << 6 | squares[-1]
    legal = position.legal_moves()
    found = [i for i, move in enumerate(legal) if move._code == code]
    through = squares[1:-1]
    placement = position.placement

    def has_route(index: int, exact: bool) -> bool:
        move = legal[index]
        if not move.is_capture:
            return not through
        return find_route(placement, move.origin, move.target, move.captured, through, exact) is not None

    if through:
        found = [i for i in found if has_route(i, False)]
        if not found:  # origin, target, captured men: the notation of the Hub protocol
            code = squares[0] << 6 | squares[1]
            taken = frozenset(squares[2:])
            found = [i for i, move in enumerate(legal) if move._code == code and move.captured == taken]
            return Candidates(found, bool(found), "lists the captured men instead of the landing squares")
    if len(found) < 2:
        return Candidates(found, True)
    exact = [i for i in found if has_route(i, True)]
    return Candidates(exact + [i for i in found if i not in exact], bool(exact))


class Line:
    """Moves played one after the other from one position or, not knowing better, from several.

    Args:
        starts: the positions, the likeliest first; at least one. Those of other variants than the first are used only
            if this one fails.
    """

    def __init__(self, starts: list[Position]) -> None:
        rules = starts[0].variant
        self._begin([start for start in starts if start.variant == rules])
        self._reserve = [start for start in starts if start.variant != rules]
        self._texts: list[str] = []  # the moves as they are written, as long as they may have to be played again

    def _begin(self, starts: list[Position]) -> None:
        self._readings = [_Reading(start, None, start, []) for start in starts]
        # The only reading, whose moves can be played by `step`.
        self._only = self._readings[0] if len(starts) == 1 else None
        self._certain: set[int] = set()  # plies whose first choice is named in full
        #: Whether readings were given up because there were too many.
        self.overflowed = False

    @property
    def ply(self) -> int:
        """Number of moves."""
        return len(self._readings[0].moves)

    @property
    def board(self) -> Geometry:
        """The board."""
        return self._readings[0].position.geometry

    def step(self, code: int, text: str) -> Played | None:
        """Play the move of a code (origin * 64 + target) if it is the only one of that code; ``None`` otherwise."""
        reading = self._only
        if reading is None:
            return None
        position = reading.position
        codes = position._codes
        if codes is None or codes.count(code) != 1:
            return None
        index = codes.index(code)
        captured = position._words.item(index, 2) & _ALL
        if captured:
            reading.moves.append(capture_move(code, captured, position.placement, False))
        else:
            reading.moves.append(_QUIET_MOVES[code])
        reading.before = position
        reading.position = position._advance(index, 0, -1)[0]
        if self._reserve:
            self._texts.append(text)
        return _CAPTURE if captured else _STEP

    def play(self, text: str) -> Played:
        """Play the moves that a text can mean.

        Raises:
            IllegalMoveError: there is none; nothing has changed.
        """
        played = self._play(text) or self._in_other_variant(text)
        if played is None:
            raise IllegalMoveError(notation.why_illegal(self.position, notation.read_squares(self.board, text), text))
        if self._reserve:
            self._texts.append(text)
        return played

    def _in_other_variant(self, text: str) -> Played | None:
        """Play all moves and one more in the next variant that allows it."""
        while self._reserve:
            rules = self._reserve[0].variant
            other = Line([start for start in self._reserve if start.variant == rules])
            rest = [start for start in self._reserve if start.variant != rules]
            self._reserve = rest
            played = None
            for each in (*self._texts, text):
                played = other._play(each)
                if played is None:
                    break
            if played is None:
                continue
            self._readings, self._only, self._certain = other._readings, other._only, other._certain
            self.overflowed = other.overflowed
            return played
        return None

    def _play(self, text: str) -> Played | None:
        """Play the moves that a text can mean; ``None`` if there are none, and nothing has changed."""
        try:
            squares = notation.read_squares(self.board, text)
        except IllegalMoveError:
            return None
        after: dict[Position, _Reading] = {}
        ply = self.ply + 1
        remark: str | None = None
        several = False
        for reading in self._readings:
            found = candidates(reading.position, squares)
            if found.indices and not after:
                remark = found.remark
                if found.certain:
                    self._certain.add(ply)
            several = several or len(found.indices) > 1
            for index in found.indices:
                self._follow(reading, index, ply if len(found.indices) > 1 else 0, after)
        if not after:
            return None
        self._readings = list(after.values())
        self._only = self._readings[0] if len(self._readings) == 1 else None
        return Played(self._readings[0].moves[-1].is_capture, remark, several)

    def _follow(self, reading: _Reading, index: int, ply: int, after: dict[Position, _Reading]) -> None:
        """Add what a move leads to; ``ply`` is its number if the text fits others as well."""
        before = reading.position
        move = before.legal_move(index)
        position = before._advance(index, 0, -1)[0]
        choices, twins = reading.choices, reading.twins
        if ply:
            choices = (*choices, (ply, move))
            twins = tuple((*twin, (ply, move)) for twin in twins)
        same = after.get(position)
        if same is not None:
            same.twins = (*same.twins, choices, *twins)[:MAX_READINGS]
        elif len(after) < MAX_READINGS:
            after[position] = _Reading(reading.start, before, position, [*reading.moves, move], choices, twins)
        else:
            self.overflowed = True

    def branch(self) -> Line | None:
        """A line of other moves than the last; ``None`` when there is no last."""
        starts = dict.fromkeys(reading.before for reading in self._readings if reading.before is not None)
        return Line(list(starts)) if starts else None

    # --- at the end ---------------------------------------------------------------------------------

    @property
    def start(self) -> Position:
        """Where the reading that is taken starts."""
        return self._readings[0].start

    @property
    def position(self) -> Position:
        """Where the reading that is taken has come."""
        return self._readings[0].position

    @property
    def moves(self) -> list[Move]:
        """The moves of the reading that is taken."""
        return self._readings[0].moves

    def starts(self) -> list[Position]:
        """The starts of all readings that are left."""
        return list(dict.fromkeys(reading.start for reading in self._readings))

    def doubts(self) -> list[Doubt]:
        """The plies that are still open."""
        if self._only and not self._only.twins:
            return []
        taken = dict(self._readings[0].choices)
        options: dict[int, dict[Move, None]] = {}
        for reading in self._readings:
            for choices in (reading.choices, *reading.twins):
                for ply, move in choices:
                    options.setdefault(ply, {})[move] = None
        found = []
        for ply, moves in sorted(options.items()):
            if ply in taken and len(moves) > 1 and ply not in self._certain:
                found.append(Doubt(ply, tuple(sorted(moves, key=lambda move: move != taken[ply]))))
        return found


_CAPTURE, _STEP = Played(True), Played(False)


@cache
def plain_words(board: Geometry) -> dict[str, tuple[int, str]]:
    """Memory of moves written by two squares: code and sign. The reader fills it as it meets them."""
    return {}
