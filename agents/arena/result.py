"""What comes out of a match."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agents.arena.openings import Opening
from agents.arena.statistics import Estimate, elo_difference, mean_score, pentanomial
from draughts_env.variants import Color


@dataclass(frozen=True)
class GameRecord:
    """One game of a match.

    Attributes:
        number: place in the match, from 0; games ``2 k`` and ``2 k + 1`` are a pair.
        opening: the moves given.
        a_color: the colour of player A.
        moves: all moves, the opening included.
        winner: ``"black"``, ``"white"`` or None for a draw.
        reason: why the game ended.
        truncated: whether it was cut short, and so is no real draw.
        failure: None, or what a player did wrong: it raised an exception or played an illegal move, and lost.
        seconds: thinking time of A and of B.
        nodes: positions (or simulations) searched by A and by B.
        decisions: moves chosen by A and by B.
    """

    number: int
    opening: Opening
    a_color: Color
    moves: tuple[str, ...]
    winner: Color | None
    reason: str
    truncated: bool = False
    failure: str | None = None
    seconds: tuple[float, float] = (0.0, 0.0)
    nodes: tuple[int, int] = (0, 0)
    decisions: tuple[int, int] = (0, 0)

    @property
    def score(self) -> float:
        """Points of player A: 1, 1/2 or 0."""
        if self.winner is None:
            return 0.5
        return 1.0 if self.winner == self.a_color else 0.0


@dataclass(frozen=True)
class MatchResult:
    """A match, from the view of player A.

    Attributes:
        variant: name of the variant.
        a, b: names of the players.
        limit: limit that both players were given beside their own; empty if none.
        seed: seed of openings and players.
        max_plies: length at which games were cut.
        games: in the order of their numbers.
    """

    variant: str
    a: str
    b: str
    limit: str
    seed: int
    max_plies: int
    games: tuple[GameRecord, ...] = field(repr=False)

    @property
    def wins(self) -> int:
        """Games won by A."""
        return sum(game.score == 1 for game in self.games)

    @property
    def draws(self) -> int:
        """Games drawn, cut ones included."""
        return sum(game.score == 0.5 for game in self.games)

    @property
    def losses(self) -> int:
        """Games lost by A."""
        return sum(game.score == 0 for game in self.games)

    @property
    def truncated(self) -> int:
        """Games cut short and counted as draws."""
        return sum(game.truncated for game in self.games)

    @property
    def failures(self) -> int:
        """Games lost by an exception or an illegal move."""
        return sum(game.failure is not None for game in self.games)

    @property
    def pair_scores(self) -> list[float]:
        """Mean points of A in each complete pair."""
        return [(a.score + b.score) / 2 for a, b in zip(self.games[::2], self.games[1::2])]

    @property
    def pairs(self) -> tuple[int, int, int, int, int]:
        """Pairs in which A scored 0, 1/2, 1, 3/2 and 2 points."""
        return pentanomial(self.pair_scores)

    @property
    def cards(self) -> tuple[int, int, int]:
        """Pairs (opening cards, each played twice with colours swapped) that A won, tied and lost on points."""
        lost, losing, tied, winning, won = self.pairs
        return winning + won, tied, losing + lost

    @property
    def score(self) -> Estimate:
        """Share of the points that A took."""
        return mean_score(self.pair_scores)

    @property
    def elo(self) -> Estimate:
        """Elo difference of A to B."""
        return elo_difference(self.pair_scores)

    def per_move(self, player: int) -> tuple[float, float]:
        """Mean seconds and mean nodes per move of A (0) or B (1)."""
        decisions = max(1, sum(game.decisions[player] for game in self.games))
        return (
            sum(game.seconds[player] for game in self.games) / decisions,
            sum(game.nodes[player] for game in self.games) / decisions,
        )

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON; infinite Elo numbers become None."""
        score, elo = self.score, self.elo
        return {
            "variant": self.variant,
            "a": self.a,
            "b": self.b,
            "limit": self.limit,
            "seed": self.seed,
            "max_plies": self.max_plies,
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "truncated": self.truncated,
            "failures": self.failures,
            "score": score.value,
            "score_95": [score.low, score.high],
            "pairs": list(self.pairs),
            "elo": _finite(elo.value),
            "elo_95": [_finite(elo.low), _finite(elo.high)],
            "seconds_per_move": [self.per_move(0)[0], self.per_move(1)[0]],
            "nodes_per_move": [self.per_move(0)[1], self.per_move(1)[1]],
            "games": [
                {
                    "number": game.number,
                    "black": self.a if game.a_color == "black" else self.b,
                    "white": self.a if game.a_color == "white" else self.b,
                    "a_color": game.a_color,
                    "winner": game.winner,
                    "reason": game.reason,
                    "truncated": game.truncated,
                    "failure": game.failure,
                    "opening": list(game.opening),
                    "moves": list(game.moves),
                }
                for game in self.games
            ],
        }


def _finite(x: float) -> float | None:
    return x if abs(x) < float("inf") else None
