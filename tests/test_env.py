"""The Gymnasium environment, checked against Game; situations RL-* are reports about other programs."""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from draughts_env import (
    ActionError,
    FenError,
    Game,
    GameOverError,
    IllegalMoveError,
    Move,
    OpponentError,
    OptionError,
    VariantError,
    action_space,
    observe,
    opponents,
    registration,
)
from draughts_env.env import DraughtsEnv
from draughts_env.variants import VARIANTS, Variant

#: Starts of only kings, where clocks run and positions come back.
KINGS = {
    "english": ("W:WK1,K5,K23:BK32,K28", "W:WK1:BK32"),
    "international": ("W:WK46,K47,K48:BK5", "W:WK46,K47,K48,K49:BK5,K2"),
    "russian": ("W:WK29,K30,K31:BK4", "W:WK29:BK1"),
    "brazilian": ("W:WK29,K30:BK4", "W:WK29:BK1"),
}
DRAWS = [json.loads(line) for line in (Path(__file__).parent / "data" / "draws.jsonl").read_text().splitlines()]


def ids(info: dict[str, Any]) -> np.ndarray:
    return np.flatnonzero(info["action_mask"])


def action(env: DraughtsEnv, text: str) -> int:
    position = env.game.position
    return action_space(env.variant).encode(position, position.parse(text))


def play(env: DraughtsEnv, *moves: str) -> tuple[Any, ...]:
    """Steps with moves as text; the last step's result."""
    for move in moves:
        result = env.step(action(env, move))
    return result


