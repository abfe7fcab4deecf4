"""The alpha-beta agent: a fixed opponent of known strength, and a way to look a few moves ahead."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from agents import alphabeta_kernels as kernels
from agents.agent import AGENTS, Decision, Limit, Watch, spec_text
from draughts_env.errors import GameOverError
from draughts_env.game import Game
from draughts_env.moves import Move
from draughts_env.position import Position
from draughts_env.variants import Variant

_NO_LIMIT = 1 << 62
_SEEDS = 1 << 64
_LOOK = 0.02  # seconds between two looks at whether to stop

#: A lead of this many points (a man is 100) has the value tanh(1) = 0.76.
VALUE_SCALE = 400.0


class AlphaBetaAgent:
    """Iterative deepening over material, captures followed to their end (:mod:`agents.alphabeta_kernels`).

    With a limit of depth or nodes the choice depends on nothing but the game, the limit and the seed, which decides
    between moves of equal score. The first iteration is always completed, whatever the limit. With a limit of time, a
    forced move is played at once.

    Args:
        variant: not needed; every agent is made with its variant.
        depth, nodes, seconds: the agent's own limit, depth 7 when none is given.
        seed: decides between moves of equal score.

    Raises:
        AgentError: a limit that is not greater than 0.
    """

    DEFAULT = Limit(depth=7)

    def __init__(
        self,
        variant: Variant | None = None,
        depth: int | None = None,
        nodes: int | None = None,
        seconds: float | None = None,
        seed: int = 0,
    ) -> None:
        self.limit = Limit(depth=depth, nodes=nodes, seconds=seconds) or self.DEFAULT
        self.name = spec_text("alphabeta", {**self.limit.given(), "seed": seed or None})
        self.seed(seed)

    def seed(self, seed: int) -> None:
        """Change how ties are decided."""
        self._seed = seed % _SEEDS

    def new_game(self) -> None:
        """Nothing is remembered between games."""

    def choose(
        self,
        game: Game,
        limit: Limit | None = None,
        watch: Watch | None = None,
        stop: threading.Event | None = None,
    ) -> Decision:
        """The best move of the last completed iteration.

        The value is ``tanh(score / 400)``, a man being 100; exactly 1 or -1, and marked exact, when proven.

        Raises:
            GameOverError: the game is over.
            AgentError: a limit of simulations.
        """
        if game.is_over:
            raise GameOverError("the game is over: there is nothing to choose")
        limit = limit or self.limit
        AGENTS["alphabeta"].check_limit(limit)
        keys = np.asarray(game.key_history, np.uint64)
        memory = self._workspace(keys, limit)
        with _stopping(memory, limit.seconds, stop):
            score, depth = self._deepen(game, min(limit.depth or kernels.MAX_DEPTH, kernels.MAX_DEPTH), memory)
        proven = abs(score) >= kernels.PROVEN
        line = _line(game.position, memory)
        return Decision(
            move=line[0],
            value=math.copysign(1.0, score) if proven else math.tanh(score / VALUE_SCALE),
            pv=line,
            nodes=int(memory[kernels.NODES]),
            exact=proven,
            depth=depth,
        )

    def _workspace(self, keys: npt.NDArray[np.uint64], limit: Limit) -> npt.NDArray[np.uint64]:
        """Memory for one search; a new one each time, so that a late timer cannot stop the next search."""
        memory = np.empty(kernels.workspace_words(len(keys)), np.uint64)
        memory[: kernels.LINE] = 0
        memory[kernels.NODE_LIMIT] = min(limit.nodes or _NO_LIMIT, _NO_LIMIT)
        memory[kernels.HISTORY] = len(keys) - 1
        memory[kernels.SEED] = self._seed
        memory[kernels.FORCED] = limit.seconds is not None
        memory[kernels.KEYS : kernels.KEYS + len(keys)] = keys
        return memory

    @staticmethod
    def _deepen(game: Game, depth: int, memory: npt.NDArray[np.uint64]) -> tuple[int, int]:
        position = game.position
        address = memory.ctypes.data
        score, reached = kernels.deepen(
            np.uint64(position.white),
            np.uint64(position.black),
            np.uint64(position.kings),
            position.turn == "white",
            game.quiet,
            game.ending,
            np.uint64(position.variant.rules),
            depth,
            np.uint64(address),
            np.uint64(address + memory.nbytes),
        )
        return int(score), int(reached)


@contextmanager
def _stopping(memory: npt.NDArray[np.uint64], seconds: float | None, stop: threading.Event | None) -> Iterator[None]:
    """Tell the search in ``memory`` to stop after some seconds, and when ``stop`` is set."""
    if seconds is None and stop is None:
        yield
        return
    done = threading.Event()
    end = math.inf if seconds is None else time.monotonic() + seconds

    def wait() -> None:
        while not done.wait(max(0.0, min(_LOOK, end - time.monotonic())) if stop else end - time.monotonic()):
            if time.monotonic() >= end or (stop is not None and stop.is_set()):
                memory[kernels.STOP] = 1
                return

    threading.Thread(target=wait, daemon=True).start()
    try:
        yield
    finally:
        done.set()


def _line(position: Position, memory: npt.NDArray[np.uint64]) -> tuple[Move, ...]:
    """The best line in the workspace, as moves."""
    line = []
    for i in range(int(memory[kernels.LINE_LENGTH])):
        words = memory[kernels.LINE + 3 * i : kernels.LINE + 3 * i + 3]
        place = int(np.flatnonzero((position.move_words == words).all(axis=1))[0])
        line.append(position.legal_moves()[place])
        position = position.play(line[-1])
    return tuple(line)
