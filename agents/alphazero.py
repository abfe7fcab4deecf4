"""The AlphaZero agent: tree search guided by a network."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agents.agent import CHECKPOINT, AgentError, Decision, Limit, spec_text
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
from draughts_env.variants import Variant, variant

if TYPE_CHECKING:
    from torch import nn

_CHUNK = 256  # simulations between two looks at the clock
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
        if isinstance(model, SparseNet):
            self._weights = export_weights(model)
            self._scratch = new_scratch(self._weights)
        else:
            self._evaluator = TorchEvaluator(model, self.variant)
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

    def choose(self, game: Game, limit: Limit | None = None) -> Decision:
        """The move of a search.

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
        budget = limit.simulations or _MOST
        search = self._begin(game, budget)
        history = np.asarray(game.key_history, np.uint64)
        if limit.seconds is None:
            self._run(search, history)
        else:
            search.state[BUDGET] = 1  # however short the time, something is known of every move
            self._run(search, history)
            while search.state[BUDGET] < budget and time.perf_counter() - started < limit.seconds:
                search.state[BUDGET] = min(search.state[BUDGET] + _CHUNK, budget)
                self._run(search, history)
                if search.state[SIMULATION] < search.state[BUDGET]:
                    break  # proven, or no memory left
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
        count = int(root["count"])
        moves = game.legal_moves()
        best = int(best_edge(search, self._how))
        edge = search.tree.edges[best]
        policy = np.zeros(count, np.float32)
        improved_policy(search, self._how, policy)
        if int(edge["visits"]) > 0 or int(edge["proven"]) != 0:
            value = float(edge_value(edge))
        else:
            value = float(root["value"])
        proven = int(root["proven"]) != 0
        line: list[Move] = []
        position = game.position
        for place in principal_variation(search.tree, best - int(root["first"])):
            line.append(position.legal_moves()[int(place)])
            position = position.play(line[-1])
        return Decision(
            move=moves[best - int(root["first"])],
            value=value,
            policy={move: float(share) for move, share in zip(moves, policy, strict=True)},
            pv=tuple(line),
            nodes=int(search.state[SIMULATION]),
            exact=proven,
        )
