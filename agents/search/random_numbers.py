"""Random numbers inside kernels: a splitmix64 stream per game, so that a game depends on its seed alone."""

from __future__ import annotations

import numpy as np

from agents.jit import kernel
from draughts_env.kernels import U


@kernel()
def next_word(state):
    """The next 64 random bits; ``state`` is a uint64 array of one element, advanced."""
    state[0] += U(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> U(30))) * U(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> U(27))) * U(0x94D049BB133111EB)
    return z ^ (z >> U(31))


@kernel()
def uniform(state):
    """A float64 in the open interval (0, 1)."""
    return (np.float64(next_word(state) >> U(11)) + 0.5) * (1.0 / 9007199254740992.0)


@kernel()
def below(state, n):
    """An integer in ``0 .. n - 1``."""
    return np.int64(uniform(state) * n)


@kernel()
def gumbel(state):
    """A standard Gumbel variate, as float32."""
    return np.float32(-np.log(-np.log(uniform(state))))


@kernel()
def gamma(state, shape):
    """A Gamma(shape, 1) variate (Marsaglia and Tsang 2000), as float64."""
    boost = 1.0
    if shape < 1.0:
        boost = uniform(state) ** (1.0 / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / np.sqrt(9.0 * d)
    while True:
        normal = np.sqrt(-2.0 * np.log(uniform(state))) * np.cos(2.0 * np.pi * uniform(state))
        v = (1.0 + c * normal) ** 3
        if v > 0.0 and np.log(uniform(state)) < 0.5 * normal * normal + d - d * v + d * np.log(v):
            return boost * d * v
