"""The PettingZoo environment: PettingZoo's own tests, and the same games as Game."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pettingzoo")

from pettingzoo.test import api_test, seed_test

from draughts_env import ActionError, Game, GameOverError, OptionError, action_space, observe, pettingzoo_env
from draughts_env.variants import VARIANTS, Variant

#: What PettingZoo says about every environment whose observation is a dictionary, and about agents without a number.
EXPECTED = r"Observation space for each agent|Observation is not a NumPy array|We recommend agents to be named"


def play(env: Any, *moves: str) -> None:
    for move in moves:
        position = env.unwrapped.game.position
        env.step(action_space(env.unwrapped.variant).encode(position, position.parse(move)))


@pytest.mark.parametrize("of", VARIANTS, ids=str)
def test_pettingzoo_api(of: Variant) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", EXPECTED)
        api_test(pettingzoo_env.env(of), num_cycles=200)
        api_test(pettingzoo_env.env(of, max_plies=7), num_cycles=50)


@pytest.mark.parametrize("of", VARIANTS, ids=str)
def test_pettingzoo_seeds(of: Variant) -> None:
    seed_test(lambda: pettingzoo_env.env(of), num_cycles=100)


@pytest.mark.parametrize("of", VARIANTS, ids=str)
def test_same_as_game(of: Variant) -> None:
    rng = np.random.default_rng(1)
    env = pettingzoo_env.env(of)
    space = action_space(of)
    for _ in range(3):
        env.reset()
        game = Game(of)
        assert env.agents == [of.first, "white" if of.first == "black" else "black"]
        total = dict.fromkeys(env.agents, 0.0)
        for agent in env.agent_iter():
            seen, reward, terminated, truncated, info = env.last()
            total[agent] += reward
            assert type(reward) is float
            assert sum(env.rewards.values()) == 0.0
            outcome = game.outcome()
            assert terminated == (outcome is not None)
            assert not truncated
            assert info["outcome"] == (outcome.reason if outcome else None)
            assert np.array_equal(seen["observation"], observe(game, view=agent))
            assert env.observation_space(agent).contains(seen)
            if terminated:
                assert not seen["action_mask"].any()
                env.step(None)
                continue
            assert agent == game.turn
            assert np.array_equal(seen["action_mask"], space.mask(game.position))
            other = next(a for a in env.agents if a != agent)
            assert not env.observe(other)["action_mask"].any()
            assert np.array_equal(env.observe(other)["observation"], observe(game, view=other))
            action = rng.choice(np.flatnonzero(seen["action_mask"]))
            game.push(space.decode(game.position, int(action)))
            env.step(action)
        assert env.unwrapped.game == game
        winner = game.outcome().winner
        assert total == {agent: 0.0 if winner is None else 1.0 if agent == winner else -1.0 for agent in total}


def test_starts() -> None:
    env = pettingzoo_env.env("english", fen="W:W32:B1")
    env.reset()
    assert env.agent_selection == "white"
    env.reset(options={"fen": "B:W30:B2", "moves": "2-6", "unknown": 1})
    assert env.agent_selection == "white"
    assert env.unwrapped.game.fen == "W:W30:B6"


def test_caps_truncate() -> None:
    env = pettingzoo_env.env("english", max_plies=1)
    env.reset()
    play(env, "11-15")
    assert env.truncations == {"black": True, "white": True}
    assert env.terminations == {"black": False, "white": False}
    assert env.rewards == {"black": 0.0, "white": 0.0}


def test_illegal_actions() -> None:
    """RL-10: the offender loses, the rewards sum to zero."""
    env = pettingzoo_env.env("english")
    env.reset()
    play(env, "11-15")
    env.step(int(np.flatnonzero(env.observe("white")["action_mask"] == 0)[0]))
    assert env.rewards == {"white": -1.0, "black": 1.0}
    assert env.terminations == {"black": True, "white": True}
    assert env.infos["black"] == {"outcome": "illegal action", "winner": "black"}
    env = pettingzoo_env.env("english", illegal_action="raise")
    env.reset()
    for wrong in (int(np.flatnonzero(env.observe("black")["action_mask"] == 0)[0]), -3, 5000):
        with pytest.raises(ActionError):
            env.step(wrong)
        assert env.agent_selection == "black"
        assert not any(env.terminations.values())


def test_copies_in_mid_game() -> None:
    """RL-07: EzPickle would start anew."""
    env = pettingzoo_env.env("english")
    env.reset()
    play(env, "11-15", "22-18", "15x22")
    for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert other.unwrapped.game == env.unwrapped.game
        assert other.agent_selection == "white"
        play(other, "25x18")
        assert env.unwrapped.game.ply == 3


def test_misuse() -> None:
    with pytest.raises(OptionError, match="max_plies"):
        pettingzoo_env.env("english", max_plies=-1)
    with pytest.raises(GameOverError, match="no pieces"):
        pettingzoo_env.env("english", fen="W:B1")


def test_render() -> None:
    env = pettingzoo_env.env("russian", render_mode="rgb_array")
    env.reset()
    assert env.render().shape == (384, 384, 3)