def same(a: Any, b: Any) -> bool:
    """Whether two results of reset or step agree."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return np.array_equal(a, b) if isinstance(a, np.ndarray) else type(a) is type(b) and a == b


def first(game: Game) -> Move:
    return game.legal_moves()[0]


# --- Gymnasium's own checks -------------------------------------------------------------------------


@pytest.mark.parametrize("name", registration.IDS)
@pytest.mark.parametrize("arguments", [{}, {"opponent": "random"}, {"opponent": first, "color": "white"}], ids=str)
def test_check_env(name: str, arguments: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(name, **arguments).unwrapped)


def test_ids() -> None:
    assert registration.IDS[0] == "Draughts/English-v0"
    before = dict(gymnasium.registry)
    registration.register()
    assert gymnasium.registry == before
    env = gymnasium.make("Draughts/International-v0").unwrapped
    assert isinstance(env, DraughtsEnv)
    assert env.variant.name == "international"
    assert env.observation_space.shape == (8, 10, 5)


# --- the same games as Game -------------------------------------------------------------------------


@pytest.mark.parametrize("of", VARIANTS, ids=str)
def test_same_as_game(of: Variant) -> None:
    """Random games: observation, mask, reward, end, winner, turn, all as Game has them."""
    rng = np.random.default_rng(of.size + of.flying_kings)
    space = action_space(of)
    env = DraughtsEnv(of)
    reasons = set()
    for number in range(60):
        fen = (None, *KINGS[of.name])[number % 3]
        seen, info = env.reset(options={"fen": fen})
        game = Game(of, fen)
        reward, terminated = 0.0, False
        while True:
            outcome = game.outcome()
            assert terminated == (outcome is not None)
            assert np.array_equal(seen, observe(game))
            assert info["turn"] == game.turn == env.turn
            assert info["outcome"] == (outcome.reason if outcome else None)
            assert info["winner"] == (outcome.winner if outcome else None)
            assert "color" not in info
            mask = info["action_mask"]
            assert mask.dtype == np.int8
            assert np.array_equal(mask, np.zeros(space.n) if outcome else space.mask(game.position))
            assert np.array_equal(env.action_masks(), mask.astype(bool))
            if outcome:
                # nobody can lose by a move of his own
                assert reward == (0.0 if outcome.winner is None else 1.0)
                reasons.add(str(outcome.reason))
                break
            assert reward == 0.0
            moves = space.legal(game.position)
            back = []  # often back where the piece came from, so that positions come back
            if game.ply > 1 and rng.random() < 0.7:
                last = game.moves[-2]
                back = [
                    a for a, m in zip(moves, game.legal_moves()) if (m.target, m.origin) == (last.origin, last.target)
                ]
            chosen = rng.choice(back or moves)
            game.push(space.decode(game.position, int(chosen)))
            seen, reward, terminated, truncated, info = env.step(chosen)
            assert type(reward) is float  # RL-19
            assert type(terminated) is bool
            assert truncated is False
        assert env.game == game
    assert {"no pieces", "threefold repetition"} <= reasons


@pytest.mark.parametrize("case", DRAWS, ids=lambda case: case["id"])
def test_draws_by_rule_terminate(case: dict[str, Any]) -> None:
    env = DraughtsEnv(case["variant"], fen=case["fen"])
    env.reset()
    over = {e["after_ply"] for e in case["expect"] if e["state"] == "draw"}
    for ply, move in enumerate(case["moves"], start=1):
        _, reward, terminated, truncated, info = play(env, move)
        if terminated:
            assert reward == 0.0
            assert not truncated
            assert info["winner"] is None
            assert info["outcome"] in ("threefold repetition", "move limit without progress", "endgame move limit")
            assert ply in over
            break
        assert ply not in over
    else:
        assert not over


def test_every_outcome_has_its_text() -> None:
    outcomes = {}
    for fen, move in (("W:W14:B10", "14x7"), ("W:W14:B1,9", "14x5"), ("W:WK15:B5:H79", "15-18")):
        env = DraughtsEnv(fen=fen)
        env.reset()
        _, reward, terminated, _, info = play(env, move)
        outcomes[move] = (info["outcome"], info["winner"], reward, terminated)
    assert outcomes == {
        "14x7": ("no pieces", "white", 1.0, True),
        "14x5": (None, None, 0.0, False),  # RL-20: the man on 5 is blocked, but it is Black's turn
        "15-18": ("move limit without progress", None, 0.0, True),
    }


def test_no_move_with_pieces_left_loses() -> None:
    """RL-21."""
    env = DraughtsEnv(fen="B:W5:BK6,27")
    env.reset()
    _, reward, terminated, _, info = play(env, "6-1")
    assert (reward, terminated, info["outcome"], info["winner"]) == (1.0, True, "no moves", "black")
    assert not info["action_mask"].any()


def test_a_multiple_jump_is_one_action() -> None:
    """RL-01, RL-04, RL-23, RL-24: no state in mid-jump, no second piece, the game does not end inside a chain."""
    env = DraughtsEnv(fen="B:W11,12,13,19,22,27,28,30:B2,3,6,7,10")
    _, info = env.reset()
    assert len(ids(info)) == 1
    _, _, terminated, _, info = env.step(ids(info)[0])
    assert not terminated
    assert info["turn"] == "white"
    assert env.game.moves[-1].path == (7, 16, 23, 32)


def test_first_mask() -> None:
    """RL-13."""
    for of, moves in zip(VARIANTS, (7, 9, 7, 7)):
        _, info = DraughtsEnv(of).reset()
        assert len(ids(info)) == moves
        assert info["action_mask"].shape == (action_space(of).n,)


def test_masks_are_empty_only_at_the_end() -> None:
    """RL-11, RL-12."""
    env = DraughtsEnv(opponent="random")
    env.action_space.seed(0)
    for seed in range(10):
        _, info = env.reset(seed=seed)
        terminated = False
        while not terminated:
            assert info["action_mask"].any()
            _, _, terminated, _, info = env.step(env.action_space.sample(info["action_mask"]))
        assert not info["action_mask"].any()
        assert info["outcome"] is not None


def test_the_caller_owns_what_it_gets() -> None:
    env = DraughtsEnv()
    seen, info = env.reset()
    seen[:] = 9
    chosen = ids(info)[0]
    info["action_mask"][:] = 0
    env.game.push("11-15")
    assert env.action_masks().sum() == 7
    seen, *_, info = env.step(chosen)
    assert seen.max() == 1
    assert len(ids(info)) == 7


# --- illegal actions and misuse ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments", [{}, {"opponent": "random", "color": "black"}, {"opponent": first, "color": "black"}]
)
def test_an_illegal_action_loses(arguments: dict[str, Any]) -> None:
    """RL-10: it ends the game as a loss; nothing else is played, nothing is gained."""
    env = DraughtsEnv(**arguments)
    seen, info = env.reset(seed=0)
    wrong = int(np.flatnonzero(info["action_mask"] == 0)[0])
    after, reward, terminated, truncated, info = env.step(wrong)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert (info["outcome"], info["winner"], info["turn"]) == ("illegal action", "white", "black")
    assert np.array_equal(seen, after)
    assert not info["action_mask"].any()
    assert env.game.ply == 0
    with pytest.raises(GameOverError, match="reset"):
        env.step(wrong)
    _, info = env.reset()
    assert info["outcome"] is None


def test_an_illegal_action_raises_if_asked_to() -> None:
    env = DraughtsEnv(illegal_action="raise")
    _, info = env.reset()
    before = env.game
    with pytest.raises(ActionError, match=r"no legal move in B:W21-32:B1-12"):
        env.step(np.flatnonzero(info["action_mask"] == 0)[0])
    assert env.game == before
    _, reward, terminated, *_ = env.step(ids(info)[0])
    assert (reward, terminated) == (0.0, False)


def test_pushing_twice() -> None:
    """RL-25: the same action again is illegal, not a phantom move."""
    env = DraughtsEnv(illegal_action="raise")
    env.reset()
    chosen = action(env, "11-15")
    env.step(chosen)
    env.step(action(env, "22-18"))
    with pytest.raises(ActionError):
        env.step(chosen)


@pytest.mark.parametrize("policy", ["lose", "raise"])
@pytest.mark.parametrize("wrong", [-1, 1034, 10**9, 1.0, "11-15", None, np.array([1, 2])], ids=str)
def test_what_is_no_action_raises(policy: str, wrong: Any) -> None:
    env = DraughtsEnv(illegal_action=policy)
    env.reset()
    with pytest.raises(ActionError):
        env.step(wrong)
    assert env.game.ply == 0


@pytest.mark.parametrize("kind", [int, np.int64, np.int32, np.array])
def test_kinds_of_actions(kind: Any) -> None:
    env = DraughtsEnv()
    _, info = env.reset()
    assert not env.step(kind(ids(info)[0]))[2]


def test_step_needs_a_game() -> None:
    env = DraughtsEnv(fen="W:W14:B10")
    with pytest.raises(GameOverError, match="reset"):
        env.step(0)
    with pytest.raises(GameOverError, match="reset"):
        _ = env.game
    assert not env.action_masks().any()
    env.reset()
    chosen = action(env, "14x7")
    env.step(chosen)
    with pytest.raises(GameOverError, match="has ended"):
        env.step(chosen)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"variant": "turkish"}, VariantError, "turkish"),
        ({"fen": "W:Wx"}, FenError, "x"),
        ({"fen": "W:W5:BK1,K10,K2"}, GameOverError, "no moves"),
        ({"fen": "W:WK1:BK32:H80"}, GameOverError, "move limit"),
        ({"opponent": "nobody"}, Exception, "nobody"),
        ({"opponent": 5}, OpponentError, "5"),
        ({"color": "white"}, OptionError, "without one"),
        ({"opponent": "random", "color": "red"}, OptionError, "'red'"),
        ({"illegal_action": "ignore"}, OptionError, "'ignore'"),
        ({"max_plies": 0}, OptionError, "0"),
        ({"max_plies": 2.5}, OptionError, "2.5"),
        ({"max_plies": 10**30}, OptionError, "at most"),
        ({"render_mode": "3d"}, OptionError, "'3d'"),
    ],
    ids=str,
)
def test_bad_arguments(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        DraughtsEnv(**arguments)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"opening": "11-15"}, OptionError, "'opening'"),
        ({1: 2, "a": 3}, OptionError, "unknown option 1"),
        (3, OptionError, "options are a dictionary, not 3"),
        ({"moves": 3}, OptionError, "moves are"),
        ({"moves": [3]}, IllegalMoveError, "a move is"),
        ({"fen": "W:B1"}, GameOverError, "no pieces"),
        ({"moves": ["11-15", "11-16"]}, IllegalMoveError, "11-16"),
        ({"color": "white"}, OptionError, "without one"),
    ],
    ids=str,
)
def test_bad_options(options: dict[str, Any], error: type[Exception], message: str) -> None:
    env = DraughtsEnv()
    env.reset()
    with pytest.raises(error, match=message):
        env.reset(options=options)
    assert env.reset()[1]["outcome"] is None


# --- starts, caps, seeds -----------------------------------------------------------------------------


def test_starts() -> None:
    env = DraughtsEnv(fen="W:W32:B1")
    assert env.reset()[1]["turn"] == "white"
    env.reset(options={"fen": "B:W30:B2", "moves": "2-6"})
    assert env.game.fen == "W:W30:B6"
    assert env.game.start.fen == "B:W30:B2"
    env.reset(options={"moves": [Game("english", "W:W32:B1").legal_moves()[0], "1-5"]})
    assert env.game.fen == "W:W28:B5"
    env.reset()
    assert env.game.fen == "W:W32:B1"  # options count once


def test_a_ballot_keeps_its_history() -> None:
    """Positions of the opening count as occurrences, plies of the opening do not count for the cap."""
    env = DraughtsEnv(fen="W:WK1,9:BK32,24", max_plies=3)
    seen, _ = env.reset(options={"moves": "1-5 32-28 5-1 28-32"})
    assert seen[6].max() == 0.5
    *_, truncated, _ = play(env, "1-5", "32-28")
    assert not truncated
    *_, truncated, _ = play(env, "5-1")
    assert truncated
    env = DraughtsEnv(fen="W:WK1,9:BK32,24")
    env.reset(options={"moves": "1-5 32-28 5-1 28-32"})
    assert play(env, "1-5", "32-28", "5-1", "28-32")[2]


def test_caps_truncate() -> None:
    """MC-07, MC-08: a capped game is truncated, worth nothing, and has an observation with legal moves."""
    env = DraughtsEnv(max_plies=2)
    env.reset()
    assert play(env, "11-15")[3] is False
    seen, reward, terminated, truncated, info = play(env, "22-18")
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert info["outcome"] is None
    assert info["action_mask"].any()
    assert env.action_masks().any()
    assert np.array_equal(seen, observe(env.game))
    with pytest.raises(GameOverError):
        play(env, "15x22")
    env = DraughtsEnv(fen="W:W14:B10", max_plies=1)
    env.reset()
    assert play(env, "14x7")[2:4] == (True, False)  # what ends by rule is not cut short


@pytest.mark.parametrize("opponent", ["random", first])
def test_caps_with_an_opponent_fall_on_the_callers_turn(opponent: Any) -> None:
    env = DraughtsEnv(opponent=opponent, color="black", max_plies=3)
    _, info = env.reset(seed=0)
    *_, truncated, info = env.step(ids(info)[0])
    assert not truncated
    *_, truncated, info = env.step(ids(info)[0])
    assert truncated
    assert info["turn"] == "black"
    assert env.game.ply == 4


def test_reset_clears_every_counter() -> None:
    """RL-18."""
    env = DraughtsEnv(fen="W:WK1,9:BK32,24", max_plies=6)
    fresh = env.reset(seed=1)
    for _ in range(3):
        play(env, "1-5", "32-28", "5-1", "28-32", "1-5")
        assert same(env.reset(), fresh)
        assert env.game.ply == env.game.quiet == env.game.repeats == 0


@pytest.mark.parametrize("opponent", [None, "random", "random:seed=1"])
def test_seeds(opponent: Any) -> None:
    envs = [DraughtsEnv("russian", opponent=opponent) for _ in range(2)]
    for seed in (4, None, None, 5):
        results = [[env.reset(seed=seed)] for env in envs]
        done = False
        while not done:
            chosen = ids(results[0][-1][-1])[-1]
            for env, result in zip(envs, results):
                result.append(env.step(chosen))
            done = results[0][-1][2]
        assert same(tuple(results[0]), tuple(results[1]))


def test_unseeded_environments_differ() -> None:
    histories = set()
    for _ in range(4):
        env = DraughtsEnv("russian", opponent="random", color="black")
        _, info = env.reset()
        for _ in range(6):
            *_, info = env.step(ids(info)[0])
        histories.add(env.game.fen)
    assert len(histories) > 1


# --- copies ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "way", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["deepcopy", "pickle"]
)
@pytest.mark.parametrize("opponent", [None, "random", "random:seed=3", "alphabeta:depth=1"])
def test_copies_in_mid_game(way: Any, opponent: Any) -> None:
    """RL-02, RL-07: board, clocks, history and random numbers are kept, and the two go separate ways."""
    env = DraughtsEnv("international", opponent=opponent, max_plies=60)
    rng = np.random.default_rng(3)
    _, info = env.reset(seed=2)
    for _ in range(12):
        *_, info = env.step(rng.choice(ids(info)))
    before, mask = env.game, env.action_masks()
    other = way(env)
    assert other.game == before
    assert np.array_equal(other.action_masks(), mask)
    twin = way(env)
    for _ in range(15):
        chosen = rng.choice(np.flatnonzero(other.action_masks()))
        assert same(other.step(chosen), twin.step(chosen))
    assert other.game == twin.game
    assert env.game == before
    assert np.array_equal(env.action_masks(), mask)
    assert same(other.reset(), twin.reset())


def test_make_copies() -> None:
    env = gymnasium.make("Draughts/English-v0", opponent="random")
    _, info = env.reset(seed=0)
    env.step(ids(info)[0])
    other = copy.deepcopy(env)
    assert other.unwrapped.game == env.unwrapped.game  # type: ignore[attr-defined]
    assert np.array_equal(other.get_wrapper_attr("action_masks")(), env.get_wrapper_attr("action_masks")())


# --- opponents ---------------------------------------------------------------------------------------


class Agent:
    """Plays the last move; remembers how it was called."""

    name = "last"

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def choose(self, game: Game) -> Any:
        self.calls.append(game.turn)
        game.push(game.legal_moves()[0])  # what it gets is its own
        game.pop()

        class Decision:
            move = game.legal_moves()[-1]

        return Decision

    def new_game(self) -> None:
        self.calls.append("new game")

    def seed(self, seed: int) -> None:
        self.calls.append("seed")


@pytest.mark.parametrize("of", VARIANTS, ids=str)
@pytest.mark.parametrize("color", ["black", "white"])
def test_opponent_answers_and_opens(of: Variant, color: str) -> None:
    agent = Agent()
    env = DraughtsEnv(of, opponent=agent, color=color)
    seen, info = env.reset(seed=0)
    assert agent.calls[:2] == ["seed", "new game"]
    opens = of.first != color
    assert env.game.ply == int(opens)
    rng = np.random.default_rng(0)
    done = False
    while not done:
        assert info["turn"] == info["color"] == env.color == color
        assert np.array_equal(seen, observe(env.game))
        chosen = rng.choice(ids(info))
        seen, reward, done, _, info = env.step(chosen)
    assert set(agent.calls[2:]) == {"white" if color == "black" else "black"}
    assert np.array_equal(seen, observe(env.game, view=color))  # the caller's view also if it moved last
    outcome = env.game.outcome()
    assert outcome is not None
    assert reward == (0.0 if outcome.winner is None else 1.0 if outcome.winner == color else -1.0)
    assert type(reward) is float


@pytest.mark.parametrize("opponent", ["random", first])
def test_rewards_against_an_opponent(opponent: Any) -> None:
    """RL-15: the reward is the caller's, whoever made the last move, for both colours."""
    for color, fen, move, expected in (
        ("white", "W:W14:B10", "14x7", 1.0),  # wins by its own move
        ("white", "W:W25:B17", "25-21", 0.0),
        ("white", "W:W25:B17", "25-22", -1.0),  # loses by the answer
        ("black", "B:W16:B8", "8-12", 0.0),
        ("black", "B:W16:B8", "8-11", -1.0),
        ("black", "B:W18:B15", "15x22", 1.0),
    ):
        env = DraughtsEnv(fen=fen, opponent=opponent, color=color)
        env.reset(seed=0)
        assert play(env, move)[1] == expected, fen


