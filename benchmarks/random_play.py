"""Plies per second of random games through Game, Position and Move objects, on one thread (CPU time).

python benchmarks/random_play.py --plies 100000
"""

from __future__ import annotations

import argparse
import random
import time

from draughts_env import VARIANTS, Game, Variant


def plies_per_second(variant: Variant, plies: int, seed: int) -> float:
    """Play whole games until so many plies are over."""
    rng = random.Random(seed)
    Game(variant).push(Game(variant).legal_moves()[0])
    played = 0
    begin = time.process_time()
    while played < plies:
        game = Game(variant)
        while game.outcome() is None:
            game.push(rng.choice(game.legal_moves()))
        played += game.ply
    return played / (time.process_time() - begin)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plies", type=int, default=100_000, help="plies per variant")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    for variant in VARIANTS:
        print(f"{variant!s:14} {plies_per_second(variant, args.plies, args.seed):10,.0f} plies/s")


if __name__ == "__main__":
    main()
