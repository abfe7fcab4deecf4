"""Memory of a search: one array of uint64 words, passed as its address ``w``, and the tables that it points to.

Scores are integers for the side to move, about 100 a man. A game lost after ``ply`` more plies is ``ply - MATE``, one
that a tablebase knows as lost ``ply - TABLE_WIN``: a winner hurries and a loser delays. Drawn is 0.
"""

from __future__ import annotations

import numpy as np

from agents.jit import kernel
from agents.pvs.kernels.memory import load8
from agents.tablebase.probing import NOT_COVERED, locate
from draughts_env.intrinsics import load, lowest, popcount, store
from draughts_env.kernels import MAX_MOVES, WORDS, ZERO, U

MATE = 30000
TABLE_WIN = 25000
PROVEN = 24000  # scores at least as far from 0 are won or lost for certain
INFINITE = 32000
MAX_PLY = 128  # longest line, quiescence included
MAX_DEPTH = 99

# Words of the workspace.
NODES = 0  # positions searched
NODE_LIMIT = 1  # stop after this many
STOP = 2  # not zero: stop now (written from outside)
ARMED = 3  # whether limits count; not during the first iteration, so that there is always a move
ABORTED = 4  # whether a limit has struck
BEFORE = 5  # positions before the root among the keys
PLAIN = 6  # not zero: the same number of plies everywhere, for comparison with plain minimax
FORCED = 7  # not zero: look no further than one ply when there is only one move
WEIGHTS = 8  # address of the evaluation's weights
TABLE = 9  # address of the transposition table
MASK = 10  # its entries less 2 (a power of two)
AGE = 11  # of this search
PIECES = 12  # most pieces in the tablebase, 0 for none
OFFSETS = 13  # addresses of its arrays
VALUES = 14
END = 15  # address of the end of the workspace
LINE_LENGTH = 16  # moves of the best line
LINE = 17
LINES = LINE + WORDS * MAX_PLY
STRIDE = 1 + WORDS * MAX_PLY
KILLERS = LINES + STRIDE * (MAX_PLY + 1)
HISTORY = KILLERS + 2 * (MAX_PLY + 1)
TRIED = HISTORY + 64 * 64  # by ply: quiet moves that did not refute
MOST_TRIED = 32
KEYS = TRIED + MOST_TRIED * (MAX_PLY + 1)
_STACK = 8 * MAX_MOVES  # moves on the stack, with a word for the order of each


def workspace_words(before):
    """Length in words of the workspace for a game with so many keys."""
    return KEYS + before + MAX_PLY + 1 + (WORDS + 1) * _STACK


# --- transposition table: pairs of entries (key, data) -----------------------------------------------
# Data: bits 0-15 score + 32768, 16-23 depth, 24-25 bound, 26-38 number of the move + 1 in the list of the generator,
# 40-47 age.

UPPER, LOWER, EXACT = 1, 2, 3


@kernel(inline="always")
def clocked_key(key, quiet, ending, rules):
    """The key of a position with the clocks that matter: the one of quiet plies roughly while its end is far."""
    limit = np.int64(rules >> U(16) & U(255))
    clock = quiet if quiet + 40 > limit else quiet >> 3
    return key ^ (U(clock + ((ending + 1) << 8)) * U(0x9E3779B97F4A7C15))


@kernel(inline="always")
def look_up(w, key):
    """Data of a position, 0 when it is not in the table."""
    slot = load(w, TABLE) + U(16) * (key & load(w, MASK))
    if load(slot, 0) == key:
        return load(slot, 1)
    if load(slot, 2) == key:
        return load(slot, 3)
    return ZERO


