"""Captures by rank, the Italian way: men do not take kings, and only captures of the highest rank are legal.

The rank of a capture is, in this order: how many pieces it takes; whether a king takes; how many kings it takes; how
early it comes to a king. Conventions: :mod:`draughts_env.kernels`. Kings do not fly here.
"""

from __future__ import annotations

import numpy as np

from draughts_env.bit_kernels import ONE, WORDS, ZERO, board_of, flag, half_of, shift
from draughts_env.intrinsics import load, popcount, store
from draughts_env.jit import kernel

_FIRST = 15  # bit of the rank that says that the first piece taken is a king; the second piece has the next lower


@kernel()
def _follow(origin, at, king, prey, kings, empty, taken, early, depth, back, up, half, n, best, moves, capacity):
    """Follow every capture of one piece from ``at``; write the complete ones of the highest rank so far.

    Args:
        prey: the pieces that may be taken; taken: those that have been, ``depth`` in number.
        early: the part of the rank that says when kings were taken; best: the highest rank so far.
        back: whether men capture backwards. The rest is as in :func:`draughts_env.kernels.captures`.

    Returns:
        Length of the list, highest rank.
    """
    found = False
    for direction in range(4):
        if king or back or (direction >= 2) == up:
            x = shift(at, direction, half) & prey & ~taken
            y = shift(x, direction, half) & empty
            if y:
                found = True
                sooner = early | (np.int64(x & kings != ZERO) << (_FIRST - depth))
                n, best = _follow(
                    origin,
                    y,
                    king,
                    prey,
                    kings,
                    empty,
                    taken | x,
                    sooner,
                    depth + 1,
                    back,
                    up,
                    half,
                    n,
                    best,
                    moves,
                    capacity,
                )
    if found or taken == ZERO:
        return n, best
    rank = (
        (np.int64(popcount(taken)) << 28) | (np.int64(king) << 24) | (np.int64(popcount(taken & kings)) << 16) | early
    )
    if rank < best:
        return n, best
    if rank > best:
        n = 0
    for i in range(n):
        j = WORDS * i
        if load(moves, j) == origin and load(moves, j + 1) == at and load(moves, j + 2) == taken:
            return n, rank
    if n < capacity:
        j = WORDS * n
        store(moves, j, origin)
        store(moves, j + 1, at)
        store(moves, j + 2, taken)
        n += 1
    return n, rank


@kernel()
def ranked_captures(own, opp, kings, up, rules, moves, capacity):
    """:func:`draughts_env.kernels.captures` for variants of ranked captures."""
    half = half_of(rules)
    empty = board_of(rules) & ~(own | opp)
    back = flag(rules, 4)
    n = np.int64(0)
    best = np.int64(0)
    none = np.int64(0)
    rest = own
    while rest:
        b = rest & (~rest + ONE)
        rest ^= b
        king = (b & kings) != ZERO
        prey = opp if king else opp & ~kings
        n, best = _follow(
            b, b, king, prey, kings, empty | b, ZERO, none, none, back, up, half, n, best, moves, capacity
        )
    return n
