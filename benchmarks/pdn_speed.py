"""Plies per second of reading PDN on one core, every move checked, over generated games.

    python benchmarks/pdn_speed.py [--plies 200000] [--variant english]

Games are random ones in three dresses: plain, as most archives are; with a clock comment after every move and a
variation after every tenth, as online servers and analysts write them; and plain without a GameType, so that the rules
are guessed.
"""

from __future__ import annotations

import argparse
import io
import random
import time

from draughts_env import VARIANTS, Game, Variant
from draughts_env.pdn import PdnGame, Variation, read_games, write_game
from draughts_env.variants import variant


def random_game(rules: Variant, rng: random.Random) -> Game:
    """A game played to its end at random."""
    game = Game(rules)
    while not game.is_over:
        game.push(rng.choice(game.legal_moves()))
    return game


def annotated(game: Game, rng: random.Random) -> PdnGame:
    """The game with comments and variations."""
    record = next(read_games(write_game(game)))
    for ply, position in enumerate(record.positions()):
        record.comments[ply] = [f"[%clock w0:{ply % 60:02}:{ply % 59:02} b0:{ply % 58:02}:00]"]
        if ply % 10 == 5 and ply < len(record.moves):
            record.variations[ply + 1] = [Variation(ply + 1, [rng.choice(position.legal_moves())])]
    return record


def text_of(rules: Variant, plies: int, dress: str, seed: int) -> tuple[str, int]:
    """A file of games with at least so many plies; how many they are."""
    rng = random.Random(seed)
    texts: list[str] = []
    total = 0
    while total < plies:
        game = random_game(rules, rng)
        total += game.ply
        text = write_game(annotated(game, rng) if dress == "annotated" else game)
        if dress == "no GameType":
            text = "\n".join(line for line in text.split("\n") if "GameType" not in line)
        texts.append(text)
    return "\n".join(texts), total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plies", type=int, default=200_000, help="plies to read per line of the table")
    parser.add_argument("--variant", help="only this one")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    list(read_games("1. 11-15 23-19 *"))  # load the kernels
    print(f"{'variant':<14} {'dress':<12} {'MB':>5} {'plies':>8} {'seconds':>8} {'plies/s':>9}")
    for rules in VARIANTS if args.variant is None else [variant(args.variant)]:
        for dress in ("plain", "annotated", "no GameType"):
            text, plies = text_of(rules, args.plies, dress, args.seed)
            content = text.encode()
            began = time.process_time()
            read = problems = 0
            for game in read_games(io.BytesIO(content)):
                read += len(game.moves)
                problems += len(game.errors)
            seconds = time.process_time() - began
            assert (read, problems) == (plies, 0)
            size = len(content) / 1e6
            print(f"{rules!s:<14} {dress:<12} {size:>5.1f} {plies:>8} {seconds:>8.2f} {plies / seconds:>9,.0f}")


if __name__ == "__main__":
    main()
