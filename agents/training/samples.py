"""What self-play hands to the learner: positions with the result, the search's value and its policy.

Everything is seen by the side to move. The policy is ragged: sample ``i`` owns the entries
``offsets[i]:offsets[i + 1]`` of ``actions`` and ``probs``, one for each of its legal actions.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agents.files import replace_file
from draughts_env.errors import DraughtsError


class SampleError(DraughtsError, ValueError):
    """Samples that are not whole, or a file that holds none."""


@dataclass(frozen=True)
class SampleBlock:
    """N samples with M legal actions in all.

    Attributes:
        boards: uint64 ``(N, 4)``: own men, own kings, opponent's men, opponent's kings; bit sets in the mover's frame.
        clocks: int16 ``(N, 3)``: quiet plies, plies left in the ending (-1: not begun), earlier occurrences.
        result: int8 ``(N,)``: the game's result, 1 won, 0 drawn, -1 lost.
        value: float32 ``(N,)``: the search's value, in [-1, 1].
        weight: float32 ``(N,)``: weight of the sample in the policy loss.
        offsets: int64 ``(N + 1,)``: where each sample's actions begin.
        actions: uint16 ``(M,)``: action ids.
        probs: float32 ``(M,)``: policy over them, each sample's adding up to 1.
        game: int64 ``(N,)``: number of the game, counted over the whole run.
    """

    boards: npt.NDArray[np.uint64]
    clocks: npt.NDArray[np.int16]
    result: npt.NDArray[np.int8]
    value: npt.NDArray[np.float32]
    weight: npt.NDArray[np.float32]
    offsets: npt.NDArray[np.int64]
    actions: npt.NDArray[np.uint16]
    probs: npt.NDArray[np.float32]
    game: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.result)

    @classmethod
    def empty(cls) -> SampleBlock:
        """No samples."""
        shapes = {"boards": (0, 4), "clocks": (0, 3), "offsets": (1,)}
        return cls(**{name: np.zeros(shapes.get(name, (0,)), kind) for name, kind in COLUMNS.items()})

    def validate(self, actions: int | None = None) -> None:
        """Check shapes, types and ranges.

        Args:
            actions: size of the action space, if ids are to be checked.

        Raises:
            SampleError: what is wrong.
        """
        n, m = len(self.result), len(self.actions)
        shapes = {"boards": (n, 4), "clocks": (n, 3), "offsets": (n + 1,), "actions": (m,), "probs": (m,)}
        for name, kind in COLUMNS.items():
            array = getattr(self, name)
            if array.dtype != kind or array.shape != shapes.get(name, (n,)):
                raise SampleError(
                    f"samples: {name} is {array.dtype}{array.shape}, not {np.dtype(kind)}{shapes.get(name, (n,))}"
                )
        if self.offsets[0] != 0 or self.offsets[-1] != m or np.any(np.diff(self.offsets) < 1):
            raise SampleError("samples: the offsets do not divide the actions into samples of at least one")
        if n == 0:
            return
        if np.abs(self.result).max() > 1:
            raise SampleError("samples: a result is not 1, 0 or -1")
        if not np.all(np.abs(self.value) <= 1.0001):
            raise SampleError("samples: a value is not in [-1, 1]")
        if not np.all((self.weight >= 0) & np.isfinite(self.weight)):
            raise SampleError("samples: a weight is negative or not finite")
        if not np.all(self.probs >= 0) or not np.allclose(np.add.reduceat(self.probs, self.offsets[:-1]), 1, atol=1e-3):
            raise SampleError("samples: a policy does not add up to 1")
        if actions is not None and self.actions.max() >= actions:
            raise SampleError(f"samples: action {self.actions.max()} is beyond the {actions} of the variant")


#: Names and element types of a block's arrays.
COLUMNS: dict[str, type[np.generic]] = {
    "boards": np.uint64,
    "clocks": np.int16,
    "result": np.int8,
    "value": np.float32,
    "weight": np.float32,
    "offsets": np.int64,
    "actions": np.uint16,
    "probs": np.float32,
    "game": np.int64,
}


def concat(blocks: Sequence[SampleBlock]) -> SampleBlock:
    """The samples of several blocks in one."""
    if not blocks:
        return SampleBlock.empty()
    parts = {f.name: [getattr(b, f.name) for b in blocks] for f in fields(SampleBlock)}
    base = 0
    offsets = [np.zeros(1, np.int64)]
    for block in blocks:
        offsets.append(block.offsets[1:] + base)
        base += len(block.actions)
    parts["offsets"] = offsets
    return SampleBlock(**{name: np.concatenate(arrays) for name, arrays in parts.items()})


def save_block(path: Path, block: SampleBlock) -> None:
    """Write a block to a ``.npz`` file, whole or not at all."""
    buffer = io.BytesIO()
    np.savez(buffer, **{name: getattr(block, name) for name in COLUMNS})
    replace_file(path, buffer.getvalue())


def load_block(path: Path) -> SampleBlock:
    """Read what :func:`save_block` wrote.

    Raises:
        SampleError: no such file, a torn one, or one that holds something else.
    """
    try:
        with np.load(path, allow_pickle=False) as data:
            block = SampleBlock(**{name: data[name] for name in COLUMNS})
    except FileNotFoundError:
        raise SampleError(f"no samples at {path}") from None
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError, zipfile.BadZipFile) as error:
        raise SampleError(f"{path} does not hold samples: {error}") from None
    block.validate()
    return block
