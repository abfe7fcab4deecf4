"""Self-play: complete games in, training samples out.

Sparse networks play in the kernel, one game per task on every core with the interpreter lock released;
other networks play many games in lockstep, one PyTorch batch per tick. A game depends on its number, the
run's seed and the weights alone, so neither threads nor lanes change what is produced.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from agents.jit import kernel
from agents.network.evaluator import Evaluator, TorchEvaluator
from agents.network.sparse import SparseWeights, export_weights, new_scratch
from agents.search.batched import supply_row, write_leaf
from agents.search.in_kernel import evaluate_leaf
from agents.search.search import Settings, halving_schedule, settings
from agents.search.tree import EVALUATIONS, PENDING, search_rules
from agents.tablebase import available
from agents.training.game_machine import (
    ADJUDICATED,
    PLY,
    POLICY,
    RESULT,
    SAMPLES,
    SIMULATIONS,
    TRUNCATED,
    Games,
    Plan,
    advance,
    lane,
    new_games,
    search_of,
    start_game,
)
from agents.training.samples import SampleBlock, concat
from draughts_env.intrinsics import borrowed
from draughts_env.kernels import U
from draughts_env.variants import Variant

if TYPE_CHECKING:
    from torch import nn

    from agents.training.config import SearchConfig, SelfPlayConfig

Progress = Callable[[int, int], None]
_LANES = 256  # games in lockstep with a batched network


@dataclass(frozen=True)
class SelfPlayResult:
    """What a batch of games gave.

    Attributes:
        block: the samples.
        stats: totals: games, positions, plies, draws, first_wins, second_wins, truncated, adjudicated, simulations,
            evaluations, seconds, mean_length.
        sample_game: the moves of the first game, as (origin, target, captured) kernel words, from the start position.
    """

    block: SampleBlock
    stats: dict[str, float]
    sample_game: list[tuple[int, int, int]]


@kernel()
def _play_game(games, rules, how, plan, schedule, seed, net, scratch):  # type: ignore[no-untyped-def]
    games, rules, net, scratch = borrowed(games), borrowed(rules), borrowed(net), borrowed(scratch)
    schedule = borrowed(schedule)
    game = lane(games, 0)
    search = search_of(game)
    start_game(game, rules, plan, seed)
    while advance(game, rules, how, plan, schedule) == PENDING:
        evaluate_leaf(search, rules, how, net, scratch)


@kernel()
def _advance_lanes(games, busy, rules, how, plan, schedule, boards, clocks, rows):  # type: ignore[no-untyped-def]
    """Advance every busy lane to its next leaf. Lanes whose game ended become idle (busy 0). Returns the leaves."""
    games, rules, schedule = borrowed(games), borrowed(rules), borrowed(schedule)
    count = 0
    for g in range(len(busy)):
        if busy[g] == 0:
            continue
        game = lane(games, g)
        if advance(game, rules, how, plan, schedule) == PENDING:
            write_leaf(search_of(game), rules, boards, clocks, count)
            rows[count] = g
            count += 1
        else:
            busy[g] = 0
    return count


@kernel()
def _supply_lanes(games, how, wdl, logits, rows, count):  # type: ignore[no-untyped-def]
    for row in range(count):
        supply_row(search_of(lane(games, rows[row])), how, wdl, logits, row)


class SelfPlay:
    """Plays games of a variant with a network against itself.

    Args:
        variant: the game.
        search: how moves are searched.
        selfplay: openings, limits, workers.
        seed: of the run; game ``i`` is played with a stream derived from ``(seed, i)``.
    """

    def __init__(self, variant: Variant, search: SearchConfig, selfplay: SelfPlayConfig, seed: int) -> None:
        self.variant = variant
        self.seed = seed
        self.workers = selfplay.workers or os.cpu_count() or 1
        self._config = selfplay
        tables = available(variant) if selfplay.tablebase else None
        self._rules = search_rules(variant, selfplay.quiet_plies, tables.arrays if tables else None)
        self._how: Settings = settings(
            gumbel=search.root == "gumbel",
            considered=search.considered,
            c_visit=search.c_visit,
            c_scale=search.c_scale,
            noise=search.noise_scale if search.root == "gumbel" else search.noise_fraction,
            alpha=search.noise_alpha,
            c_puct=search.c_puct,
            fpu_reduction=search.fpu_reduction,
        )
        self._temperature_plies = search.temperature_plies
        self._memory = threading.local()

    def _plan(self, simulations: int) -> Plan:
        white, black = self.variant.start
        return Plan(
            U(white),
            U(black),
            self.variant.first == "white",
            self._config.random_plies,
            self._config.max_plies,
            self._temperature_plies,
            simulations,
        )

    def _seed(self, game: int) -> Any:
        return U((self.seed * 0x9E3779B97F4A7C15 + game * 0xBF58476D1CE4E5B9) % (1 << 64))

    def play(
        self,
        model: nn.Module | Evaluator,
        first_game: int,
        games: int,
        simulations: int,
        on_progress: Progress | None = None,
    ) -> SelfPlayResult:
        """Play games ``first_game .. first_game + games - 1`` to their ends.

        Args:
            model: the network, its weights read once, at the start; or any evaluator, for lockstep.
            simulations: budget of every move.
            on_progress: called with the number of games and of positions finished so far.
        """
        from torch import nn

        from agents.network.models import SparseNet

        started = time.perf_counter()
        plan = self._plan(simulations)
        schedule = halving_schedule(self._how.considered, simulations)
        if isinstance(model, SparseNet):
            records = self._in_kernel(export_weights(model), plan, schedule, first_game, games)
        else:
            evaluator = TorchEvaluator(model, self.variant) if isinstance(model, nn.Module) else model
            records = self._batched(evaluator, plan, schedule, first_game, games)
        finished: dict[int, _Record] = {}
        positions = 0
        for record in records:
            finished[record.game] = record
            positions += len(record.block.result)
            if on_progress is not None:
                on_progress(len(finished), positions)
        ordered = [finished[game] for game in sorted(finished)]
        return SelfPlayResult(
            concat([record.block for record in ordered]),
            self._stats(ordered, time.perf_counter() - started),
            ordered[0].line,
        )

    def _in_kernel(
        self, weights: SparseWeights, plan: Plan, schedule: Any, first_game: int, games: int
    ) -> Iterator[_Record]:
        scratch_of = threading.local()

        def one(game: int) -> _Record:
            memory = self._games(1, plan.simulations)
            if not hasattr(scratch_of, "scratch"):
                scratch_of.scratch = new_scratch(weights)
            _play_game(memory, self._rules, self._how, plan, schedule, self._seed(game), weights, scratch_of.scratch)
            return _Record.of(memory, 0, game)

        with ThreadPoolExecutor(self.workers) as pool:
            yield from pool.map(one, range(first_game, first_game + games))

    def _batched(
        self, evaluator: Evaluator, plan: Plan, schedule: Any, first_game: int, games: int
    ) -> Iterator[_Record]:
        lanes = min(_LANES, games)
        memory = self._games(lanes, plan.simulations)
        boards = np.zeros((lanes, 4), np.uint64)
        clocks = np.zeros((lanes, 3), np.int16)
        rows = np.zeros(lanes, np.int64)
        busy = np.ones(lanes, np.uint8)
        number = np.arange(first_game, first_game + lanes)
        following = first_game + lanes
        for g in range(lanes):
            start_game(lane(memory, g), self._rules, plan, self._seed(int(number[g])))
        while busy.any():
            before = busy.copy()
            count = _advance_lanes(memory, busy, self._rules, self._how, plan, schedule, boards, clocks, rows)
            if count:
                wdl, logits = evaluator.evaluate(boards[:count], clocks[:count])
                _supply_lanes(memory, self._how, wdl, logits, rows, count)
            for g in np.flatnonzero(before & ~busy & 1).tolist():
                yield _Record.of(memory, g, int(number[g]))
                if following < first_game + games:
                    number[g] = following
                    following += 1
                    start_game(lane(memory, g), self._rules, plan, self._seed(int(number[g])))
                    busy[g] = 1

    def _games(self, count: int, simulations: int) -> Games:
        """This thread's memory, made anew when a larger one is needed."""
        held = getattr(self._memory, "games", None)
        if held is None or self._memory.size != (count, simulations):
            held = new_games(count, simulations, self._config.max_plies)
            self._memory.games = held
            self._memory.size = (count, simulations)
        return held

    def _stats(self, records: list[_Record], seconds: float) -> dict[str, float]:
        sign = 1 if self.variant.first == "white" else -1
        results = np.array([record.result for record in records]) * sign
        plies = sum(record.plies for record in records)
        return {
            "games": len(records),
            "positions": sum(len(record.block.result) for record in records),
            "plies": plies,
            "draws": int((results == 0).sum()),
            "first_wins": int((results > 0).sum()),
            "second_wins": int((results < 0).sum()),
            "truncated": sum(record.truncated for record in records),
            "adjudicated": sum(record.adjudicated for record in records),
            "simulations": sum(record.simulations for record in records),
            "evaluations": sum(record.evaluations for record in records),
            "seconds": seconds,
            "mean_length": plies / max(len(records), 1),
        }


