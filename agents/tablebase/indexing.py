"""Numbering of positions: every placement of a signature has an index, and every index is a placement.

All positions are seen by the side to move: its men move up, the opponent's down, so that one side to move is enough.
A signature is a number of own men, own kings, opponent's men and opponent's kings. Within one, the pieces are placed in
this order, each group on what the groups before it left free, as a combination ranked by the combinatorial number
system:

1. own men: so many on the bottom row, the rest on the rows between, none on the top row, where they are crowned;
2. the opponent's men, not on the bottom row. How many squares this leaves depends on the own men on the bottom row;
   that is why these are counted first;
3. own kings, then the opponent's, anywhere.

Nothing is numbered twice and no number is left over. Captures and positions that no game can reach are included.
"""

from __future__ import annotations

from math import comb

import numpy as np

from agents.jit import kernel
from draughts_env.intrinsics import popcount
from draughts_env.kernels import ONE, ZERO, board_of, crown_row, half_of

#: The most pieces of one kind that the numbering has room for.
MAX_OF_A_KIND = 7

#: Signatures have codes below this number, four numbers to the base 8.
CODES = (MAX_OF_A_KIND + 1) ** 4

_CHOOSE = np.array([[comb(n, k) for k in range(MAX_OF_A_KIND + 2)] for n in range(51)], np.int64)


@kernel(inline="always")
def signature_code(own_men, own_kings, opp_men, opp_kings):
    """Code of a signature, from its four numbers."""
    return ((own_men * 8 + own_kings) * 8 + opp_men) * 8 + opp_kings


@kernel(inline="always")
def code_of(own, opp, kings):
    """Code of a position's signature."""
    return signature_code(popcount(own & ~kings), popcount(own & kings), popcount(opp & ~kings), popcount(opp & kings))


@kernel(inline="always")
def _rank(pieces, free):
    """Rank of a subset of ``free`` among those of its size."""
    rank = 0
    i = 1
    while pieces:
        below = (pieces & (~pieces + ONE)) - ONE
        rank += _CHOOSE[popcount(free & below), i]
        pieces &= pieces - ONE
        i += 1
    return rank


@kernel(inline="always")
def _unrank(rank, size, free):
    """The subset of ``free`` with a rank among those of ``size``."""
    found = ZERO
    n = popcount(free) - 1
    i = size
    while i > 0:
        if i == 1:
            n = rank
        else:
            while _CHOOSE[n, i] > rank:
                n -= 1
        rank -= _CHOOSE[n, i]
        rest = free
        for _ in range(n):
            rest &= rest - ONE
        found |= rest & (~rest + ONE)
        i -= 1
    return found


@kernel()
def position_index(own, opp, kings, rules):
    """Index of a position in its signature, from 0. ``own`` is the side to move and moves up."""
    half = np.int64(half_of(rules))
    squares = 2 * half * half
    middle = squares - 2 * half
    board = board_of(rules)
    top = crown_row(rules, True)
    bottom = crown_row(rules, False)
    own_men = own & ~kings
    opp_men = opp & ~kings
    own_kings = own & kings
    opp_kings = opp & kings
    index = np.int64(0)
    if own_men | opp_men:
        men = popcount(own_men)
        opp_count = popcount(opp_men)
        low_men = own_men & bottom
        low = popcount(low_men)
        for i in range(low):
            index += _CHOOSE[half, i] * _CHOOSE[middle, men - i] * _CHOOSE[squares - half - men + i, opp_count]
        place = _rank(low_men, bottom) * _CHOOSE[middle, men - low] + _rank(own_men ^ low_men, board & ~(top | bottom))
        index += place * _CHOOSE[squares - half - men + low, opp_count]
        index += _rank(opp_men, board & ~(bottom | own_men))
    free = board & ~(own_men | opp_men)
    if own_kings:
        index = index * _CHOOSE[popcount(free), popcount(own_kings)] + _rank(own_kings, free)
        free ^= own_kings
    if opp_kings:
        index = index * _CHOOSE[popcount(free), popcount(opp_kings)] + _rank(opp_kings, free)
    return index


@kernel()
def position_at(code, index, rules):
    """The position of an index.

    Args:
        code: code of its signature.
        index: from 0, within the signature.

    Returns:
        own, opp, kings as bit sets, the side to move moving up.
    """
    men, kings_count, opp_count, opp_kings_count = code >> 9, code >> 6 & 7, code >> 3 & 7, code & 7
    half = np.int64(half_of(rules))
    squares = 2 * half * half
    middle = squares - 2 * half
    board = board_of(rules)
    top = crown_row(rules, True)
    bottom = crown_row(rules, False)
    left = squares - men - opp_count - kings_count
    ways = _CHOOSE[left, opp_kings_count]
    opp_kings_rank = index % ways
    index //= ways
    ways = _CHOOSE[left + kings_count, kings_count]
    own_kings_rank = index % ways
    index //= ways
    own_men = opp_men = ZERO
    if men + opp_count > 0:
        low = 0
        while True:
            size = _CHOOSE[half, low] * _CHOOSE[middle, men - low] * _CHOOSE[squares - half - men + low, opp_count]
            if index < size:
                break
            index -= size
            low += 1
        ways = _CHOOSE[squares - half - men + low, opp_count]
        opp_men_rank = index % ways
        index //= ways
        ways = _CHOOSE[middle, men - low]
        own_men = _unrank(index // ways, low, bottom) | _unrank(index % ways, men - low, board & ~(top | bottom))
        opp_men = _unrank(opp_men_rank, opp_count, board & ~(bottom | own_men))
    free = board & ~(own_men | opp_men)
    own_kings = _unrank(own_kings_rank, kings_count, free)
    opp_kings = _unrank(opp_kings_rank, opp_kings_count, free ^ own_kings)
    return own_men | own_kings, opp_men | opp_kings, own_kings | opp_kings
