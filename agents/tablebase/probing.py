"""Tablebases for kernels: arrays that a search passes along, and the probe that reads them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from agents.jit import kernel
from agents.tablebase.indexing import CODES, code_of, position_index
from draughts_env.intrinsics import popcount
from draughts_env.kernels import ZERO, crown_row, rotate

#: What :func:`probe_wdl` says of a position that the tables do not hold.
NOT_COVERED = 2


class TablebaseArrays(NamedTuple):
    """Win, draw or loss of every position, in memory. Made by :class:`agents.tablebase.Tablebase`.

    Attributes:
        rules: the rules word of the variant.
        pieces: the most pieces covered; 0 covers nothing.
        offsets: int64, by signature code: where its positions begin, -1 for none; a multiple of 4.
        wdl: uint8, four positions a byte, the first in the lowest bits: 0 loss, 1 draw, 2 win for the side to move.
    """

    rules: np.uint64
    pieces: int
    offsets: npt.NDArray[np.int64]
    wdl: npt.NDArray[np.uint8]


def no_tablebase() -> TablebaseArrays:
    """Arrays that cover nothing, for searches without tables."""
    return TablebaseArrays(np.uint64(0), 0, np.full(CODES, -1, np.int64), np.zeros(1, np.uint8))


@kernel()
def locate(white, black, kings, up, rules):
    """Signature code and index of a position, -1 and 0 for one that no table can hold.

    That is one with a side that has no piece or too many, or with a man on the row where it is crowned.
    """
    if up:
        own, opp, royal = white, black, kings
    else:
        own, opp, royal = rotate(black, rules), rotate(white, rules), rotate(kings, rules)
    crowned = (own & crown_row(rules, True)) | (opp & crown_row(rules, False))
    if own == ZERO or opp == ZERO or crowned & ~royal or popcount(own | opp) > 8:
        return np.int64(-1), np.int64(0)
    return code_of(own, opp, royal), position_index(own, opp, royal, rules)


@kernel()
def probe_wdl(tb, white, black, kings, up):
    """Value of a position for the side to move: 1 won, 0 drawn, -1 lost, or ``NOT_COVERED``.

    Args:
        tb: TablebaseArrays.
        white, black, kings: the position; ``up`` is true when White is to move.
    """
    if popcount(white | black) > tb.pieces:
        return np.int64(NOT_COVERED)
    code, index = locate(white, black, kings, up, tb.rules)
    if code < 0 or tb.offsets[code] < 0:
        return np.int64(NOT_COVERED)
    at = tb.offsets[code] + index
    return (np.int64(tb.wdl[at >> 2]) >> ((at & 3) << 1) & 3) - 1
