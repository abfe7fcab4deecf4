"""How the opening decks that ship were made: every position after some plies, less those that lose a man by force.

``python -m agents.arena.ballots english 3 > draughts_env/data/english-three-move.txt``
"""

from __future__ import annotations

import math
import sys

from agents.agent import Limit
from agents.alphabeta import VALUE_SCALE, AlphaBetaAgent
from draughts_env.game import Game
from draughts_env.openings import Opening
from draughts_env.position import Position
from draughts_env.variants import Variant, variant

#: Plies that alpha-beta looks ahead from each position; captures are followed to their end beyond.
DEPTH = 9
_MAN = 75  # a score from which on a side counts as a man ahead; a man is 100, and placement adds little
_WORDS = {1: "one", 2: "two", 3: "three", 4: "four"}


def ballots(of: Variant | str, plies: int, depth: int = DEPTH) -> tuple[list[Opening], int]:
    """The deck of a variant.

    Of several ways to a position, the first in the order of the moves stands for all.

    Args:
        of: the variant; plies: length of the openings; depth: plies searched from each position.

    Returns:
        The cards in order, and how many distinct positions there were before those that lose a man were left out.

    Raises:
        VariantError: no variant of that name.
    """
    rules = variant(of)
    ways: dict[Position, Opening] = {Position.start(rules): ()}
    for _ in range(plies):
        longer: dict[Position, Opening] = {}
        for position, opening in ways.items():
            for move in sorted(position.legal_moves(), key=lambda m: (m.origin, m.target)):
                longer.setdefault(position.play(move), (*opening, str(move)))
        ways = longer
    judge = AlphaBetaAgent(rules)
    cards = []
    for position, opening in ways.items():
        value = judge.choose(Game.from_position(position), Limit(depth=depth)).value
        assert value is not None
        if abs(value) < math.tanh(_MAN / VALUE_SCALE):
            cards.append(opening)
    return sorted(cards, key=lambda opening: [[int(s) for s in m.replace("x", "-").split("-")] for m in opening]), len(
        ways
    )


def main(arguments: list[str]) -> None:
    """Print the deck of a variant (first argument) and a number of plies (second) as text."""
    rules, plies = variant(arguments[0]), int(arguments[1])
    cards, positions = ballots(rules, plies)
    print(f"# {rules.name.capitalize()} {_WORDS[plies]}-move ballots: {len(cards)} of the {positions} positions")
    print(f"# after {plies} plies, less those in which a side loses a man by force (alpha-beta, {DEPTH} plies")
    print(f"# and captures). Made by: python -m agents.arena.ballots {rules.name} {plies}")
    for card in cards:
        print(" ".join(card))


if __name__ == "__main__":
    main(sys.argv[1:])
