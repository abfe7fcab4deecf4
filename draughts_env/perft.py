"""Counting move trees (perft) as fast as the machine allows: by one thread, or by many with a hash table.

The last ply is not generated but counted: :mod:`draughts_env.leaf_kernels`.
"""

from __future__ import annotations

import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from draughts_env.bit_kernels import spread_down, spread_up
from draughts_env.intrinsics import load, lock, store, unlock
from draughts_env.jit import kernel
from draughts_env.kernels import (
    MAX_MOVES,
    MAX_QUIET,
    ONE,
    WORDS,
    ZERO,
    U,
    board_of,
    captures,
    flag,
    half_of,
    hash_position,
    legal_moves,
    moved_kings,
    moved_own,
)
from draughts_env.leaf_kernels import OVERFLOW, QUEUE, QUEUE_BYTES, count_queue, push

HASHED = 4  # least depth of the trees whose size is kept in the hash table: smaller ones are faster counted
DEPTH_AT = U(54)  # in the table, the depth stands in the bits above the board
LOCKED = U(1 << 63)

# --- the hash table ---------------------------------------------------------------------------------
#
# A bucket is a cache line with two entries of four words: own pieces and depth, opponents, kings, count. In one tree
# the depth left tells the side to move, so an entry names its position in full, and the counts are exact. The top bit
# of a bucket's first word locks it; a thread that finds it locked does without.


@kernel(inline="always")
def _bucket(own, opp, kings, depth, table, mask):
    return table + ((hash_position(own, opp, kings, False) + U(depth) * U(0x9E3779B97F4A7C15)) & mask) * U(64)


@kernel(inline="always")
def _recall(own, opp, kings, depth, table, mask):
    """The count that the table holds for a tree, or -1."""
    bucket = _bucket(own, opp, kings, depth, table, mask)
    first = lock(bucket)
    if first & LOCKED:
        return -1
    name = own | (U(depth) << DEPTH_AT)
    found = np.int64(-1)
    if first == name and load(bucket, 1) == opp and load(bucket, 2) == kings:
        found = np.int64(load(bucket, 3))
    elif load(bucket, 4) == name and load(bucket, 5) == opp and load(bucket, 6) == kings:
        found = np.int64(load(bucket, 7))
    unlock(bucket, first)
    return found


@kernel(inline="always")
def _remember(own, opp, kings, depth, count, table, mask):
    """Keep a count: in the first entry unless that one is of a deeper tree, which moves to the second otherwise."""
    bucket = _bucket(own, opp, kings, depth, table, mask)
    first = lock(bucket)
    if first & LOCKED:
        return
    name = own | (U(depth) << DEPTH_AT)
    at = 0
    if (first >> DEPTH_AT) > U(depth):
        at = 4
        store(bucket, 4, name)
        name = first
    else:
        store(bucket, 4, first)
        store(bucket, 5, load(bucket, 1))
        store(bucket, 6, load(bucket, 2))
        store(bucket, 7, load(bucket, 3))
    store(bucket, at + 1, opp)
    store(bucket, at + 2, kings)
    store(bucket, at + 3, U(count))
    unlock(bucket, name)


# --- walking the tree -------------------------------------------------------------------------------


@kernel(inline="always")
def _push_steps(n, queue, movers, downwards, by, own, opp, royal):
    while movers:
        b = movers & (~movers + ONE)
        movers ^= b
        n = push(n, queue, opp, own ^ b ^ (b << by if downwards else b >> by), royal)
    return n


@kernel(inline="always")
def _push_quiet(n, queue, own, opp, kings, up, rules):
    """Queue the positions after all quiet moves; returns the length of the queue."""
    half = half_of(rules)
    above = half + ONE
    empty = board_of(rules) & ~(own | opp)
    royal = opp & kings
    steppers = own & ~kings if flag(rules, 5) else own
    backward = steppers & kings
    down = backward if up else steppers
    upward = steppers if up else backward
    if upward:
        n = _push_steps(n, queue, upward & (empty << half), False, half, own, opp, royal)
        n = _push_steps(n, queue, upward & (empty << above), False, above, own, opp, royal)
    if down:
        n = _push_steps(n, queue, down & (empty >> half), True, half, own, opp, royal)
        n = _push_steps(n, queue, down & (empty >> above), True, above, own, opp, royal)
    flyers = own ^ steppers
    while flyers:
        b = flyers & (~flyers + ONE)
        flyers ^= b
        targets = spread_down(b, half, empty) | spread_down(b, above, empty)
        targets = (targets | spread_up(b, half, empty) | spread_up(b, above, empty)) ^ b
        while targets:
            y = targets & (~targets + ONE)
            targets ^= y
            n = push(n, queue, opp, own ^ b ^ y, royal)
    return n


