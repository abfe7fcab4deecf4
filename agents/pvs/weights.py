"""Weights of the evaluation: the block that kernels read, files, and the beginning from which tuning starts."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agents.agent import AgentError
from agents.files import replace_file
from agents.pvs.kernels.evaluation import COUNT_NAMES, KINGS, PATTERNS, STATES, TERNARY, UNIT
from draughts_env.variants import Variant

_LARGEST = 1900  # of a pattern or king, so that their sum fits half of an int32

#: Column and row offsets of the pattern sets, by board size.
PLACES = {8: 3, 10: 4}

_DIGITS = 3 ** np.arange(8)
#: For each state of a pattern, the colour on each of its squares (0 none, 1 white, 2 black): (STATES, 8).
COLORS: npt.NDArray[np.int64] = np.arange(STATES)[:, None] // _DIGITS % 3
#: For each state, the state turned by 180 degrees with colours swapped.
TURNED: npt.NDArray[np.int64] = (np.array([0, 2, 1])[COLORS][:, ::-1] * _DIGITS).sum(1)


@dataclass(frozen=True)
class Weights:
    """Weights in points, for a full board and for an empty one (last axis: 2).

    Attributes:
        counts: float64 (counts, 2), in the order of ``COUNT_NAMES``.
        kings: float64 (64, 2), of a white king by bit.
        patterns: float64 (patterns, STATES, 2).
    """

    counts: npt.NDArray[np.float64]
    kings: npt.NDArray[np.float64]
    patterns: npt.NDArray[np.float64]

    def block(self, rules: Variant) -> npt.NDArray[np.int32]:
        """The block for kernels, opposite weights made opposite."""
        patterns = (self.patterns - self.patterns[::-1, TURNED]) / 2  # the places turn round in reverse order
        bits = rules.geometry.bits
        turned_kings = np.zeros_like(self.kings)
        turned_kings[:bits] = -self.kings[:bits][::-1]
        ternary = ((np.arange(256)[:, None] >> np.arange(8) & 1) * _DIGITS).sum(1)
        block = np.empty(PATTERNS + patterns.shape[0] * STATES, np.int32)
        block[:TERNARY] = np.rint(self.counts.reshape(-1) * UNIT)
        block[TERNARY:KINGS] = ternary
        block[KINGS : KINGS + 64] = _packed(self.kings)
        block[KINGS + 64 : PATTERNS] = _packed(turned_kings)
        block[PATTERNS:] = _packed(patterns).reshape(-1)
        return block

    def save(self, path: Path) -> None:
        """Write a file, as 16-bit eighths of a point."""
        data = io.BytesIO()
        np.savez_compressed(
            data, **{name: np.rint(getattr(self, name) * UNIT).astype(np.int16) for name in self.__annotations__}
        )
        replace_file(path, data.getvalue())


def _packed(weights: npt.NDArray[np.float64]) -> npt.NDArray[np.int32]:
    whole = np.clip(np.rint(weights * UNIT), -_LARGEST, _LARGEST).astype(np.int32)
    return whole[..., 0] * 65536 + whole[..., 1]


def read_weights(path: Path, rules: Variant) -> Weights:
    """Read a file.

    Raises:
        AgentError: it cannot be read or is not for boards of this size.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            found = {name: file[name].astype(np.float64) / UNIT for name in Weights.__annotations__}
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise AgentError(f"cannot read the weights {path}: {error}") from None
    shapes = tuple(array.shape for array in found.values())
    if shapes != ((len(COUNT_NAMES), 2), (64, 2), (PLACES[rules.size] ** 2, STATES, 2)):
        raise AgentError(f"{path} does not hold weights for {rules}")
    return Weights(**found)


def first_weights(rules: Variant) -> Weights:
    """Where tuning starts: material, men that advance, men that stay on the back row, kings in the centre."""
    size, places = rules.size, PLACES[rules.size]
    half = size // 2
    value = np.zeros((size, half, 2))  # of a white man by row from the top and place in the row
    advance = (size - 1 - np.arange(size))[:, None]
    value[..., 0] = 1.0 * advance - 1.0 * np.abs(np.arange(half) - (half - 1) / 2)
    value[..., 1] = 2.5 * advance
    value[-1, :, 0] += 8
    covered = np.zeros((size, half))
    for column in range(places):
        for row in range(places):
            covered[2 * row : 2 * row + 4, column : column + 2] += 1
    share = value / covered[..., None]
    patterns = np.zeros((places, places, STATES, 2))
    for column in range(places):
        for row in range(places):
            part = share[2 * row : 2 * row + 4, column : column + 2].reshape(8, 2)
            patterns[column, row] = 2 * (COLORS == 1) @ part  # halved and turned for Black by `block`
    kings = np.zeros((64, 2))
    for square in range(1, rules.geometry.squares + 1):
        i, j = rules.geometry.row_column(square)
        middle = (size - 1) / 2
        kings[rules.geometry.bit_of[square]] = -2.0 * max(abs(i - middle), abs(j - middle))
    royal = (220.0, 260.0) if rules.flying_kings else (130.0, 135.0)
    counts = np.array([(100, 100), royal, (20, 20), (1, 2), (3, 3), (0, 3)], np.float64)
    return Weights(counts, kings, patterns.reshape(-1, STATES, 2))


@cache
def shipped_block(rules: Variant) -> npt.NDArray[np.int32]:
    """The block of the weights that ship with the project, else of those from which tuning starts."""
    file = resources.files("agents.pvs") / "data" / f"{rules.name}.npz"
    with resources.as_file(file) as path:
        weights = read_weights(path, rules) if path.is_file() else first_weights(rules)
    return weights.block(rules)
