"""The pvs agent: its match with the alpha-beta of the first line at equal time, and its speed.

    python benchmarks/pvs_strength.py [--variant english] [--games 200] [--seconds 0.05]

The games are played in pairs from ballots (English three-move; random openings where a variant has no ballots). Speed
is in nodes of one thread a second of its CPU time, over middle games, every position searched for itself.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time

from rich.progress import Progress

from agents.agent import Limit
from agents.arena import play_match
from agents.pvs import PvsAgent
from draughts_env import Game
from draughts_env.openings import deck, decks
from draughts_env.variants import variant


def speed(of: str, nodes: int, positions: int) -> None:
    """Print the nodes a second over positions of random play 12 to 30 plies from the start."""
    agent = PvsAgent(of)
    agent.choose(Game(of), Limit(depth=2))
    chance = random.Random(0)
    rates, depths = [], []
    while len(rates) < positions:
        game = Game(of)
        for _ in range(chance.randrange(12, 30)):
            game.push(chance.choice(game.legal_moves()))
        if game.is_over or len(game.legal_moves()) < 2:
            continue
        agent.new_game()
        begun = time.thread_time()
        decision = agent.choose(game, Limit(nodes=nodes))
        if not decision.exact:
            rates.append(decision.nodes / (time.thread_time() - begun))
            depths.append(decision.depth or 0)
    print(f"{of}: {statistics.median(rates) / 1e6:.2f} M nodes/s, depth {statistics.median(depths)} in {nodes:,} nodes")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variant", default="english")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=0.05)
    parser.add_argument("--nodes", type=int, default=2_000_000, help="of each search that the speed is measured on")
    parser.add_argument("--positions", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rules = variant(options.variant)
    speed(rules.name, options.nodes, options.positions)
    if not options.games:
        return
    openings = list(deck(rules, decks(rules)[0])) if decks(rules) else None
    if openings:
        random.Random(options.seed).shuffle(openings)
    with Progress() as progress:
        task = progress.add_task("games", total=options.games)
        result = play_match(
            "pvs",
            "alphabeta",
            rules,
            options.games,
            limit=Limit(seconds=options.seconds),
            openings=openings,
            seed=options.seed,
            on_game=lambda game: progress.advance(task),
        )
    elo = result.elo
    print(f"{result.wins} won, {result.draws} drawn, {result.losses} lost at {options.seconds} s a move")
    print(f"{elo.value:+.0f} Elo, 95% from {elo.low:+.0f} to {elo.high:+.0f}")


if __name__ == "__main__":
    main()
