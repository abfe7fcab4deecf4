"""Tablebases: seconds to build, probes per second from kernels and from Python.

    python benchmarks/tablebase.py [--variant english] [--pieces 4] [--workers 2] [--no-build]

Builds into a temporary folder, so that nothing that is there already helps. Kernel probes are of random positions: of
random placements, whose values lie anywhere in memory, and along random walks through quiet moves, whose positions
resemble each other as those of a search do. The ratio says what a probe costs beside generating the moves of the same
positions.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time

import numpy as np

from agents.jit import kernel
from agents.tablebase import Tablebase, build, probe_wdl, signatures
from agents.tablebase.indexing import position_at
from draughts_env.intrinsics import load
from draughts_env.kernels import MAX_MOVES, WORDS, captures, legal_moves, moved_kings, moved_own
from draughts_env.variants import variant


@kernel()
def probe_all(tb, white, black, kings, up):  # type: ignore[no-untyped-def]
    """Sum of the values of many positions."""
    total = 0
    for i in range(len(white)):
        total += probe_wdl(tb, white[i], black[i], kings[i], up[i])
    return total


@kernel()
def generate_all(white, black, kings, up, rules, moves, capacity):  # type: ignore[no-untyped-def]
    """Sum of the numbers of moves of many positions."""
    total = 0
    for i in range(len(white)):
        own, opp = (white[i], black[i]) if up[i] else (black[i], white[i])
        total += legal_moves(own, opp, kings[i], up[i], rules, moves, capacity)
    return total


@kernel()
def walk(white, black, kings, up, rules, seed, moves, capacity):  # type: ignore[no-untyped-def]
    """Replace the positions by those of a random walk of quiet moves from the first of every hundred."""
    state = np.uint64(seed)
    for i in range(len(white)):
        if i % 100 == 0:
            continue
        w, b, k, u = white[i - 1], black[i - 1], kings[i - 1], up[i - 1]
        own, opp = (w, b) if u else (b, w)
        n = legal_moves(own, opp, k, u, rules, moves, capacity)
        if n > 0 and captures(own, opp, k, u, rules, moves, capacity) == 0:
            n = legal_moves(own, opp, k, u, rules, moves, capacity)
            state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            j = WORDS * np.int64((state >> np.uint64(33)) % np.uint64(n))
            k = moved_kings(k, load(moves, j), load(moves, j + 1), load(moves, j + 2), u, rules)
            own = moved_own(own, load(moves, j), load(moves, j + 1))
            w, b = (own, opp) if u else (opp, own)
            u = not u
        white[i], black[i], kings[i], up[i] = w, b, k, u


def best_of(repeat: int, function, *arguments):  # type: ignore[no-untyped-def]
    """Least seconds of several runs, the first, which may compile, left out."""
    function(*arguments)
    times = []
    for _ in range(repeat):
        started = time.perf_counter()
        function(*arguments)
        times.append(time.perf_counter() - started)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variant", default="english")
    parser.add_argument("--pieces", type=int, default=4)
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--positions", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--no-build", action="store_true", help="measure the tables that are there")
    options = parser.parse_args()
    rules = variant(options.variant)

    with tempfile.TemporaryDirectory() as folder:
        if options.no_build:
            folder = None  # type: ignore[assignment]
        else:
            with tempfile.TemporaryDirectory() as warm:
                build(rules, 2, warm, options.workers)  # compiles
            started = time.perf_counter()
            build(rules, options.pieces, folder, options.workers)
            print(f"build: {time.perf_counter() - started:.1f} s, files written included")
        started = time.perf_counter()
        base = Tablebase.open(rules, options.pieces, folder)
        print(
            f"open: {1000 * (time.perf_counter() - started):.0f} ms, {len(base.arrays.wdl) / 2**20:.1f} MiB in memory"
        )
        for pieces, file in base.files.items():
            print(f"{pieces} pieces: {file.counts}, {file.size:,} bytes")

        rng = np.random.default_rng(1)
        word = np.uint64(rules.rules)
        sizes = [signature.size(rules) for signature in signatures(options.pieces)]
        numbers = rng.choice(len(sizes), options.positions, p=np.array(sizes) / sum(sizes))
        found = [
            position_at(signatures(options.pieces)[number].code, int(rng.integers(sizes[number])), word)
            for number in numbers
        ]
        white, black, kings = (np.array(column, np.uint64) for column in zip(*found))
        up = np.ones(options.positions, np.bool_)
        room = np.empty((MAX_MOVES, 3), np.uint64)
        moves = np.uint64(room.ctypes.data), MAX_MOVES
        for what in ("random positions", "walks"):
            probing = best_of(options.repeat, probe_all, base.arrays, white, black, kings, up)
            generating = best_of(options.repeat, generate_all, white, black, kings, up, word, *moves)
            print(
                f"{what}: {options.positions / probing / 1e6:.1f} M probes/s from a kernel, "
                f"{probing / generating:.2f} times the cost of generating their moves"
            )
            walk(white, black, kings, up, word, 1, *moves)

        draw = random.Random(1)
        positions = [base.sample(draw, options.pieces) for _ in range(300)]
        for position in positions:
            position.legal_moves()
        for what in ("cold", "warm"):
            started = time.perf_counter()
            for position in positions:
                base.probe(position)
            print(f"probe with distance and best moves, {what}: {(time.perf_counter() - started) / 0.3:.3f} ms")


if __name__ == "__main__":
    main()
