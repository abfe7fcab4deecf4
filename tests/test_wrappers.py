"""Other shapes of the observation."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

from draughts_env import PLANES, Game, Position, observe, wrappers
from draughts_env.observation import observe_position
from draughts_env.variants import VARIANTS, Variant


@pytest.mark.parametrize("of", VARIANTS, ids=str)
def test_full_board_by_one_piece_positions(of: Variant) -> None:
    for square in range(1, of.geometry.squares + 1):
        row, column = of.geometry.row_column(square)
        bit = 1 << of.geometry.bit_of[square]
        for turn in ("white", "black"):
            full = wrappers.full_board(observe_position(Position(of, bit, 0, bit, turn)))
            name = "own kings" if turn == "white" else "opponent's kings"
            at = (row, column) if turn == "white" else (of.size - 1 - row, of.size - 1 - column)
            assert full[PLANES.index(name)][at] == 1
            assert full[:4].sum() == 1


def test_full_board_clocks_and_squares() -> None:
    game = Game("english", "W:WK1,9:BK32,24")
    for move in ("1-5", "32-28", "5-1", "28-32"):
        game.push(move)
    full = wrappers.full_board(observe(game))
    assert full.shape == (8, 8, 8)
    assert (full[4] == np.float32(4 / 80)).all()
    assert (full[6] == 0.5).all()
    assert np.array_equal(full[7], np.indices((8, 8)).sum(0) % 2)


@pytest.mark.parametrize("of", VARIANTS, ids=str)
def test_flat_vector(of: Variant) -> None:
    game = Game(of)
    game.push(game.legal_moves()[0])
    seen = observe(game)
    flat = wrappers.flat_vector(seen)
    assert flat.shape == (4 * of.geometry.squares + 3,)
    assert np.array_equal(flat[:-3], seen[:4].ravel())
    assert np.array_equal(flat[-3:], seen[4:7, 0, 0])
    batch = np.stack([seen, observe(Game(of))])[np.newaxis]
    assert np.array_equal(wrappers.flat_vector(batch)[0, 0], flat)
    assert np.array_equal(wrappers.full_board(batch)[0, 0], wrappers.full_board(seen))


@pytest.mark.parametrize("wrapper", [wrappers.FullBoard, wrappers.FlatVector])
@pytest.mark.parametrize("name", ["Draughts/English-v0", "Draughts/International-v0"])
def test_single(wrapper: Any, name: str, recwarn: pytest.WarningsRecorder) -> None:
    env = wrapper(gymnasium.make(name))
    check_env(env, skip_render_check=True)
    seen, info = env.reset()
    assert env.observation_space.contains(seen)
    assert env.action_space.contains(np.flatnonzero(info["action_mask"])[0])
    assert env.get_wrapper_attr("action_masks")().any()


@pytest.mark.parametrize(
    ("wrapper", "change"),
    [(wrappers.VectorFullBoard, wrappers.full_board), (wrappers.VectorFlatVector, wrappers.flat_vector)],
)
@pytest.mark.parametrize("mode", AutoresetMode)
def test_vector(wrapper: Any, change: Any, mode: AutoresetMode) -> None:
    envs = [gymnasium.make_vec("Draughts/Russian-v0", num_envs=4, autoreset_mode=mode, max_plies=3) for _ in range(2)]
    wrapped = wrapper(envs[0])
    seen, _ = wrapped.reset(seed=0)
    plain, _ = envs[1].reset(seed=0)
    assert wrapped.observation_space.contains(seen)
    finals = 0
    for _ in range(3):
        assert np.array_equal(seen, change(plain))
        actions = envs[0].unwrapped.sample_actions()  # type: ignore[attr-defined]
        seen, *_, infos = wrapped.step(actions)
        plain, *_, expected = envs[1].step(actions)
        for i in range(4) if "final_obs" in infos else ():
            assert np.array_equal(infos["final_obs"][i], change(expected["final_obs"][i]))
            finals += 1
    assert finals == (4 if mode == AutoresetMode.SAME_STEP else 0)


@pytest.mark.parametrize("wrapper", [wrappers.FullBoard, wrappers.FlatVector])
def test_only_planes_are_taken(wrapper: Any) -> None:
    with pytest.raises(TypeError, match="planes"):
        wrapper(gymnasium.make("CartPole-v1"))
    with pytest.raises(TypeError, match="planes"):
        wrapper(wrapper(gymnasium.make("Draughts/English-v0")))
