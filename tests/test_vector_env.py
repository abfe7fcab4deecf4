"""The vector environment against Gymnasium's own vectorizer around single environments, and its own arguments."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from draughts_env import ActionError, GameOverError, OptionError, action_space, registration
from draughts_env.env import DraughtsEnv
from draughts_env.env_kernels import RNG
from draughts_env.variants import VARIANTS, Variant
from draughts_env.vector_env import DraughtsVectorEnv

MODES = list(AutoresetMode)
GAMES = 6
#: Starts that end soon, in every way: with pieces taken, by repetition, by either clock.
SHORT = {
    "english": "W:WK1,K5,K23:BK32,K28:H60",
    "international": "W:WK46,K47,K48,30:BK5,K2",
    "russian": "W:WK29,K30,K31:BK4,5",
    "brazilian": "W:WK29,K30:BK4,5",
}


def assert_same(ours: Any, theirs: Any, where: str = "") -> None:
    """Results are alike in keys, types and values."""
    if isinstance(theirs, dict):
        assert ours.keys() == theirs.keys(), where
        for key in theirs:
            assert_same(ours[key], theirs[key], f"{where}[{key!r}]")
    elif isinstance(theirs, (tuple, list)):
        assert len(ours) == len(theirs)
        for i, (a, b) in enumerate(zip(ours, theirs)):
            assert_same(a, b, f"{where}[{i}]")
    elif isinstance(theirs, np.ndarray) and theirs.dtype == object:
        assert isinstance(ours, np.ndarray)
        assert ours.dtype == object
        assert_same(list(ours), list(theirs), where)
    elif isinstance(theirs, np.ndarray):
        assert ours.dtype == theirs.dtype, where
        assert np.array_equal(ours, theirs), where
    else:
        assert ours == theirs, where


class Chooser:
    """Random legal actions, some of them illegal if wanted."""

    def __init__(self, seed: int, illegal: float = 0.0) -> None:
        self.rng = np.random.default_rng(seed)
        self.illegal = illegal

    def __call__(self, masks: np.ndarray) -> np.ndarray:
        chosen = np.zeros(len(masks), np.int64)
        for i, mask in enumerate(masks):
            legal = np.flatnonzero(mask)
            if len(legal) and self.rng.random() >= self.illegal:
                chosen[i] = legal[int(self.rng.random() * len(legal))]
            else:
                chosen[i] = self.rng.integers(len(mask))
        return chosen


def pair(mode: AutoresetMode, of: Variant, **arguments: Any) -> tuple[DraughtsVectorEnv, SyncVectorEnv]:
    ours = DraughtsVectorEnv(GAMES, of, autoreset_mode=mode, **arguments)
    theirs = SyncVectorEnv([lambda: DraughtsEnv(of, **arguments)] * GAMES, autoreset_mode=mode)
    return ours, theirs


def run_both(ours: DraughtsVectorEnv, theirs: SyncVectorEnv, steps: int, choose: Chooser, options: Any = None) -> int:
    """Play the same actions in both; returns the number of games that ended."""
    result = ours.reset(seed=9, options=options)
    assert_same(result, theirs.reset(seed=9, options=options))
    ended = 0
    for _ in range(steps):
        actions = choose(result[-1]["action_mask"])
        result = ours.step(actions)
        expected = theirs.step(actions)
        assert_same(result, expected)
        done = expected[2] | expected[3]
        ended += int(done.sum())
        if ours.autoreset_mode == AutoresetMode.DISABLED and done.any():
            result = ours.reset(options={"reset_mask": done})
            observations, infos = theirs.reset(options={"reset_mask": done})
            assert_same(result[0], observations)
            for name in ("action_mask", "turn", "outcome", "winner"):
                assert_same(result[1][name][done], infos[name][done])
    return ended


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.value)
@pytest.mark.parametrize("of", VARIANTS, ids=str)
@pytest.mark.parametrize("opponent", [None, "random"])
def test_same_as_single_environments(of: Variant, mode: AutoresetMode, opponent: str | None) -> None:
    """Observations, rewards, masks, ends, infos: whole games, short endings, capped games, illegal actions."""
    assert run_both(*pair(mode, of, opponent=opponent), steps=150, choose=Chooser(1)) > 3
    fen = SHORT[of.name]
    assert run_both(*pair(mode, of, opponent=opponent, fen=fen, max_plies=70), steps=150, choose=Chooser(2)) > 5
    assert run_both(*pair(mode, of, opponent=opponent, max_plies=9), steps=40, choose=Chooser(3, 0.05)) > 10


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.value)
@pytest.mark.parametrize("of", VARIANTS, ids=str)
@pytest.mark.parametrize("opponent", [None, "random"])
def test_same_over_thousands_of_games(of: Variant, mode: AutoresetMode, opponent: str | None) -> None:
    assert run_both(*pair(mode, of, opponent=opponent), steps=3000, choose=Chooser(4, 0.001)) > 100
    fen = SHORT[of.name]
    assert run_both(*pair(mode, of, opponent=opponent, fen=fen), steps=1500, choose=Chooser(5, 0.001)) > 100


@pytest.mark.parametrize("name", registration.IDS)
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.value)
def test_make_vec(name: str, mode: AutoresetMode) -> None:
    envs = gymnasium.make_vec(name, num_envs=3, autoreset_mode=mode, opponent="random")
    assert isinstance(envs, DraughtsVectorEnv)
    assert envs.metadata["autoreset_mode"] is mode
    assert DraughtsVectorEnv.metadata.get("autoreset_mode") is None
    seen, infos = envs.reset(seed=0)
    assert envs.observation_space.contains(seen)
    actions = envs.sample_actions()
    assert envs.action_space.contains(actions)
    assert infos["action_mask"][np.arange(3), actions].all()
    seen, rewards, *_ = envs.step(actions)
    assert envs.observation_space.contains(seen)
    assert rewards.dtype == np.float64
    assert repr(envs).startswith("DraughtsVectorEnv(Draughts/")
    envs.close()


@pytest.mark.parametrize("copied", [True, False])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_and_copies_change_nothing(threads: int, copied: bool) -> None:
    reference = DraughtsVectorEnv(50, "russian", opponent="random", threads=1)
    envs = DraughtsVectorEnv(50, "russian", opponent="random", threads=threads, copy=copied)
    assert_same(envs.reset(seed=1), reference.reset(seed=1))
    first, infos = envs._planes, envs._masks
    for _ in range(60):
        actions = envs.sample_actions()
        assert np.array_equal(actions, reference.sample_actions())
        result = envs.step(actions)
        assert_same(result, reference.step(actions))
        assert (result[0] is first) == (not copied)
        assert (result[-1]["action_mask"] is infos) == (not copied)
    envs.close()


def test_what_was_returned_stays_as_it_was() -> None:
    envs = DraughtsVectorEnv(4)
    result = envs.reset(seed=0)
    kept = copy.deepcopy(result)
    envs.step(envs.sample_actions())
    assert_same(result, kept)


def test_each_game_has_its_own_clocks() -> None:
    """RL-18: games that end at different times keep their own counts."""
    shuffle = ["1-5", "32-28", "5-1", "28-32"]
    envs = DraughtsVectorEnv(2, fen="W:WK1,9:BK32,24", autoreset_mode=AutoresetMode.NEXT_STEP)
    envs.reset(options={"moves": [shuffle, []]})
    space = action_space("english")
    ended = []
    for ply in range(10):
        text = shuffle[ply % 4]
        actions = []
        for i in range(2):
            position = envs.position(i)
            actions.append(space.encode(position, position.parse(text)) if not envs._done[i] else 0)
        seen, _, terminated, _, infos = envs.step(actions)
        ended += [(ply, i, infos["outcome"][i]) for i in np.flatnonzero(terminated)]
        if ended and ended[-1][0] == ply - 1:
            assert not seen[ended[-1][1], 4:7].any()  # started anew with all counts at zero
            break
    assert ended == [(3, 0, "threefold repetition")]


def test_options_for_each_game() -> None:
    envs = DraughtsVectorEnv(3, "russian", opponent="random")
    fens = ["W:W10:B1", None, "B:W29:B9"]
    _, infos = envs.reset(seed=0, options={"fen": fens, "color": ["white", "black", None]})
    assert envs.position(0).fen == "W:W10:B1"
    assert list(infos["color"][:2]) == ["white", "black"]
    _, infos = envs.reset(options={"color": "black"})
    assert list(infos["turn"]) == ["black"] * 3
    _, infos = envs.reset(options={"moves": "c3-d4 b6-a5"})
    kept = [envs.position(i) for i in range(3)]
    envs.reset(options={"reset_mask": np.array([False, True, False])})
    assert [envs.position(i) == kept[i] for i in (0, 2)] == [True, True]


def test_seeds() -> None:
    envs = [DraughtsVectorEnv(5, opponent="random") for _ in range(3)]
    assert_same(envs[0].reset(seed=3), envs[1].reset(seed=[3, 4, 5, 6, 7]))
    assert np.array_equal(envs[0]._states[:, RNG], envs[1]._states[:, RNG])
    envs[2].reset(seed=[None, 4, None, None, None])
    assert envs[2]._states[1, RNG] == envs[0]._states[1, RNG]
    assert envs[2]._states[0, RNG] != envs[0]._states[0, RNG]
    assert len(set(envs[0]._states[:, RNG])) == 5
    assert np.array_equal(envs[0].sample_actions(), envs[1].sample_actions())


def test_sampling_is_uniform_over_the_legal_actions() -> None:
    envs = DraughtsVectorEnv(2000)
    _, infos = envs.reset(seed=0)
    counts = np.bincount(envs.sample_actions(), minlength=infos["action_mask"].shape[1])
    legal = np.flatnonzero(infos["action_mask"][0])
    assert counts[legal].sum() == 2000
    assert counts[legal].min() > 2000 / 7 * 0.75


@pytest.mark.parametrize(
    "way", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["deepcopy", "pickle"]
)
def test_copies(way: Any) -> None:
    """RL-07."""
    envs = DraughtsVectorEnv(300, opponent="random", threads=2)
    envs.reset(seed=0)
    for _ in range(10):
        envs.step(envs.sample_actions())
    other = way(envs)
    before = envs._states.copy()
    twin = way(envs)
    for _ in range(10):
        actions = other.sample_actions()
        assert np.array_equal(actions, twin.sample_actions())
        assert_same(other.step(actions), twin.step(actions))
    assert np.array_equal(envs._states, before)
    assert envs.sample_actions().shape == (300,)


def test_illegal_actions_that_raise_move_nothing() -> None:
    envs = DraughtsVectorEnv(3, illegal_action="raise")
    _, infos = envs.reset(seed=0)
    before = envs._states.copy()
    actions = envs.sample_actions()
    actions[1] = np.flatnonzero(infos["action_mask"][1] == 0)[0]
    with pytest.raises(ActionError, match=r"game 1 is no legal move in B:W21-32:B1-12"):
        envs.step(actions)
    assert np.array_equal(envs._states, before)


@pytest.mark.parametrize("wrong", [[0, 1], [0.0, 1.0, 2.0], [-1, 0, 0], [0, 0, 1034], "abc", None], ids=str)
def test_what_are_no_actions_raises(wrong: Any) -> None:
    envs = DraughtsVectorEnv(3)
    envs.reset()
    before = envs._states.copy()
    with pytest.raises(ActionError):
        envs.step(wrong)
    assert np.array_equal(envs._states, before)


def test_the_action_of_a_game_that_starts_anew_is_ignored() -> None:
    envs = DraughtsVectorEnv(2, illegal_action="raise", fen="W:W14,32:B10")
    envs.reset()
    position = envs.position(0)
    wins = action_space("english").encode(position, position.parse("14x7"))
    _, rewards, terminated, *_ = envs.step([wins, wins])
    assert list(rewards) == [1.0, 1.0]
    assert terminated.all()
    _, rewards, terminated, *_ = envs.step([-5, 10**6])
    assert list(rewards) == [0.0, 0.0]
    assert not terminated.any()


def test_misuse() -> None:
    with pytest.raises(GameOverError, match="reset"):
        DraughtsVectorEnv(2).step([0, 0])
    with pytest.raises(GameOverError, match="first move"):
        DraughtsVectorEnv(2, opponent="random", color="black", fen="W:W14:B10").reset()
    envs = DraughtsVectorEnv(2, fen="W:W14:B10", autoreset_mode=AutoresetMode.DISABLED)
    envs.reset()
    envs.step(envs.sample_actions())
    with pytest.raises(GameOverError, match="game 0 has ended"):
        envs.step([0, 0])
    for arguments, message in (
        ({"num_envs": 0}, "num_envs"),
        ({"threads": 0}, "threads"),
        ({"opponent": "alphabeta:depth=2"}, "sync"),
        ({"opponent": lambda game: game.legal_moves()[0]}, "sync"),
        ({"color": "white"}, "without one"),
        ({"autoreset_mode": "sometimes"}, "sometimes"),
        ({"render_mode": "human"}, "human"),
    ):
        with pytest.raises(OptionError, match=message):
            DraughtsVectorEnv(**{"num_envs": 2, **arguments})
    envs = DraughtsVectorEnv(2)
    for options, message in (
        ({"opening": "11-15"}, "opening"),
        ({1: 2, "a": 3}, "unknown option 1"),
        (3, "options are a dictionary"),
        ({"fen": 3}, "fen is a text or a list"),
        ({"moves": 3}, "moves is a text or a list"),
        ({"moves": [3, 3]}, "moves are"),
        ({"fen": ["W:W1:B2"]}, "fen is given for 1"),
        ({"reset_mask": [True, False]}, "reset_mask"),
        ({"color": "black"}, "without one"),
    ):
        with pytest.raises(OptionError, match=message):
            envs.reset(options=options)
    with pytest.raises(OptionError, match=r"not 1\.5"):
        envs.reset(seed=1.5)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="3 seeds"):
        envs.reset(seed=[1, 2, 3])


def test_before_the_first_reset() -> None:
    envs = DraughtsVectorEnv(3)
    assert not envs.action_masks().any()
    for early in (envs.sample_actions, lambda: envs.step([0, 0, 0])):
        with pytest.raises(GameOverError, match="call reset"):
            early()
    envs.reset()
    with pytest.raises(ActionError, match="whole numbers of shape"):
        envs.step([[1], [2, 3], []])  # type: ignore[list-item]


def test_render() -> None:
    envs = DraughtsVectorEnv(2, render_mode="rgb_array", opponent="random")
    envs.reset(seed=0)
    pictures = envs.render()
    assert pictures is not None
    assert [picture.shape for picture in pictures] == [(384, 384, 3)] * 2