@kernel()
def remember(w, key, score, depth, bound, move, ply):
    """Store the result of a position: the deeper and newer stays in the first entry of its pair."""
    if score >= PROVEN:
        score += ply
    elif score <= -PROVEN:
        score -= ply
    age = load(w, AGE)
    data = U(score + 32768) | U(depth) << U(16) | U(bound) << U(24) | U(move + 1) << U(26) | age << U(40)
    slot = load(w, TABLE) + U(16) * (key & load(w, MASK))
    old = load(slot, 1)
    first = load(slot, 0) == key or old >> U(40) != age or np.int64(old >> U(16) & U(255)) <= depth
    if first and load(slot, 0) != key and old >> U(40) == age:
        store(slot, 2, load(slot, 0))  # the one before moves over
        store(slot, 3, old)
    at = 0 if first else 2
    store(slot, at, key)
    store(slot, at + 1, data)


@kernel(inline="always")
def score_in(data, ply):
    """Score of table data, as seen from ``ply``."""
    score = np.int64(data & U(0xFFFF)) - 32768
    if score >= PROVEN:
        return score - ply
    if score <= -PROVEN:
        return score + ply
    return score


# --- endgame tables ----------------------------------------------------------------------------------


@kernel()
def probe(own, opp, kings, up, rules, w):
    """1 won, 0 drawn, -1 lost, ``NOT_COVERED`` when the tables do not hold the position."""
    white = own if up else opp
    black = opp if up else own
    code, index = locate(white, black, kings, up, rules)
    if code < 0:
        return np.int64(NOT_COVERED)
    start = np.int64(load(load(w, OFFSETS), code))
    if start < 0:
        return np.int64(NOT_COVERED)
    at = start + index
    return (load8(load(w, VALUES), at >> 2) >> ((at & 3) << 1) & 3) - 1


# --- order of moves ----------------------------------------------------------------------------------

_FIRST = 1 << 40
_CAPTURE = 1 << 32
_KILLER = 1 << 30


@kernel(inline="always")
def move_code(origin, target):
    """A quiet move as a number below 4096."""
    return lowest(origin) * 64 + lowest(target)


@kernel()
def rank_moves(moves, n, ply, hash_move, kings, w):
    """Write a rank for each move behind the list: the table's move, captures by men taken, killers, history."""
    ranks = moves + U(8 * WORDS * n)
    capturing = load(moves, 2) != ZERO
    one = np.int64(load(w, KILLERS + 2 * ply))
    two = np.int64(load(w, KILLERS + 2 * ply + 1))
    for i in range(n):
        if i == hash_move:
            rank = _FIRST
        elif capturing:
            taken = load(moves, WORDS * i + 2)
            rank = _CAPTURE + 4 * popcount(taken) + popcount(taken & kings)
        else:
            code = move_code(load(moves, WORDS * i), load(moves, WORDS * i + 1))
            if code == one:
                rank = _KILLER + 1
            elif code == two:
                rank = _KILLER
            else:
                rank = np.int64(load(w, HISTORY + code)) + 1
        store(ranks, i, U(rank))


@kernel(inline="always")
def take_best(ranks, n):
    """Number of the best move that is left; its rank is struck out."""
    best = 0
    most = load(ranks, 0)
    for i in range(1, n):
        rank = load(ranks, i)
        if rank > most:
            most = rank
            best = i
    store(ranks, best, ZERO)
    return best


@kernel()
def reward(w, ply, moves, tried, i, depth):
    """A quiet move refuted a position: remember it, and that those tried before did not."""
    code = move_code(load(moves, WORDS * i), load(moves, WORDS * i + 1))
    j = KILLERS + 2 * ply
    if np.int64(load(w, j)) != code:
        store(w, j + 1, load(w, j))
        store(w, j, U(code))
    value = np.int64(load(w, HISTORY + code))
    store(w, HISTORY + code, U(value + (((1 << 20) - value) * min(depth * depth, 256) >> 12)))
    for k in range(tried):
        other = np.int64(load(w, TRIED + MOST_TRIED * ply + k))
        value = np.int64(load(w, HISTORY + other))
        store(w, HISTORY + other, U(value - (value * min(depth * depth, 256) >> 12)))
