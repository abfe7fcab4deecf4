"""Action ids and observations of games with huffing.

Ids are in the frame of the side that acts, as everywhere (:mod:`draughts_env.actions`):

* the ids of the strict variant for moves: its captures are all that the board allows, so those that stop early have
  theirs among them;
* then one for each square: huffing the piece there;
* the last: insisting on the capture.

English: 1034 moves, 32 huffs, 1067 actions in all.

An observation is float32 of shape ``(16, rows, rows / 2)``. Planes 0 to 7 are those of the strict variant
(:mod:`draughts_env.observation`). The others make it complete: what may be huffed, and what insisting would go back to.

======  ==================================  ==================================================================
8       huffable                            1 where a piece of the opponent stands that may be huffed
9       must capture                        1 everywhere after the opponent has insisted
10-13   own men, own kings, opponent's      the position before the offence, seen from the side that acts now; all
        men, opponent's kings before        0 when there was no offence
14      quiet clock before                  as plane 4, before the offence
15      earlier occurrences before          as plane 6, before the offence
======  ==================================  ==================================================================
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from draughts_env.actions import action_tables
from draughts_env.errors import ActionError, VariantError
from draughts_env.huffing import INSIST, Action, Huff, HuffingGame
from draughts_env.moves import Move
from draughts_env.observation import PLANES, observation_shape, observe_position
from draughts_env.variants import Color, Variant, variant

HUFFING_PLANES = (
    *PLANES,
    "huffable",
    "must capture",
    *(f"{name} before" for name in PLANES[:4]),
    "quiet clock before",
    "earlier occurrences before",
)


class HuffingActions:
    """Action ids of one variant with huffing.

    Attributes:
        variant: the variant; n: number of actions.
        insist: id of insisting; huffs: id of the first huff.
    """

    def __init__(self, of: Variant | str = "english-huffing") -> None:
        self.variant = variant(of)
        if not self.variant.huffing:
            raise VariantError(f"{self.variant} is played without huffing")
        keys, ids, moves = action_tables(self.variant.rules, self.variant.size)
        self._ids = {int(key): int(number) for key, number in zip(keys, ids) if key}
        self._board = self.variant.geometry
        self.huffs = moves
        self.insist = moves + self._board.squares
        self.n = self.insist + 1

    def encode(self, game: HuffingGame, action: Action) -> int:
        """Id of a legal action.

        Raises:
            IllegalMoveError: it is not legal.
        """
        game.check(action)
        return self._id(action, game.turn)

    def _id(self, action: Action, turn: Color) -> int:
        if isinstance(action, Huff):
            return self.huffs + self._seen(action.square, turn) - 1
        if not isinstance(action, Move):
            return self.insist
        bits = self._board.bit_of
        captured = sum(1 << bits[self._seen(square, turn)] for square in action.captured)
        origin, target = (bits[self._seen(square, turn)] for square in (action.origin, action.target))
        return self._ids[captured << 12 | origin << 6 | target | 1 << 62]

    def _seen(self, square: int, turn: Color) -> int:
        """A square as its side sees it."""
        return square if turn == "white" else self._board.squares + 1 - square

    def legal(self, game: HuffingGame) -> list[int]:
        """Ids of the legal actions, in the order of ``game.legal_actions()``."""
        return [self._id(action, game.turn) for action in game.legal_actions()]

    def decode(self, game: HuffingGame, number: int) -> Action:
        """The legal action of an id.

        Raises:
            ActionError: the id is out of range or no legal action's.
        """
        if not 0 <= number < self.n:
            raise ActionError(f"action {number} is out of range: {self.variant} has actions 0 to {self.n - 1}")
        if number == self.insist and game.huffable:
            return INSIST
        for action in game.legal_actions():
            if self._id(action, game.turn) == number:
                return action
        raise ActionError(f"action {number} is no legal action in {game.fen}")

    def mask(self, game: HuffingGame) -> npt.NDArray[np.int8]:
        """1 for every id that is a legal action, else 0; shape ``(n,)``."""
        mask = np.zeros(self.n, np.int8)
        mask[self.legal(game)] = 1
        return mask


def observe_huffing(game: HuffingGame, view: Color | None = None) -> npt.NDArray[np.float32]:
    """What the side to act sees (the side ``view``, if given), shape ``(16, rows, rows / 2)``."""
    position, view = game.position, view or game.turn
    planes = np.zeros((len(HUFFING_PLANES), *observation_shape(position.variant)[1:]), np.float32)
    planes[:8] = observe_position(position, game.quiet, -1, game.repeats, view)
    flat = planes[8].reshape(-1)
    for square in game.huffable:
        flat[square - 1 if view == "white" else position.geometry.squares - square] = 1
    planes[9] = game.must_capture
    if game.offence is not None:
        before, quiet, repeats = game.offence
        seen = observe_position(before, quiet, -1, repeats, view)
        planes[10:14] = seen[:4]
        planes[14], planes[15] = seen[4], seen[6]
    return planes
