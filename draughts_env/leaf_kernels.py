"""Counting the legal moves of many positions at once, for perft.

The positions wait in a queue of three arrays: own pieces, opponents, own kings (of the side to move). Loops without
branches, which LLVM turns into vector code, count them all. What these cannot count exactly they leave to the move
generator: captures of three men and more, by flying kings, and with a crowning in flight.
"""

from __future__ import annotations

import numpy as np

from draughts_env.bit_kernels import (
    ONE,
    ZERO,
    U,
    board_of,
    crown_row,
    flag,
    half_of,
    jump_squares,
    landings,
    spread_down,
    spread_up,
)
from draughts_env.intrinsics import load, popcount, store
from draughts_env.jit import kernel
from draughts_env.kernels import MAX_QUIET, WORDS, captures, count_quiet

QUEUE = 256  # a queue of this length is counted
ROOM = QUEUE + MAX_QUIET + 8  # room for the quiet moves of one more position, and to fill up the last vector
QUEUE_BYTES = 3 * 8 * ROOM
OVERFLOW = -(1 << 62)  # returned for want of room for a list of moves


@kernel(inline="always")
def push(n, queue, own, opp, royal):
    """Add a position to the queue of length ``n``; returns its new length."""
    store(queue, n, own)
    store(queue, n + ROOM, opp)
    store(queue, n + 2 * ROOM, royal)
    return n + 1


@kernel(inline="always")
def _masks(rules, up):
    """All ones or zero: do kings fly, do men capture backwards; the row that may crown in flight."""
    return (
        ~ZERO if flag(rules, 5) else ZERO,
        ~ZERO if flag(rules, 4) else ZERO,
        crown_row(rules, up) if flag(rules, 7) else ZERO,
    )


@kernel(inline="always")
def _movers(own, royal, up, flying, back):
    """The pieces that step down, step up, jump down, jump up; flying kings are in none."""
    men = own & ~(royal & flying)
    kings = royal & ~flying
    down = kings if up else men
    upward = men if up else kings
    return down, upward, down | (men & back), upward | (men & back)


@kernel(inline="always")
def _steps(down, upward, empty, half):
    """Number of single steps."""
    above = half + ONE
    n = popcount(down & (empty >> half)) + popcount(down & (empty >> above))
    return n + popcount(upward & (empty << half)) + popcount(upward & (empty << above))


@kernel(inline="always")
def _jumped(down, upward, j, half):
    """Where the pieces stand after one jump in each direction from the jump squares ``j``."""
    return landings((down & j[0], down & j[1], upward & j[2], upward & j[3]), half)


@kernel(inline="always")
def _onward(x, both, j):
    """The pieces that can go on in each direction, having come by the directions 0 to 3.

    ``x`` are all pieces, ``both`` those that capture both up and down. No piece can jump straight back.
    """
    return (
        (x[0] | x[1] | both[3]) & j[0],
        (x[0] | x[1] | both[2]) & j[1],
        (x[2] | x[3] | both[1]) & j[2],
        (x[2] | x[3] | both[0]) & j[3],
    )


@kernel(inline="always")
def _union(x):
    return x[0] | x[1] | x[2] | x[3]


@kernel()
def _count_plain(n, owns, opps, royals, up, rules):
    """Legal moves of the positions in which no capture goes on after the first man and no king flies.

    Their entry in ``owns`` is set to zero, which marks them as done.
    """
    half = half_of(rules)
    board = board_of(rules)
    flying, back, crowning = _masks(rules, up)
    total = np.int64(0)
    for i in range(n):
        own = load(owns, i)
        opp = load(opps, i)
        royal = load(royals, i)
        empty = board & ~(own | opp)
        steps_down, steps_up, down, upward = _movers(own, royal, up, flying, back)
        both = down & upward
        j = jump_squares(opp, empty, half)
        first = _jumped(down, upward, j, half)
        rest = _union(_onward(first, _jumped(both, both, j, half), j)) | (_union(first) & crowning) | (royal & flying)
        jumps = popcount(first[0]) + popcount(first[1]) + popcount(first[2]) + popcount(first[3])
        count = jumps if jumps != 0 else _steps(steps_down, steps_up, empty, half)
        total += 0 if rest else count
        store(owns, i, own if rest else ZERO)
    return total


