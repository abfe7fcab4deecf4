"""The agent that plays any legal move."""

from __future__ import annotations

import random
import threading

from agents.agent import Decision, Limit, Watch, spec_text
from draughts_env.errors import GameOverError
from draughts_env.game import Game
from draughts_env.variants import Variant


class RandomAgent:
    """Plays each legal move with the same probability.

    Args:
        variant: not needed; every agent is made with its variant.
        seed: start of the random choices.
    """

    def __init__(self, variant: Variant | None = None, seed: int = 0) -> None:
        self.name = spec_text("random", {"seed": seed or None})
        self.seed(seed)

    def seed(self, seed: int) -> None:
        """Start the random choices anew."""
        self._random = random.Random(seed)

    def new_game(self) -> None:
        """Nothing is remembered between games."""

    def choose(
        self,
        game: Game,
        limit: Limit | None = None,
        watch: Watch | None = None,
        stop: threading.Event | None = None,
    ) -> Decision:
        """Any legal move; every limit is kept.

        Raises:
            GameOverError: the game is over.
        """
        if game.is_over:
            raise GameOverError("the game is over: there is nothing to choose")
        moves = game.legal_moves()
        return Decision(self._random.choice(moves), policy=dict.fromkeys(moves, 1 / len(moves)))
