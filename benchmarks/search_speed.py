"""Simulations per second of a single-game search, beside the bare network on the same positions.

    python benchmarks/search_speed.py [--checkpoint FILE] [--repeat 5]

One thread, its CPU time, so that other programs on the machine count less. The network is evaluated on the positions
that the search's tree holds, as often as the search did: the ratio says how much of the time the tree takes. Pairs are
repeated and the medians printed. Simulations that need no evaluation (forced, terminal, proven) are counted apart.
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np
import torch

from agents.agent import AgentError, shipped_checkpoint
from agents.jit import kernel
from agents.network.checkpoint import load_checkpoint
from agents.network.config import NetworkConfig
from agents.network.models import build_model
from agents.network.sparse import evaluate_hidden, export_weights, new_scratch, policy_logit
from agents.search.in_kernel import run_search
from agents.search.search import begin_search, halving_schedule, new_search, settings
from agents.search.tree import EVALUATIONS, NODES, search_rules
from draughts_env import Game, Variant, variant
from draughts_env.kernels import U

MIDDLE_GAMES = {
    "english": (
        "B:W17,19,21,22,24,25,26,29,30,31,32:B1,2,3,4,5,6,7,9,10,12,14",
        "W:W18,22,25,27,28,30,31,32:B1,3,5,7,9,10,12,14",
    ),
    "international": (
        "W:W25,27,28,30,32,33,34,35,37,38,39,40,42,43,48:B2,3,6,8,9,11,12,13,14,16,18,19,21,23,24",
        "W:W25,28,32,33,35,37,38,39,42,43:B8,9,12,13,14,16,18,21,23,24",
    ),
}


@kernel()
def bare(tree, net, scratch, rules, count):  # type: ignore[no-untyped-def]
    """Evaluate the network on the first ``count`` open nodes of a tree, policy of legal moves included."""
    total = np.float32(0)
    done = 0
    while done < count:
        for i in range(tree.counters[NODES]):
            node = tree.nodes[i]
            if node.count < 2:
                continue
            win, _, loss = evaluate_hidden(
                net,
                scratch,
                node.white,
                node.black,
                node.kings,
                node.up == 1,
                node.quiet,
                node.ending,
                node.repeats,
                rules.shown,
            )
            total += win - loss
            for e in range(node.first, node.first + node.count):
                total += policy_logit(net, scratch, tree.edges[e].action)
            done += 1
            if done == count:
                break
    return total


def measure(of: Variant, model: torch.nn.Module, simulations: int, repeat: int) -> None:
    """Print one line for each budget."""
    weights = export_weights(model)  # type: ignore[arg-type]
    scratch = new_scratch(weights)
    rules, how, schedule = search_rules(of), settings(gumbel=False, noise=0.0), halving_schedule(1, 1)
    search = new_search(simulations, moves_per_node=32)
    fast, slow, free = [], [], []
    for _ in range(repeat + 1):
        for fen in MIDDLE_GAMES[of.name]:
            game = Game(of, fen=fen)
            p = game.position
            search.tree.counters[EVALUATIONS] = 0
            start = time.thread_time()
            begin_search(
                search,
                rules,
                how,
                U(p.white),
                U(p.black),
                U(p.kings),
                p.turn == "white",
                0,
                game.ending,
                0,
                simulations,
            )
            run_search(search, rules, how, schedule, game.key_history, weights, scratch)
            middle = time.thread_time()
            evaluations = int(search.tree.counters[EVALUATIONS])
            bare(search.tree, weights, scratch, rules, evaluations)
            end = time.thread_time()
            slow.append(evaluations / (middle - start))
            free.append((simulations - evaluations) / (middle - start))
            fast.append(evaluations / (end - middle))
    skip = len(MIDDLE_GAMES[of.name])  # the first round compiles
    ratio = statistics.median(a / b for a, b in zip(slow[skip:], fast[skip:], strict=True))
    searched, without = statistics.median(slow[skip:]), statistics.median(free[skip:])
    network = statistics.median(fast[skip:])
    print(
        f"{of.name:14} {simulations:7,} simulations  {searched + without:9,.0f} simulations/s "
        f"({without / (searched + without):4.0%} without evaluation)  bare network {network:9,.0f}/s  "
        f"evaluations in search / bare {ratio:.2f}  tree {1e6 / searched - 1e6 / network:.2f} us/simulation"
    )


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", help="a sparse network; the shipped one or a fresh one otherwise")
    parser.add_argument("--variant", default="all")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    torch.manual_seed(0)
    for name in MIDDLE_GAMES if options.variant == "all" else [options.variant]:
        of = variant(name)
        try:
            model = load_checkpoint(options.checkpoint or shipped_checkpoint(of), of).model
        except AgentError:
            print(f"{of.name}: no checkpoint ships yet, so the network is a fresh one")
            model = build_model(NetworkConfig(), of)
        for simulations in (100, 2000, 50_000):
            measure(of, model, simulations, options.repeat)


if __name__ == "__main__":
    main()
