"""The sparse network evaluated by numba, inside the search loop and without PyTorch.

About twenty of its inputs are one, so the first layer is a sum of that many rows. Both hidden layers are computed in
16-bit integers (:mod:`agents.network.integer_layers`): weights and hidden values are rounded to fractions that are
powers of two, as fine as their greatest possible sums allow, so that nothing can overflow in any position. The policy
is a dot product with an embedding per *legal* move, in floating point, as is the value.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.jit import kernel
from agents.network.features import PLANES, SCALARS, FloatArray, active_squares, scalar_features
from agents.network.integer_layers import LANES, OUTPUTS, add_rows, dense
from draughts_env.kernels import U

if TYPE_CHECKING:
    from agents.network.models import SparseNet

_INT16, _INT32 = 2**15 - 1, 2**31 - 1
_FINEST = 12  # weights and hidden values are rounded to multiples of 2**-12 or coarser


class SparseWeights(NamedTuple):
    """Weights of a sparse network as the kernels take them.

    Shapes for F features, of which SCALARS are no squares, hidden H1 and H2 (filled up with zeros to multiples of
    ``LANES`` and ``OUTPUTS``), A actions. All C-contiguous.

    Attributes:
        first: int16 ``(F - SCALARS, H1)``, rows of the squares, in units of ``1 / first_units``.
        scalars: float32 ``(SCALARS, H1)``, rows of the scalars in the same units.
        first_bias: int16 ``(H1,)``, half a unit of the hidden values included, so that they are rounded.
        shift: int64, how many bits fewer the hidden values have than their sums.
        second: int16 ``(H1 / 2, H2, 2)``; second_bias: int32 ``(H2,)``.
        second_unit: float32, what one in the second layer's sums is worth.
        value: float32 ``(3, H2)``; value_bias ``(3,)``; policy ``(A, H2)``; policy_bias ``(A,)``.
    """

    first: npt.NDArray[np.int16]
    scalars: FloatArray
    first_bias: npt.NDArray[np.int16]
    shift: np.int64
    second: npt.NDArray[np.int16]
    second_bias: npt.NDArray[np.int32]
    second_unit: np.float32
    value: FloatArray
    value_bias: FloatArray
    policy: FloatArray
    policy_bias: FloatArray


class Scratch(NamedTuple):
    """Working memory of one evaluating thread."""

    active: npt.NDArray[np.int32]  # indices of active rows
    start: npt.NDArray[np.int16]  # bias of the first layer with what the scalars add
    hidden1: npt.NDArray[np.int16]
    sums: npt.NDArray[np.int32]
    hidden2: FloatArray


def export_weights(model: SparseNet) -> SparseWeights:
    """Arrays of a PyTorch sparse network for the kernels, rounded as :class:`SparseWeights` says.

    Hidden values differ from PyTorch's by up to about 0.1%; values by less than 0.01 in a trained network.
    """

    def array(tensor: object) -> npt.NDArray[np.float64]:
        return tensor.detach().cpu().numpy().astype(np.float64)  # type: ignore[attr-defined]

    def filled(values: npt.NDArray[np.float64], axis: int, multiple: int) -> npt.NDArray[np.float64]:
        space = [(0, 0)] * values.ndim
        space[axis] = (0, -values.shape[axis] % multiple)
        return np.pad(values, space)

    first = filled(array(model.first.weight).T, 1, LANES)
    first_bias = filled(array(model.first.bias), 0, LANES)
    second = filled(filled(array(model.second.weight).T, 0, LANES), 1, OUTPUTS)
    second_bias = filled(array(model.second.bias), 0, OUTPUTS)
    squares, scalars = first[:-SCALARS], first[-SCALARS:]

    # The greatest sums in any position: a square holds one piece at most, a scalar is at most one.
    by_square = np.abs(squares.reshape(PLANES, -1, first.shape[1])).max(0)
    largest = by_square.sum(0) + np.abs(scalars).sum(0) + np.abs(first_bias)
    first_bits = _bits(_INT16 - 1, largest.max() + 2.0**-_FINEST * len(first))
    sums = (largest[:, None] * np.abs(second)).sum(0) + np.abs(second_bias)
    both_bits = _bits(_INT32 // 2, sums.max())
    second_bits = min(both_bits // 2 + 1, _bits(_INT16 - 1, np.abs(second).max()))
    hidden_bits = min(both_bits - second_bits, first_bits)
    shift = first_bits - hidden_bits
    half = 1 << shift - 1 if shift else 0

    pairs = np.rint(second * 2.0**second_bits).astype(np.int16)
    units = hidden_bits + second_bits

    def floats(values: npt.NDArray[np.float64]) -> FloatArray:
        return np.ascontiguousarray(values.astype(np.float32))

    return SparseWeights(
        np.ascontiguousarray(np.rint(squares * 2.0**first_bits).astype(np.int16)),
        floats(scalars * 2.0**first_bits),
        (np.rint(first_bias * 2.0**first_bits) + half).astype(np.int16),
        np.int64(shift),
        np.ascontiguousarray(pairs.reshape(-1, 2, second.shape[1]).transpose(0, 2, 1)),
        np.rint(second_bias * 2.0**units).astype(np.int32),
        np.float32(2.0**-units),
        floats(filled(array(model.value.weight), 1, OUTPUTS)),
        floats(array(model.value.bias)),
        floats(filled(array(model.policy.weight), 1, OUTPUTS)),
        floats(array(model.policy.bias)),
    )


def _bits(limit: int, largest: float) -> int:
    """How many binary places numbers up to ``largest`` can have, at most ``_FINEST`` a factor, to stay in the limit."""
    finest = _FINEST if limit <= _INT16 else 2 * _FINEST
    return min(finest, math.floor(math.log2(limit / max(largest, 2.0**-finest))))


def new_scratch(weights: SparseWeights) -> Scratch:
    """Working memory for one thread. Shapes follow the weights."""
    width, outputs = len(weights.first_bias), len(weights.second_bias)
    return Scratch(
        np.zeros(len(weights.first), np.int32),
        np.zeros(width, np.int16),
        np.zeros(width, np.int16),
        np.zeros(outputs, np.int32),
        np.zeros(outputs, np.float32),
    )


@kernel(inline="always")
def _address(array):
    return U(array.ctypes.data)


@kernel(fastmath=True, forceinline=True)
def _start(net, scratch, quiet, ending, repeats, rules):
    """Address of the first layer's sums before the squares: its bias, and what the scalars add to it."""
    scalars = scalar_features(quiet, ending, repeats, rules)
    if scalars[0] == np.float32(0) and scalars[1] == np.float32(0) and scalars[3] == np.float32(0):
        return _address(net.first_bias)
    start = scratch.start
    for j in range(len(start)):
        added = (
            scalars[0] * net.scalars[0, j]
            + scalars[1] * net.scalars[1, j]
            + scalars[2] * net.scalars[2, j]
            + scalars[3] * net.scalars[3, j]
        )
        start[j] = net.first_bias[j] + np.int16(np.rint(added))
    return _address(start)