@dataclass(frozen=True)
class _Record:
    """One finished game. ``result`` is White's: 1 won, 0 drawn, -1 lost."""

    game: int
    block: SampleBlock
    result: int
    plies: int
    truncated: bool
    adjudicated: bool
    simulations: int
    evaluations: int
    line: list[tuple[int, int, int]]

    @classmethod
    def of(cls, games: Games, g: int, number: int) -> _Record:
        state = games.state[g]
        n, m = int(state[SAMPLES]), int(state[POLICY])
        result = int(state[RESULT])
        side = games.side[g, :n]
        block = SampleBlock(
            boards=games.boards[g, :n].copy(),
            clocks=games.clocks[g, :n].copy(),
            result=(side * result).astype(np.int8),
            value=games.value[g, :n].copy(),
            weight=np.ones(n, np.float32),
            offsets=games.offsets[g, : n + 1].copy(),
            actions=games.legal[g, :m].copy(),
            probs=games.probs[g, :m].copy(),
            game=np.full(n, number, np.int64),
        )
        line = [tuple(int(word) for word in move) for move in games.line[g, : int(state[PLY])]]
        return cls(
            number,
            block,
            result,
            int(state[PLY]),
            bool(state[TRUNCATED]),
            bool(state[ADJUDICATED]),
            int(state[SIMULATIONS]),
            int(games.counters[g, EVALUATIONS]),
            line,  # type: ignore[arg-type]
        )
