"""Matches of the run's network against fixed agents."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from draughts_env.variants import Variant


@dataclass(frozen=True)
class Score:
    """What a match of the network gave.

    Attributes:
        opponent: specification of the opponent.
        simulations: simulations the network had for a move.
        won, drawn, lost: games.
        points: share of the points, 0 to 1; ``points_low``, ``points_high``: its 95% interval.
        elo: difference to the opponent, None where it is infinite; ``elo_low``, ``elo_high``: its 95% interval.
        seconds: how long the match took.
    """

    opponent: str
    simulations: int
    won: int
    drawn: int
    lost: int
    points: float
    points_low: float
    points_high: float
    elo: float | None
    elo_low: float | None
    elo_high: float | None
    seconds: float

    @property
    def games(self) -> int:
        """Games played."""
        return self.won + self.drawn + self.lost

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Score:
        """From :meth:`to_dict`."""
        return cls(**values)


#: Plays (checkpoint, variant, opponent, simulations, games, seed, on_game) and gives the score.
Referee = Callable[[Path, Variant, str, int, int, int, Callable[[], None]], Score]


def check_opponent(opponent: str, variant: Variant) -> None:
    """Raise AgentError when no agent has that specification."""
    from agents.agent import load_agent

    load_agent(opponent, variant)


def play(
    checkpoint: Path,
    variant: Variant,
    opponent: str,
    simulations: int,
    games: int,
    seed: int,
    on_game: Callable[[], None],
) -> Score:
    """A match of a checkpoint against an agent, from random openings with colours swapped, on all cores.

    Raises:
        AgentError: no such opponent.
        CheckpointError: a checkpoint that cannot be read.
    """
    from agents.arena.match import play_match

    started = time.perf_counter()
    result = play_match(
        f"{checkpoint}:simulations={simulations}",
        opponent,
        variant,
        games + games % 2,
        seed=seed,
        on_game=lambda _: on_game(),
        workers=cores(),
    )
    score, elo = result.score, result.elo
    return Score(
        opponent,
        simulations,
        result.wins,
        result.draws,
        result.losses,
        score.value,
        score.low,
        score.high,
        _finite(elo.value),
        _finite(elo.low),
        _finite(elo.high),
        time.perf_counter() - started,
    )


def cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _finite(x: float) -> float | None:
    return x if math.isfinite(x) else None


def clearly_worse(score: float, best: float, games: int) -> bool:
    """Whether a mean score lies two standard errors (at their greatest) below the best one so far."""
    return score < best - 2 * 0.5 / math.sqrt(max(games, 1))
