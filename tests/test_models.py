"""The networks: shapes, first answers, logits of legal moves alone."""

from __future__ import annotations

import pytest
import torch

from agents.network.config import NetworkConfig
from agents.network.features import feature_count
from agents.network.models import ResNet, SparseNet, build_model
from agents.options import OptionError
from draughts_env.actions import action_space
from draughts_env.variants import Variant, variant

KINDS = ("sparse", "resmlp", "resnet")
VARIANTS = [variant("english"), variant("international")]


def features(of: Variant, n: int = 6) -> torch.Tensor:
    """Vectors with about as many ones as a middle game has."""
    x = torch.zeros(n, feature_count(of))
    for row in x:
        row[torch.randperm(4 * of.geometry.squares)[:22]] = 1
    return x


@pytest.mark.parametrize("of", VARIANTS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_shapes_and_first_answers(kind: str, of: Variant) -> None:
    torch.manual_seed(0)
    wdl, policy = build_model(NetworkConfig(kind=kind), of)(features(of))
    assert wdl.shape == (6, 3)
    assert policy.shape == (6, action_space(of).n)
    win, _, loss = wdl.softmax(1).T
    assert (win - loss).abs().max() < 0.35  # near drawn
    assert policy.std() < 0.5  # near uniform


@pytest.mark.parametrize("kind", KINDS)
def test_legal_logits_are_the_policy_at_those_actions(kind: str) -> None:
    of = VARIANTS[0]
    model = build_model(NetworkConfig(kind=kind), of)
    x = features(of)
    rows = torch.tensor([0, 0, 2, 5, 5, 5])
    actions = torch.tensor([3, 1033, 7, 0, 1, 2])
    found = model.legal_logits(model.trunk(x), rows, actions)
    torch.testing.assert_close(found, model(x)[1][rows, actions])


@pytest.mark.parametrize("kind", KINDS)
def test_hidden_units_of_a_fresh_network_are_of_order_one(kind: str) -> None:
    of = VARIANTS[1]
    hidden = build_model(NetworkConfig(kind=kind), of).trunk(features(of, 50))
    assert 0.1 < hidden.std() < 3


def test_sparse_network_has_the_layers_the_kernels_read() -> None:
    model = SparseNet(132, 1034, 256, 64)
    shapes = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    assert shapes == {
        "first.weight": (256, 132),
        "first.bias": (256,),
        "second.weight": (64, 256),
        "second.bias": (64,),
        "value.weight": (3, 64),
        "value.bias": (3,),
        "policy.weight": (1034, 64),
        "policy.bias": (1034,),
    }


def test_resnet_keeps_its_parity_plane_out_of_the_weights() -> None:
    model = ResNet(132, 1034, 8, 8, channels=8, blocks=1)
    assert not any("parity" in name for name in model.state_dict())
    assert model.parity.flatten().tolist() == [0, 1] * 4
    with pytest.raises(ValueError, match="do not fill a board of 10 x 10"):
        ResNet(132, 1034, 10, 10)


def test_unknown_kind_is_refused() -> None:
    with pytest.raises(OptionError, match=r"network\.kind must be one of sparse, resmlp, resnet, not 'cnn'"):
        build_model(NetworkConfig(kind="cnn"), VARIANTS[0])
    with pytest.raises(OptionError, match=r"network\.hidden1 must be at least 1, not 0"):
        build_model(NetworkConfig(hidden1=0), VARIANTS[0])