@kernel()
def _count_most(n, owns, opps, royals, up, rules):
    """As ``_count_plain`` for captures of up to two men, and flying kings that do not capture."""
    half = half_of(rules)
    above = half + ONE
    board = board_of(rules)
    flying, back, crowning = _masks(rules, up)
    most = flag(rules, 6)
    total = np.int64(0)
    for i in range(n):
        own = load(owns, i)
        opp = load(opps, i)
        royal = load(royals, i)
        empty = board & ~(own | opp)
        steps_down, steps_up, down, upward = _movers(own, royal, up, flying, back)
        both = down & upward
        j = jump_squares(opp, empty, half)
        x = _jumped(down, upward, j, half)
        b = _jumped(both, both, j, half)
        # Two jumps: one summand for each pair of directions, as two pieces may meet on the square in between.
        pairs = popcount(x[0] & j[0]) + popcount(x[1] & j[0]) + popcount(b[3] & j[0])
        pairs += popcount(x[0] & j[1]) + popcount(x[1] & j[1]) + popcount(b[2] & j[1])
        pairs += popcount(x[2] & j[2]) + popcount(x[3] & j[2]) + popcount(b[1] & j[2])
        pairs += popcount(x[2] & j[3]) + popcount(x[3] & j[3]) + popcount(b[0] & j[3])
        single = popcount(x[0] & ~(j[0] | j[1] | (b[0] & j[3]))) + popcount(x[1] & ~(j[0] | j[1] | (b[1] & j[2])))
        single += popcount(x[2] & ~(j[2] | j[3] | (b[2] & j[1]))) + popcount(x[3] & ~(j[2] | j[3] | (b[3] & j[0])))
        jumps = pairs if most and pairs != 0 else pairs + single
        second = landings(_onward(x, b, j), half)
        rest = _union(_onward(second, landings(_onward(b, b, j), half), j))
        rest |= (_union(x) | _union(second)) & crowning
        flyers = royal & flying
        f0 = spread_down(flyers, half, empty)
        f1 = spread_down(flyers, above, empty)
        f2 = spread_up(flyers, half, empty)
        f3 = spread_up(flyers, above, empty)
        rest |= (f0 & j[0]) | (f1 & j[1]) | (f2 & j[2]) | (f3 & j[3])
        quiet = _steps(steps_down, steps_up, empty, half)
        quiet += popcount(f0 ^ flyers) + popcount(f1 ^ flyers) + popcount(f2 ^ flyers) + popcount(f3 ^ flyers)
        count = jumps if jumps != 0 else quiet
        total += 0 if rest else count
        store(owns, i, own if rest else ZERO)
    return total


@kernel(inline="always")
def _close_ranks(n, owns, opps, royals):
    """Move the positions that are not done to the front; returns their number."""
    m = 0
    for i in range(n):
        own = load(owns, i)
        store(opps, m, load(opps, i))
        store(royals, m, load(royals, i))
        store(owns, m, own)
        m += 1 if own != ZERO else 0
    return m


@kernel(inline="always")
def _fill_up(n, owns, royals):
    """Add empty positions until the length is a multiple of 8, the width of the widest vectors; returns it."""
    for i in range(n, n + 8):
        store(owns, i, ZERO)
        store(royals, i, ZERO)
    return (n + 7) & ~7


@kernel(inline="always")
def count_moves(own, opp, kings, up, rules, moves, end):
    """Number of legal moves of one position."""
    capacity = np.int64((end - moves) // U(8 * WORDS))
    n = captures(own, opp, kings, up, rules, moves, capacity)
    if n == capacity:
        return OVERFLOW
    return n if n > 0 else count_quiet(own, opp, kings, up, rules)


@kernel()
def count_queue(n, queue, up, rules, moves, end):
    """Number of legal moves of all positions of the queue, which are lost."""
    owns = queue
    opps = queue + U(8 * ROOM)
    royals = queue + U(16 * ROOM)
    n = _fill_up(n, owns, royals)
    total = _count_plain(n, owns, opps, royals, up, rules)
    n = _fill_up(_close_ranks(n, owns, opps, royals), owns, royals)
    total += _count_most(n, owns, opps, royals, up, rules)
    for i in range(n):
        own = load(owns, i)
        if own:
            count = count_moves(own, load(opps, i), load(royals, i), up, rules, moves, end)
            if count < 0:
                return count
            total += count
    return total
