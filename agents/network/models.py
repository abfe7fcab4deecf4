"""The networks, in PyTorch: a sparse one for the search kernels, a residual MLP and a small ResNet.

All take feature vectors ``(B, F)`` (:mod:`agents.network.features`) and give win-draw-loss logits ``(B, 3)``
for the side to move and policy logits ``(B, A)``. Each is a trunk with two heads, and the policy head is one
row per action, so that training need not compute the logits of moves that are not legal.
"""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional as F

from agents.network.config import NetworkConfig
from agents.network.features import PLANES, SCALARS, feature_count
from draughts_env.actions import action_space
from draughts_env.variants import Variant

#: About so many features are not zero in a middle game; a first layer's sums have so many terms.
ACTIVE_FEATURES = 24


class PolicyValueNet(nn.Module):
    """A trunk that gives H hidden units, and the heads upon them.

    Attributes:
        value: gives win, draw, loss logits ``(B, 3)`` of hidden units ``(B, H)``.
        policy: gives logits ``(B, A)`` of hidden units ``(B, H)``.
    """

    value: nn.Module
    policy: nn.Linear

    def trunk(self, features: torch.Tensor) -> torch.Tensor:
        """Hidden units ``(B, H)`` of features ``(B, F)``."""
        raise NotImplementedError

    def forward(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Win-draw-loss logits ``(B, 3)`` for the side to move and policy logits ``(B, A)``."""
        hidden = self.trunk(features)
        return self.value(hidden), self.policy(hidden)

    def legal_logits(self, hidden: torch.Tensor, rows: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
        """Policy logits of some (row, action) pairs only.

        Args:
            hidden: ``(B, H)``, of :meth:`trunk`.
            rows: int64 ``(M,)``, indices into the batch.
            actions: int64 ``(M,)``.

        Returns:
            ``(M,)``.
        """
        weights = F.embedding(actions, self.policy.weight)
        return (hidden.index_select(0, rows) * weights).sum(-1) + self.policy.bias.index_select(0, actions)

    def _start_undecided(self, *heads: nn.Linear) -> None:
        """Make the heads' first answers small: a near uniform policy, a value near drawn."""
        for head in heads:
            nn.init.normal_(head.weight, std=0.1 / math.sqrt(head.in_features))
            nn.init.zeros_(head.bias)


def _first_layer(features: int, width: int) -> nn.Linear:
    """A layer whose sums have unit variance when only :data:`ACTIVE_FEATURES` of its inputs are one."""
    layer = nn.Linear(features, width)
    nn.init.normal_(layer.weight, std=math.sqrt(2 / ACTIVE_FEATURES))
    nn.init.zeros_(layer.bias)
    return layer


def _layer(inputs: int, width: int) -> nn.Linear:
    layer = nn.Linear(inputs, width)
    nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
    nn.init.zeros_(layer.bias)
    return layer


class SparseNet(PolicyValueNet):
    """Two narrow layers. The first is a sum of the few rows whose features are not zero; made for numba."""

    def __init__(self, features: int, actions: int, hidden1: int = 256, hidden2: int = 64) -> None:
        super().__init__()
        self.first = _first_layer(features, hidden1)
        self.second = _layer(hidden1, hidden2)
        self.value: nn.Linear = nn.Linear(hidden2, 3)
        self.policy = nn.Linear(hidden2, actions)
        self._start_undecided(self.value, self.policy)

    def trunk(self, features: torch.Tensor) -> torch.Tensor:
        """Hidden units ``(B, hidden2)``."""
        return F.relu(self.second(F.relu(self.first(features))))


class _MLPBlock(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.inner = _layer(width, width)
        self.outer = nn.Linear(width, width)
        nn.init.zeros_(self.outer.weight)
        nn.init.zeros_(self.outer.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.outer(F.relu(self.inner(self.norm(x))))
        return x


class ResidualMLP(PolicyValueNet):
    """One wide layer and residual blocks of two layers each."""

    def __init__(self, features: int, actions: int, width: int = 256, blocks: int = 2) -> None:
        super().__init__()
        self.first = _first_layer(features, width)
        self.blocks = nn.Sequential(*(_MLPBlock(width) for _ in range(blocks)))
        self.norm = nn.LayerNorm(width)
        self.value = nn.Linear(width, 3)
        self.policy = nn.Linear(width, actions)
        self._start_undecided(self.value, self.policy)

    def trunk(self, features: torch.Tensor) -> torch.Tensor:
        """Hidden units ``(B, width)``."""
        hidden: torch.Tensor = self.norm(self.blocks(F.relu(self.first(features))))
        return hidden


class _ConvBlock(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm1 = nn.GroupNorm(1, channels)
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm2 = nn.GroupNorm(1, channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)
        nn.init.zeros_(self.conv2.weight)
        nn.init.zeros_(self.conv2.bias)  # type: ignore[arg-type]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inner = self.conv1(F.relu(self.norm1(x)))
        x = x + self.conv2(F.relu(self.norm2(inner)))
        return x


class ResNet(PolicyValueNet):
    """Residual 3x3 convolutions over the playable squares, packed to half the board's width.

    Packing shifts every other row by half a square, so a plane says which rows those are. Normalisation is
    per position: averaged weights need no statistics of their own.
    """

    parity: torch.Tensor

    def __init__(
        self,
        features: int,
        actions: int,
        rows: int,
        columns: int,
        channels: int = 32,
        blocks: int = 4,
        hidden: int = 256,
    ) -> None:
        """
        Args:
            features: F, length of the feature vector.
            actions: A.
            rows, columns: the whole chequerboard, light squares included.
            channels, blocks: size of the tower.
            hidden: H, width of the layer between tower and heads.
        """
        super().__init__()
        self.grid = (rows, columns // 2)
        squares = rows * (columns // 2)
        if features != PLANES * squares + SCALARS:
            raise ValueError(f"{features} features do not fill a board of {rows} x {columns}")
        self.register_buffer("parity", (torch.arange(rows) % 2).float().view(1, 1, rows, 1), persistent=False)
        self.first = nn.Conv2d(PLANES + SCALARS + 1, channels, 3, padding=1)
        self.blocks = nn.Sequential(*(_ConvBlock(channels) for _ in range(blocks)))
        self.norm = nn.GroupNorm(1, channels)
        self.squeeze = nn.Conv2d(channels, 8, 1)
        self.join = _layer(8 * squares, hidden)
        self.value = nn.Linear(hidden, 3)
        self.policy = nn.Linear(hidden, actions)
        self._start_undecided(self.value, self.policy)

    def trunk(self, features: torch.Tensor) -> torch.Tensor:
        """Hidden units ``(B, hidden)``."""
        batch, (rows, half) = len(features), self.grid
        pieces = features[:, : PLANES * rows * half].reshape(batch, PLANES, rows, half)
        scalars = features[:, PLANES * rows * half :].reshape(batch, SCALARS, 1, 1).expand(-1, -1, rows, half)
        x = self.first(torch.cat([pieces, scalars, self.parity.expand(batch, -1, rows, half)], 1))
        x = F.relu(self.squeeze(F.relu(self.norm(self.blocks(x)))))
        return F.relu(self.join(x.flatten(1)))


def build_model(network: NetworkConfig, variant: Variant) -> PolicyValueNet:
    """A fresh network for a variant, its weights drawn from PyTorch's random numbers.

    Raises:
        OptionError: a kind or size that no network has.
    """
    network.check()
    features, actions = feature_count(variant), action_space(variant).n
    if network.kind == "sparse":
        return SparseNet(features, actions, network.hidden1, network.hidden2)
    if network.kind == "resmlp":
        return ResidualMLP(features, actions, network.width, network.blocks)
    return ResNet(features, actions, variant.size, variant.size, network.channels, network.blocks)