@pytest.mark.parametrize("opponent", ["random", first])
def test_random_colours(opponent: Any) -> None:
    env = DraughtsEnv(opponent=opponent)
    colors = [env.reset(seed=7 if n == 0 else None)[1]["color"] for n in range(30)]
    assert 5 < colors.count("black") < 25
    assert env.reset(options={"color": "white"})[1]["color"] == "white"
    assert env.game.ply == 1
    assert env.reset(options={"color": "black"})[1]["color"] == "black"
    assert env.game.ply == 0


def test_opponents_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    env = DraughtsEnv(opponent="alphabeta:depth=1", color="black")  # found through the entry point of `agents`
    _, info = env.reset(seed=0)
    env.step(ids(info)[0])
    assert env.game.ply == 2
    monkeypatch.setattr(opponents, "_resolvers", [])
    opponents.register_resolver(lambda text, variant: first if text == "first" else None)
    env = DraughtsEnv(opponent="first", color="white")
    env.reset()
    assert env.game.moves[0] == Game().legal_moves()[0]
    with pytest.raises(Exception, match="unknown agent 'second'"):
        DraughtsEnv(opponent="second")


def test_opponents_that_err() -> None:
    """An opponent's fault is named, and the environment is as before the step."""

    def failing(game: Game) -> Any:
        raise ZeroDivisionError("thinking too hard")

    for opponent, error, message in (
        (lambda game: "11-16", OpponentError, "illegal move.*11-16"),
        (lambda game: Move(1, 2), OpponentError, "illegal move"),
        (lambda game: None, OpponentError, "None, which is no move"),
        (failing, ZeroDivisionError, "thinking too hard"),
    ):
        env = DraughtsEnv(opponent=opponent, color="black")
        _, info = env.reset()
        for _ in range(2):
            with pytest.raises(error, match=message):
                env.step(ids(info)[0])
            assert env.game.ply == 0
            assert env.turn == "black"
    env = DraughtsEnv(opponent=failing, color="white")
    with pytest.raises(ZeroDivisionError):
        env.reset()
    with pytest.raises(GameOverError, match="reset"):
        env.step(0)


def test_opponent_whose_first_move_wins() -> None:
    env = DraughtsEnv(opponent="random", color="black", fen="W:W14:B10")
    with pytest.raises(GameOverError, match="first move"):
        env.reset(seed=0)


# --- pictures ----------------------------------------------------------------------------------------


def test_render_modes(capsys: pytest.CaptureFixture[str]) -> None:
    pictures = {}
    for mode in ("ansi", "rgb_array", "svg", "human"):
        env = gymnasium.make("Draughts/International-v0", render_mode=mode)
        env.reset()
        pictures[mode] = env.render()
    assert pictures["ansi"].endswith("White to move")
    assert pictures["rgb_array"].shape == (480, 480, 3)
    assert pictures["svg"].startswith("<svg")
    assert pictures["human"] is None
    assert "White to move" in capsys.readouterr().out


def test_the_caller_is_below() -> None:
    env = DraughtsEnv(opponent="random", color="black", render_mode="ansi")
    env.reset()
    assert env.render().splitlines()[0].split()[1] == "w"
