"""The two kernels behind :class:`Position` and :class:`Game`: everything one ply needs, in one call from Python.

A call from Python into a kernel costs about as much as the work in it, so the kernels here do several things at once
and take plain integers, which numba types fastest. Moves are named by a code, ``origin * 64 + target`` in PDN
squares, plus ``CROWNED_CODE`` for a man crowned in flight.
"""

from __future__ import annotations

import numpy as np

from draughts_env.intrinsics import load, lowest, store
from draughts_env.jit import kernel
from draughts_env.kernels import (
    CROWNED,
    ONE,
    WORDS,
    ZERO,
    U,
    field,
    flag,
    half_of,
    hash_position,
    legal_moves,
    moved_kings,
    moved_own,
    next_ending,
    next_quiet,
)

CROWNED_CODE = 1 << 12

# What `advance` says about the position it reaches, repetition aside.
ONGOING, NO_PIECES, NO_MOVES, QUIET_LIMIT, ENDING_LIMIT = range(5)


@kernel(inline="always")
def _turned(place, period, mirrored):
    """A square (from 0), counted from the other end of its row on boards with mirrored numbers."""
    return place + period // 2 - 1 - 2 * (place % (period // 2)) if mirrored else place


@kernel(inline="always")
def _bit(square, period, mirrored):
    """The bit of a PDN square; ``period`` squares lie between ghosts."""
    place = _turned(square - 1, period, mirrored)
    return ONE << U(place + place // period)


@kernel(inline="always")
def _square(bit, period, mirrored):
    """The PDN square of the index of a bit."""
    return _turned(bit - bit // (period + 1), period, mirrored) + 1


@kernel()
def _write_codes(words, n, period, mirrored, codes):
    for i in range(n):
        origin = _square(lowest(load(words, WORDS * i)), period, mirrored)
        target = _square(lowest(load(words, WORDS * i + 1)), period, mirrored)
        store(codes, i, U(origin << 6 | target))


@kernel()
def generate(white, black, kings, up, rules, words, codes, capacity):
    """Legal moves and hash of a position given as plain integers.

    Args:
        white, black, kings, up, rules: the position; ``up`` is true when White moves.
        words: address that receives the moves, three words each.
        codes: address that receives their codes, one word each.
        capacity: moves that both have room for, at least ``MAX_QUIET``.

    Returns:
        Number of moves (all of them only if it is less than the capacity), hash.
    """
    r = U(rules)
    w, b, k = U(white), U(black), U(kings)
    n = legal_moves(w if up else b, b if up else w, k, up, r, U(words), capacity)
    _write_codes(U(words), n, 2 * np.int64(half_of(r)), flag(r, 10), U(codes))
    return n, hash_position(w, b, k, up)


@kernel()
def advance(white, black, kings, up, code, captured, quiet, ending, rules, words, codes, capacity):
    """Make a legal move and generate the legal moves of the position it reaches.

    Args:
        white, black, kings, up, rules: the position before the move.
        code: the move's code; captured: bit set of the captured men, without ``CROWNED``.
        quiet, ending: clocks before the move.
        words, codes, capacity: as for :func:`generate`.

    Returns:
        Number of moves, white, black, kings, quiet, ending, verdict, hash, all of the position after the move.
    """
    r = U(rules)
    period = 2 * np.int64(half_of(r))
    mirrored = flag(r, 10)
    origin = _bit(code >> 6 & 63, period, mirrored)
    target = _bit(code & 63, period, mirrored)
    taken = U(captured)
    if code & CROWNED_CODE:
        taken |= CROWNED
    own = U(white) if up else U(black)
    opp = (U(black) if up else U(white)) & ~taken
    quiet = next_quiet(quiet, own, U(kings), origin, taken)
    k = moved_kings(U(kings), origin, target, taken, up, r)
    own = moved_own(own, origin, target)
    w = own if up else opp
    b = opp if up else own
    ending = next_ending(ending, taken, w, b, k, r)
    n = legal_moves(opp, own, k, not up, r, U(words), capacity)
    _write_codes(U(words), n, period, mirrored, U(codes))
    verdict = ONGOING
    if opp == ZERO:
        verdict = NO_PIECES
    elif n == 0:
        verdict = NO_MOVES
    elif quiet >= field(r, 16):
        verdict = QUIET_LIMIT
    elif ending == 0:
        verdict = ENDING_LIMIT
    return n, np.int64(w), np.int64(b), np.int64(k), quiet, ending, verdict, hash_position(w, b, k, not up)
