"""The sparse network evaluated by numba, inside the search loop and without PyTorch.

About twenty of its inputs are one, so the first layer is a sum of that many rows. The second layer skips
hidden units that are zero. The policy is a dot product with an embedding per *legal* move. Four rows
are added at a time: that halves the traffic of the accumulators and lets the compiler use wide registers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agents.jit import kernel
from agents.network.features import PLANES, SCALARS, FloatArray, active_squares, scalar_features
from draughts_env.kernels import half_of

if TYPE_CHECKING:
    from agents.network.models import SparseNet


class SparseWeights(NamedTuple):
    """Weights of a sparse network, rows by input. Shapes for F features, hidden H1 and H2, A actions.

    first (F, H1), first_bias (H1), second (H1, H2), second_bias (H2), value (3, H2), value_bias (3),
    policy (A, H2), policy_bias (A); all float32, C-contiguous.
    """

    first: FloatArray
    first_bias: FloatArray
    second: FloatArray
    second_bias: FloatArray
    value: FloatArray
    value_bias: FloatArray
    policy: FloatArray
    policy_bias: FloatArray


class Scratch(NamedTuple):
    """Working memory of one evaluating thread."""

    active: np.ndarray  # int32, indices of active rows, padded to a multiple of four by a zero row's index
    scale: FloatArray
    hidden1: FloatArray
    hidden2: FloatArray


def export_weights(model: SparseNet) -> SparseWeights:
    """Arrays of a PyTorch sparse network, copied, for the kernels."""

    def array(tensor: object, transpose: bool = False) -> FloatArray:
        values = tensor.detach().cpu().numpy().astype(np.float32)  # type: ignore[attr-defined]
        return np.ascontiguousarray(values.T if transpose else values)

    return SparseWeights(
        array(model.first.weight, True),
        array(model.first.bias),
        array(model.second.weight, True),
        array(model.second.bias),
        array(model.value.weight),
        array(model.value.bias),
        array(model.policy.weight),
        array(model.policy.bias),
    )


def new_scratch(weights: SparseWeights) -> Scratch:
    """Working memory for one thread. Shapes follow the weights."""
    longest = max(len(weights.first), len(weights.second)) + 4
    return Scratch(
        np.zeros(longest, np.int32),
        np.zeros(longest, np.float32),
        np.zeros(len(weights.first_bias), np.float32),
        np.zeros(len(weights.second_bias), np.float32),
    )


@kernel(fastmath=True)
def _add_rows(out, rows, index, scale, n):
    """``out += sum of scale[i] * rows[index[i]]`` for i < n, four rows at a time."""
    width = len(out)
    i = 0
    while i + 4 <= n:
        a, b, c, d = index[i], index[i + 1], index[i + 2], index[i + 3]
        p, q, r, s = scale[i], scale[i + 1], scale[i + 2], scale[i + 3]
        for j in range(width):
            out[j] += p * rows[a, j] + q * rows[b, j] + r * rows[c, j] + s * rows[d, j]
        i += 4
    while i < n:
        a = index[i]
        p = scale[i]
        for j in range(width):
            out[j] += p * rows[a, j]
        i += 1


@kernel(fastmath=True)
def evaluate_hidden(net, scratch, white, black, kings, up, quiet, ending, repeats, rules):
    """Compute the last hidden layer into ``scratch.hidden2``; returns win, draw, loss for the side to move."""
    active = scratch.active
    scale = scratch.scale
    n = active_squares(white, black, kings, up, rules, active)
    for i in range(n):
        scale[i] = np.float32(1.0)
    half = np.int64(half_of(rules))
    base = PLANES * 2 * half * half
    scalars = scalar_features(quiet, ending, repeats, rules)
    for j in range(SCALARS):
        if scalars[j] != np.float32(0.0):
            active[n] = base + j
            scale[n] = scalars[j]
            n += 1
    hidden1 = scratch.hidden1
    for j in range(len(hidden1)):
        hidden1[j] = net.first_bias[j]
    _add_rows(hidden1, net.first, active, scale, n)
    n = 0
    for j in range(len(hidden1)):
        if hidden1[j] > np.float32(0.0):
            active[n] = j
            scale[n] = hidden1[j]
            n += 1
    hidden2 = scratch.hidden2
    for j in range(len(hidden2)):
        hidden2[j] = net.second_bias[j]
    _add_rows(hidden2, net.second, active, scale, n)
    win = net.value_bias[0]
    draw = net.value_bias[1]
    loss = net.value_bias[2]
    for j in range(len(hidden2)):
        h = max(hidden2[j], np.float32(0.0))
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


@kernel(fastmath=True)
def policy_logit(net, scratch, action):
    """Policy logit of one action, after :func:`evaluate_hidden`."""
    hidden2 = scratch.hidden2
    total = net.policy_bias[action]
    for j in range(len(hidden2)):
        total += hidden2[j] * net.policy[action, j]
    return total
