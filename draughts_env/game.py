"""Game: a position with its history, the draw rules, and how the game ends."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from draughts_env import fen as fen_text
from draughts_env.errors import GameOverError, VariantError
from draughts_env.game_kernels import ENDING_LIMIT, NO_MOVES, NO_PIECES, ONGOING, QUIET_LIMIT
from draughts_env.kernels import U, ending_limit
from draughts_env.moves import Move
from draughts_env.offers import REFUSED, SILENCE, AdvantageTest, Agreements, Talk, decisive_advantage
from draughts_env.outcome import Outcome, Reason
from draughts_env.position import Position
from draughts_env.variants import Color, Variant

__all__ = ["Game", "Outcome", "Reason"]


_REASONS = {
    NO_PIECES: Reason.NO_PIECES,
    NO_MOVES: Reason.NO_MOVES,
    QUIET_LIMIT: Reason.QUIET_LIMIT,
    ENDING_LIMIT: Reason.ENDING_LIMIT,
}


@cache
def _ended(verdict: int, black_to_move: bool) -> Outcome:
    """The outcome for a verdict of the kernels; without piece or move, the side to move has lost."""
    lost = verdict in (NO_PIECES, NO_MOVES)
    winner: Color | None = None
    if lost:
        winner = "white" if black_to_move else "black"
    return Outcome(winner, _REASONS[verdict])


_REPEATED = Outcome(None, Reason.REPETITION)

#: Position, its clocks quiet and ending, how often it stood before, outcome, what has been said about draws.
_State = tuple[Position, int, int, int, Outcome | None, Talk]


class Game(Agreements):
    """A game in progress or ended: moves are played with :meth:`push` and taken back with :meth:`pop`.

    Draw offers, resignation and counting: :class:`draughts_env.offers.Agreements`. They belong to the position on the
    board: :meth:`pop` takes back those made since the move, and finds those made before it as they were.

    Games are equal when they have the same variant, start, moves, and offers.

    Args:
        of: the variant or its name.
        fen: where the game starts, if not from the starting position. Its quiet clock (``H``) counts; a small ending
            that is on the board begins with its full number of moves.
        advantage: whether a side that declined a draw has shown a decisive advantage. To be pickled with the game, it
            must be a function of a module.

    Raises:
        FenError: the FEN cannot be read.
        VariantError: no variant of that name.
    """

    __slots__ = ("_advantage", "_keys", "_moves", "_repetitions", "_states")

    _states: list[_State]  # one more than moves
    _keys: list[int]  # the positions' hashes
    _moves: list[Move]
    _advantage: AdvantageTest

    def __init__(
        self,
        of: Variant | str = "english",
        fen: str | None = None,
        advantage: AdvantageTest = decisive_advantage,
    ) -> None:
        if fen is None:
            self._begin(Position.start(of), 0, advantage)
        else:
            start = fen_text.read(fen, of)
            self._begin(start.position, start.quiet, advantage)

    @classmethod
    def from_position(cls, position: Position, quiet: int = 0, advantage: AdvantageTest = decisive_advantage) -> Game:
        """A game that starts from a position, after ``quiet`` plies of kings only."""
        game: Game = cls.__new__(cls)
        game._begin(position, quiet, advantage)
        return game

    def _begin(self, position: Position, quiet: int, advantage: AdvantageTest) -> None:
        rules = position.variant
        if rules.huffing:
            raise VariantError(f"games of {rules} are played with HuffingGame")
        ending = int(ending_limit(U(position.white), U(position.black), U(position.kings), U(rules.rules)))
        self._repetitions = rules.draws.repetitions
        verdict = ONGOING
        if not position.legal_moves():
            own = position.white if position.turn == "white" else position.black
            verdict = NO_MOVES if own else NO_PIECES
        elif quiet >= rules.draws.quiet_plies:
            verdict = QUIET_LIMIT
        outcome = _ended(verdict, position.turn == "black") if verdict else None
        self._states = [(position, quiet, ending, 0, outcome, SILENCE)]
        self._keys = [position.key]
        self._moves = []
        self._advantage = advantage

    # --- where the game stands ----------------------------------------------------------------------

    @property
    def variant(self) -> Variant:
        """The rules that are played."""
        return self._states[-1][0].variant

    @property
    def position(self) -> Position:
        """The position on the board."""
        return self._states[-1][0]

    @property
    def start(self) -> Position:
        """The position the game started from."""
        return self._states[0][0]

    @property
    def positions(self) -> list[Position]:
        """All positions from the start to the one on the board; one more than moves."""
        return [state[0] for state in self._states]

    @property
    def turn(self) -> Color:
        """The side to move."""
        return self._states[-1][0].turn

    @property
    def moves(self) -> list[Move]:
        """The moves played, oldest first."""
        return self._moves.copy()

    @property
    def ply(self) -> int:
        """Number of moves played, by both sides."""
        return len(self._moves)

    @property
    def quiet(self) -> int:
        """Plies in a row by kings without a capture."""
        return self._states[-1][1]

    @property
    def ending(self) -> int:
        """Plies left in a small ending (:mod:`draughts_env.draws`); -1 while none has begun."""
        return self._states[-1][2]

    @property
    def repeats(self) -> int:
        """How often the position stood on the board before, the same side to move."""
        return self._states[-1][3]

    @property
    def fen(self) -> str:
        """The position as FEN, with the quiet clock (``H``) when it is not zero."""
        return fen_text.write(self.position, self.quiet)

    @property
    def key_history(self) -> npt.NDArray[np.uint64]:
        """Hashes of the positions since the last move that cannot be undone, oldest first, the current one last."""
        return np.array(self._keys[self._window() :], np.uint64)

    def _window(self) -> int:
        """Index of the first position since the last irreversible move."""
        return max(0, len(self._keys) - 1 - self._states[-1][1])

    def legal_moves(self) -> list[Move]:
        """The legal moves of the position, also when a draw rule has ended the game."""
        return self._states[-1][0].legal_moves()

    def outcome(self) -> Outcome | None:
        """How the game ended; ``None`` while it goes on."""
        return self._states[-1][4]

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self._states[-1][4] is not None

    # --- playing ------------------------------------------------------------------------------------

    def push(self, move: Move | str) -> Move:
        """Play a move, given as a :class:`Move` or as text; returns it as the position knows it.

        Raises:
            IllegalMoveError: not a legal move of the position.
            GameOverError: the game has ended.
        """
        before, quiet, ending, _, outcome, talk = self._states[-1]
        if outcome is not None:
            raise GameOverError(f"the game is over: {outcome}")
        if isinstance(move, str):
            move = before.parse(move)
        index = before.index(move)
        move = before.legal_move(index)
        position, quiet, ending, verdict = before._advance(index, quiet, ending)
        keys = self._keys
        key = position._key
        repeats = 0
        if quiet >= 4:
            window = keys[-quiet:]
            if key in window:
                earlier = self._states[-quiet:]
                repeats = sum(state[0] == position for state in earlier)
        if verdict:
            lost = verdict in (NO_PIECES, NO_MOVES)
            outcome = _ended(verdict, not position._up)
        if repeats + 1 >= self._repetitions and not (verdict and lost):
            outcome = _REPEATED
        if talk is not SILENCE:
            talk = talk.moved(before, position, self.variant.draws.refusal_moves, self._advantage)
            if outcome is None and talk.expired:
                outcome = REFUSED
        keys.append(key)
        self._states.append((position, quiet, ending, repeats, outcome, talk))
        self._moves.append(move)
        return move

    def pop(self) -> Move:
        """Take back the last move and return it; everything is as it was before.

        Raises:
            GameOverError: no move has been played.
        """
        if not self._moves:
            raise GameOverError("there is no move to take back")
        self._states.pop()
        self._keys.pop()
        return self._moves.pop()

    # --- what players say: the rest is in Agreements -----------------------------------------------

    @property
    def _talk(self) -> Talk:
        return self._states[-1][5]

    def _say(self, talk: Talk, outcome: Outcome | None) -> None:
        self._states[-1] = (*self._states[-1][:4], outcome, talk)

    # --- as an object -------------------------------------------------------------------------------

    def copy(self) -> Game:
        """An independent copy with the whole history."""
        twin: Game = Game.__new__(Game)
        twin._states = self._states.copy()
        twin._keys = self._keys.copy()
        twin._moves = self._moves.copy()
        twin._repetitions = self._repetitions
        twin._advantage = self._advantage
        return twin

    def __copy__(self) -> Game:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Game:
        return self.copy()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Game):
            return NotImplemented
        return self._states == other._states and self._moves == other._moves and self._advantage == other._advantage

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        moves = [(move._code, move.captured) for move in self._moves]
        said = {ply: state[5] for ply, state in enumerate(self._states) if state[5] != SILENCE}
        return _replay, (self.start, self._states[0][1], self._advantage, moves, said, self.outcome())

    def __repr__(self) -> str:
        return f"<Game of {self.variant}: {self.ply} plies, {self.fen}>"


def _replay(
    start: Position,
    quiet: int,
    advantage: AdvantageTest,
    moves: list[tuple[int, frozenset[int]]],
    said: dict[int, Talk],
    outcome: Outcome | None,
) -> Game:
    game = Game.from_position(start, quiet, advantage)
    for code, captured in moves:
        game.push(Move(code >> 6, code & 63, captured))
    game._states = [(*state[:5], said.get(ply, SILENCE)) for ply, state in enumerate(game._states)]
    game._say(game._talk, outcome)
    return game
