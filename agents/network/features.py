"""What a network sees of a position: one flat vector in the mover's frame.

Own men, own kings, opponent's men, opponent's kings over the playable squares (from 0, the mover's home
row last), about twenty ones in all, then four scalars. Every network of the project takes this vector;
convolutional ones fold the four square planes back into a board.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.jit import kernel
from draughts_env.intrinsics import lowest
from draughts_env.kernels import ONE, ZERO, field, half_of, rotate
from draughts_env.variants import Variant

PLANES = 4
#: quiet clock, ending clock running, share of the ending clock used, position seen before
SCALARS = 4


def feature_count(variant: Variant) -> int:
    """Length of the feature vector of a variant."""
    return PLANES * variant.geometry.squares + SCALARS


@kernel(inline="always")
def square_of_bit(bit, half):
    """Square from 0 of a bit index."""
    if half == 4:
        return bit - bit // 9
    return bit - bit // 11


@kernel(forceinline=True)
def scalar_features(quiet, ending, repeats, rules):
    """The four scalars, each in [0, 1]."""
    limit = max(field(rules, 24), field(rules, 32))
    running = np.float32(1.0) if ending >= 0 else np.float32(0.0)
    used = np.float32((limit - ending) / limit) if ending >= 0 and limit > 0 else np.float32(0.0)
    return (
        np.float32(min(quiet / field(rules, 16), 1.0)),
        running,
        used,
        np.float32(0.5 * min(repeats, 2)),
    )


@kernel(forceinline=True)
def active_squares(white, black, kings, up, rules, active):
    """Write the indices of the features that are one to ``active`` (int32); returns their number.

    White, Black and kings are bit sets in White's frame; ``up`` says whether White moves.
    """
    half = np.int64(half_of(rules))
    squares = 2 * half * half
    if not up:
        white, black = rotate(black, rules), rotate(white, rules)
        kings = rotate(kings, rules)
    n = 0
    for plane in range(PLANES):
        if plane == 0:
            x = white & ~kings
        elif plane == 1:
            x = white & kings
        elif plane == 2:
            x = black & ~kings
        else:
            x = black & kings
        while x != ZERO:
            active[n] = plane * squares + square_of_bit(lowest(x), half)
            n += 1
            x &= x - ONE
    return n


@kernel()
def fill_features(boards, clocks, rules, out):
    """Dense feature vectors of many positions.

    Args:
        boards: uint64 ``(n, 4)``: own men, own kings, opponent's men, opponent's kings in the mover's frame.
        clocks: int16 ``(n, 3)``: quiet, ending, repeats.
        rules: rules word.
        out: float32 ``(n, features)``, overwritten.
    """
    half = np.int64(half_of(rules))
    squares = 2 * half * half
    out[:] = 0
    for i in range(len(boards)):
        for plane in range(PLANES):
            x = boards[i, plane]
            while x != ZERO:
                out[i, plane * squares + square_of_bit(lowest(x), half)] = 1
                x &= x - ONE
        scalars = scalar_features(np.int64(clocks[i, 0]), np.int64(clocks[i, 1]), np.int64(clocks[i, 2]), rules)
        for j in range(SCALARS):
            out[i, PLANES * squares + j] = scalars[j]


@kernel(inline="always")
def mover_boards(white, black, kings, up, rules):
    """The four bit sets of ``boards`` of a position given in White's frame."""
    if up:
        return white & ~kings, white & kings, black & ~kings, black & kings
    own = rotate(black, rules)
    opp = rotate(white, rules)
    k = rotate(kings, rules)
    return own & ~k, own & k, opp & ~k, opp & k


FloatArray = npt.NDArray[np.float32]
