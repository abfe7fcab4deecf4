"""Move generation against dame-rs, an engine written in Rust: perft from the start, one thread, one run.

Both count the same tree, in turns (A B A B ...), and the median of the ratios of neighbours is printed, so that a
machine that slows down slows both. Times are CPU times. dame-rs knows International draughts only; English is
compared with our own International.

    python benchmarks/perft_vs_dame.py --rounds 7 --depth 8 --english-depth 10
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import dame

from draughts_env import Position


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
    args = parser.parse_args()

    international, english, board = Position.start("international"), Position.start("english"), dame.Board()
    for depth in range(1, min(args.depth, 6) + 1):  # the same tree; and everything is compiled and warm
        assert international.perft(depth) == dame.perft(board, depth), depth
        english.perft(depth)

    rates: dict[str, list[float]] = {"ours, International": [], "dame-rs, International": [], "ours, English": []}
    for _ in range(args.rounds):
        rates["ours, International"].append(rate(lambda: international.perft(args.depth)))
        rates["dame-rs, International"].append(rate(lambda: dame.perft(board, args.depth)))
        rates["ours, English"].append(rate(lambda: english.perft(args.english_depth)))
    for name, values in rates.items():
        print(f"{name:24} {statistics.median(values) / 1e6:7.1f} M leaves/s (best {max(values) / 1e6:.1f})")
    ours, theirs, ours_english = rates.values()
    print(f"ours / dame-rs           {statistics.median(a / b for a, b in zip(ours, theirs)):7.2f}")
    print(f"English / International  {statistics.median(a / b for a, b in zip(ours_english, ours)):7.2f}")


if __name__ == "__main__":
    main()
