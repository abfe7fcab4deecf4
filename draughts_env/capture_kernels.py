"""Generating captures. Conventions: :mod:`draughts_env.kernels`, through which the rest of the project gets this."""

from __future__ import annotations

import numpy as np

from draughts_env.bit_kernels import (
    ALL,
    CROWNED,
    ONE,
    WORDS,
    ZERO,
    board_of,
    crown_row,
    flag,
    flying_jumpers,
    half_of,
    jump_squares,
    landings,
    shift,
)
from draughts_env.intrinsics import load, popcount, store
from draughts_env.jit import kernel
from draughts_env.ranked_kernels import ranked_captures


@kernel()
def can_go_on(at, king, opp, empty, taken, half, back, up):
    """Whether a piece that may fly (if ``king``) can capture from ``at``."""
    for direction in range(4):
        if not (king or back or (direction >= 2) == up):
            continue
        x = shift(at, direction, half)
        if king:
            while x & empty:
                x = shift(x, direction, half)
        if shift(x & opp & ~taken, direction, half) & empty:
            return True
    return False


@kernel(inline="always")
def _write(origin, target, captured, n, moves, capacity):
    """Write a capture if there is room; returns the length of the list."""
    if n < capacity:
        j = WORDS * n
        store(moves, j, origin)
        store(moves, j + 1, target)
        store(moves, j + 2, captured)
        n += 1
    return n


@kernel()
def _finish(origin, at, taken, rules, n, best, moves, capacity):
    """Write a complete capture, unless others take more men or it is on the list."""
    count = popcount(taken & ALL)
    if flag(rules, 6):
        if count < best:
            return n, best
        if count > best:
            best = count
            n = 0
    if count >= 2:  # two routes can agree only from two men on (a flying king may turn on several squares between)
        for i in range(n):
            j = WORDS * i
            if load(moves, j) == origin and load(moves, j + 1) == at and (load(moves, j + 2) ^ taken) & ALL == ZERO:
                store(moves, j + 2, load(moves, j + 2) | taken)
                return n, best
    return _write(origin, at, taken, n, moves, capacity), best


@kernel()
def _fly(origin, at, opp, empty, taken, rules, n, best, moves, capacity):
    """Follow every capture of a flying king from ``at``, as ``_jump`` does."""
    half = half_of(rules)
    found = False
    for direction in range(4):
        x = shift(at, direction, half)
        while x & empty:
            x = shift(x, direction, half)
        x = x & opp & ~taken
        y = shift(x, direction, half) & empty
        if y == ZERO:
            continue
        found = True
        after = taken | x
        # Without the majority rule a king must still land where it can go on, if there is such a square.
        choosy = False
        if not flag(rules, 6):
            z = y
            while z and not choosy:
                choosy = can_go_on(z, True, opp, empty, after, half, True, True)
                z = shift(z, direction, half) & empty
        while y:
            if not choosy or can_go_on(y, True, opp, empty, after, half, True, True):
                n, best = _fly(origin, y, opp, empty, after, rules, n, best, moves, capacity)
            y = shift(y, direction, half) & empty
    if found or taken == ZERO:
        return n, best
    return _finish(origin, at, taken, rules, n, best, moves, capacity)


@kernel(inline="always")
def _land(origin, at, king, opp, empty, taken, up, rules, n, best, moves, capacity):
    """Go on from a square on which ``_jump`` has landed, perhaps as a king."""
    if flag(rules, 7) and not king and at & crown_row(rules, up):
        king = True
        taken |= CROWNED
        if flag(rules, 5):
            return _fly(origin, at, opp, empty, taken, rules, n, best, moves, capacity)
    return _jump(origin, at, king, opp, empty, taken, up, rules, n, best, moves, capacity)


@kernel()
def _jump(origin, at, king, opp, empty, taken, up, rules, n, best, moves, capacity):
    """Follow every capture of a piece that does not fly from ``at``; write the complete ones.

    ``taken`` carries the men jumped so far (and ``CROWNED``); they stay on the board and block.
    Returns the length of the list and the greatest number captured so far (zero without that rule).
    """
    half = half_of(rules)
    free = opp & ~taken
    found = taken == ZERO  # a piece that has taken nothing has nothing to complete
    for direction in range(4):
        if king or flag(rules, 4) or (direction >= 2) == up:
            x = shift(at, direction, half) & free
            y = shift(x, direction, half) & empty
            if y:
                found = True
                n, best = _land(origin, y, king, opp, empty, taken | x, up, rules, n, best, moves, capacity)
    if found:
        return n, best
    return _finish(origin, at, taken, rules, n, best, moves, capacity)


@kernel()
def captures(own, opp, kings, up, rules, moves, capacity):
    """Write the legal captures to ``moves``; returns their number, 0 when there is none.

    At most ``capacity`` are written; a caller whose list comes back full has to assume that some are missing.
    """
    if flag(rules, 11):
        return ranked_captures(own, opp, kings, up, rules, moves, capacity)
    half = half_of(rules)
    above = half + ONE
    empty = board_of(rules) & ~(own | opp)
    flyers = own & kings if flag(rules, 5) else ZERO
    down = upward = own & ~flyers
    if not flag(rules, 4):
        if up:
            down &= kings
        else:
            upward &= kings
    j = jump_squares(opp, empty, half)
    able = (down & (j[0] | j[1])) | (upward & (j[2] | j[3]))
    if flyers:
        able |= flying_jumpers(flyers, j, empty, half)
    n = np.int64(0)
    if able == ZERO:
        return n
    # Mostly no capture goes on after the first man: `more` is where one may. It never misses one, but raises a false
    # alarm for a man that could go on only if it was a king.
    x = landings((down & j[0], down & j[1], upward & j[2], upward & j[3]), half)
    more = able & flyers
    if down:
        more |= ((x[0] | x[1] | x[3]) & j[0]) | ((x[0] | x[1] | x[2]) & j[1])
    if upward:
        more |= ((x[1] | x[2] | x[3]) & j[2]) | ((x[0] | x[2] | x[3]) & j[3])
    if flag(rules, 7):
        more |= (x[0] | x[1] | x[2] | x[3]) & crown_row(rules, up)
    best = np.int64(0)
    while able:
        b = able & (~able + ONE)
        able ^= b
        if more == ZERO:
            if b & down & j[0]:
                n = _write(b, b << (half + half), b << half, n, moves, capacity)
            if b & down & j[1]:
                n = _write(b, b << (above + above), b << above, n, moves, capacity)
            if b & upward & j[2]:
                n = _write(b, b >> (half + half), b >> half, n, moves, capacity)
            if b & upward & j[3]:
                n = _write(b, b >> (above + above), b >> above, n, moves, capacity)
        elif b & flyers:
            n, best = _fly(b, b, opp, empty | b, ZERO, rules, n, best, moves, capacity)
        else:
            n, best = _jump(b, b, (b & kings) != ZERO, opp, empty | b, ZERO, up, rules, n, best, moves, capacity)
    return n
