"""Openings for matches: short random beginnings that leave both sides in the game."""

from __future__ import annotations

import math
import random

from agents.agent import Limit
from agents.alphabeta import VALUE_SCALE, AlphaBetaAgent
from draughts_env.errors import OpeningError
from draughts_env.game import Game
from draughts_env.openings import Opening
from draughts_env.position import Position
from draughts_env.variants import Variant, variant

__all__ = ["Opening", "OpeningError", "random_openings"]

_CHECK = Limit(depth=5)
_LONG = 20  # plies; openings beyond seldom leave the sides equal
_LARGEST_LEAD = math.tanh(50 / VALUE_SCALE)  # half a man


def random_openings(of: Variant | str, plies: int, count: int, seed: int = 0) -> list[Opening]:
    """Distinct beginnings of ``plies`` random moves; the same for the same arguments.

    They lead to different positions. Left out are those in which a side stands half a man better or more after five
    more plies of alpha-beta, and those that end the game.

    Raises:
        OpeningError: there are not that many.
        VariantError: an unknown variant.
    """
    if plies < 0 or count < 0:
        raise OpeningError("the number of openings and their length cannot be negative")
    rules = variant(of)
    if plies == 0:
        if count > 1:
            raise OpeningError("there is only one opening of 0 plies: the starting position")
        return [()] * count
    chance = random.Random(f"{rules.name} {plies} {seed}")
    judge = AlphaBetaAgent(rules)
    seen: set[Position] = set()
    found: list[Opening] = []
    misses = 0  # in a row; after so many, hardly anything new is left to find
    while len(found) < count and misses < 1000:
        game = Game(rules)
        opening: list[str] = []
        while len(opening) < plies and not game.is_over:
            opening.append(str(game.push(chance.choice(game.legal_moves()))))
        misses += 1
        if game.is_over or game.position in seen:
            continue
        misses = 0
        seen.add(game.position)
        value = judge.choose(game, _CHECK).value
        if value is not None and abs(value) < _LARGEST_LEAD:
            found.append(tuple(opening))
    if len(found) < count:
        better = "shorter" if plies > _LONG else "longer"
        raise OpeningError(f"found only {len(found)} of {count} balanced openings of {plies} plies; use {better} ones")
    return found
