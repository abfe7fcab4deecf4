"""The evaluation: patterns of men, kings by square, and a few counts, each with a weight for full and for empty boards.

A *pattern* is four rows of two neighbouring squares; every state of its men (none, white, black: 3^8) has weights of
its own. Patterns overlap: they lie at every pair of columns and at every second row. Weights are for White; those of a
state and of the same state turned round with colours swapped are opposite (:mod:`agents.pvs.weights` sees to it).

The weights are one block of int32 at an address, in eighths of a point (a man is about 100 points):

* ``COUNTS``: two for each count (full board, empty board);
* ``TERNARY``: from eight bits to the number that has them as base-3 digits;
* ``KINGS``: 64 for white kings by bit, 64 for black ones; ``PATTERNS``: 3^8 for each pattern. In these two both weights
  share an int32: ``full * 65536 + empty``.
"""

from __future__ import annotations

import numpy as np

from agents.jit import kernel
from agents.pvs.kernels.memory import load32
from draughts_env.intrinsics import lowest, popcount
from draughts_env.kernels import ONE, ZERO, U, board_of, flag, half_of

STATES = 3**8  # of a pattern
UNIT = 8  # weights of one point

# The counts; of White less of Black, but for the last two, which are of the side to move.
MAN, KING, FIRST_KING, MOBILITY, TURN, OPPOSITION = range(6)
COUNT_NAMES = ("man", "king", "first king", "mobility of men", "turn", "opposition")

COUNTS = 0
TERNARY = 2 * len(COUNT_NAMES)
KINGS = TERNARY + 256
PATTERNS = KINGS + 128

# Rows of even number, from the top.
_EVEN8 = U(0xF | 0xF << 9 | 0xF << 18 | 0xF << 27)
_EVEN10 = U(0x1F | 0x1F << 11 | 0x1F << 22 | 0x1F << 33 | 0x1F << 44)


@kernel(inline="always")
def _pairs8(x):
    """The lowest two squares of each row of a board of 8 rows, one after the other."""
    return (
        (x & U(3))
        | (x >> U(2) & U(0xC))
        | (x >> U(5) & U(0x30))
        | (x >> U(7) & U(0xC0))
        | (x >> U(10) & U(0x300))
        | (x >> U(12) & U(0xC00))
        | (x >> U(15) & U(0x3000))
        | (x >> U(17) & U(0xC000))
    )


@kernel(inline="always")
def _pairs10(x):
    """The same for a board of 10 rows."""
    return (
        (x & U(3))
        | (x >> U(3) & U(0xC))
        | (x >> U(7) & U(0x30))
        | (x >> U(10) & U(0xC0))
        | (x >> U(14) & U(0x300))
        | (x >> U(17) & U(0xC00))
        | (x >> U(21) & U(0x3000))
        | (x >> U(24) & U(0xC000))
        | (x >> U(28) & U(0x30000))
        | (x >> U(31) & U(0xC0000))
    )


@kernel(inline="always")
def _state(white, black, weights):
    """State of a pattern, from its eight bits of either colour."""
    a = load32(weights, TERNARY + np.int64(white & U(255)))
    return a + 2 * load32(weights, TERNARY + np.int64(black & U(255)))


@kernel()
def pattern_sum(white_men, black_men, rules, weights):
    """Sum of the patterns' weights, both in one number as in the block."""
    total = np.int64(0)
    base = PATTERNS
    if half_of(rules) == U(4):
        for column in range(3):
            a = _pairs8(white_men >> U(column))
            b = _pairs8(black_men >> U(column))
            for row in range(3):
                total += load32(weights, base + _state(a >> U(4 * row), b >> U(4 * row), weights))
                base += STATES
        return total
    for column in range(4):
        a = _pairs10(white_men >> U(column))
        b = _pairs10(black_men >> U(column))
        for row in range(4):
            total += load32(weights, base + _state(a >> U(4 * row), b >> U(4 * row), weights))
            base += STATES
    return total


@kernel(inline="always")
def opposition(white, black, up, rules):
    """1 when the side to move has the move, -1 when it has not; 0 unless both sides have as many pieces."""
    if popcount(white) != popcount(black):
        return 0
    even = _EVEN8 if half_of(rules) == U(4) else _EVEN10
    # the rows that count are those of the same parity as the mover's first row
    system = board_of(rules) & ~even if up else even
    return 1 if popcount((white | black) & system) & 1 else -1


@kernel(inline="always")
def mobility(white_men, black_men, occupied, rules):
    """Steps that white men can make, less those of black men."""
    half = half_of(rules)
    above = half + ONE
    empty = board_of(rules) & ~occupied
    return (
        popcount(white_men & (empty << half))
        + popcount(white_men & (empty << above))
        - popcount(black_men & (empty >> half))
        - popcount(black_men & (empty >> above))
    )


@kernel(inline="always")
def _sum_of_kings(kings, base, weights):
    total = np.int64(0)
    while kings:
        total += load32(weights, base + lowest(kings))
        kings &= kings - ONE
    return total


@kernel()
def evaluate(own, opp, kings, up, rules, weights):
    """Points for the side to move; ``weights`` is the address of the block."""
    white = own if up else opp
    black = opp if up else own
    white_men = white & ~kings
    black_men = black & ~kings
    total = pattern_sum(white_men, black_men, rules, weights)
    white_kings = white & kings
    black_kings = black & kings
    if kings:
        total += _sum_of_kings(white_kings, KINGS, weights) + _sum_of_kings(black_kings, KINGS + 64, weights)
    empty_board = np.int64(np.int16(total & 0xFFFF))
    full_board = (total - empty_board) >> 16
    men = popcount(white_men) - popcount(black_men)
    crowned = popcount(white_kings) - popcount(black_kings)
    first = np.int64(white_kings != ZERO) - np.int64(black_kings != ZERO)
    free = mobility(white_men, black_men, own | opp, rules)
    full_board += men * load32(weights, COUNTS + 2 * MAN) + crowned * load32(weights, COUNTS + 2 * KING)
    full_board += first * load32(weights, COUNTS + 2 * FIRST_KING) + free * load32(weights, COUNTS + 2 * MOBILITY)
    empty_board += men * load32(weights, COUNTS + 2 * MAN + 1) + crowned * load32(weights, COUNTS + 2 * KING + 1)
    empty_board += first * load32(weights, COUNTS + 2 * FIRST_KING + 1)
    empty_board += free * load32(weights, COUNTS + 2 * MOBILITY + 1)
    if not up:
        full_board = -full_board
        empty_board = -empty_board
    move = opposition(white, black, up, rules)
    full_board += load32(weights, COUNTS + 2 * TURN) + move * load32(weights, COUNTS + 2 * OPPOSITION)
    empty_board += load32(weights, COUNTS + 2 * TURN + 1) + move * load32(weights, COUNTS + 2 * OPPOSITION + 1)
    most = 24 if half_of(rules) == U(4) else 40
    pieces = min(popcount(own | opp), most)
    score = (full_board * pieces + empty_board * (most - pieces)) // (most * UNIT)
    # a lone flying king holds a draw against few pieces
    if flag(rules, 5) and kings:
        weak = opp if score > 0 else own
        strong = own if score > 0 else opp
        if weak & kings and popcount(strong) <= 3:
            score //= 4
    return max(min(score, 15000), -15000)
