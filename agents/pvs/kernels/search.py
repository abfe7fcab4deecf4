"""Principal variation search: every move after the first is only asked whether it is better than the best so far.

What makes it look further than plain alpha-beta: the transposition table, the order of moves, late moves searched less
deep and again when they turn out well, forced replies and crowning moves that cost no depth, captures followed to their
end, a ply more where the opponent threatens to capture, and endgame tables.
"""

from __future__ import annotations

import numpy as np

from agents.jit import kernel
from agents.pvs.kernels.evaluation import evaluate
from agents.pvs.kernels.workspace import (
    ABORTED,
    ARMED,
    BEFORE,
    END,
    EXACT,
    FORCED,
    HISTORY,
    INFINITE,
    KEYS,
    KILLERS,
    LINE,
    LINE_LENGTH,
    LINES,
    LOWER,
    MATE,
    MAX_DEPTH,
    MAX_PLY,
    MOST_TRIED,
    NODE_LIMIT,
    NODES,
    PIECES,
    PLAIN,
    PROVEN,
    STOP,
    STRIDE,
    TABLE_WIN,
    TRIED,
    UPPER,
    WEIGHTS,
    clocked_key,
    look_up,
    move_code,
    probe,
    rank_moves,
    remember,
    reward,
    score_in,
    take_best,
)
from agents.tablebase.probing import NOT_COVERED
from draughts_env.bit_kernels import flying_jumpers, jump_squares
from draughts_env.intrinsics import load, popcount, store
from draughts_env.kernels import (
    MAX_QUIET,
    WORDS,
    ZERO,
    U,
    board_of,
    captures,
    clocks_drawn,
    count_quiet,
    crown_row,
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

_LIST = WORDS + 1  # words for each move of a list and its rank


@kernel()
def threatened(own, opp, kings, up, rules):
    """Whether the opponent could capture, were it to move."""
    half = half_of(rules)
    empty = board_of(rules) & ~(own | opp)
    flyers = opp & kings if flag(rules, 5) else ZERO
    j = jump_squares(own, empty, half)
    down = upward = opp & ~flyers
    if not flag(rules, 4):
        if up:  # the opponent moves down
            upward &= kings
        else:
            down &= kings
    if (down & (j[0] | j[1])) | (upward & (j[2] | j[3])):
        return True
    return flyers != ZERO and flying_jumpers(flyers, j, empty, half) != ZERO


@kernel()
def _repeated(w, ply, quiet):
    """Whether the position at ``ply`` has occurred before, in the line or in the game."""
    last = np.int64(load(w, BEFORE)) + ply
    key = load(w, KEYS + last)
    first = max(last - quiet, 0)
    i = last - 4
    while i >= first:
        if load(w, KEYS + i) == key:
            return True
        i -= 2
    return False


@kernel()
def _keep_line(line, origin, target, captured):
    """Make the line of a ply: the move and the line of the next ply."""
    rest = line + U(8 * STRIDE)
    length = np.int64(load(rest, 0))
    store(line, 0, U(length + 1))
    store(line, 1, origin)
    store(line, 2, target)
    store(line, 3, captured)
    for i in range(WORDS * length):
        store(line, 4 + i, load(rest, 1 + i))


@kernel()
def search(own, opp, kings, up, quiet, ending, depth, ply, alpha, beta, rules, w, moves):
    """Score of a position searched to ``depth``; ``moves`` is the free part of the stack of move lists.

    The result means nothing once ``ABORTED`` is set.
    """
    nodes = load(w, NODES)
    if load(w, ARMED) != ZERO and (load(w, STOP) != ZERO or nodes >= load(w, NODE_LIMIT)):
        store(w, ABORTED, U(1))
        return 0
    store(w, NODES, nodes + U(1))
    line = w + U(8) * U(LINES + STRIDE * ply)
    store(line, 0, ZERO)
    end = load(w, END)
    capacity = np.int64((end - moves) // U(8 * _LIST))
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
    plain = load(w, PLAIN) != ZERO
    if not capturing and depth == 0 and not plain and threatened(own, opp, kings, up, rules):
        n = quiet_moves(own, opp, kings, up, rules, moves)
        depth = 1
    key = ZERO
    if depth > 0 or quiet >= 4:
        white = own if up else opp
        black = opp if up else own
        key = hash_position(white, black, kings, up)
        store(w, KEYS + np.int64(load(w, BEFORE)) + ply, key)
        if quiet >= 4 and _repeated(w, ply, quiet):
            return 0
    if popcount(own | opp) <= np.int64(load(w, PIECES)):
        known = probe(own, opp, kings, up, rules, w)
        if known != NOT_COVERED:
            return known * (TABLE_WIN - ply)
    free = moves + U(8 * _LIST) * U(n)
    if (not capturing and depth <= 0) or ply >= MAX_PLY or free + U(8 * _LIST * MAX_QUIET) > end:
        return evaluate(own, opp, kings, up, rules, load(w, WEIGHTS))
    open_window = beta - alpha > 1
    hash_move = np.int64(-1)
    if depth > 0:
        key = clocked_key(key, quiet, ending, rules)
        data = look_up(w, key)
        if data != ZERO:
            hash_move = np.int64(data >> U(26) & U(0x1FFF)) - 1
            if not open_window and not plain and np.int64(data >> U(16) & U(255)) >= depth:
                score = score_in(data, ply)
                bound = np.int64(data >> U(24) & U(3))
                if bound == EXACT or (bound == LOWER and score >= beta) or (bound == UPPER and score <= alpha):
                    return score
    if n > 1:
        rank_moves(moves, n, ply, hash_move, kings, w)
    ranks = moves + U(8 * WORDS * n)
    # a capture at the horizon and a reply without alternative cost no depth
    below = depth - 1
    if not plain and (depth <= 0 or (n == 1 and ply < 2 * MAX_DEPTH // 3)):
        below = depth
    first_row = crown_row(rules, up)
    best = -INFINITE
    best_move = np.int64(-1)
    start = alpha
    tried = 0
    for number in range(n):
        i = take_best(ranks, n) if n > 1 else 0
        origin = load(moves, WORDS * i)
        target = load(moves, WORDS * i + 1)
        captured = load(moves, WORDS * i + 2)
        own_after = moved_own(own, origin, target)
        opp_after = opp & ~captured
        kings_after = moved_kings(kings, origin, target, captured, up, rules)
        quiet_after = next_quiet(quiet, own, kings, origin, captured)
        ending_after = next_ending(ending, captured, own_after, opp_after, kings_after, rules)
        new_depth = below
        less = 0
        if not plain and not capturing and depth > 0:
            if target & first_row and origin & ~kings:
                if depth <= 2:
                    new_depth = depth
            elif number >= 2 and depth >= 3 and n > 3:
                less = 1
                if number >= 6:
                    less = 1 + depth // 4
        if number > 0:
            score = -search(
                opp_after,
                own_after,
                kings_after,
                not up,
                quiet_after,
                ending_after,
                new_depth - less,
                ply + 1,
                -alpha - 1,
                -alpha,
                rules,
                w,
                free,
            )
            again = score > alpha and load(w, ABORTED) == ZERO and (less > 0 or (open_window and score < beta))
        else:
            score = 0
            again = True
        if again:
            # late moves are asked again at full depth, good ones for their score
            if number > 0 and less > 0 and open_window:
                score = -search(
                    opp_after,
                    own_after,
                    kings_after,
                    not up,
                    quiet_after,
                    ending_after,
                    new_depth,
                    ply + 1,
                    -alpha - 1,
                    -alpha,
                    rules,
                    w,
                    free,
                )
            if number == 0 or (score > alpha and load(w, ABORTED) == ZERO):
                score = -search(
                    opp_after,
                    own_after,
                    kings_after,
                    not up,
                    quiet_after,
                    ending_after,
                    new_depth,
                    ply + 1,
                    -beta,
                    -alpha,
                    rules,
                    w,
                    free,
                )
        if load(w, ABORTED) != ZERO:
            return 0
        if score > best:
            best = score
            if score > alpha:
                alpha = score
                best_move = i
                _keep_line(line, origin, target, captured)
                if score >= beta:
                    if not capturing and depth > 0:
                        reward(w, ply, moves, tried, i, depth)
                    break
        if not capturing and tried < MOST_TRIED:
            store(w, TRIED + MOST_TRIED * ply + tried, U(move_code(origin, target)))
            tried += 1
    if depth > 0 and not plain:
        bound = LOWER if best >= beta else (EXACT if best > start else UPPER)
        remember(w, key, best, depth, bound, best_move if best_move >= 0 else hash_move, ply)
    return best


@kernel()
def _search_root(own, opp, kings, up, quiet, ending, depth, n, first, best_so_far, rules, w, moves):
    """One iteration over the ``n`` root moves at ``moves``, that of number ``first`` first; returns score and move.

    The best line goes to ply 0. When it was aborted, what it had found by then counts; move -1 is nothing at all.
    """
    free = moves + U(8 * _LIST) * U(n)
    ranks = moves + U(8 * WORDS * n)
    rank_moves(moves, n, np.int64(0), first, kings, w)
    best = np.int64(-INFINITE)
    best_move = np.int64(-1)
    for number in range(n):
        i = np.int64(take_best(ranks, n))
        origin = load(moves, WORDS * i)
        target = load(moves, WORDS * i + 1)
        captured = load(moves, WORDS * i + 2)
        own_after = moved_own(own, origin, target)
        opp_after = opp & ~captured
        kings_after = moved_kings(kings, origin, target, captured, up, rules)
        quiet_after = next_quiet(quiet, own, kings, origin, captured)
        ending_after = next_ending(ending, captured, own_after, opp_after, kings_after, rules)
        alpha = max(best, np.int64(-INFINITE))
        score = np.int64(INFINITE)
        if number > 0:
            score = -search(
                opp_after,
                own_after,
                kings_after,
                not up,
                quiet_after,
                ending_after,
                depth - 1,
                np.int64(1),
                -alpha - 1,
                -alpha,
                rules,
                w,
                free,
            )
        if number == 0 or (score > alpha and load(w, ABORTED) == ZERO):
            score = -search(
                opp_after,
                own_after,
                kings_after,
                not up,
                quiet_after,
                ending_after,
                depth - 1,
                np.int64(1),
                np.int64(-INFINITE),
                -alpha,
                rules,
                w,
                free,
            )
        if load(w, ABORTED) != ZERO:
            break
        if score > best:
            best = score
            best_move = i
            _keep_line(w + U(8 * LINES), origin, target, captured)
            _publish(w)
    return best, best_move


@kernel()
def _publish(w):
    """Copy the line of ply 0 to where the caller reads it."""
    length = np.int64(load(w, LINES))
    store(w, LINE_LENGTH, U(length))
    for i in range(WORDS * length):
        store(w, LINE + i, load(w, LINES + 1 + i))


@kernel()
def deepen(white, black, kings, white_to_move, quiet, ending, rules, max_depth, w):
    """Search to depth 1, 2, ... ``max_depth``, until a limit strikes or the game is decided.

    Args:
        white, black, kings, white_to_move, quiet, ending, rules: a position with at least one legal move.
        w: address of the workspace. Its single words are set, and the game's keys written from ``KEYS`` on, that of
            the position at ``KEYS + BEFORE``.

    Returns:
        Score of the best line in the workspace, and the last depth that was completed.
    """
    own = white if white_to_move else black
    opp = black if white_to_move else white
    moves = w + U(8) * U(KEYS + np.int64(load(w, BEFORE)) + MAX_PLY + 1)
    n = legal_moves(own, opp, kings, white_to_move, rules, moves, np.int64((load(w, END) - moves) // U(8 * _LIST)))
    for word in (NODES, ARMED, ABORTED, LINE_LENGTH):
        store(w, word, ZERO)
    for i in range(2 * (MAX_PLY + 1)):
        store(w, KILLERS + i, U(1 << 20))
    for i in range(64 * 64):
        store(w, HISTORY + i, load(w, HISTORY + i) >> U(2))
    score = np.int64(0)
    reached = 0
    first = np.int64(-1)
    for depth in range(1, min(max_depth, MAX_DEPTH) + 1):
        found, move = _search_root(
            own, opp, kings, white_to_move, quiet, ending, depth, n, first, score, rules, w, moves
        )
        if move >= 0:
            score, first = found, move
        if load(w, ABORTED) != ZERO:
            break
        reached = depth
        store(w, ARMED, U(1))
        if abs(score) >= PROVEN or (n == 1 and load(w, FORCED) != ZERO):
            break
    return score, reached
