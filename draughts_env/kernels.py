"""The rules engine: move generation, making moves, clocks, hashing, compiled by numba.

Conventions, used by every kernel of the project:

* A position is three bit sets (layout: :mod:`draughts_env.geometry`): ``white``, ``black``, ``kings``
  (of both), and the side to move ``white_to_move``. Generators take ``own``, ``opp``, ``kings``, ``up``,
  where ``up`` is true for White, whose men move towards the low bits.
* ``rules`` is :attr:`Variant.rules`: bits 0-3 playable squares per row, 4 men capture backwards,
  5 flying kings, 6 most men, 7 crowned in flight, 8 the 3 v 1 ending is of kings only, 9 the 2 v 1 ending
  is also one of 2 v 2, 10 mirrored numbers, 11 ranked captures, 16-23 quiet plies, 24-31 and 32-39 plies
  of the 3 v 1 and 2 v 1 endings, 40-43 repetitions.
* A move is three words: origin bit, target bit, captured bits. ``CROWNED`` is set in the third when a
  man was crowned in flight, which the other bits do not show. Moves that agree in origin, target and
  captured men are one move.
* Move lists are written through raw addresses (why: :mod:`draughts_env.intrinsics`), with a capacity
  that captures check; quiet moves number at most ``MAX_QUIET`` and always fit.
"""

from __future__ import annotations

from draughts_env.bit_kernels import (
    ALL,
    CROWNED,
    ONE,
    WORDS,
    ZERO,
    U,
    bits_of,
    board_of,
    crown_row,
    field,
    flag,
    half_of,
    rotate,
    shift,
    spread_down,
    spread_up,
)
from draughts_env.capture_kernels import can_go_on, captures
from draughts_env.intrinsics import popcount, store
from draughts_env.jit import kernel

__all__ = [
    "ALL",
    "CROWNED",
    "MAX_MOVES",
    "MAX_QUIET",
    "ONE",
    "WORDS",
    "ZERO",
    "U",
    "bits_of",
    "board_of",
    "captures",
    "clocks_drawn",
    "count_quiet",
    "crown_row",
    "ending_limit",
    "field",
    "flag",
    "half_of",
    "has_move",
    "hash_position",
    "legal_moves",
    "moved_kings",
    "moved_own",
    "next_ending",
    "next_quiet",
    "quiet_moves",
    "rotate",
    "shift",
]

MAX_QUIET = 1024  # 49 flying kings of one side have fewer quiet moves than this
MAX_MOVES = 8192  # capacity of the move lists that callers allocate

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
    n += popcount(spread_down(royal, half, empty) ^ royal) + popcount(spread_down(royal, above, empty) ^ royal)
    return n + popcount(spread_up(royal, half, empty) ^ royal) + popcount(spread_up(royal, above, empty) ^ royal)


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
        prey = opp & ~kings if flag(rules, 11) and not king else opp
        # a piece with no quiet move has no ray to fly along: only neighbours can be jumped
        if can_go_on(b, king and flying, prey, empty, ZERO, half, king or flag(rules, 4), up):
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
