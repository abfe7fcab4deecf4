"""Stand-ins for self-play and matches: samples and scores that cost nothing and depend on numbers alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console

from agents.training.config import EvaluationConfig, LearnerConfig, MatchConfig, RunConfig, SelfPlayConfig, TrainConfig
from agents.training.evaluation import Score
from agents.training.loop import Training
from agents.training.reporting import Display
from agents.training.run_folder import RunFolder
from agents.training.samples import SampleBlock, concat
from draughts_env.actions import action_space
from draughts_env.variants import Variant, variant

ENGLISH = variant("english")


def samples(n: int, seed: int = 0, of: Variant = ENGLISH, game: int = 0) -> SampleBlock:
    """Random positions of ten men a side. Who has more men on odd bits wins, and the lowest action is the best:
    something that a network can learn."""
    chance = np.random.default_rng(seed)
    board = of.geometry
    bits = np.array(board.bit_of[1:], np.uint64)
    boards = np.zeros((n, 4), np.uint64)
    result = np.zeros(n, np.int8)
    for i in range(n):
        squares = chance.permutation(board.squares)[:20]
        for plane, part in ((0, squares[:8]), (1, squares[8:10]), (2, squares[10:18]), (3, squares[18:])):
            boards[i, plane] = np.bitwise_or.reduce(np.uint64(1) << bits[part])
        result[i] = np.sign(int((squares[:10] % 2).sum()) - int((squares[10:] % 2).sum()))
    lengths = chance.integers(1, 12, n)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    actions = np.concatenate([np.sort(chance.permutation(action_space(of).n)[:k]) for k in lengths]).astype(np.uint16)
    probs = np.concatenate([np.r_[0.9, np.full(k - 1, 0.1 / (k - 1))] if k > 1 else [1.0] for k in lengths])
    return SampleBlock(
        boards,
        np.stack([chance.integers(0, 20, n), np.full(n, -1), chance.integers(0, 2, n)], 1).astype(np.int16),
        result,
        (result * 0.8).astype(np.float32),
        np.ones(n, np.float32),
        offsets,
        actions,
        probs.astype(np.float32),
        np.full(n, game, np.int64),
    )


@dataclass
class Played:
    """What :class:`FakePlayer` gives."""

    block: SampleBlock
    stats: dict[str, float]


@dataclass
class FakePlayer:
    """Self-play without play: game ``i`` is always the same samples."""

    positions: int = 40
    before: Callable[[int], None] = lambda game: None
    first_games: list[int] = field(default_factory=list)
    simulations: list[int] = field(default_factory=list)

    def play(
        self, model: Any, first_game: int, games: int, simulations: int, on_progress: Callable[[int, int], None]
    ) -> Played:
        self.first_games.append(first_game)
        self.simulations.append(simulations)
        blocks = []
        for game in range(first_game, first_game + games):
            self.before(game)
            blocks.append(samples(self.positions, seed=game, game=game))
            on_progress(len(blocks), len(blocks) * self.positions)
        n = games * self.positions
        stats = dict.fromkeys(("draws", "first_wins", "second_wins", "truncated", "evaluations"), 0.0)
        stats |= {"games": games, "positions": n, "plies": n, "simulations": n * simulations, "seconds": 0.1}
        return Played(concat(blocks), stats | {"mean_length": n / games})


@dataclass
class FakeReferee:
    """Matches without games. ``points`` are dealt out in turn, the last one again and again."""

    points: list[float] = field(default_factory=lambda: [0.5])
    opponents: list[str] = field(default_factory=list)

    def __call__(
        self,
        checkpoint: Path,
        of: Variant,
        opponent: str,
        simulations: int,
        games: int,
        seed: int,
        on_game: Callable[[], None],
    ) -> Score:
        assert checkpoint.is_file()
        self.opponents.append(opponent)
        for _ in range(games):
            on_game()
        points = self.points.pop(0) if len(self.points) > 1 else self.points[0]
        won = round(points * games)
        return Score(opponent, simulations, won, 0, games - won, points, 0.0, 1.0, None, None, None, 0.0)


def tiny(folder: Path, iterations: int = 3, **learner: Any) -> TrainConfig:
    """A run of a few iterations of a second or less."""
    config = TrainConfig(
        selfplay=SelfPlayConfig(games_per_iteration=4, simulations_start=None),
        learner=LearnerConfig(**({"batch_size": 64, "window_start": 300, "warmup_steps": 0} | learner)),
        evaluation=EvaluationConfig(
            opponents=["random"], games=2, every_minutes=1000, final=[MatchConfig("random", 2, 2)]
        ),
        run=RunConfig(
            minutes=None, iterations=iterations, folder=str(folder), name="tiny", checkpoint_seconds=0, threads=1
        ),
    )
    config.network.hidden1, config.network.hidden2 = 32, 16
    config.check()
    return config


def session(
    config: TrainConfig, player: FakePlayer | None = None, referee: FakeReferee | None = None, **options: Any
) -> Training:
    """A session of a run in its folder, done."""
    console = Console(quiet=True)
    with RunFolder(Path(config.run.folder) / config.run.name) as folder, Display(console) as display:
        training = Training(config, folder, display, player or FakePlayer(), referee or FakeReferee(), **options)
        training.run()
    return training


def weights(training: Training) -> dict[str, torch.Tensor]:
    return training.learner.tensors()


def equal(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> bool:
    return a.keys() == b.keys() and all(torch.equal(value, b[name]) for name, value in a.items())


def rows(config: TrainConfig) -> list[dict[str, Any]]:
    path = Path(config.run.folder) / config.run.name / "metrics.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
