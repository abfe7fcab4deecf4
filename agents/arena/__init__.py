"""Matches between agents, and what can be concluded from them."""

from agents.arena.match import play_match
from agents.arena.openings import Opening, OpeningError, random_openings
from agents.arena.result import GameRecord, MatchResult
from agents.arena.statistics import Estimate, elo_difference, elo_from_score, mean_score, pentanomial

__all__ = [
    "Estimate",
    "GameRecord",
    "MatchResult",
    "Opening",
    "OpeningError",
    "elo_difference",
    "elo_from_score",
    "mean_score",
    "pentanomial",
    "play_match",
    "random_openings",
]
