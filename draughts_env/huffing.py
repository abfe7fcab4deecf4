"""English draughts with huffing, the old penalty for a capture that was missed.

Captures may be missed, and a multi-jump may be stopped early; both are an *offence*. Before the opponent moves, it may

* **huff**: take one of the pieces off the board that could have captured (after a jump that stopped early, the piece
  that stopped). The huff is no move: the huffer then moves;
* **insist**: the move goes back, and the offender must make a complete capture instead;
* let it pass: just move. What was missed then is forgiven.

A game here is a sequence of *actions*: moves, huffs, insisting. Positions are those of the strict variant; which moves
are open to whom is decided here. A huff counts as progress: the quiet clock begins anew. Draws by rule fall at once,
also when the last move was an offence. The rules in full, with diagrams: ``docs/rules/huffing.md``.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from draughts_env import fen as fen_text
from draughts_env.errors import GameOverError, IllegalMoveError, VariantError
from draughts_env.moves import Move
from draughts_env.notation import read_squares
from draughts_env.offers import REFUSED, SILENCE, AdvantageTest, Agreements, Talk, decisive_advantage
from draughts_env.outcome import Outcome, Reason
from draughts_env.position import Position
from draughts_env.routes import Jumper, Route, find_route
from draughts_env.variants import ENGLISH, Color, Variant, variant

_HUFF = re.compile(r"huff\s*(\S+)", re.IGNORECASE)


@dataclass(frozen=True, order=True)
class Huff:
    """Taking a piece off the board that could have captured.

    Attributes:
        square: PDN square on which it stands.
    """

    square: int

    def __str__(self) -> str:
        return f"huff {self.square}"


@dataclass(frozen=True)
class Insist:
    """Insisting on the capture: the offence goes back."""

    def __str__(self) -> str:
        return "insist"


INSIST = Insist()
Action = Move | Huff | Insist


@dataclass(frozen=True)
class _State:
    position: Position  # of the strict variant
    quiet: int
    repeats: int
    seen: tuple[Position, ...]  # since the last action that cannot be undone, this one included
    outcome: Outcome | None = None
    talk: Talk = SILENCE
    huffable: tuple[int, ...] = ()  # the offender's pieces; the offender is not on turn
    before: _State | None = None  # what stood before the offence, without what stood before that
    insisted: bool = False  # the side to move must capture


def optional_moves(position: Position) -> list[Move]:
    """The moves of a position where captures may be missed or stopped early: steps first, then captures by length.

    The position belongs to a variant of short kings.
    """
    legal = position.legal_moves()
    if not legal or not legal[0].is_capture:
        return legal
    steps = [m for square in _own(position) for m in _steps(position, square)]
    jumps: dict[tuple[int, int, frozenset[int]], Route] = {}
    for square in _own(position):
        jumper = Jumper(position.placement, square)

        def follow(path: Route, taken: frozenset[int], jumper: Jumper = jumper) -> None:
            for landing, _, victim in jumper.hops(path[-1], jumper.king, taken):
                longer, after = (*path, landing), taken | {victim}
                if (path[0], landing, after) not in jumps:
                    jumps[path[0], landing, after] = longer
                    follow(longer, after)

        follow((square,), frozenset())
    ends = Counter((origin, target) for origin, target, _ in jumps)
    found = []
    for (origin, target, taken), path in sorted(jumps.items(), key=lambda item: (len(item[0][2]), item[1])):
        move = Move(origin, target, taken, path)
        move._ambiguous = ends[origin, target] > 1
        found.append(move)
    return steps + found


def _own(position: Position) -> list[int]:
    return position.geometry.members(position.white if position.turn == "white" else position.black)


def _steps(position: Position, square: int) -> list[Move]:
    board = position.geometry
    row, column = board.row_column(square)
    ahead = -1 if position.turn == "white" else 1
    rows = (-1, 1) if position.kings >> board.bit_of[square] & 1 else (ahead,)
    targets = (board.square_at(row + down, column + right) for down in rows for right in (-1, 1))
    return [Move(square, t) for t in targets if t and position.piece_at(t) is None]


def offenders(position: Position, move: Move) -> tuple[int, ...]:
    """Squares, after the move, of the pieces that may be huffed for it; none if it is no offence."""
    legal = position.legal_moves()
    if not legal or not legal[0].is_capture or move in legal:
        return ()
    if move.is_capture:
        return (move.target,)
    able = {m.origin for m in legal}
    return tuple(sorted(move.target if square == move.origin else square for square in able))


class HuffingGame(Agreements):
    """A game with huffing: actions are played with :meth:`push` and taken back with :meth:`pop`.

    Args:
        of: a variant with huffing (:meth:`Variant.with_huffing`) or its name.
        fen: where the game starts, if not from the starting position.
        advantage: as for :class:`draughts_env.game.Game`.

    Raises:
        FenError: the FEN cannot be read.
        VariantError: no variant of that name, or one without huffing.
    """

    __slots__ = ("_actions", "_advantage", "_states", "_variant")

    def __init__(
        self,
        of: Variant | str = "english-huffing",
        fen: str | None = None,
        advantage: AdvantageTest = decisive_advantage,
    ) -> None:
        self._variant = variant(of)
        if not self._variant.huffing:
            raise VariantError(f"{self._variant} is played without huffing; {ENGLISH.with_huffing()} has it")
        self._advantage = advantage
        strict = self._variant.without_huffing()
        position, quiet = Position.start(strict), 0
        if fen is not None:
            start = fen_text.read(fen, strict)
            position, quiet = start.position, start.quiet
        self._states = [self._judged(_State(position, quiet, 0, (position,)))]
        self._actions: list[Action] = []

    # --- where the game stands ----------------------------------------------------------------------

    @property
    def variant(self) -> Variant:
        """The rules that are played."""
        return self._variant

    @property
    def position(self) -> Position:
        """The position on the board, of the strict variant."""
        return self._states[-1].position

    @property
    def start(self) -> Position:
        """The position the game started from."""
        return self._states[0].position

    @property
    def positions(self) -> list[Position]:
        """The positions from the start to the one on the board; one more than actions."""
        return [state.position for state in self._states]

    @property
    def turn(self) -> Color:
        """The side to act."""
        return self.position.turn

    @property
    def actions(self) -> list[Action]:
        """The actions, oldest first; moves that were taken back by insisting are among them."""
        return self._actions.copy()

    @property
    def ply(self) -> int:
        """Number of actions."""
        return len(self._actions)

    @property
    def quiet(self) -> int:
        """Plies in a row by kings without a capture or a huff."""
        return self._states[-1].quiet

    @property
    def repeats(self) -> int:
        """How often the position stood on the board before, the same side to move."""
        return self._states[-1].repeats

    @property
    def huffable(self) -> tuple[int, ...]:
        """Squares of the opponent's pieces that the side to move may huff."""
        return self._states[-1].huffable

    @property
    def must_capture(self) -> bool:
        """Whether the opponent has insisted on the capture."""
        return self._states[-1].insisted

    @property
    def offence(self) -> tuple[Position, int, int] | None:
        """What insisting would go back to: position, quiet clock, earlier occurrences. ``None`` without an offence."""
        before = self._states[-1].before
        return None if before is None else (before.position, before.quiet, before.repeats)

    @property
    def fen(self) -> str:
        """The position as FEN, with the quiet clock (``H``) when it is not zero. It knows nothing of an offence."""
        return fen_text.write(self.position, self.quiet)

    @property
    def first_fen(self) -> str:
        """The FEN of the start."""
        return fen_text.write(self.start, self._states[0].quiet)

    def outcome(self) -> Outcome | None:
        """How the game ended; ``None`` while it goes on."""
        return self._states[-1].outcome

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.outcome() is not None

    def legal_moves(self) -> list[Move]:
        """The moves that can be made; after the opponent has insisted, complete captures only."""
        return self.position.legal_moves() if self.must_capture else optional_moves(self.position)

    def legal_actions(self) -> list[Action]:
        """The moves, then the huffs by square, then insisting."""
        huffs = [Huff(square) for square in self.huffable]
        return [*self.legal_moves(), *huffs, *([INSIST] if huffs else [])]

    # --- playing ------------------------------------------------------------------------------------

    def parse(self, text: str) -> Action:
        """The legal action that a text describes: ``huff 18``, ``insist``, or a move as in strict games.

        Raises:
            IllegalMoveError: not understood, not legal, or ambiguous.
        """
        word = text.strip().lower()
        if word == "insist":
            return self.check(INSIST)
        match = _HUFF.fullmatch(word)
        if match:
            board = self.position.geometry
            return self.check(Huff(int(match[1]) if match[1].isdecimal() else board.named(match[1])))
        squares = read_squares(self.position.geometry, text)
        origin, target, through = squares[0], squares[-1], squares[1:-1]
        moves = [m for m in self.legal_moves() if (m.origin, m.target) == (origin, target)]
        if through:
            at = self.position.placement
            moves = [m for m in moves if m.is_capture and find_route(at, origin, target, m.captured, through)]
            exact = [m for m in moves if find_route(at, origin, target, m.captured, through, exact=True)]
            moves = exact or moves
        if len(moves) == 1:
            return moves[0]
        if moves:
            raise IllegalMoveError(f"{text.strip()} is ambiguous: {' or '.join(m.full for m in moves)}")
        if self.must_capture:
            return self.position.parse(text)  # says why not
        raise IllegalMoveError(f"{text.strip()}: there is no such move in {self.fen}")

    def push(self, action: Action | str) -> Action:
        """Act, given an action or its text; returns the action.

        Raises:
            IllegalMoveError: not a legal action.
            GameOverError: the game has ended.
        """
        self._ongoing()
        if isinstance(action, str):
            action = self.parse(action)
        action = self.check(action)
        state = self._states[-1]
        if isinstance(action, Move):
            after = self._moved(state, action)
        elif isinstance(action, Huff):
            bit = 1 << state.position.geometry.bit_of[action.square]
            now = state.position
            position = Position(now.variant, now.white & ~bit, now.black & ~bit, now.kings & ~bit, now.turn)
            after = self._judged(_State(position, 0, 0, (position,), talk=state.talk), huffed=True)
        else:
            assert state.before is not None
            after = replace(state.before, huffable=(), before=None, insisted=True)
        self._states.append(after)
        self._actions.append(action)
        return action

    def pop(self) -> Action:
        """Take back the last action and return it; everything is as it was before.

        Raises:
            GameOverError: nothing has been played.
        """
        if not self._actions:
            raise GameOverError("there is no action to take back")
        self._states.pop()
        return self._actions.pop()

    def check(self, action: Action) -> Action:
        """The action as the game knows it.

        Raises:
            IllegalMoveError: it is not legal.
        """
        for legal in self.legal_actions():
            if legal == action:
                return legal
        if isinstance(action, Move):
            raise IllegalMoveError(f"{action} is no legal move in {self.fen}" + self._insisted_text())
        if not self.huffable:
            raise IllegalMoveError(f"{action}: the opponent has missed no capture")
        raise IllegalMoveError(f"{action}: only {', '.join(map(str, self.huffable))} can be huffed")

    def _insisted_text(self) -> str:
        return ", where the opponent insists on a capture" if self.must_capture else ""

    def _moved(self, state: _State, move: Move) -> _State:
        before = state.position
        board = before.geometry
        up = before.turn == "white"
        origin, target = 1 << board.bit_of[move.origin], 1 << board.bit_of[move.target]
        captured = board.mask(move.captured)
        own, opp = (before.white, before.black) if up else (before.black, before.white)
        king = bool(before.kings & origin)
        own, opp = own & ~origin | target, opp & ~captured
        kings = before.kings & ~origin & ~captured
        if king or target & (board.top if up else board.bottom):
            kings |= target
        position = Position(before.variant, own if up else opp, opp if up else own, kings, "black" if up else "white")
        quiet = state.quiet + 1 if king and not captured else 0
        seen = (*state.seen, position) if quiet else (position,)
        huffable = offenders(before, move) if not state.insisted else ()
        talk = state.talk
        if talk is not SILENCE:
            talk = talk.moved(before, position, self._variant.draws.refusal_moves, self._advantage)
        repeats = seen.count(position) - 1
        back = replace(state, before=None) if huffable else None
        return self._judged(_State(position, quiet, repeats, seen, None, talk, huffable, back))

    def _judged(self, state: _State, huffed: bool = False) -> _State:
        """The state with its outcome; ``huffed``: whether a huff led to it."""
        position, draws = state.position, self._variant.draws
        own, other = (position.white, position.black) if position.turn == "white" else (position.black, position.white)
        mover: Color = position.turn
        opponent: Color = "black" if mover == "white" else "white"
        outcome = None
        if not own:
            outcome = Outcome(opponent, Reason.NO_PIECES)
        elif huffed and not other:
            outcome = Outcome(mover, Reason.NO_PIECES)
        elif not state.huffable and not position.legal_moves():
            outcome = Outcome(opponent, Reason.NO_MOVES)
        elif state.repeats + 1 >= draws.repetitions:
            outcome = Outcome(None, Reason.REPETITION)
        elif state.quiet >= draws.quiet_plies:
            outcome = Outcome(None, Reason.QUIET_LIMIT)
        elif state.talk.expired:
            outcome = REFUSED
        return replace(state, outcome=outcome)

    # --- what players say: the rest is in Agreements -----------------------------------------------

    @property
    def _talk(self) -> Talk:
        return self._states[-1].talk

    def _say(self, talk: Talk, outcome: Outcome | None) -> None:
        self._states[-1] = replace(self._states[-1], talk=talk, outcome=outcome)

    # --- as an object -------------------------------------------------------------------------------

    def copy(self) -> HuffingGame:
        """An independent copy with the whole history."""
        twin = HuffingGame.__new__(HuffingGame)
        twin._variant, twin._advantage = self._variant, self._advantage
        twin._states, twin._actions = self._states.copy(), self._actions.copy()
        return twin

    def __copy__(self) -> HuffingGame:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> HuffingGame:
        return self.copy()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HuffingGame):
            return NotImplemented
        return (
            self._variant == other._variant
            and self._states == other._states
            and self._actions == other._actions
            and self._advantage == other._advantage
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<HuffingGame of {self.variant}: {self.ply} actions, {self.fen}>"
