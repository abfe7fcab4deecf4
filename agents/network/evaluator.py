"""Evaluators: what turns positions into values and policies. Networks stand behind this one interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from agents.jit import kernel
from agents.network.features import FloatArray, feature_count, fill_features
from agents.network.sparse import Scratch, SparseWeights, evaluate_hidden, export_weights, new_scratch, policy_logit
from draughts_env.kernels import U
from draughts_env.variants import Variant

if TYPE_CHECKING:
    from torch import nn


class Evaluator(Protocol):
    """Evaluates batches of positions."""

    def evaluate(self, boards: npt.NDArray[np.uint64], clocks: npt.NDArray[np.int16]) -> tuple[FloatArray, FloatArray]:
        """Evaluate positions in the mover's frame.

        Args:
            boards: ``(n, 4)`` own men, own kings, opponent's men, opponent's kings as bit sets.
            clocks: ``(n, 3)`` quiet, ending, repeats.

        Returns:
            Probabilities of win, draw, loss for the side to move ``(n, 3)``, and policy logits over all actions
            ``(n, actions)``, legal or not.
        """
        ...


class TorchEvaluator:
    """Any network of the project, evaluated by PyTorch in one batch."""

    def __init__(self, model: nn.Module, variant: Variant, device: str | None = None) -> None:
        import torch

        self._torch = torch
        self.device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self.model = model.to(self.device).eval()
        self._rules = U(variant.rules)
        self._width = feature_count(variant)

    def evaluate(self, boards: npt.NDArray[np.uint64], clocks: npt.NDArray[np.int16]) -> tuple[FloatArray, FloatArray]:
        """See :class:`Evaluator`."""
        torch = self._torch
        features = np.empty((len(boards), self._width), np.float32)
        fill_features(boards, clocks, self._rules, features)
        with torch.inference_mode():
            wdl, logits = self.model(torch.from_numpy(features).to(self.device))
            return torch.softmax(wdl.float(), dim=1).cpu().numpy(), logits.float().cpu().numpy()


@kernel()
def _evaluate_batch(net: SparseWeights, scratch: Scratch, boards, clocks, rules, wdl, logits):  # type: ignore[no-untyped-def]
    for i in range(len(boards)):
        own = boards[i, 0] | boards[i, 1]
        opp = boards[i, 2] | boards[i, 3]
        kings = boards[i, 1] | boards[i, 3]
        wdl[i, 0], wdl[i, 1], wdl[i, 2] = evaluate_hidden(
            net, scratch, own, opp, kings, True, clocks[i, 0], clocks[i, 1], clocks[i, 2], rules
        )
        for a in range(logits.shape[1]):
            logits[i, a] = policy_logit(net, scratch, a)


class SparseEvaluator:
    """A sparse network evaluated by numba; agrees with PyTorch as :func:`export_weights` says."""

    def __init__(self, weights: SparseWeights, variant: Variant) -> None:
        self.weights = weights
        self._scratch = new_scratch(weights)
        self._rules = U(variant.rules)

    @classmethod
    def of(cls, model: nn.Module, variant: Variant) -> SparseEvaluator:
        """The evaluator of a PyTorch sparse network, with its weights as they are now."""
        return cls(export_weights(model), variant)  # type: ignore[arg-type]

    def evaluate(self, boards: npt.NDArray[np.uint64], clocks: npt.NDArray[np.int16]) -> tuple[FloatArray, FloatArray]:
        """See :class:`Evaluator`."""
        wdl = np.empty((len(boards), 3), np.float32)
        logits = np.empty((len(boards), len(self.weights.policy_bias)), np.float32)
        _evaluate_batch(self.weights, self._scratch, boards, clocks, self._rules, wdl, logits)
        return wdl, logits