@kernel(fastmath=True, forceinline=True)
def evaluate_hidden(net, scratch, white, black, kings, up, quiet, ending, repeats, rules):
    """Compute the last hidden layer into ``scratch.hidden2``; returns win, draw, loss for the side to move."""
    active = scratch.active
    n = active_squares(white, black, kings, up, rules, active)
    width = len(net.first_bias)
    start = _start(net, scratch, quiet, ending, repeats, rules)
    hidden1 = _address(scratch.hidden1)
    add_rows(hidden1, start, _address(net.first), _address(active), n, width, net.shift)
    sums = scratch.sums
    dense(_address(sums), _address(net.second_bias), _address(net.second), hidden1, width, len(sums))
    hidden2 = scratch.hidden2
    win = net.value_bias[0]
    draw = net.value_bias[1]
    loss = net.value_bias[2]
    for j in range(len(hidden2)):
        h = np.float32(max(sums[j], np.int32(0))) * net.second_unit
        hidden2[j] = h
        win += h * net.value[0, j]
        draw += h * net.value[1, j]
        loss += h * net.value[2, j]
    top = max(win, draw, loss)
    win = np.exp(win - top)
    draw = np.exp(draw - top)
    loss = np.exp(loss - top)
    total = win + draw + loss
    return win / total, draw / total, loss / total


@kernel(fastmath=True, forceinline=True)
def policy_logit(net, scratch, action):
    """Policy logit of one action, after :func:`evaluate_hidden`."""
    hidden2 = scratch.hidden2
    total = net.policy_bias[action]
    for j in range(len(hidden2)):
        total += hidden2[j] * net.policy[action, j]
    return total
