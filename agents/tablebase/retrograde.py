"""The kernels that solve a signature and its swapped one: distances to the end by moves taken back.

Values are 16-bit codes: 0 for a draw, otherwise one more than the distance to the end in plies. With best play a win is
an odd distance away and a loss an even one, so a code says who wins too: even codes are wins, odd ones losses.

:func:`begin` looks at every position once, forwards. A capture leads to fewer pieces and a crowning to fewer men, both
solved before; what remains inside the pair are plain moves. A position whose moves are all outside is decided at once.
For the others it notes what the moves outside achieve and counts the moves inside. Then :func:`spread` goes through the
distances in order and takes moves back from the positions decided at each: before a lost position stands a won one;
before a won position stands one that has a move less, and is lost when the last is gone. Whatever is never reached is a
draw.

Until a pair is done, codes with ``BOUND`` set mean "not decided; if lost, then not before this distance".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from agents.jit import kernel
from agents.tablebase.indexing import code_of, position_at, position_index
from draughts_env.intrinsics import load
from draughts_env.kernels import (
    ONE,
    WORDS,
    ZERO,
    U,
    board_of,
    captures,
    crown_row,
    flag,
    half_of,
    legal_moves,
    moved_kings,
    moved_own,
    quiet_moves,
    rotate,
    shift,
)

#: Marks a position that is not decided; the rest of the code is the least distance of a loss.
BOUND = 1 << 15

#: The greatest distance there is room for.
MAX_DISTANCE = BOUND - 3


@intrinsic
def _take_one(typing_context: Any, address: Any) -> Any:
    """Subtract one from the byte at an address, safe among threads; returns the byte before, as int64."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[0], ir.IntType(8).as_pointer())
        before = builder.atomic_rmw("sub", pointer, ir.Constant(ir.IntType(8), 1), "monotonic")
        return builder.zext(before, ir.IntType(64))

    return types.int64(types.uint64), generate


@kernel()
def _value_after(own, opp, kings, i, up_rules, moves, values, offsets):
    """Code of the position after move ``i`` of a list, for the side then to move."""
    origin = load(moves, WORDS * i)
    target = load(moves, WORDS * i + 1)
    captured = load(moves, WORDS * i + 2)
    left = rotate(opp & ~captured, up_rules)
    if left == ZERO:
        return np.int64(1)
    mover = rotate(moved_own(own, origin, target), up_rules)
    kings = rotate(moved_kings(kings, origin, target, captured, True, up_rules), up_rules)
    return np.int64(values[offsets[code_of(left, mover, kings)] + position_index(left, mover, kings, up_rules)])


@kernel()
def _summary(own, opp, kings, n, crowning, rules, moves, values, offsets):
    """What the first ``n`` moves of a list achieve; with ``crowning`` only those of men to the last row are looked at.

    Returns:
        Number of moves looked at, code of the shortest win (0: none), whether one draws, code of the longest loss.
    """
    crown = crown_row(rules, True)
    looked = 0
    win = np.int64(0)
    loss = np.int64(0)
    draw = False
    for i in range(n):
        if crowning and (load(moves, WORDS * i) & kings != ZERO or load(moves, WORDS * i + 1) & crown == ZERO):
            continue
        looked += 1
        after = _value_after(own, opp, kings, i, rules, moves, values, offsets)
        if after == 0:
            draw = True
        elif after & 1:
            if win == 0 or after + 1 < win:
                win = after + 1
        elif after + 1 > loss:
            loss = after + 1
    return looked, win, draw, loss


@kernel()
def begin(code, start, stop, rules, values, offsets, counters, counters_start, moves, capacity):
    """Look at the positions ``start`` to ``stop`` of a signature once, forwards.

    Args:
        code: code of the signature.
        values: uint16, codes of all positions, those of earlier signatures final.
        offsets: where each signature begins in ``values``, by code.
        counters: uint8; becomes the number of moves inside the pair, one more when a move outside does not lose, and 0
            for a position that is decided or has to capture.
        counters_start: where the signature begins in ``counters``.
        moves, capacity: address and size of a list for moves.

    Returns:
        The greatest distance found, -1 for none.
    """
    furthest = np.int64(-1)
    offset = offsets[code]
    for index in range(start, stop):
        own, opp, kings = position_at(code, index, rules)
        inside = 0
        n = captures(own, opp, kings, True, rules, moves, capacity)
        if n > 0:
            _, win, draw, loss = _summary(own, opp, kings, n, False, rules, moves, values, offsets)
        else:
            n = quiet_moves(own, opp, kings, True, rules, moves)
            looked, win, draw, loss = _summary(own, opp, kings, n, True, rules, moves, values, offsets)
            inside = n - looked
        if win > 0:
            value = win
        elif inside > 0 and not draw:
            value = BOUND | loss
        elif draw:
            value = np.int64(0)
        elif n == 0:
            value = np.int64(1)
        else:
            value = loss
        if inside > 0 and (win > 0 or draw):
            inside += 1
        values[offset + index] = value
        counters[counters_start + index] = inside
        if value < BOUND:
            furthest = max(furthest, value - 1)
    return furthest


