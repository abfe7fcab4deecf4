"""The rules engine: move generation, making moves, clocks, hashing, perft, compiled by numba.

Conventions, used by every kernel of the project:

* A position is three bit sets (layout: :mod:`draughts_env.geometry`): ``white``, ``black``, ``kings``
  (of both), and the side to move ``white_to_move``. Generators take ``own``, ``opp``, ``kings``, ``up``,
  where ``up`` is true for White, whose men move towards the low bits.
* ``rules`` is :attr:`Variant.rules`: bits 0-3 playable squares per row, 4 men capture backwards,
  5 flying kings, 6 most men, 7 crowned in flight, 8 the 3 v 1 ending is of kings only, 9 the 2 v 1 ending
  is also one of 2 v 2, 16-23 quiet plies, 24-31 and 32-39 plies of the 3 v 1 and 2 v 1 endings,
  40-43 repetitions.
* A move is three words: origin bit, target bit, captured bits. ``CROWNED`` is set in the third when a
  man was crowned in flight, which the other bits do not show. Moves that agree in origin, target and
  captured men are one move.
* Move lists are written through raw addresses (why: :mod:`draughts_env.intrinsics`), with a capacity
  that captures check; quiet moves number at most ``MAX_QUIET`` and always fit.
"""

from __future__ import annotations

import numpy as np

from draughts_env.intrinsics import load, popcount, reverse_bits, store
from draughts_env.jit import kernel

U = np.uint64
ZERO = U(0)
ONE = U(1)
WORDS = 3  # words of a move
MAX_QUIET = 1024  # 49 flying kings of one side have fewer quiet moves than this
MAX_MOVES = 8192  # capacity of the move lists that callers allocate
CROWNED = U(1 << 63)
ALL = U((1 << 63) - 1)

_BOARD8 = U(0x7FBFDFEFF)
_BOARD10 = U(0x3FF7FEFFDFFBFF)


# --- reading the rules word -------------------------------------------------------------------------


@kernel(inline="always")
def half_of(rules):
    return rules & U(15)


@kernel(inline="always")
def board_of(rules):
    return _BOARD10 if (rules & U(15)) == U(5) else _BOARD8


@kernel(inline="always")
def bits_of(rules):
    return U(54) if (rules & U(15)) == U(5) else U(35)


@kernel(inline="always")
def crown_row(rules, up):
    """The row on which the men of the side that moves up (or down) are crowned."""
    if up:
        return U(31) if (rules & U(15)) == U(5) else U(15)
    return U(31 << 49) if (rules & U(15)) == U(5) else U(15 << 31)


@kernel(inline="always")
def flag(rules, bit):
    return ((rules >> U(bit)) & ONE) != ZERO


@kernel(inline="always")
def field(rules, low):
    """An eight-bit number of the rules word, as int64."""
    return np.int64((rules >> U(low)) & U(255))


@kernel(inline="always")
def shift(x, direction, half):
    """One diagonal step: 0 and 1 towards high bits (down), 2 and 3 towards low bits (up)."""
    if direction == 0:
        return x << half
    if direction == 1:
        return x << (half + ONE)
    if direction == 2:
        return x >> half
    return x >> (half + ONE)


@kernel(inline="always")
def rotate(x, rules):
    """The bit set turned by 180 degrees."""
    return reverse_bits(x) >> (U(64) - bits_of(rules))


# --- captures ---------------------------------------------------------------------------------------


@kernel()
def _can_go_on(at, king, opp, empty, taken, half, back, up):
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


@kernel()
def _jump(origin, at, king, opp, empty, taken, count, up, rules, n, best, moves, capacity):
    """Follow every capture of one piece from ``at``; write the complete ones.

    ``taken`` carries the men jumped so far (and ``CROWNED``); they stay on the board and block.
    Returns the length of the list and the greatest number captured so far (zero without that rule).
    """
    half = half_of(rules)
    found = False
    flying = king and flag(rules, 5)
    for direction in range(4):
        if not (king or flag(rules, 4) or (direction >= 2) == up):
            continue
        x = shift(at, direction, half)
        if flying:
            while x & empty:
                x = shift(x, direction, half)
        x = x & opp & ~taken
        if x == ZERO:
            continue
        y = shift(x, direction, half) & empty
        if y == ZERO:
            continue
        found = True
        after = taken | x
        if not flying:
            crowned = not king and flag(rules, 7) and (y & crown_row(rules, up)) != ZERO
            if crowned:
                after |= CROWNED
            n, best = _jump(
                origin, y, king or crowned, opp, empty, after, count + 1, up, rules, n, best, moves, capacity
            )
            continue
        # Without the majority rule a king must still land where it can go on, if there is such a square.
        choosy = False
        if not flag(rules, 6):
            z = y
            while z and not choosy:
                choosy = _can_go_on(z, True, opp, empty, after, half, True, up)
                z = shift(z, direction, half) & empty
        while y:
            if not choosy or _can_go_on(y, True, opp, empty, after, half, True, up):
                n, best = _jump(origin, y, king, opp, empty, after, count + 1, up, rules, n, best, moves, capacity)
            y = shift(y, direction, half) & empty
    if not found and count > 0:
        if flag(rules, 6):
            if count < best:
                return n, best
            if count > best:
                best = count
                n = 0
        if count >= 2:  # routes can agree from two men on: a flying king has several squares to stop between them
            for i in range(n):
                j = WORDS * i
                if load(moves, j) == origin and load(moves, j + 1) == at and (load(moves, j + 2) ^ taken) & ALL == ZERO:
                    store(moves, j + 2, load(moves, j + 2) | taken)
                    return n, best
        if n < capacity:
            j = WORDS * n
            store(moves, j, origin)
            store(moves, j + 1, at)
            store(moves, j + 2, taken)
            n += 1
    return n, best


