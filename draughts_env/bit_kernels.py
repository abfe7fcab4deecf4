"""Reading the rules word, and diagonal steps, jumps and flights of whole sets of pieces.

The conventions are those of :mod:`draughts_env.kernels`, which passes most of this on. ``half`` is the number of
squares in a row, which with ``half + 1`` gives the diagonal steps; ``empty`` is the set of empty squares. Sets in
tuples of four belong to the directions 0 to 3.
"""

from __future__ import annotations

import numpy as np

from draughts_env.intrinsics import reverse_bits
from draughts_env.jit import kernel

U = np.uint64
ZERO = U(0)
ONE = U(1)
WORDS = 3  # words of a move
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


# --- many pieces at once ----------------------------------------------------------------------------


@kernel(inline="always")
def jump_squares(opp, empty, half):
    """The squares from which a step in direction 0, 1, 2, 3 leads to an opponent with an empty square behind."""
    above = half + ONE
    return (
        ((empty >> half) & opp) >> half,
        ((empty >> above) & opp) >> above,
        ((empty << half) & opp) << half,
        ((empty << above) & opp) << above,
    )


@kernel(inline="always")
def landings(x, half):
    """Four sets of pieces, each moved two steps, in direction 0, 1, 2, 3."""
    above = half + ONE
    return x[0] << (half + half), x[1] << (above + above), x[2] >> (half + half), x[3] >> (above + above)


@kernel(inline="always")
def spread_down(x, by, empty):
    """``x`` and the squares reached from it by steps ``<< by`` over empty squares."""
    x |= (x << by) & empty
    for _ in range(3):
        empty &= empty << by
        by += by
        x |= (x << by) & empty
    return x


@kernel(inline="always")
def spread_up(x, by, empty):
    """``x`` and the squares reached from it by steps ``>> by`` over empty squares."""
    x |= (x >> by) & empty
    for _ in range(3):
        empty &= empty >> by
        by += by
        x |= (x >> by) & empty
    return x


@kernel(inline="always")
def flying_jumpers(flyers, j, empty, half):
    """The flying kings among ``flyers`` that can jump, ``j`` being the jump squares."""
    above = half + ONE
    reach = j[0] | j[1] | j[2] | j[3]
    reach |= spread_up(j[0] & empty, half, empty) >> half
    reach |= spread_up(j[1] & empty, above, empty) >> above
    reach |= spread_down(j[2] & empty, half, empty) << half
    reach |= spread_down(j[3] & empty, above, empty) << above
    return flyers & reach
