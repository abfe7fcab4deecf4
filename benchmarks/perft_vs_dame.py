"""Move generation against dame-rs, an engine written in Rust: perft from the start, one thread, one run.

Both count the same tree, in turns (A B A B ...), and the median of the ratios of neighbours is printed, so that a
machine that slows down slows both. Times are CPU times. dame-rs knows International draughts only; the other variants
are compared with our own International. Last, a deep count by threads that share a hash table, in seconds that passed.

    python benchmarks/perft_vs_dame.py --rounds 7 --depth 8 --english-depth 10 --deep 11 --threads 2
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import dame

from draughts_env import Position
from draughts_env.perft import perft_parallel
from draughts_env.variants import variant


def rate(count: Callable[[], int]) -> float:
    """Leaves per second of CPU time."""
    begin = time.process_time()
    leaves = count()
    return leaves / (time.process_time() - begin)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7, help="how often each is measured")
    parser.add_argument("--depth", type=int, default=8, help="depth for International")
    parser.add_argument("--english-depth", type=int, default=10, help="depth for English")
    parser.add_argument("--deep", type=int, default=11, help="depth of the count with threads; 0 for none")
    parser.add_argument("--threads", type=int, help="for the deep count; default one for each processor")
    parser.add_argument("--hash", type=int, default=256, help="megabytes of hash table for the deep count")
    args = parser.parse_args()

    board = dame.Board()
    starts = {name: Position.start(name) for name in ("international", "english", "russian", "brazilian")}
    depths = {name: args.english_depth if name == "english" else args.depth for name in starts}
    for depth in range(1, min(args.depth, 6) + 1):  # the same tree; and everything is compiled and warm
        assert starts["international"].perft(depth) == dame.perft(board, depth), depth

    rates: dict[str, list[float]] = {name: [] for name in ("dame-rs", *starts)}
    for _ in range(args.rounds):
        rates["dame-rs"].append(rate(lambda: dame.perft(board, args.depth)))
        for name, start in starts.items():
            rates[name].append(rate(lambda start=start, depth=depths[name]: start.perft(depth)))  # type: ignore[misc]
    for name, values in rates.items():
        print(f"{name:24} {statistics.median(values) / 1e6:7.1f} M leaves/s (best {max(values) / 1e6:.1f})")
    for above, below in (("international", "dame-rs"), ("english", "international")):
        ratio = statistics.median(a / b for a, b in zip(rates[above], rates[below]))
        print(f"{above + ' / ' + below:24} {ratio:7.2f}")

    if args.deep:
        rules = variant("international")
        begin = time.perf_counter()
        leaves = perft_parallel(*rules.start, 0, True, rules.rules, args.deep, args.threads, args.hash)
        seconds = time.perf_counter() - begin
        print(f"depth {args.deep} with a hash table of {args.hash} MB: {leaves} leaves in {seconds:.2f} s")


if __name__ == "__main__":
    main()