@kernel()
def captures(own, opp, kings, up, rules, moves, capacity):
    """Write the legal captures to ``moves``; returns their number, 0 when there is none.

    At most ``capacity`` are written; a caller whose list comes back full has to assume that some are missing.
    """
    half = half_of(rules)
    above = half + ONE
    empty = board_of(rules) & ~(own | opp)
    down = ((((empty >> half) & opp) >> half) | (((empty >> above) & opp) >> above)) & own
    upward = ((((empty << half) & opp) << half) | (((empty << above) & opp) << above)) & own
    if flag(rules, 4):
        able = down | upward
    else:
        able = (upward if up else down) | ((down | upward) & kings)
    if flag(rules, 5):
        able |= own & kings
    n = np.int64(0)
    best = np.int64(0)
    while able:
        b = able & (~able + ONE)
        able ^= b
        n, best = _jump(
            b, b, (b & kings) != ZERO, opp, empty | b, ZERO, np.int64(0), up, rules, n, best, moves, capacity
        )
    return n


# --- quiet moves ------------------------------------------------------------------------------------


@kernel(inline="always")
def _write_steps(movers, direction, half, n, moves):
    """Write one-step moves of ``movers`` (whose target is known to be empty) in one direction."""
    while movers:
        b = movers & (~movers + ONE)
        movers ^= b
        j = WORDS * n
        store(moves, j, b)
        store(moves, j + 1, shift(b, direction, half))
        store(moves, j + 2, ZERO)
        n += 1
    return n


@kernel()
def quiet_moves(own, opp, kings, up, rules, moves):
    """Write the moves that capture nothing to ``moves``, without asking whether a capture exists."""
    half = half_of(rules)
    above = half + ONE
    empty = board_of(rules) & ~(own | opp)
    n = 0
    flying = flag(rules, 5)
    steppers = own & ~kings if flying else own
    if up:
        n = _write_steps(steppers & (empty << half), 2, half, n, moves)
        n = _write_steps(steppers & (empty << above), 3, half, n, moves)
    else:
        n = _write_steps(steppers & (empty >> half), 0, half, n, moves)
        n = _write_steps(steppers & (empty >> above), 1, half, n, moves)
    royal = own & kings
    if royal == ZERO:
        return n
    if not flying:
        if up:
            n = _write_steps(royal & (empty >> half), 0, half, n, moves)
            n = _write_steps(royal & (empty >> above), 1, half, n, moves)
        else:
            n = _write_steps(royal & (empty << half), 2, half, n, moves)
            n = _write_steps(royal & (empty << above), 3, half, n, moves)
        return n
    while royal:
        b = royal & (~royal + ONE)
        royal ^= b
        for direction in range(4):
            y = shift(b, direction, half) & empty
            while y:
                j = WORDS * n
                store(moves, j, b)
                store(moves, j + 1, y)
                store(moves, j + 2, ZERO)
                n += 1
                y = shift(y, direction, half) & empty
    return n


@kernel()
def count_quiet(own, opp, kings, up, rules):
    """Number of moves that capture nothing, without writing them."""
    half = half_of(rules)
    above = half + ONE
    empty = board_of(rules) & ~(own | opp)
    flying = flag(rules, 5)
    steppers = own & ~kings if flying else own
    if up:
        n = popcount(steppers & (empty << half)) + popcount(steppers & (empty << above))
    else:
        n = popcount(steppers & (empty >> half)) + popcount(steppers & (empty >> above))
    royal = own & kings
    if royal == ZERO:
        return n
    if not flying:
        if up:
            return n + popcount(royal & (empty >> half)) + popcount(royal & (empty >> above))
        return n + popcount(royal & (empty << half)) + popcount(royal & (empty << above))
    for direction in range(4):
        y = shift(royal, direction, half) & empty
        while y:
            n += popcount(y)
            y = shift(y, direction, half) & empty
    return n