@kernel(inline="always")
def _reach(own, opp, kings, rules, distance, values, offset, counters, counters_start):
    """Tell a position, before a move inside the pair, that the move leads to one decided at ``distance``.

    The position is given as the side that made the move sees it. Returns the distance at which this decides it, or -1.
    """
    index = position_index(own, opp, kings, rules)
    if counters[counters_start + index] == 0:  # decided, or bound to capture: no plain move is possible
        return np.int64(-1)
    value = np.int64(values[offset + index])
    if distance & 1 == 0:
        if value == 0 or value > distance + 2:
            values[offset + index] = distance + 2
            return np.int64(distance + 1)
        return np.int64(-1)
    address = U(counters.ctypes.data) + U(counters_start + index)
    if _take_one(address) == 1:
        value = max(np.int64(distance + 2), value & (BOUND - 1))
        values[offset + index] = value
        return np.int64(value - 1)
    return np.int64(-1)


@kernel()
def spread(code, start, stop, distance, rules, values, offsets, swapped, counters, counters_start):
    """Take moves back from the positions ``start`` to ``stop`` of a signature that are decided at ``distance``.

    Args:
        swapped: code of the signature with the other side to move, to which the positions before belong.
        counters, counters_start: counters of the pair, and where those of ``swapped`` begin.
        The others as for :func:`begin`.

    Returns:
        The greatest distance decided by this, -1 for none.
    """
    furthest = np.int64(-1)
    half = half_of(rules)
    flying = flag(rules, 5)
    offset = offsets[code]
    before = offsets[swapped]
    wanted = np.uint16(distance + 1)
    for index in range(start, stop):
        if values[offset + index] != wanted:
            continue
        # Seen by the side to move here the other side has just moved; its men came from above.
        own, opp, kings = position_at(code, index, rules)
        empty = board_of(rules) & ~(own | opp)
        rest = opp
        while rest:
            piece = rest & (~rest + ONE)
            rest ^= piece
            king = piece & kings != ZERO
            for direction in range(0 if king else 2, 4):
                origin = shift(piece, direction, half) & empty
                while origin:
                    mover = rotate((opp ^ piece) | origin, rules)
                    royal = rotate((kings ^ piece) | origin if king else kings, rules)
                    reached = _reach(
                        mover, rotate(own, rules), royal, rules, distance, values, before, counters, counters_start
                    )
                    furthest = max(furthest, reached)
                    if not (king and flying):
                        break
                    origin = shift(origin, direction, half) & empty
    return furthest


@kernel()
def finish(start, stop, values):
    """Turn what is not decided into draws."""
    for i in range(start, stop):
        if values[i] >= BOUND:
            values[i] = 0


@kernel()
def count_values(start, stop, values, counts):
    """Add the positions of each code to ``counts``, int64, indexed by code."""
    for i in range(start, stop):
        counts[values[i]] += 1


@kernel()
def count_faults(code, start, stop, rules, values, offsets, moves, capacity):
    """Number of positions whose value is not that of their best move, and the first of them (-1: none).

    Distances that agree with those after every move are right: there is only one such table.
    """
    faults = 0
    first = np.int64(-1)
    for index in range(start, stop):
        own, opp, kings = position_at(code, index, rules)
        n = legal_moves(own, opp, kings, True, rules, moves, capacity)
        _, win, draw, loss = _summary(own, opp, kings, n, False, rules, moves, values, offsets)
        expected = np.int64(1)
        if win > 0:
            expected = win
        elif draw:
            expected = np.int64(0)
        elif n > 0:
            expected = loss
        same = position_index(own, opp, kings, rules) == index and code_of(own, opp, kings) == code
        if not same or np.int64(values[offsets[code] + index]) != expected:
            faults += 1
            if first < 0:
                first = index
    return faults, first
