"""The pvs agent: what its kernels search, as an Agent."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from agents.agent import AGENTS, AgentError, Decision, Limit, Watch, spec_text
from agents.pvs.kernels import search, workspace
from agents.pvs.weights import shipped_block
from agents.tablebase import available
from draughts_env.errors import GameOverError
from draughts_env.game import Game
from draughts_env.moves import Move
from draughts_env.position import Position
from draughts_env.variants import Variant, variant

_NO_LIMIT = 1 << 62
_AGES = 256
_LOOK = 0.02  # seconds between two looks at whether to stop

#: A score of so many points (a man is about 100) has the value tanh(1) = 0.76.
VALUE_SCALE = 256.0


class PvsAgent:
    """Principal variation search with iterative deepening (:mod:`agents.pvs.kernels.search`).

    With a limit of depth or nodes the choice depends on nothing but the moves of the game so far and the limits they
    were searched with: the transposition table is kept between the moves of a game and emptied by :meth:`new_game`.
    The first iteration is always completed, whatever the limit. With a limit of time, a forced move is played at once.
    Positions of few pieces are played by the endgame tables, where there are any.

    Args:
        of: the variant.
        depth, nodes, seconds: the agent's own limit, depth 11 when none is given.
        hash: size of the transposition table in MiB, rounded down to a power of two.
        tablebase: whether to use the endgame tables.
        plain: search the same number of plies everywhere (to check the search against plain minimax).
        block: weights of the evaluation (:meth:`agents.pvs.weights.Weights.block`), in place of those that ship.

    Raises:
        AgentError: a limit that is not greater than 0, a table that does not fit into memory.
    """

    DEFAULT = Limit(depth=11)

    def __init__(
        self,
        of: Variant | str = "english",
        depth: int | None = None,
        nodes: int | None = None,
        seconds: float | None = None,
        hash: int = 32,
        tablebase: bool | int = True,
        plain: bool = False,
        block: npt.NDArray[np.int32] | None = None,
    ) -> None:
        self.variant = variant(of)
        own = Limit(depth=depth, nodes=nodes, seconds=seconds)
        self.limit = own or self.DEFAULT
        if hash < 1:
            raise AgentError(f"hash must be at least 1, not {hash}")
        self.name = spec_text("pvs", self.limit.given())
        self._entries = 1 << ((hash << 16).bit_length() - 1)  # of 16 bytes
        self._block = shipped_block(self.variant) if block is None else block
        self._tables = available(self.variant) if tablebase else None
        self._plain = plain
        self.new_game()

    def seed(self, seed: int) -> None:
        """Nothing here is left to chance."""

    def new_game(self) -> None:
        """Empty the transposition table and forget which moves were good."""
        try:
            self._table = np.zeros(2 * self._entries, np.uint64)
        except MemoryError:
            raise AgentError(f"there is not enough memory for a hash of {self._entries >> 16} MiB") from None
        self._history = np.zeros(64 * 64, np.uint64)
        self._age = 0

    def choose(
        self,
        game: Game,
        limit: Limit | None = None,
        watch: Watch | None = None,
        stop: threading.Event | None = None,
    ) -> Decision:
        """The best move found.

        The value is ``tanh(score / 256)``, a man being about 100; exactly 1 or -1, and marked exact, when proven, by
        the search or by the endgame tables (which leave the rules that limit the number of moves out of account).

        Raises:
            GameOverError: the game is over.
            AgentError: a limit of simulations, or a game of another variant.
        """
        if game.is_over:
            raise GameOverError("the game is over: there is nothing to choose")
        if game.variant.rules != self.variant.rules:
            raise AgentError(f"this agent plays {self.variant}, not {game.variant}")
        limit = limit or self.limit
        AGENTS["pvs"].check_limit(limit)
        known = self._look_up(game)
        if known is not None:
            return known
        keys = np.asarray(game.key_history, np.uint64)
        memory = self._workspace(keys, limit)
        with _stopping(memory, limit.seconds, stop):
            score, depth = self._deepen(game, limit, memory)
        self._history = memory[workspace.HISTORY : workspace.TRIED].copy()
        proven = abs(score) >= workspace.PROVEN
        line = _line(game.position, memory)
        return Decision(
            move=line[0],
            value=math.copysign(1.0, score) if proven else math.tanh(score / VALUE_SCALE),
            pv=line,
            nodes=int(memory[workspace.NODES]),
            exact=proven,
            depth=depth,
        )

    def _look_up(self, game: Game) -> Decision | None:
        """The quickest win or the slowest loss, where the tables say that it is one. Draws are searched."""
        if self._tables is None or not self._tables.contains(game.position) or not self._tables.wdl(game.position):
            return None
        found = self._tables.probe(game.position)
        return Decision(found.best_moves[0], float(found.score), exact=True, pv=found.best_moves[:1], depth=found.plies)

    def _workspace(self, keys: npt.NDArray[np.uint64], limit: Limit) -> npt.NDArray[np.uint64]:
        """Memory for one search; a new one each time, so that a late timer cannot stop the next search."""
        memory = np.empty(workspace.workspace_words(len(keys)), np.uint64)
        memory[: workspace.LINE] = 0
        memory[workspace.NODE_LIMIT] = min(limit.nodes or _NO_LIMIT, _NO_LIMIT)
        memory[workspace.BEFORE] = len(keys) - 1
        memory[workspace.PLAIN] = self._plain
        memory[workspace.FORCED] = limit.seconds is not None
        memory[workspace.WEIGHTS] = self._block.ctypes.data
        memory[workspace.TABLE] = self._table.ctypes.data
        memory[workspace.MASK] = self._entries - 2
        self._age = (self._age + 1) % _AGES
        memory[workspace.AGE] = self._age
        if self._tables is not None:
            arrays = self._tables.arrays
            memory[workspace.PIECES] = arrays.pieces
            memory[workspace.OFFSETS] = arrays.offsets.ctypes.data
            memory[workspace.VALUES] = arrays.wdl.ctypes.data
        memory[workspace.END] = memory.ctypes.data + memory.nbytes
        memory[workspace.HISTORY : workspace.TRIED] = self._history
        memory[workspace.KEYS : workspace.KEYS + len(keys)] = keys
        return memory

    @staticmethod
    def _deepen(game: Game, limit: Limit, memory: npt.NDArray[np.uint64]) -> tuple[int, int]:
        position = game.position
        score, reached = search.deepen(
            np.uint64(position.white),
            np.uint64(position.black),
            np.uint64(position.kings),
            position.turn == "white",
            game.quiet,
            game.ending,
            np.uint64(position.variant.rules),
            min(limit.depth or workspace.MAX_DEPTH, workspace.MAX_DEPTH),
            np.uint64(memory.ctypes.data),
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
        while not done.wait(max(0.0, min(_LOOK, end - time.monotonic()) if stop else end - time.monotonic())):
            if time.monotonic() >= end or (stop is not None and stop.is_set()):
                memory[workspace.STOP] = 1
                return

    threading.Thread(target=wait, daemon=True).start()
    try:
        yield
    finally:
        done.set()


def _line(position: Position, memory: npt.NDArray[np.uint64]) -> tuple[Move, ...]:
    """The best line in the workspace, as moves."""
    line = []
    for i in range(int(memory[workspace.LINE_LENGTH])):
        words = memory[workspace.LINE + 3 * i : workspace.LINE + 3 * i + 3]
        place = int(np.flatnonzero((position.move_words == words).all(axis=1))[0])
        line.append(position.legal_moves()[place])
        position = position.play(line[-1])
    return tuple(line)