@kernel()
def _push_children(n, queue, own, opp, kings, up, rules, moves, end):
    """Queue the positions after all legal moves. Returns the length of the queue and what was counted already."""
    capacity = np.int64((end - moves) // U(8 * WORDS))
    total = np.int64(0)
    count = captures(own, opp, kings, up, rules, moves, capacity)
    if count == capacity:
        return n, OVERFLOW
    if count == 0:
        n = _push_quiet(n, queue, own, opp, kings, up, rules)
    free = moves + U(8 * WORDS) * U(count)
    for i in range(count + 1):  # the last round only looks whether the queue is full
        if n >= QUEUE:
            counted = count_queue(n, queue, not up, rules, free, end)
            if counted < 0:
                return n, counted
            total += counted
            n = 0
        if i < count:
            left = opp & ~load(moves, WORDS * i + 2)
            moved = moved_own(own, load(moves, WORDS * i), load(moves, WORDS * i + 1))
            n = push(n, queue, left, moved, kings & left)
    return n, total


@kernel()
def _walk(own, opp, kings, up, rules, depth, n, queue, moves, end, table, mask):
    """Add the tree of ``depth`` plies (at least 3). Returns the length of the queue and what was counted already."""
    hashed = table != ZERO and depth >= HASHED
    if hashed:
        known = _recall(own, opp, kings, depth, table, mask)
        if known >= 0:
            return n, known
    capacity = np.int64((end - moves) // U(8 * WORDS))
    if capacity < MAX_QUIET:
        return n, OVERFLOW
    count = legal_moves(own, opp, kings, up, rules, moves, capacity)
    if count == capacity:
        return n, OVERFLOW
    total = np.int64(0)
    free = moves + U(8 * WORDS) * U(count)
    for i in range(count):
        origin = load(moves, WORDS * i)
        target = load(moves, WORDS * i + 1)
        captured = load(moves, WORDS * i + 2)
        k = moved_kings(kings, origin, target, captured, up, rules)
        moved = moved_own(own, origin, target)
        left = opp & ~captured
        if depth == 3:
            n, counted = _push_children(n, queue, left, moved, k, not up, rules, free, end)
        else:
            n, counted = _walk(left, moved, k, not up, rules, depth - 1, n, queue, free, end, table, mask)
        if counted < 0:
            return n, counted
        total += counted
    if hashed:  # its size has to be known now, so the queue is for this tree alone
        counted = count_queue(n, queue, up == ((depth & 1) == 1), rules, free, end)
        if counted < 0:
            return n, counted
        n = np.int64(0)
        total += counted
        _remember(own, opp, kings, depth, total, table, mask)
    return n, total


@kernel()
def _plain_perft(own, opp, kings, up, rules, depth, moves, end):
    """As :func:`perft`, for ranked captures: leaves are counted by the generator, which alone knows the ranks."""
    capacity = np.int64((end - moves) // U(8 * WORDS))
    if capacity < MAX_QUIET:
        return OVERFLOW
    n = legal_moves(own, opp, kings, up, rules, moves, capacity)
    if n == capacity:
        return OVERFLOW
    if depth == 1:
        return n
    total = np.int64(0)
    free = moves + U(8 * WORDS) * U(n)
    for i in range(n):
        origin = load(moves, WORDS * i)
        target = load(moves, WORDS * i + 1)
        captured = load(moves, WORDS * i + 2)
        k = moved_kings(kings, origin, target, captured, up, rules)
        moved = moved_own(own, origin, target)
        count = _plain_perft(opp & ~captured, moved, k, not up, rules, depth - 1, free, end)
        if count < 0:
            return count
        total += count
    return total


@kernel()
def perft(own, opp, kings, up, rules, depth, moves, end, table, mask):
    """Leaves of the move tree to ``depth``; negative when the buffer is too small.

    Args:
        moves, end: addresses of a buffer for the queue and the moves of all plies.
        table, mask: address of a hash table, or zero, and its number of buckets less one. Threads may share it, but
            only for trees that end at the same ply of the same game.
    """
    if depth <= 0:
        return 1
    if flag(rules, 11):
        return _plain_perft(own, opp, kings, up, rules, depth, moves, end)
    queue = moves
    moves = queue + U(QUEUE_BYTES)
    if end < moves + U(8 * WORDS * MAX_QUIET):
        return OVERFLOW
    n = np.int64(0)
    total = np.int64(0)
    if depth == 1:
        n = push(n, queue, own, opp, own & kings)
    elif depth == 2:
        n, total = _push_children(n, queue, own, opp, kings, up, rules, moves, end)
    else:
        n, total = _walk(own, opp, kings, up, rules, depth, n, queue, moves, end, table, mask)
    if total < 0:
        return total
    rest = count_queue(n, queue, up == ((depth & 1) == 1), rules, moves, end)
    return total + rest if rest >= 0 else rest


# --- from Python ------------------------------------------------------------------------------------

_Words = tuple[int, int, int]  # own pieces, opponents, kings


@kernel()
def _positions_after(own, opp, kings, up, rules, moves, capacity):
    """Write the positions after all legal moves in place of the moves; returns their number."""
    n = legal_moves(own, opp, kings, up, rules, moves, capacity)
    for i in range(0, WORDS * n, WORDS):
        origin, target, captured = load(moves, i), load(moves, i + 1), load(moves, i + 2)
        store(moves, i, opp & ~captured)
        store(moves, i + 1, moved_own(own, origin, target))
        store(moves, i + 2, moved_kings(kings, origin, target, captured, up, rules))
    return n


def _next_ply(ways: Counter[_Words], up: bool, rules: int) -> Counter[_Words]:
    """The positions one ply after those given, with the number of ways to reach each."""
    after: Counter[_Words] = Counter()
    words = np.empty((MAX_MOVES, WORDS), np.uint64)
    for position, times in ways.items():
        own, opp, kings = map(U, position)
        while True:
            n = _positions_after(own, opp, kings, up, U(rules), U(words.ctypes.data), len(words))
            if n < len(words):
                break
            words = np.empty((4 * n, WORDS), np.uint64)
        for row in words[:n].tolist():
            after[tuple(row)] += times
    return after


def _count(position: _Words, up: bool, rules: int, depth: int, table: int, mask: int) -> int:
    own, opp, kings = map(U, position)
    size = QUEUE_BYTES + (depth + 1) * 8 * WORDS * MAX_QUIET
    while True:
        buffer = np.empty(size // 8, np.uint64)
        start = buffer.ctypes.data
        room = U(start), U(start + buffer.nbytes)
        nodes = perft(own, opp, kings, up, U(rules), depth, *room, U(table), U(mask))
        if nodes >= 0:
            return int(nodes)
        size *= 4


def count_leaves(white: int, black: int, kings: int, white_to_move: bool, rules: int, depth: int) -> int:
    """Leaves of the move tree to ``depth``, from a position and :attr:`Variant.rules`."""
    return _count((white, black, kings) if white_to_move else (black, white, kings), white_to_move, rules, depth, 0, 0)


def perft_parallel(
    white: int,
    black: int,
    kings: int,
    white_to_move: bool,
    rules: int,
    depth: int,
    threads: int | None = None,
    hash_megabytes: int = 256,
) -> int:
    """Leaves of the move tree to ``depth``, counted by several threads that share an exact hash table.

    Args:
        white, black, kings, white_to_move, rules: the position and :attr:`Variant.rules`.
        depth: plies.
        threads: default one for each processor.
        hash_megabytes: size of the table, rounded down to a power of two; 0 for none.
    """
    up = white_to_move
    root = (white, black, kings) if up else (black, white, kings)
    if depth < 4:
        return _count(root, up, rules, depth, 0, 0)
    table, mask = 0, 0
    if hash_megabytes > 0:
        buckets = 1 << ((hash_megabytes << 20) // 64).bit_length() - 1
        memory = np.zeros(8 * (buckets + 1), np.uint64)
        table, mask = -(-memory.ctypes.data // 64) * 64, buckets - 1
    ways = _next_ply(_next_ply(Counter({root: 1}), up, rules), not up, rules)
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        counts = pool.map(lambda position: _count(position, up, rules, depth - 2, table, mask), ways)
        return sum(times * leaves for times, leaves in zip(ways.values(), counts))
