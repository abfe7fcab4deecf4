"""The AlphaZero agent: tree search guided by a network."""

from __future__ import annotations

import math
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agents.agent import CHECKPOINT, AgentError, Decision, Limit, Line, Watch, spec_text
from agents.network.checkpoint import load_checkpoint
from agents.network.evaluator import Evaluator, TorchEvaluator
from agents.network.models import SparseNet
from agents.network.sparse import export_weights, new_scratch
from agents.search.batched import supply_row, write_leaf
from agents.search.in_kernel import run_search
from agents.search.search import (
    BUDGET,
    SIMULATION,
    Search,
    begin_search,
    best_edge,
    halving_schedule,
    improved_policy,
    new_search,
    resume_search,
    settings,
)
from agents.search.tree import PENDING, edge_value, principal_variation, search_rules
from agents.tablebase import available
from draughts_env.errors import GameOverError
from draughts_env.game import Game
from draughts_env.kernels import U
from draughts_env.moves import Move
from draughts_env.position import Position
from draughts_env.variants import Variant, variant

if TYPE_CHECKING:
    from torch import nn

_CHUNK, _BATCHED_CHUNK = 256, 8  # simulations between two looks at the clock: in numba, through PyTorch
_SHOW = 0.2  # seconds between two calls of whoever watches
_LINES = 5  # moves told of in a decision
_MOST = 1_000_000  # simulations of a search that is limited by time alone


