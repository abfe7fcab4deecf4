"""Alpha-beta search compiled by numba (agents.jit): iterative deepening with a capture quiescence.

Scores are integers for the side to move: 100 a man. A game lost after ``ply`` more plies is ``ply - MATE``, so a
winner hurries and a loser delays. Repetitions (of the game or of the line searched) and drawn clocks are 0.

All of a search's memory is one array of uint64 words, passed as its address ``w``: a few single words
(``NODES`` ... ``LINE_LENGTH``), the best line, the lines of each ply, the killer moves, the keys of the positions
passed, and a stack of move lists. :func:`workspace_words` says how long it is. A search can be stopped from another
thread by writing 1 to the word ``STOP``.
"""

from __future__ import annotations

import numpy as np

from agents.jit import kernel
from draughts_env.intrinsics import load, popcount, store
from draughts_env.kernels import (
    MAX_MOVES,
    MAX_QUIET,
    WORDS,
    ZERO,
    U,
    captures,
    clocks_drawn,
    count_quiet,
    flag,
    half_of,
    hash_position,
    legal_moves,
    moved_kings,
    moved_own,
    next_ending,
    next_quiet,
    quiet_moves,
)

MATE = 1 << 20
INFINITE = 1 << 30
MAX_PLY = 128  # longest line, quiescence included; a line of captures is shorter than the pieces are many
MAX_DEPTH = 80
PROVEN = MATE - MAX_PLY  # scores at least as far from 0 are won or lost for certain

# Words of the workspace.
NODES = 0  # positions searched
NODE_LIMIT = 1  # stop after this many
STOP = 2  # not zero: stop now (written from outside)
ARMED = 3  # whether limits count; not during the first iteration, so that there is always a move
ABORTED = 4  # whether a limit has struck
HISTORY = 5  # positions before the root among the keys
SEED = 6  # of the choice between moves of equal score
FORCED = 7  # not zero: look no further than one ply when there is only one move
LINE_LENGTH = 8  # moves of the best line
LINE = 16
_LINES = LINE + WORDS * MAX_PLY
_STRIDE = 1 + WORDS * MAX_PLY
_KILLERS = _LINES + _STRIDE * (MAX_PLY + 1)
KEYS = _KILLERS + 4 * (MAX_PLY + 1)
_STACK = 8 * MAX_MOVES  # moves on the stack; a line rarely needs a tenth of them

MAN = 100
KING = 130
FLYING_KING = 300


def workspace_words(history):
    """Length in words of the workspace for a game with ``history`` keys."""
    return KEYS + history + MAX_PLY + 1 + WORDS * _STACK


@kernel(inline="always")
def _weigh(pieces, kings, king_value):
    """Value of a side's pieces."""
    royal = popcount(pieces & kings)
    return MAN * (popcount(pieces) - royal) + king_value * royal


@kernel()
def _rows_below_top(men, half):
    """Sum over men of the number of rows between each and the top of the board."""
    row = (U(1) << half) - U(1)
    total = 0
    for i in range(np.int64(half)):
        total += 2 * i * popcount(men & row) + (2 * i + 1) * popcount(men & (row << half))
        row <<= U(2) * half + U(1)
    return total


@kernel()
def evaluate(own, opp, kings, up, rules):
    """Material, and a point for each row that a man has advanced."""
    king_value = FLYING_KING if flag(rules, 5) else KING
    half = half_of(rules)
    last = 2 * np.int64(half) - 1
    score = _weigh(own, kings, king_value) - _weigh(opp, kings, king_value)
    upper = (own if up else opp) & ~kings
    lower = (opp if up else own) & ~kings
    lead = last * popcount(upper) - _rows_below_top(upper, half) - _rows_below_top(lower, half)
    return score + (lead if up else -lead)


@kernel()
def _repeated(w, ply, quiet):
    """Whether the position at ``ply`` has occurred before, in the line or in the game."""
    last = np.int64(load(w, HISTORY)) + ply
    key = load(w, KEYS + last)
    first = max(last - quiet, 0)
    i = last - 4
    while i >= first:
        if load(w, KEYS + i) == key:
            return True
        i -= 2
    return False


@kernel()
def _swap(moves, i, j):
    for k in range(WORDS):
        a = load(moves, WORDS * i + k)
        store(moves, WORDS * i + k, load(moves, WORDS * j + k))
        store(moves, WORDS * j + k, a)


