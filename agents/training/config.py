"""Every parameter of a training run, with its type, limits and meaning.

The classes are the schema: files in ``configs/`` and the command line may set these names to values
of these types, and nothing else. The values of the default run are those of the files; the ones here stand in
where nothing is said. Nothing here needs PyTorch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agents.network.config import NetworkConfig
from agents.options import OptionError, check_options, option
from draughts_env.variants import VARIANTS, Variant, variant

_SIMULATIONS: Any = {"minimum": 1, "maximum": 1_000_000}


@dataclass
class VariantConfig:
    """Which rules are played."""

    name: str = option("english", "rules of the game: " + ", ".join(v.name for v in VARIANTS))


@dataclass
class SearchConfig:
    """The tree search that plays the training games."""

    simulations: int = option(64, "simulations for each move of self-play (at the end, if they grow)", **_SIMULATIONS)
    root: str = option(
        "puct", "how the root shares out simulations: gumbel (sequential halving) or puct", choices=("gumbel", "puct")
    )
    considered: int = option(16, "gumbel: how many moves of the root enter the halving", minimum=1, maximum=1024)
    c_visit: float = option(50.0, "completed values: added to the most visits of a move before scaling", minimum=0)
    c_scale: float = option(0.05, "completed values: weight of values against prior logits", minimum=0)
    c_puct: float = option(1.5, "exploration below the root (and at a puct root)", minimum=0)
    fpu_reduction: float = option(0.2, "an unvisited move's value is its parent's less this", minimum=0, maximum=2)
    noise_scale: float = option(1.0, "gumbel: scale of the noise that varies play; 0: always the best move", minimum=0)
    noise_fraction: float = option(0.25, "puct: share of Dirichlet noise in the root's prior", minimum=0, maximum=1)
    noise_alpha: float = option(10.0, "puct: shape of that noise, divided by the number of legal moves", above=0)
    temperature_plies: int = option(20, "puct: moves before this ply are drawn in proportion to visits", minimum=0)


@dataclass
class SelfPlayConfig:
    """How the games of self-play are played."""

    games_per_iteration: int = option(200, "games between two visits of the learner", minimum=1, maximum=1_000_000)
    random_plies: int = option(8, "up to so many random moves open each game, for variety", minimum=0, maximum=1000)
    quiet_plies: int | None = option(
        40, "games are called drawn after so many plies without capture or man's move; null: as in the rules", minimum=2
    )
    tablebase: bool = option(True, "games end where a tablebase knows the result, and searches use it")
    max_plies: int = option(240, "longer games are broken off and called drawn", minimum=2, maximum=10_000)
    workers: int | None = option(
        None, "threads that play; null: one per core (does not change the games)", minimum=1, maximum=1024
    )
    simulations_start: int | None = option(
        32, "simulations a move at the start, growing to search.simulations; null: no growth", **_SIMULATIONS
    )
    simulations_growth: float = option(0.5, "share of the run over which they grow; 0: at once", minimum=0, maximum=1)


@dataclass
class LearnerConfig:
    """How the network is trained on the games."""

    batch_size: int = option(1024, "positions in a step", minimum=1, maximum=1 << 20)
    learning_rate: float = option(2e-3, "AdamW's step size at the start", above=0)
    final_learning_rate: float = option(1e-4, "its step size at the end; a half cosine leads there", minimum=0)
    warmup_steps: int = option(100, "steps over which the step size rises from zero", minimum=0)
    weight_decay: float = option(1e-4, "AdamW's decoupled weight decay", minimum=0)
    reuse: float = option(2.0, "how many times each position is trained on, on average", above=0)
    window_start: int = option(100_000, "the replay window holds at least this many positions", minimum=1)
    window_growth: float = option(0.5, "beyond that it holds this share of all positions so far", minimum=0, maximum=1)
    window_end: int = option(2_000_000, "and never more than this many", minimum=1)
    value_mix: float = option(
        0.5, "value target: share of the search's value, the rest is the game's result", minimum=0, maximum=1
    )
    value_weight: float = option(1.0, "weight of the value loss; the policy loss has 1", minimum=0)
    ema_decay: float = option(
        0.998, "averaging of the weights that play, per step; 0: none", minimum=0, maximum=0.999999
    )
    gradient_clip: float = option(4.0, "greatest norm of a step's gradient", above=0)


@dataclass
class MatchConfig:
    """One match of the closing table."""

    opponent: str = option("random", "an agent, such as random or alphabeta:depth=3")
    simulations: int = option(100, "simulations the network has for a move", **_SIMULATIONS)
    games: int = option(100, "games: pairs from the same opening with colours swapped", minimum=2)


@dataclass
class EvaluationConfig:
    """Matches that measure the strength, during the run and at its end."""

    opponents: list[str] = field(
        default_factory=lambda: ["random", "alphabeta:depth=3", "alphabeta:depth=5"],
        metadata={"help": "agents played now and then during the run"},
    )
    games: int = option(20, "games against each of them", minimum=2)
    simulations: int = option(100, "simulations the network has for a move in them", **_SIMULATIONS)
    every_minutes: float = option(1.5, "minutes of training between two such evaluations", above=0)
    final: list[MatchConfig] = field(
        default_factory=lambda: [
            MatchConfig("random", 100, 100),
            MatchConfig("alphabeta:depth=3", 100, 100),
            MatchConfig("alphabeta:depth=7", 2000, 100),
        ],
        metadata={"help": "matches of the closing table, each with opponent, simulations, games"},
    )


@dataclass
class RunConfig:
    """Budget, place and housekeeping of the run."""

    minutes: float | None = option(
        9.0, "time to train, over all its sessions, closing table apart; null: no limit", above=0
    )
    iterations: int | None = option(None, "iterations to train; null: no limit", minimum=1)
    folder: str = option("runs", "folder that holds the runs")
    name: str = option("english-sparse", "the run's folder in there; by default made of variant and network")
    initial: str | None = option(
        None, "checkpoint whose weights a new run begins with, of the same variant and network; null: random weights"
    )
    seed: int = option(1, "number from which all chance derives", minimum=0, maximum=2**63 - 1)
    checkpoint_seconds: float = option(
        20.0, "the state is saved after the first iteration that ends so much later", minimum=0
    )
    device: str = option("auto", "where the network is trained: auto, cpu, cuda", choices=("auto", "cpu", "cuda"))
    threads: int | None = option(None, "threads of the learner; null: one per core", minimum=1, maximum=1024)


@dataclass
class TrainConfig:
    """A whole run."""

    variant: VariantConfig = field(default_factory=VariantConfig)
    network: NetworkConfig = field(default_factory=NetworkConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    selfplay: SelfPlayConfig = field(default_factory=SelfPlayConfig)
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    run: RunConfig = field(default_factory=RunConfig)

    @property
    def rules(self) -> Variant:
        """The variant played."""
        return variant(self.variant.name)

    def check(self) -> None:
        """Check every value and what they mean together.

        Raises:
            OptionError: a value of the wrong type or out of range; the message names it.
            VariantError: an unknown variant.
        """
        check_options(self, "")
        _ = self.rules
        if self.run.minutes is None and self.run.iterations is None:
            raise OptionError("run.minutes and run.iterations are both null: the run would never end; set one of them")
        if not self.run.name or self.run.name in (".", "..") or any(c in self.run.name for c in "/\\\0"):
            raise OptionError(f"run.name must be the name of a folder, not {self.run.name!r}")
        if self.learner.final_learning_rate > self.learner.learning_rate:
            raise OptionError("learner.final_learning_rate must not be greater than learner.learning_rate")
        if self.learner.window_start > self.learner.window_end:
            raise OptionError("learner.window_start must not be greater than learner.window_end")
        start = self.selfplay.simulations_start
        if start is not None and start > self.search.simulations:
            raise OptionError("selfplay.simulations_start must not be greater than search.simulations")
