"""Evaluators: the numba network says what PyTorch says, and features are what their description says."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from agents.network.config import NetworkConfig
from agents.network.evaluator import SparseEvaluator, TorchEvaluator
from agents.network.features import SCALARS, feature_count, fill_features
from agents.network.models import build_model
from draughts_env import BRAZILIAN, ENGLISH, INTERNATIONAL, RUSSIAN, Game, Position, Variant
from draughts_env.kernels import U

VARIANTS = (ENGLISH, INTERNATIONAL, RUSSIAN, BRAZILIAN)


def mover_view(position: Position) -> list[int]:
    """The four bit sets of a position as its mover sees it."""
    view = position if position.turn == "white" else position.turned()
    own, opp = view.white, view.black
    return [own & ~view.kings, own & view.kings, opp & ~view.kings, opp & view.kings]


def sample_positions(variant: Variant, games: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    boards, clocks = [], []
    for _ in range(games):
        game = Game(variant)
        while not game.is_over:
            boards.append(mover_view(game.position))
            clocks.append((game.quiet, game.ending, game.repeats))
            moves = game.legal_moves()
            game.push(moves[int(rng.integers(len(moves)))])
    return np.array(boards, np.uint64), np.array(clocks, np.int16)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_numba_agrees_with_pytorch(variant: Variant) -> None:
    torch.manual_seed(0)
    model = build_model(NetworkConfig(), variant)
    for parameter in model.parameters():
        parameter.data.add_(0.05 * torch.randn_like(parameter))
    boards, clocks = sample_positions(variant, 10, seed=1)
    wdl, logits = TorchEvaluator(model, variant, device="cpu").evaluate(boards, clocks)
    wdl_numba, logits_numba = SparseEvaluator.of(model, variant).evaluate(boards, clocks)
    np.testing.assert_allclose(wdl_numba, wdl, atol=0.002)  # hidden layers in 16-bit integers
    np.testing.assert_allclose(logits_numba, logits, atol=0.01)
    np.testing.assert_allclose(wdl.sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_each_feature_by_a_one_piece_position(variant: Variant) -> None:
    squares = variant.geometry.squares
    out = np.empty((1, feature_count(variant)), np.float32)
    for plane in range(4):
        for square in range(1, squares + 1):
            boards = np.zeros((1, 4), np.uint64)
            boards[0, plane] = 1 << variant.geometry.bit_of[square]
            fill_features(boards, np.array([[0, -1, 0]], np.int16), U(variant.rules), out)
            assert np.flatnonzero(out[0]).tolist() == [plane * squares + square - 1]


def test_scalars_show_clocks_and_repetition() -> None:
    squares = INTERNATIONAL.geometry.squares
    boards = np.zeros((5, 4), np.uint64)
    clocks = np.array([[0, -1, 0], [25, -1, 0], [0, 32, 0], [0, 8, 0], [0, -1, 1]], np.int16)
    out = np.empty((5, feature_count(INTERNATIONAL)), np.float32)
    fill_features(boards, clocks, U(INTERNATIONAL.rules), out)
    scalars = out[:, 4 * squares :]
    assert scalars.shape == (5, SCALARS)
    np.testing.assert_allclose(scalars, [[0, 0, 0, 0], [0.5, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0.75, 0], [0, 0, 0, 0.5]])