class AlphaZeroAgent:
    """Searches with a network; plays the move with the most visits, or a proven win.

    Args:
        model: any network of the project. Sparse networks are searched inside numba, others through PyTorch.
        of: the variant it was trained for.
        simulations, seconds: the agent's own limit; 400 simulations when neither is given.
        seed: kept for the protocol; without noise the search has no chance in it.
        name: how it is shown.
        tablebase: whether to use the endgame tables that there are: exact leaves, and perfect play in won and
            lost positions of few pieces.
    """

    DEFAULT = Limit(simulations=400)

    def __init__(
        self,
        model: nn.Module,
        of: Variant | str,
        simulations: int | None = None,
        seconds: float | None = None,
        seed: int = 0,
        name: str = "alphazero",
        tablebase: bool | int = True,
    ) -> None:
        self.variant = variant(of)
        own = Limit(simulations=simulations, seconds=seconds)
        self.limit = own or self.DEFAULT
        self.name = spec_text(name, own.given())
        self._tables = available(self.variant) if tablebase else None
        self._rules = search_rules(self.variant, tables=self._tables.arrays if self._tables else None)
        self._how = settings(gumbel=False, noise=0.0)
        self._schedule = halving_schedule(1, 1)
        self._search: Search | None = None
        self._capacity = 0
        self._evaluator: Evaluator | None = None
        self._chunk = _CHUNK
        if isinstance(model, SparseNet):
            self._weights = export_weights(model)
            self._scratch = new_scratch(self._weights)
        else:
            self._evaluator = TorchEvaluator(model, self.variant)
            self._chunk = _BATCHED_CHUNK
        self.seed(seed)

    @classmethod
    def from_checkpoint(cls, path: str | Path, of: Variant | str, **options: Any) -> AlphaZeroAgent:
        """The agent of a checkpoint file.

        Raises:
            CheckpointError: the file is missing, damaged, or made for another variant.
        """
        checkpoint = load_checkpoint(path, variant(of))
        return cls(checkpoint.model, checkpoint.variant, name=Path(path).name, **options)

    def new_game(self) -> None:
        """Nothing is kept between moves."""

    def seed(self, seed: int) -> None:
        """Without noise the search has no chance in it."""

    def choose(
        self,
        game: Game,
        limit: Limit | None = None,
        watch: Watch | None = None,
        stop: threading.Event | None = None,
    ) -> Decision:
        """The move of a search, and the best moves beside it (:attr:`Decision.lines`).

        Raises:
            GameOverError: the game is over.
            AgentError: a limit of depth or nodes.
        """
        if game.is_over:
            raise GameOverError("the game is over: there is nothing to choose")
        limit = limit or self.limit
        CHECKPOINT.check_limit(limit)
        known = self._look_up(game)
        if known is not None:
            return known
        started = time.perf_counter()
        end = math.inf if limit.seconds is None else started + limit.seconds
        show = started + _SHOW
        budget = limit.simulations or _MOST
        search = self._begin(game, budget)
        history = np.asarray(game.key_history, np.uint64)
        search.state[BUDGET] = 1  # however short the time, something is known of every move
        while True:
            self._run(search, history)
            now = time.perf_counter()
            if search.state[SIMULATION] < search.state[BUDGET]:
                break  # proven, or no memory left
            if search.state[BUDGET] >= budget or now >= end or (stop is not None and stop.is_set()):
                break
            if watch is not None and now >= show:
                if watch(self._decision(game, search)):
                    break
                show = time.perf_counter() + _SHOW
            search.state[BUDGET] = min(search.state[BUDGET] + self._chunk, budget)
        return self._decision(game, search)

    def _look_up(self, game: Game) -> Decision | None:
        """The quickest win or the slowest loss, where the tables say that it is one.

        Drawn positions are searched, with the tables at hand: some draws are harder to hold than others.
        """
        if self._tables is None or not self._tables.contains(game.position):
            return None
        if self._tables.wdl(game.position) == 0:
            return None
        found = self._tables.probe(game.position)
        return Decision(found.best_moves[0], float(found.score), exact=True, pv=found.best_moves[:1], depth=found.plies)

    def _begin(self, game: Game, budget: int) -> Search:
        if self._search is None or self._capacity < budget:
            try:
                self._search = new_search(budget, moves_per_node=32)
            except MemoryError:
                raise AgentError(f"there is not enough memory for a tree of {budget:,} simulations") from None
            self._capacity = budget
        position = game.position
        begin_search(
            self._search,
            self._rules,
            self._how,
            U(position.white),
            U(position.black),
            U(position.kings),
            position.turn == "white",
            game.quiet,
            game.ending,
            game.repeats,
            budget,
        )
        return self._search

    def _run(self, search: Search, history: Any) -> None:
        """Simulate to the end of the budget."""
        if self._evaluator is None:
            run_search(search, self._rules, self._how, self._schedule, history, self._weights, self._scratch)
            return
        boards = np.zeros((1, 4), np.uint64)
        clocks = np.zeros((1, 3), np.int16)
        while resume_search(search, self._rules, self._how, self._schedule, history) == PENDING:
            write_leaf(search, self._rules, boards, clocks, 0)
            wdl, logits = self._evaluator.evaluate(boards, clocks)
            supply_row(search, self._how, wdl, logits, 0)

    def _decision(self, game: Game, search: Search) -> Decision:
        root = search.tree.nodes[0]
        moves = game.legal_moves()
        policy = np.zeros(len(moves), np.float32)
        improved_policy(search, self._how, policy)
        best = int(best_edge(search, self._how)) - int(root["first"])
        edges = search.tree.edges[root["first"] : root["first"] + root["count"]]
        others = [place for place in range(len(moves)) if place != best and self._known(edges[place])]
        others.sort(key=lambda place: _rank(edges[place]))
        lines = [self._line(game.position, search, place) for place in (best, *others[: _LINES - 1])]
        return Decision(
            move=moves[best],
            value=lines[0].value,
            policy={move: float(share) for move, share in zip(moves, policy, strict=True)},
            pv=lines[0].pv,
            nodes=int(search.state[SIMULATION]),
            exact=int(root["proven"]) != 0,
            lines=tuple(lines),
        )

    @staticmethod
    def _known(edge: Any) -> bool:
        """Whether anything is known of a move."""
        return bool(edge["visits"] > 0 or edge["proven"] != 0)

    def _line(self, position: Position, search: Search, place: int) -> Line:
        """A root move with what is expected after it; unvisited, its value is the position's."""
        root = search.tree.nodes[0]
        edge = search.tree.edges[root["first"] + place]
        value = float(edge_value(edge)) if self._known(edge) else float(root["value"])
        line: list[Move] = []
        for step in principal_variation(search.tree, place):
            line.append(position.legal_moves()[int(step)])
            position = position.play(line[-1])
        return Line(line[0], int(edge["visits"]), value, tuple(line))


def _rank(edge: Any) -> tuple[int, float, float]:
    """Sorts root moves as they are played: wins (quick ones first), then by visits, then losses (slow ones first)."""
    proven = int(edge["proven"])
    if proven == 0:
        return 1, -int(edge["visits"]), -float(edge["prior"])
    return (0 if proven > 0 else 2), proven, 0.0
