"""What an agent sees: planes of the dark squares in the mover's frame.

An observation is float32 of shape ``(8, rows, rows / 2)``. The board is seen from the side of the mover, whose men move
up, towards row 0: for Black it is turned by 180 degrees. A row holds its dark squares from left to right; in even rows
(from 0) they stand at the odd columns of the full board, in odd rows at the even ones.

====  ========================  ============================================================================
0     own men                   1 where one stands
1     own kings                 1 where one stands
2     opponent's men            1 where one stands
3     opponent's kings          1 where one stands
4     quiet clock               plies by kings without a capture, divided by their limit; at 1 the game is drawn
5     ending clock              0: no small ending has begun; else ``(limit - plies left + 1) / (limit + 1)``, where
                                limit is the greatest of the variant; at 1 the game is drawn
6     earlier occurrences       how often the position stood before, divided by the number that draws (2)
7     row parity                1 in odd rows: which neighbours in the array are diagonal neighbours
====  ========================  ============================================================================

Planes 4 to 6 have one value everywhere. States that differ in legal moves, in either clock or in the number of
occurrences have different observations. The earlier positions themselves are not in it (:attr:`Game.key_history` has
them): whether a *later* position will be a repetition does not follow from one observation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from draughts_env.errors import PositionError
from draughts_env.intrinsics import lowest
from draughts_env.jit import kernel
from draughts_env.kernels import ONE, U, field, half_of, rotate
from draughts_env.variants import Color, Variant, variant

if TYPE_CHECKING:
    from draughts_env.game import Game
    from draughts_env.position import Position

#: Names of the planes, in their order.
PLANES = (
    "own men",
    "own kings",
    "opponent's men",
    "opponent's kings",
    "quiet clock",
    "ending clock",
    "earlier occurrences",
    "row parity",
)


def observation_shape(of: Variant | str) -> tuple[int, int, int]:
    """Shape of a variant's observations: planes, rows, dark squares in a row.

    Raises:
        VariantError: no variant of that name.
    """
    size = variant(of).size
    return len(PLANES), size, size // 2


# --- kernels ----------------------------------------------------------------------------------------


@kernel(inline="always")
def _mark(pieces, first, period, i, planes):
    """Write 1 for each piece of a bit set (in the mover's frame) to the plane that begins at ``first``."""
    while pieces:
        bit = lowest(pieces)
        pieces &= pieces - ONE
        planes[i, first + bit - bit // period] = 1.0


@kernel(inline="always")
def _fill(value, first, count, i, planes):
    """Write a value to ``count`` places from ``first`` on."""
    for s in range(first, first + count):
        planes[i, s] = value


@kernel()
def write_planes(white, black, kings, up, quiet, ending, repeats, rules, i, planes):
    """Write the observation of one state.

    Args:
        white, black, kings: the position as bit sets.
        up: whether it is seen from White's side.
        quiet, ending, repeats: clocks, and earlier occurrences of the position.
        rules: rules word.
        i: row of ``planes`` that receives it.
        planes: float32 of shape ``(any, 8 * squares)``; every value of the row is written.
    """
    half = np.int64(half_of(rules))
    period = 2 * half + 1
    squares = 2 * half * half
    own = white if up else black
    opp = black if up else white
    if not up:
        own = rotate(own, rules)
        opp = rotate(opp, rules)
        kings = rotate(kings, rules)
    _fill(np.float32(0.0), 0, 4 * squares, i, planes)
    _mark(own & ~kings, 0, period, i, planes)
    _mark(own & kings, squares, period, i, planes)
    _mark(opp & ~kings, 2 * squares, period, i, planes)
    _mark(opp & kings, 3 * squares, period, i, planes)
    quiet_part = np.float32(min(1.0, quiet / field(rules, 16)))
    ending_part = np.float32(0.0)
    if ending >= 0:
        limit = max(field(rules, 24), field(rules, 32))
        ending_part = np.float32((limit - ending + 1) / (limit + 1))
    repeated_part = np.float32(min(1.0, repeats / max(1, np.int64((rules >> U(40)) & U(15)) - 1)))
    _fill(quiet_part, 4 * squares, squares, i, planes)
    _fill(ending_part, 5 * squares, squares, i, planes)
    _fill(repeated_part, 6 * squares, squares, i, planes)
    for row in range(0, 2 * half, 2):
        _fill(np.float32(0.0), 7 * squares + row * half, half, i, planes)
        _fill(np.float32(1.0), 7 * squares + (row + 1) * half, half, i, planes)


@kernel()
def _write_one(white, black, kings, up, quiet, ending, repeats, rules, planes):
    write_planes(U(white), U(black), U(kings), up, quiet, ending, repeats, U(rules), 0, planes.reshape(1, planes.size))


# --- the friendly face ------------------------------------------------------------------------------


def observe_position(
    position: Position,
    quiet: int = 0,
    ending: int = -1,
    repeats: int = 0,
    view: Color | None = None,
    out: npt.NDArray[np.float32] | None = None,
) -> npt.NDArray[np.float32]:
    """The observation of a position with the given clocks.

    Args:
        position: the position.
        quiet: plies by kings without a capture.
        ending: plies left in a small ending, -1 when none has begun.
        repeats: how often the position stood before.
        view: side from which the board is seen; by default that of the side to move.
        out: C-contiguous float32 array of the observation's shape to write to; by default a new one.

    Returns:
        The observation, shape ``(8, rows, rows / 2)``.

    Raises:
        PositionError: ``out`` has another shape or type, or ``view`` is no side.
    """
    shape = observation_shape(position.variant)
    if out is None:
        out = np.empty(shape, np.float32)
    elif out.shape != shape or out.dtype != np.float32 or not out.flags.c_contiguous:
        raise PositionError(f"out must be C-contiguous float32 of shape {shape}, not {out.dtype} of {out.shape}")
    view = view or position.turn
    if view not in ("white", "black"):
        raise PositionError(f"a board is seen from 'white' or 'black', not {view!r}")
    _write_one(
        position.white,
        position.black,
        position.kings,
        view == "white",
        quiet,
        ending,
        repeats,
        position.variant.rules,
        out,
    )
    return out


def observe(
    game: Game, view: Color | None = None, out: npt.NDArray[np.float32] | None = None
) -> npt.NDArray[np.float32]:
    """The observation of a game as it stands; defined also when it is over.

    Args and errors: as for :func:`observe_position`.
    """
    return observe_position(game.position, game.quiet, game.ending, game.repeats, view, out)
