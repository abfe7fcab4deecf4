"""The learner: losses, optimiser steps, averaged weights, and an honest look at samples not trained on yet.

A step divides its batch into a fixed number of shards, and threads of one core each take them. That is faster than
PyTorch's own threads for networks this small, does not stall when other programs want a core too, and the
number of threads does not change the result.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional as F

from agents.network.models import PolicyValueNet
from agents.training.config import LearnerConfig
from agents.training.replay import Batch, Replay

#: Bins of predicted values in which calibration is measured.
CALIBRATION_BINS = 10
_MEASURED_AT_ONCE = 2048
#: Shards of a batch on the CPU.
SHARDS = 4


@dataclass(frozen=True)
class Tensors:
    """A :class:`Batch` on the learner's device; same names and shapes."""

    features: torch.Tensor
    result: torch.Tensor
    value: torch.Tensor
    weight: torch.Tensor
    rows: torch.Tensor
    actions: torch.Tensor
    probs: torch.Tensor

    @classmethod
    def of(cls, batch: Batch, device: torch.device) -> Tensors:
        """Copy a batch to a device."""
        return cls(**{name: torch.from_numpy(array).to(device) for name, array in vars(batch).items()})


def value_targets(result: torch.Tensor, value: torch.Tensor, mix: float) -> torch.Tensor:
    """Win, draw, loss probabilities to learn.

    Args:
        result: ``(B,)``, 1, 0 or -1.
        value: ``(B,)``, the search's in [-1, 1]; read as the surest win-draw-loss of that mean.
        mix: share of ``value`` in the target.

    Returns:
        ``(B, 3)``, each row adding up to 1.
    """
    v = value.clamp(-1, 1)
    searched = torch.stack([v.clamp(min=0), 1 - v.abs(), (-v).clamp(min=0)], 1)
    played = F.one_hot(1 - result.long(), 3).to(v.dtype)
    return torch.lerp(played, searched, mix)


def log_policy(logits: torch.Tensor, rows: torch.Tensor, samples: int) -> torch.Tensor:
    """Log-softmax within each sample.

    Args:
        logits: ``(M,)``, of legal actions.
        rows: int64 ``(M,)``, the sample of each.
        samples: B.

    Returns:
        ``(M,)``.
    """
    with torch.no_grad():
        top = logits.new_full((samples,), -math.inf).scatter_reduce_(0, rows, logits.detach(), "amax")
    shifted = logits - top.index_select(0, rows)
    total = logits.new_zeros(samples).index_add(0, rows, shifted.exp())
    return shifted - total.log().index_select(0, rows)


