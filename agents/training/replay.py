"""The replay window: the newest samples of the run in memory, and batches drawn from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.jit import kernel
from agents.network.features import FloatArray, feature_count, fill_features
from agents.training.samples import COLUMNS, SampleBlock
from draughts_env.kernels import U
from draughts_env.variants import Variant


def window_size(total: int, start: int, growth: float, end: int) -> int:
    """Positions the window holds after ``total`` positions of self-play: a share that grows, within limits."""
    return int(min(max(start, growth * total), end))


@dataclass(frozen=True)
class Batch:
    """B samples ready for the network, with M legal actions in all.

    Attributes:
        features: float32 ``(B, F)``.
        result: int8 ``(B,)``, 1 won, 0 drawn, -1 lost.
        value: float32 ``(B,)``, the search's.
        weight: float32 ``(B,)``, in the policy loss.
        rows: int64 ``(M,)``, the sample each action belongs to, ascending.
        actions: int64 ``(M,)``.
        probs: float32 ``(M,)``, policy targets.
    """

    features: FloatArray
    result: npt.NDArray[np.int8]
    value: FloatArray
    weight: FloatArray
    rows: npt.NDArray[np.int64]
    actions: npt.NDArray[np.int64]
    probs: FloatArray


class _Queue:
    """An array that grows at the end and is cut at the front, in amortised constant time per element."""

    def __init__(self, kind: type[np.generic], shape: tuple[int, ...] = ()) -> None:
        self._data: npt.NDArray[Any] = np.empty((1024, *shape), kind)
        self._first = 0
        self._last = 0

    @property
    def view(self) -> npt.NDArray[Any]:
        """What is in it, without a copy; good until the next :meth:`push`."""
        return self._data[self._first : self._last]

    def push(self, values: npt.NDArray[Any]) -> None:
        if self._last + len(values) > len(self._data):
            held = self.view
            needed = len(held) + len(values)
            if needed * 2 > len(self._data):
                self._data = np.empty((needed * 2, *held.shape[1:]), held.dtype)
            self._data[: len(held)] = held.copy() if np.shares_memory(self._data, held) else held
            self._first, self._last = 0, len(held)
        self._data[self._last : self._last + len(values)] = values
        self._last += len(values)

    def drop(self, count: int) -> None:
        self._first += count


class Replay:
    """The newest samples. They come and go in whole blocks, one for each iteration.

    Args:
        variant: the rules, which say what the features are.
    """

    def __init__(self, variant: Variant) -> None:
        self._rules = U(variant.rules)
        self._features = feature_count(variant)
        shapes = {"boards": (4,), "clocks": (3,)}
        # One offset per sample: where its actions begin, counted over the whole run. Ends are the next one's beginning.
        self._columns = {name: _Queue(kind, shapes.get(name, ())) for name, kind in COLUMNS.items() if name != "game"}
        self._pushed = 0  # actions ever pushed
        self._blocks: list[tuple[int, int, int]] = []  # iteration, samples, actions

    def __len__(self) -> int:
        return len(self._columns["result"].view)

    @property
    def iterations(self) -> list[int]:
        """Iterations whose blocks it holds, oldest first."""
        return [iteration for iteration, _, _ in self._blocks]

    @property
    def weights(self) -> FloatArray:
        """Weights of the samples in the policy loss, shape ``(len(self),)``; good until the next :meth:`append`."""
        return self._columns["weight"].view

    def append(self, iteration: int, block: SampleBlock) -> None:
        """Add the samples of an iteration.

        Raises:
            ValueError: the iteration does not come after those it holds.
        """
        if self._blocks and iteration <= self._blocks[-1][0]:
            raise ValueError(f"iteration {iteration} follows iteration {self._blocks[-1][0]} in the replay")
        for name, column in self._columns.items():
            column.push(block.offsets[:-1] + self._pushed if name == "offsets" else getattr(block, name))
        self._pushed += len(block.actions)
        self._blocks.append((iteration, len(block), len(block.actions)))

    def prune(self, window: int) -> None:
        """Drop the oldest blocks as long as ``window`` samples remain without them."""
        while len(self._blocks) > 1 and len(self) - self._blocks[0][1] >= window:
            _, samples, actions = self._blocks.pop(0)
            for name, column in self._columns.items():
                column.drop(actions if name in ("actions", "probs") else samples)

    def batch(self, index: npt.NDArray[np.int64]) -> Batch:
        """The samples of some indices (0 the oldest, shape ``(B,)``), in that order."""
        columns = {name: column.view for name, column in self._columns.items()}
        base = self._pushed - len(columns["actions"])
        features = np.empty((len(index), self._features), np.float32)
        boards = columns["boards"][index]
        fill_features(boards, columns["clocks"][index], self._rules, features)
        starts = columns["offsets"]
        count = _count(index, starts, self._pushed)
        rows = np.empty(count, np.int64)
        actions = np.empty(count, np.int64)
        probs = np.empty(count, np.float32)
        _gather(index, starts, base, self._pushed, columns["actions"], columns["probs"], rows, actions, probs)
        return Batch(
            features,
            columns["result"][index],
            columns["value"][index],
            columns["weight"][index],
            rows,
            actions,
            probs,
        )


@kernel()
def _count(index: Any, starts: Any, end: Any) -> Any:
    """Number of actions of the samples of ``index``; ``end`` is where the last sample's end."""
    total = 0
    for i in index:
        total += (starts[i + 1] if i + 1 < len(starts) else end) - starts[i]
    return total


@kernel()
def _gather(
    index: Any,
    starts: Any,
    base: Any,
    end: Any,
    actions: Any,
    probs: Any,
    rows_out: Any,
    actions_out: Any,
    probs_out: Any,
) -> None:
    """Copy the actions of the samples of ``index`` one after another; ``base`` is the start of ``actions``."""
    m = 0
    for row in range(len(index)):
        i = index[row]
        last = starts[i + 1] if i + 1 < len(starts) else end
        for j in range(starts[i] - base, last - base):
            rows_out[m] = row
            actions_out[m] = actions[j]
            probs_out[m] = probs[j]
            m += 1
