"""What a match says about two players: score, Elo difference, and how sure that is.

The unit of observation is the pair of games from one opening with colours swapped: the two games of a pair are not
independent, pairs are. The score of a pair lies between 0 and 1 in steps of a quarter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

#: Half the width of a 95% interval, in standard errors.
Z95 = 1.959963984540054
_TAIL = 0.025


@dataclass(frozen=True)
class Estimate:
    """A number with its 95% interval.

    Attributes:
        value: the estimate; infinite for the Elo difference of a match in which one side scored everything.
        low, high: the interval.
    """

    value: float
    low: float
    high: float


def pentanomial(pair_scores: Sequence[float]) -> tuple[int, int, int, int, int]:
    """How many pairs scored 0, 1/4, 1/2, 3/4 and 1 (both games lost, ..., both won)."""
    counts = [0, 0, 0, 0, 0]
    for score in pair_scores:
        counts[round(4 * score)] += 1
    return counts[0], counts[1], counts[2], counts[3], counts[4]


def elo_from_score(score: float) -> float:
    """Elo difference at which the stronger player is expected to score ``score`` (0 to 1)."""
    if score <= 0:
        return -math.inf
    if score >= 1:
        return math.inf
    return 400 * math.log10(score / (1 - score)) + 0.0  # never -0.0


def mean_score(pair_scores: Sequence[float]) -> Estimate:
    """Mean score of the pairs with its 95% interval.

    The interval is mean +- 1.96 standard errors, from the variance between pairs. Where that is zero, chance could have
    hidden other results, so:

    * all pairs won (or all lost): the bound is the mean ``p`` at which ``p ** pairs`` is 2.5%, since a mean of ``p``
      allows a pair to be won with probability ``p`` at most;
    * all pairs equal in between: the variance is taken as if one more pair had been half won and half lost.

    A single pair says nothing about the variance: its interval is everything.
    """
    n = len(pair_scores)
    if n == 0:
        return Estimate(0.5, 0.0, 1.0)
    mean = sum(pair_scores) / n
    if n == 1:
        return Estimate(mean, 0.0, 1.0)
    if mean == 1:
        return Estimate(1.0, _TAIL ** (1 / n), 1.0)
    if mean == 0:
        return Estimate(0.0, 0.0, 1 - _TAIL ** (1 / n))
    variance = sum((score - mean) ** 2 for score in pair_scores) / (n - 1)
    if variance == 0:
        variance = ((0 - mean) ** 2 + (1 - mean) ** 2) / 2 / n
    error = Z95 * math.sqrt(variance / n)
    return Estimate(mean, max(0.0, mean - error), min(1.0, mean + error))


def elo_difference(pair_scores: Sequence[float]) -> Estimate:
    """Elo difference with its 95% interval, from the interval of the mean score; ends may be infinite."""
    score = mean_score(pair_scores)
    return Estimate(elo_from_score(score.value), elo_from_score(score.low), elo_from_score(score.high))