def losses(model: PolicyValueNet, batch: Tensors, mix: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Policy loss (cross-entropy over legal actions, weighted) and value loss (cross-entropy), sums over the batch."""
    hidden = model.trunk(batch.features)
    logp = log_policy(model.legal_logits(hidden, batch.rows, batch.actions), batch.rows, len(batch.result))
    policy = -(batch.weight.index_select(0, batch.rows) * batch.probs * logp).sum()
    target = value_targets(batch.result, batch.value, mix)
    value = -(target * F.log_softmax(model.value(hidden), 1)).sum()
    return policy, value


class Learner:
    """A network in training, its optimiser, and the running average of its weights.

    Args:
        model: the network, trained in place.
        config: how.
        device: where.
        threads: how many threads share a step on the CPU; they do not change its result.
        trained: whether the network has learned before; if not, its average forgets the random weights faster.

    Attributes:
        model, ema: the network, and the averaged one that plays.
        steps: optimiser steps so far.
    """

    def __init__(
        self,
        model: PolicyValueNet,
        config: LearnerConfig,
        device: torch.device | str = "cpu",
        threads: int = 1,
        trained: bool = False,
    ) -> None:
        self.device = torch.device(device)
        self.model = model.to(self.device)
        self.ema = copy.deepcopy(model).requires_grad_(False)
        self.config = config
        self.steps = 0
        self._trained = trained
        self._parameters = list(model.parameters())
        self._tensors: list[torch.Tensor] = list(self._parameters)
        self._averages: list[torch.Tensor] = list(self.ema.parameters())
        # One-dimensional parameters (biases, norms) are not decayed.
        groups = [
            {"params": [p for p in self._parameters if p.ndim > 1], "weight_decay": config.weight_decay},
            {"params": [p for p in self._parameters if p.ndim <= 1], "weight_decay": 0.0},
        ]
        self.optimizer = torch.optim.AdamW(groups, lr=config.learning_rate, fused=True)
        self._shards = SHARDS if self.device.type == "cpu" else 1
        self._pool = ThreadPoolExecutor(min(threads, self._shards), initializer=torch.set_num_threads, initargs=(1,))

    def learning_rate(self, progress: float) -> float:
        """Step size at a share of the run's budget: a half cosine, after the warm-up."""
        c = self.config
        cosine = 0.5 + 0.5 * math.cos(math.pi * min(max(progress, 0.0), 1.0))
        warm = min(1.0, (self.steps + 1) / c.warmup_steps) if c.warmup_steps else 1.0
        return warm * (c.final_learning_rate + (c.learning_rate - c.final_learning_rate) * cosine)

    def train(
        self,
        replay: Replay,
        steps: int,
        chance: np.random.Generator,
        progress: float,
        on_step: Callable[[int], None] | None = None,
    ) -> tuple[float, float]:
        """So many optimiser steps on batches drawn evenly from the replay.

        Args:
            replay: where the batches come from.
            steps: how many.
            chance: draws the batches.
            progress: share of the run's budget that is used, for the learning rate.
            on_step: called with the number of steps done.

        Returns:
            Mean policy and value loss; NaN without a step.
        """
        sums = np.zeros(2)
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            for done in range(1, steps + 1):
                sums += self.step(replay, chance.integers(0, len(replay), self.config.batch_size), progress)
                if on_step is not None:
                    on_step(done)
        finally:
            torch.set_num_threads(before)
        return (float(sums[0] / steps), float(sums[1] / steps)) if steps else (math.nan, math.nan)

    def step(self, replay: Replay, index: npt.NDArray[np.int64], progress: float) -> tuple[float, float]:
        """One optimiser step on the samples of ``index``. Returns the policy and value losses before it."""
        weight = max(float(replay.weights[index].sum()), 1e-6)

        def gradients(part: npt.NDArray[np.int64]) -> tuple[tuple[torch.Tensor, ...], float, float]:
            batch = Tensors.of(replay.batch(part), self.device)
            policy, value = losses(self.model, batch, self.config.value_mix)
            policy, value = policy / weight, value / len(index)
            return (
                torch.autograd.grad(policy + self.config.value_weight * value, self._parameters),
                policy.item(),
                value.item(),
            )

        shards = list(self._pool.map(gradients, np.array_split(index, self._shards)))
        total = list(shards[0][0])
        for grads, _, _ in shards[1:]:
            torch._foreach_add_(total, grads)
        for parameter, gradient in zip(self._parameters, total):
            parameter.grad = gradient
        torch.nn.utils.clip_grad_norm_(self._parameters, self.config.gradient_clip)
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate(progress)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.steps += 1
        # While young, the average forgets faster, or it would remember the first random weights for long.
        decay = min(self.config.ema_decay, 1.0 if self._trained else self.steps / (self.steps + 10))
        with torch.no_grad():
            torch._foreach_lerp_(self._averages, self._tensors, 1 - decay)
        return sum(p for _, p, _ in shards), sum(v for _, _, v in shards)

    def measure(self, replay: Replay, index: npt.NDArray[np.int64]) -> dict[str, float]:
        """How well the averaged network predicts some samples of the replay; it learns nothing from them.

        Returns:
            ``policy_loss`` and ``value_loss`` (against the game's result alone); ``policy_entropy`` of the network;
            ``target_entropy``; ``policy_kl``, of the target from the network; ``value_error``, the mean absolute
            difference between value and result; ``value_calibration``, the mean over bins of predicted
            value of the absolute difference between mean prediction and mean result, weighted by samples.
        """
        sums = dict.fromkeys(("policy_loss", "value_loss", "policy_entropy", "target_entropy", "value_error"), 0.0)
        bins = np.zeros((3, CALIBRATION_BINS))
        with torch.inference_mode():
            for start in range(0, len(index), _MEASURED_AT_ONCE):
                batch = Tensors.of(replay.batch(index[start : start + _MEASURED_AT_ONCE]), self.device)
                hidden = self.ema.trunk(batch.features)
                logp = log_policy(
                    self.ema.legal_logits(hidden, batch.rows, batch.actions), batch.rows, len(batch.result)
                )
                logv = F.log_softmax(self.ema.value(hidden), 1)
                result = batch.result.float()
                predicted = logv[:, 0].exp() - logv[:, 2].exp()
                sums["policy_loss"] -= float((batch.probs * logp).sum())
                sums["target_entropy"] -= float(torch.xlogy(batch.probs, batch.probs).sum())
                sums["policy_entropy"] -= float((logp.exp() * logp).sum())
                sums["value_loss"] -= float(logv.gather(1, 1 - batch.result.long()[:, None]).sum())
                sums["value_error"] += float((predicted - result).abs().sum())
                place = ((predicted + 1) / 2 * CALIBRATION_BINS).long().clamp(0, CALIBRATION_BINS - 1)
                place, predicted, result = place.cpu(), predicted.double().cpu(), result.double().cpu()
                for row, weights in enumerate((torch.ones_like(result), predicted, result)):
                    bins[row] += torch.bincount(place, weights, minlength=CALIBRATION_BINS).numpy()
        n = max(len(index), 1)
        found = {name: total / n for name, total in sums.items()}
        found["policy_kl"] = found["policy_loss"] - found["target_entropy"]
        found["value_calibration"] = float(np.abs(bins[1] - bins[2]).sum() / n)
        return found

    def tensors(self) -> dict[str, torch.Tensor]:
        """Everything that changes, under names of their own: ``model/``, ``ema/``, ``adam/``."""
        found = {f"model/{name}": value for name, value in self.model.state_dict().items()}
        found |= {f"ema/{name}": value for name, value in self.ema.state_dict().items()}
        for name, parameter in self.model.named_parameters():
            for part, value in self.optimizer.state.get(parameter, {}).items():
                found[f"adam/{part}/{name}"] = value
        return {name: value.detach().cpu().contiguous() for name, value in found.items()}

    def restore(self, tensors: dict[str, torch.Tensor], steps: int) -> None:
        """Go on from what :meth:`tensors` gave.

        Raises:
            RuntimeError, KeyError: tensors of another network.
        """

        def part(prefix: str) -> dict[str, torch.Tensor]:
            return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}

        self.model.load_state_dict(part("model/"))
        self.ema.load_state_dict(part("ema/"))
        self.optimizer.state.clear()
        if steps > 0:
            for name, parameter in self.model.named_parameters():
                self.optimizer.state[parameter] = {
                    "step": tensors[f"adam/step/{name}"].clone(),
                    "exp_avg": tensors[f"adam/exp_avg/{name}"].to(self.device).clone(),
                    "exp_avg_sq": tensors[f"adam/exp_avg_sq/{name}"].to(self.device).clone(),
                }
        self.steps = steps