@kernel()
def _bring_forward(moves, n, front, origin, target, captured):
    """Swap a move, if it is in the list from ``front`` on, to the place ``front``; returns the new front."""
    for i in range(front, n):
        j = WORDS * i
        if load(moves, j) == origin and load(moves, j + 1) == target and load(moves, j + 2) == captured:
            _swap(moves, i, front)
            return front + 1
    return front


@kernel()
def _order(moves, n, ply, follow, w):
    """Put the moves that are likely to be best first; returns whether the first is that of the best line.

    First the move of the best line so far, then captures of many men, and quiet moves that refuted a sister position.
    """
    front = 0
    if follow and ply < np.int64(load(w, LINE_LENGTH)):
        j = LINE + WORDS * ply
        front = _bring_forward(moves, n, 0, load(w, j), load(w, j + 1), load(w, j + 2))
    found = front == 1
    if load(moves, WORDS * (n - 1) + 2) != ZERO:
        for i in range(front + 1, n):
            k = i
            while k > front and popcount(load(moves, WORDS * k + 2)) > popcount(load(moves, WORDS * (k - 1) + 2)):
                _swap(moves, k, k - 1)
                k -= 1
        return found
    j = _KILLERS + 4 * ply
    front = _bring_forward(moves, n, front, load(w, j), load(w, j + 1), ZERO)
    _bring_forward(moves, n, front, load(w, j + 2), load(w, j + 3), ZERO)
    return found


@kernel()
def _keep_killer(w, ply, origin, target):
    """Remember a quiet move that refuted a position at ``ply``, and the one before it."""
    j = _KILLERS + 4 * ply
    if load(w, j) != origin or load(w, j + 1) != target:
        store(w, j + 2, load(w, j))
        store(w, j + 3, load(w, j + 1))
        store(w, j, origin)
        store(w, j + 1, target)


@kernel()
def _keep_line(line, origin, target, captured):
    """Make the line of a ply: the move and the line of the next ply."""
    rest = line + U(8 * _STRIDE)
    length = np.int64(load(rest, 0))
    store(line, 0, U(length + 1))
    store(line, 1, origin)
    store(line, 2, target)
    store(line, 3, captured)
    for i in range(WORDS * length):
        store(line, 4 + i, load(rest, 1 + i))


@kernel()
def search(own, opp, kings, up, quiet, ending, depth, ply, alpha, beta, follow, rules, w, moves, end):
    """Score of a position by alpha-beta to ``depth``, captures followed to their end.

    ``moves`` and ``end`` are the free part of the stack of move lists. The result means nothing once ``ABORTED`` is
    set.
    """
    nodes = load(w, NODES)
    if load(w, ARMED) != ZERO and (load(w, STOP) != ZERO or nodes >= load(w, NODE_LIMIT)):
        store(w, ABORTED, U(1))
        return 0
    store(w, NODES, nodes + U(1))
    line = w + U(8) * U(_LINES + _STRIDE * ply)
    store(line, 0, ZERO)
    capacity = np.int64((end - moves) // U(8 * WORDS))
    n = captures(own, opp, kings, up, rules, moves, capacity)
    capturing = n > 0
    if not capturing:
        if depth > 0:
            n = quiet_moves(own, opp, kings, up, rules, moves)
        else:
            n = count_quiet(own, opp, kings, up, rules)
        if n == 0:
            return ply - MATE
    if clocks_drawn(quiet, ending, rules):
        return 0
    if depth > 0 or quiet >= 4:
        white = own if up else opp
        black = opp if up else own
        store(w, KEYS + np.int64(load(w, HISTORY)) + ply, hash_position(white, black, kings, up))
        if quiet >= 4 and _repeated(w, ply, quiet):
            return 0
    free = moves + U(8 * WORDS) * U(n)
    if (not capturing and depth <= 0) or ply >= MAX_PLY or free + U(8 * WORDS * MAX_QUIET) > end:
        return evaluate(own, opp, kings, up, rules)
    first_follows = _order(moves, n, ply, follow, w) if n > 1 else follow
    best = -INFINITE
    for i in range(n):
        origin = load(moves, WORDS * i)
        target = load(moves, WORDS * i + 1)
        captured = load(moves, WORDS * i + 2)
        own_after = moved_own(own, origin, target)
        opp_after = opp & ~captured
        kings_after = moved_kings(kings, origin, target, captured, up, rules)
        score = -search(
            opp_after,
            own_after,
            kings_after,
            not up,
            next_quiet(quiet, own, kings, origin, captured),
            next_ending(ending, captured, own_after, opp_after, kings_after, rules),
            depth - 1,
            ply + 1,
            -beta,
            -alpha,
            first_follows and i == 0,
            rules,
            w,
            free,
            end,
        )
        if load(w, ABORTED) != ZERO:
            return 0
        if score > best:
            best = score
            if score > alpha:
                alpha = score
                _keep_line(line, origin, target, captured)
                if score >= beta:
                    if captured == ZERO:
                        _keep_killer(w, ply, origin, target)
                    break
    return best


@kernel(inline="always")
def _mix(x):
    """A number that looks random, from a number."""
    x = (x ^ (x >> U(30))) * U(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> U(27))) * U(0x94D049BB133111EB)
    return x ^ (x >> U(31))