@kernel()
def legal_moves(own, opp, kings, up, rules, moves, capacity):
    """Write all legal moves; returns their number. ``capacity`` is at least ``MAX_QUIET``."""
    n = captures(own, opp, kings, up, rules, moves, capacity)
    if n == 0:
        n = quiet_moves(own, opp, kings, up, rules, moves)
    return n


@kernel()
def has_move(own, opp, kings, up, rules):
    """Whether the side to move has any legal move."""
    if count_quiet(own, opp, kings, up, rules) > 0:
        return True
    half = half_of(rules)
    empty = board_of(rules) & ~(own | opp)
    flying = flag(rules, 5)
    rest = own
    while rest:
        b = rest & (~rest + ONE)
        rest ^= b
        king = (b & kings) != ZERO
        # a piece with no quiet move has no ray to fly along: only neighbours can be jumped
        if _can_go_on(b, king and flying, opp, empty, ZERO, half, king or flag(rules, 4), up):
            return True
    return False


# --- making moves -----------------------------------------------------------------------------------


@kernel(inline="always")
def moved_own(own, origin, target):
    """The mover's pieces after a move (origin and target may be the same square)."""
    return (own & ~origin) | target


@kernel(inline="always")
def moved_kings(kings, origin, target, captured, up, rules):
    """The kings of both sides after a move, crowning included."""
    left = kings & ~captured
    if left & origin:
        return (left & ~origin) | target
    if captured & CROWNED:
        return left | target
    return left | (target & crown_row(rules, up))


# --- clocks and endings -----------------------------------------------------------------------------


@kernel()
def ending_limit(white, black, kings, rules):
    """Plies granted to the ending on the board by the 3 v 1 and 2 v 1 rules; -1 when it is none of these."""
    whites = popcount(white)
    blacks = popcount(black)
    if min(whites, blacks) != 1:
        if flag(rules, 9) and whites == 2 and blacks == 2 and popcount(kings) >= 3:
            return field(rules, 32)
        return -1
    single = white if whites == 1 else black
    many = black if whites == 1 else white
    if (single & kings) == ZERO or (many & kings) == ZERO:
        return -1
    n = max(whites, blacks)
    if n > 3 or (n == 3 and flag(rules, 8) and (many & ~kings) != ZERO):
        return -1
    limit = field(rules, 24) if n == 3 else field(rules, 32)
    return limit if limit > 0 else -1


@kernel()
def next_quiet(quiet, own, kings, origin, captured):
    """The quiet clock after a move, from the mover's pieces and the kings before it."""
    if captured != ZERO or (origin & kings) == ZERO:
        return 0
    return quiet + 1


@kernel()
def next_ending(ending, captured, white, black, kings, rules):
    """The ending clock after a move, from the position after it. Only such moves start or shorten it."""
    left = ending - 1 if ending > 0 else ending
    limit = ending_limit(white, black, kings, rules)
    if ending < 0:
        return limit
    if captured != ZERO and 0 <= limit < left:
        return limit
    return left


@kernel(inline="always")
def clocks_drawn(quiet, ending, rules):
    """Whether one of the move-count rules has ended the game."""
    return quiet >= field(rules, 16) or ending == 0


@kernel(inline="always")
def hash_position(white, black, kings, white_to_move):
    """A 64-bit hash of placement and side to move (clocks excluded), the same in every process."""
    h = (white + (ONE if white_to_move else ZERO) * U(0x9E3779B97F4A7C15)) * U(0xBF58476D1CE4E5B9)
    h ^= h >> U(31)
    h = (h + black) * U(0x94D049BB133111EB)
    h ^= h >> U(29)
    h = (h + kings) * U(0xD6E8FEB86659FD93)
    h ^= h >> U(32)
    h *= U(0xBF58476D1CE4E5B9)
    return h ^ (h >> U(29))


# --- perft ------------------------------------------------------------------------------------------


@kernel()
def perft(own, opp, kings, up, rules, depth, moves, end):
    """Leaves of the move tree to ``depth``, the last ply counted in bulk.

    ``moves`` and ``end`` are addresses of a buffer used as a stack. Returns a negative number when it overflows.
    """
    capacity = np.int64((end - moves) // U(8 * WORDS))
    if depth <= 0:
        return 1
    if capacity < MAX_QUIET:
        return -(1 << 62)
    n = captures(own, opp, kings, up, rules, moves, capacity)
    if n == capacity:
        return -(1 << 62)
    if depth == 1:
        return n if n > 0 else count_quiet(own, opp, kings, up, rules)
    if n == 0:
        n = quiet_moves(own, opp, kings, up, rules, moves)
    total = 0
    free = moves + U(8 * WORDS) * U(n)
    for i in range(n):
        origin = load(moves, WORDS * i)
        target = load(moves, WORDS * i + 1)
        captured = load(moves, WORDS * i + 2)
        total += perft(
            opp & ~captured,
            moved_own(own, origin, target),
            moved_kings(kings, origin, target, captured, up, rules),
            not up,
            rules,
            depth - 1,
            free,
            end,
        )
    return total