@kernel()
def _search_root(own, opp, kings, up, quiet, ending, depth, n, rules, w, moves, end):
    """One iteration over the ``n`` root moves at ``moves``: the best score; the best line goes to ply 0.

    The window leaves room for scores equal to the best, and among equals the seed chooses.
    """
    key = load(w, KEYS + np.int64(load(w, HISTORY)))
    salt = _mix(load(w, SEED) ^ _mix(key))
    best = np.int64(-INFINITE)
    best_rank = ZERO
    first_follows = _order(moves, n, np.int64(0), depth > 1, w)
    for i in range(n):
        origin = load(moves, WORDS * i)
        target = load(moves, WORDS * i + 1)
        captured = load(moves, WORDS * i + 2)
        own_after = moved_own(own, origin, target)
        opp_after = opp & ~captured
        kings_after = moved_kings(kings, origin, target, captured, up, rules)
        score = -search(
            opp_after,
            own_after,
            kings_after,
            not up,
            next_quiet(quiet, own, kings, origin, captured),
            next_ending(ending, captured, own_after, opp_after, kings_after, rules),
            depth - 1,
            np.int64(1),
            np.int64(-INFINITE),
            1 - best if i > 0 else INFINITE,
            first_follows and i == 0,
            rules,
            w,
            moves + U(8 * WORDS) * U(n),
            end,
        )
        if load(w, ABORTED) != ZERO:
            return 0
        rank = _mix(_mix(_mix(salt ^ origin) ^ target) ^ captured)
        if score > best or (score == best and rank < best_rank):
            best = score
            best_rank = rank
            _keep_line(w + U(8 * _LINES), origin, target, captured)
    return best


@kernel()
def deepen(white, black, kings, white_to_move, quiet, ending, rules, max_depth, w, end):
    """Search to depth 1, 2, ... ``max_depth``, until a limit strikes or the game is decided.

    Args:
        white, black, kings, white_to_move, quiet, ending, rules: a position with at least one legal move.
        w, end: addresses of the workspace and of its end. Its single words are set, and the game's keys written
            from ``KEYS`` on, that of the position at ``KEYS + HISTORY``.

    Returns:
        Score and depth of the last complete iteration, whose line is in the workspace.
    """
    own = white if white_to_move else black
    opp = black if white_to_move else white
    moves = w + U(8) * U(KEYS + np.int64(load(w, HISTORY)) + MAX_PLY + 1)
    n = legal_moves(own, opp, kings, white_to_move, rules, moves, np.int64((end - moves) // U(8 * WORDS)))
    for word in (NODES, ARMED, ABORTED, LINE_LENGTH):
        store(w, word, ZERO)
    for i in range(4 * (MAX_PLY + 1)):
        store(w, _KILLERS + i, ZERO)
    score = 0
    reached = 0
    for depth in range(1, min(max_depth, MAX_DEPTH) + 1):
        found = _search_root(own, opp, kings, white_to_move, quiet, ending, depth, n, rules, w, moves, end)
        if load(w, ABORTED) != ZERO:
            break
        score = found
        reached = depth
        length = np.int64(load(w, _LINES))
        store(w, LINE_LENGTH, U(length))
        for i in range(WORDS * length):
            store(w, LINE + i, load(w, _LINES + 1 + i))
        store(w, ARMED, U(1))
        if abs(score) >= PROVEN or (n == 1 and load(w, FORCED) != ZERO):
            break
    return score, reached
