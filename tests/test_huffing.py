"""English with huffing: what may be missed, what the opponent may do about it, and everything built on that."""

from __future__ import annotations

import copy
import io
import pickle
import random
import warnings
from collections.abc import Iterator

import gymnasium
import numpy as np
import pytest
import reference
from cases import board_of, random_boards
from cases import position_of as position_from
from gymnasium.utils.env_checker import check_env
from rich.console import Console

from agents import load_agent
from draughts_env import (
    ENGLISH,
    INTERNATIONAL,
    ActionError,
    Game,
    GameOverError,
    IllegalMoveError,
    Move,
    OpponentError,
    OptionError,
    Outcome,
    Position,
    Reason,
    VariantError,
    action_space,
    variant,
)
from draughts_env.huffing import INSIST, Huff, HuffingGame, offenders, optional_moves
from draughts_env.huffing_actions import HuffingActions, observe_huffing
from draughts_env.huffing_env import HuffingEnv
from draughts_env.huffing_text import read_huffing, rights, write_huffing
from draughts_env.offers import lead
from draughts_play.huffing_terminal import HuffingTerminal

ID = "Draughts/EnglishHuffing-v0"


def random_games(count: int, plies: int = 150, seed: int = 0) -> Iterator[HuffingGame]:
    """Games after each action of random play, the offers of draws included."""
    for number in range(count):
        chance = random.Random(1000 * seed + number)
        game = HuffingGame()
        while not game.is_over and game.ply < plies:
            if chance.random() < 0.05 and game.draw_offer is None:
                game.offer_draw(chance.choice(["black", "white"]))
            game.push(chance.choice(game.legal_actions()))
            yield game


# --- the rules --------------------------------------------------------------------------------------


def test_the_variant_is_data() -> None:
    huffing = ENGLISH.with_huffing()
    assert huffing == variant("english-huffing") == variant("american-huffing") == huffing.with_huffing()
    assert huffing.without_huffing() == ENGLISH == ENGLISH.without_huffing()
    assert huffing.rules == ENGLISH.rules
    with pytest.raises(VariantError, match="international cannot be played with huffing"):
        INTERNATIONAL.with_huffing()
    with pytest.raises(VariantError, match="HuffingGame"):
        Game("english-huffing")
    for make in (HuffingGame, HuffingActions):
        with pytest.raises(VariantError, match="without huffing"):
            make("english")


def test_a_capture_may_be_missed() -> None:
    game = HuffingGame(fen="B:W18,32:B15,14,1")
    assert {str(m) for m in game.legal_moves()} == {"15-19", "14-17", "1-5", "1-6", "15x22", "14x23"}
    game.push("1-5")
    assert game.huffable == (14, 15)
    assert rights(game) == "White may huff 14, 15, insist on the capture, or play on"
    assert [str(a) for a in game.legal_actions()][-3:] == ["huff 14", "huff 15", "insist"]


def test_a_huff_is_no_move() -> None:
    game = HuffingGame(fen="B:W18,32:B15,14,1")
    game.push("1-5")
    game.push("huff 15")
    assert game.fen == "W:W18,32:B5,14"
    assert game.turn == "white"
    assert game.huffable == ()
    assert INSIST not in game.legal_actions()
    game.push("18x9")


def test_the_piece_that_moved_away_is_huffed_where_it_stands() -> None:
    game = HuffingGame(fen="B:W18,32:B15,1")
    game.push("15-19")
    assert game.huffable == (19,)


def test_insisting_takes_the_move_back() -> None:
    game = HuffingGame(fen="B:W18,32:B15,14,1")
    game.push("1-5")
    game.push("insist")
    assert game.fen == "B:W18,32:B1,14,15"
    assert game.must_capture
    assert rights(game) == "Black must capture"
    assert [str(m) for m in game.legal_actions()] == ["14x23", "15x22"]
    for text in ("1-5", "insist", "huff 18"):
        with pytest.raises(IllegalMoveError):
            game.push(text)
    game.push("14x23")
    assert game.huffable == ()


def test_a_jump_may_stop_early() -> None:
    game = HuffingGame(fen="B:W9,17,31:B6,7")
    assert {"6x13", "6x13x22"} <= {m.full for m in game.legal_moves()}
    game.push("6x13")
    assert game.fen == "W:W17,31:B7,13"
    assert game.huffable == (13,)
    game.push("insist")
    assert [m.full for m in game.legal_moves()] == ["6x13x22"]
    game.pop()
    game.push("huff 13")
    assert game.fen == "W:W17,31:B7"


def test_letting_it_pass_forgives() -> None:
    game = HuffingGame(fen="B:W18,32:B15,11,1")
    game.push("1-6")
    assert game.huffable == (15,)
    game.push("32-27")
    assert game.huffable == ()
    assert "15x22" in map(str, game.legal_moves())


def test_taking_with_another_piece_is_no_offence() -> None:
    game = HuffingGame(fen="B:W18,19,32:B15,14,1")
    game.push("14x23")
    assert game.huffable == ()


def test_crowning_ends_a_capture_here_too() -> None:
    assert [m.full for m in HuffingGame(fen="W:W10:B7,8").legal_moves()] == ["10-6", "10x3"]
    assert offenders(Position.from_fen("W:W10:B7,8"), Position.from_fen("W:W10:B7,8").parse("10x3")) == ()


def test_a_crowned_offender_is_huffed_too() -> None:
    game = HuffingGame(fen="W:W10,6:B7,9")
    game.push("6-1")  # crowned; 10 could have taken 7
    assert game.huffable == (10,)


def test_huffing_the_last_piece_wins() -> None:
    game = HuffingGame(fen="B:W18,32:B15")
    game.push("15-19")
    game.push("huff 19")
    assert game.outcome() == Outcome("white", Reason.NO_PIECES)
    with pytest.raises(GameOverError):
        game.push("32-27")


def test_blocked_but_able_to_huff_is_not_lost() -> None:
    game = HuffingGame(fen="B:W10:B1,3,6,7,20")
    game.push("20-24")
    assert not Position.from_fen(game.fen).legal_moves()
    assert not game.is_over
    assert list(map(str, game.legal_actions())) == ["huff 6", "huff 7", "insist"]
    game.push("huff 6")
    assert list(map(str, game.legal_actions())) == ["10-6"]


def test_draws_by_rule() -> None:
    game = HuffingGame(fen="B:WK32:BK1")
    for _ in range(2):
        for text in ("1-5", "32-28", "5-1", "28-32"):
            game.push(text)
    assert game.outcome() == Outcome(None, Reason.REPETITION)
    game = HuffingGame(fen="B:WK32:BK1:H79")
    game.push("1-5")
    assert game.outcome() == Outcome(None, Reason.QUIET_LIMIT)


def test_a_huff_starts_the_quiet_clock_anew() -> None:
    game = HuffingGame(fen="B:WK18,K32:BK15,K1:H20")
    game.push("1-5")
    assert game.quiet == 21
    game.push("huff 15")
    assert (game.quiet, game.repeats) == (0, 0)


def test_insisting_restores_clocks_and_counts() -> None:
    game = HuffingGame(fen="B:WK18,K32:BK15,K1:H20")
    game.offer_draw("white")
    before = (game.quiet, game.repeats, game.draw_offer, game.position)
    game.push("1-5")
    assert game.refusals[0].moves_left == 39
    game.push("insist")
    assert (game.quiet, game.repeats, game.draw_offer, game.position) == before
    assert game.refusals == ()


def test_offers_and_resignation() -> None:
    game = HuffingGame()
    game.offer_draw("white")
    game.accept_draw()
    assert game.outcome() == Outcome(None, Reason.AGREEMENT)
    game = HuffingGame()
    game.resign()
    assert game.outcome() == Outcome("white", Reason.RESIGNATION)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("huff 14", "missed no capture"),
        ("insist", "missed no capture"),
        ("11-20", "no such move"),
        ("hello", "not understood"),
        ("huff", "not understood"),
        ("huff x", "missed no capture"),
    ],
)
def test_what_is_not_legal(text: str, message: str) -> None:
    with pytest.raises(IllegalMoveError, match=message):
        HuffingGame().push(text)


def test_only_those_that_could_capture_are_huffed() -> None:
    game = HuffingGame(fen="B:W18,32:B15,14,1")
    game.push("1-5")
    with pytest.raises(IllegalMoveError, match="only 14, 15 can be huffed"):
        game.push("huff 5")
    with pytest.raises(IllegalMoveError):
        game.push(Move(1, 6))


# --- against a slow reference -----------------------------------------------------------------------


def slow_moves(board: reference.Board, turn: str) -> set[reference.Move]:
    """All steps, and every beginning of every capture."""
    rules = reference.ENGLISH
    found: set[reference.Move] = set()
    for square, piece in board.items():
        if piece[0] != turn:
            continue
        cell = reference.cell_of(rules, square)
        grid = reference._grid(rules, board)
        for target in reference._quiet_targets(rules, grid, cell, piece):
            found.add((square, reference.square_of(rules, target), frozenset()))
        grid[cell[0]][cell[1]] = None
        stack = [(cell, frozenset[reference.Cell]())]
        while stack:
            at, taken = stack.pop()
            for victim, landings in reference._jumps(rules, grid, at, piece, taken):
                after = taken | {victim}
                squares = frozenset(reference.square_of(rules, c) for c in after)
                found.add((square, reference.square_of(rules, landings[0]), squares))
                stack.append((landings[0], after))
    return found


def test_moves_against_the_reference() -> None:
    for board, turn in random_boards("english", 400):
        position = position_from("english", board, turn)
        moves = [(m.origin, m.target, m.captured) for m in optional_moves(position)]
        assert len(moves) == len(set(moves))
        assert set(moves) == slow_moves(board, turn)
        assert {(m.origin, m.target, m.captured) for m in position.legal_moves()} <= set(moves)


def test_positions_after_moves() -> None:
    """Strict moves lead where the strict game leads; every other position follows from what was moved and taken."""
    for game in random_games(5):
        at = game.position
        for move in game.legal_moves():
            trial = game.copy()
            if trial.is_over:
                break
            trial.push(move)
            if at.is_legal(move):
                assert trial.position == at.play(move)
                assert trial.huffable == ()
            else:
                assert trial.huffable
                board = board_of(at)
                expected = {s: p for s, p in board.items() if s != move.origin and s not in move.captured}
                colour, king = board[move.origin]
                row = reference.cell_of(reference.ENGLISH, move.target)[0]
                expected[move.target] = (colour, king or row == reference.crown_row(reference.ENGLISH, colour))
                assert board_of(trial.position) == expected
                assert all(trial.position.piece_at(s) is not None for s in trial.huffable)
                assert all(trial.position.piece_at(s)[0] != trial.turn for s in trial.huffable)  # type: ignore[index]


# --- games as objects -------------------------------------------------------------------------------


def test_push_and_pop_give_an_equal_game() -> None:
    for number in range(6):
        chance = random.Random(number)
        game = HuffingGame()
        snapshots = []
        while not game.is_over and game.ply < 120:
            if chance.random() < 0.2 and game.draw_offer is None:
                game.offer_draw(chance.choice(["black", "white"]))
            snapshots.append(game.copy())
            game.push(chance.choice(game.legal_actions()))
        assert pickle.loads(pickle.dumps(game)) == game == copy.deepcopy(game)
        while snapshots:
            action = game.actions[-1]
            assert game.pop() == action
            assert game == snapshots.pop()
    with pytest.raises(GameOverError):
        game.pop()


def test_text_is_read_back() -> None:
    for number in range(15):
        chance = random.Random(number)
        game = HuffingGame(fen=None if number % 3 else "W:W18,22-32:B1-12,K15:H3")
        while not game.is_over and game.ply < 100:
            game.push(chance.choice(game.legal_actions()))
        text = write_huffing(game, {"Event": "A test"})
        assert max(map(len, text.splitlines())) <= 100
        again = read_huffing(text)
        assert again.actions == game.actions
        assert again == game


def test_what_the_text_looks_like() -> None:
    game = HuffingGame()
    for text in ("11-15", "22-18", "8-11", "insist", "15x22", "23-18", "insist", "25x18", "12-16", "18-14", "16-20"):
        game.push(text)
    game.push("huff 9")
    assert write_huffing(game).splitlines()[-2:] == [
        "1. 11-15 22-18 2. 8-11 {insist} 2. 15x22 23-18 {insist} 2... 25x18 3. 12-16",
        "18-14 4. 16-20 {huff 9} *",
    ]
    assert '[Huffing "1"]' in write_huffing(game)
    assert read_huffing("1. 11-15 {a comment} 22-18 1-0").ply == 2
    with pytest.raises(IllegalMoveError, match="action 2"):
        read_huffing("1. 11-15 11-16 *")


def test_routes_of_a_circle_are_one_move() -> None:
    game = HuffingGame(fen="W:WK10:B14,15,22,23,1")
    for text in ("10x19x26x17x10", "10x17x26x19x10"):
        game.push(text)
        assert game.huffable == ()
        game.pop()
    with pytest.raises(IllegalMoveError, match="ambiguous"):
        game.push("10x26")
    game.push("10x19x26")
    assert game.huffable == (26,)


# --- actions and observations -----------------------------------------------------------------------


def test_actions() -> None:
    actions = HuffingActions()
    assert (actions.n, actions.huffs, actions.insist) == (1067, 1034, 1066)
    strict = action_space("english")
    seen = set()
    for game in random_games(4):
        if game.is_over:
            assert actions.mask(game).sum() == len(game.legal_actions())
            continue
        ids = actions.legal(game)
        assert len(set(ids)) == len(ids) == actions.mask(game).sum()
        for action, number in zip(game.legal_actions(), ids):
            assert actions.encode(game, action) == number
            assert actions.decode(game, number) == action
            if isinstance(action, Move) and game.position.is_legal(action):
                assert strict.encode(game.position, action) == number
            seen.add(type(action))
    assert seen == {Move, Huff, type(INSIST)}
    game = HuffingGame()
    for number in (-1, 1067, 1034, 1066):
        with pytest.raises(ActionError):
            actions.decode(game, number)
    with pytest.raises(IllegalMoveError):
        actions.encode(game, Huff(3))


def test_ids_are_in_the_frame_of_the_mover() -> None:
    actions = HuffingActions()
    black, white = HuffingGame(fen="B:W18,32:B15,14,1"), HuffingGame(fen="W:W18,19,32:B15,1")
    black.push("1-5")
    white.push("32-28")
    assert black.position.turned() == white.position
    assert sorted(actions.legal(black)) == sorted(actions.legal(white))
    np.testing.assert_array_equal(observe_huffing(black), observe_huffing(white))


def test_observations_are_markov() -> None:
    """Games that look alike have the same actions, and these lead to games that look alike."""
    actions = HuffingActions()
    seen: dict[bytes, tuple[list[int], list[bytes], object]] = {}
    met = 0
    chance = random.Random(5)
    for number in range(60):
        game = HuffingGame(fen="B:WK18,32,K27:BK15,K14,1" if number % 2 else "B:W22,K31:BK15,9")
        while not game.is_over and game.ply < 25:
            look = observe_huffing(game).tobytes()
            state = (
                sorted(actions.legal(game)),
                game.must_capture,
                game.huffable,
                game.offence,
                game.turn,
                game.position,
            )
            if look in seen and seen[look][-1] == state[-1]:
                met += 1
                assert seen[look] == state
            seen[look] = state  # type: ignore[assignment]
            game.push(chance.choice(game.legal_actions()))
    assert met > 50


def test_what_the_planes_show() -> None:
    game = HuffingGame(fen="B:WK18,32:B15,K14,1:H7")
    game.push("14-17")
    planes = observe_huffing(game)
    assert planes.shape == (16, 8, 4)
    assert planes.dtype == np.float32
    flat = planes.reshape(16, 32)
    assert list(np.flatnonzero(flat[8])) == [14, 16]  # squares 15 and 17
    assert not flat[9].any()
    assert list(np.flatnonzero(flat[10])) == [31]
    assert list(np.flatnonzero(flat[11])) == [17]
    assert list(np.flatnonzero(flat[12])) == [0, 14]
    assert list(np.flatnonzero(flat[13])) == [13]
    assert (flat[14] == np.float32(7 / 80)).all()
    game.push("insist")
    planes = observe_huffing(game)
    assert (planes[9] == 1).all()
    assert not planes[10:].any()
    assert not planes[8].any()


# --- the environment --------------------------------------------------------------------------------


def test_gymnasium_accepts_it() -> None:
    env = gymnasium.make(ID, render_mode="ansi")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(env.unwrapped)


def test_episodes_of_both_sides() -> None:
    env = gymnasium.make(ID).unwrapped
    rng = np.random.default_rng(0)
    for seed in range(5):
        _, info = env.reset(seed=seed)
        done = False
        while not done:
            turn = info["turn"]
            action = rng.choice(np.flatnonzero(info["action_mask"]))
            observation, reward, terminated, truncated, info = env.step(action)
            done = terminated or truncated
            assert observation in env.observation_space
        assert not info["action_mask"].any()
        assert reward == (0 if info["winner"] is None else 1 if info["winner"] == turn else -1)
        with pytest.raises(GameOverError):
            env.step(0)


@pytest.mark.parametrize("opponent", ["random", "alphabeta:depth=1", lambda game: game.legal_actions()[0]])
@pytest.mark.parametrize("color", ["black", "white", "random"])
def test_episodes_against_an_opponent(opponent: object, color: str) -> None:
    env = gymnasium.make(ID, opponent=opponent, color=color, max_plies=60).unwrapped
    rng = np.random.default_rng(1)
    _, info = env.reset(seed=1)
    done = False
    while not done:
        assert info["turn"] == info["color"]
        assert color in ("random", info["color"])
        _, reward, terminated, truncated, info = env.step(rng.choice(np.flatnonzero(env.action_masks())))
        done = terminated or truncated
    assert reward == (0 if info["winner"] is None else 1 if info["winner"] == info["color"] else -1)


def test_seeds_repeat_an_episode() -> None:
    def episode() -> list[str]:
        env = gymnasium.make(ID, opponent="random").unwrapped
        env.reset(seed=3)
        for _ in range(10):
            env.step(int(np.flatnonzero(env.action_masks())[0]))
        return list(map(str, env.game.actions))

    assert episode() == episode()


def test_an_illegal_action_loses_or_raises() -> None:
    env = HuffingEnv()
    env.reset()
    _, reward, terminated, _, info = env.step(1066)
    assert (reward, terminated, info["outcome"], info["winner"]) == (-1.0, True, "illegal action", "white")
    env = HuffingEnv(illegal_action="raise")
    env.reset()
    with pytest.raises(ActionError):
        env.step(1066)
    for bad in (5000, -1, "a"):
        with pytest.raises(ActionError):
            env.step(bad)  # type: ignore[arg-type]


def test_wrong_arguments() -> None:
    for options in ({"color": "red"}, {"color": "black"}, {"illegal_action": "x"}, {"render_mode": "x"}):
        with pytest.raises(OptionError):
            HuffingEnv(**options)
    with pytest.raises(VariantError):
        HuffingEnv("english")
    with pytest.raises(OptionError):
        HuffingEnv().reset(options={"colour": 1})
    with pytest.raises(OptionError):
        HuffingEnv().reset(options={1: 2, "colour": 1})
    env = HuffingEnv(opponent=lambda game: "1-32", color="black")
    env.reset()
    with pytest.raises(OpponentError):
        env.step(int(np.flatnonzero(env.action_masks())[0]))
    assert env.game.ply == 0


def test_rendering_shows_what_may_be_huffed() -> None:
    env = HuffingEnv(fen="B:W18,32:B15,14,1", render_mode="ansi")
    env.reset()
    env.step(HuffingActions().encode(env.game, env.game.parse("1-5")))
    assert env.render().endswith("White may huff 14, 15, insist on the capture, or play on")
    for mode in ("svg", "rgb_array"):
        picture = HuffingEnv(fen="B:W18,32:B15,14,1", render_mode=mode)
        picture.reset()
        before = picture.render()
        picture.step(HuffingActions().encode(picture.game, picture.game.parse("1-5")))
        after = picture.render()
        assert np.asarray(before).tobytes() != np.asarray(after).tobytes()


# --- agents and the terminal ------------------------------------------------------------------------


def test_an_agent_of_the_strict_game_profits_from_offences() -> None:
    env = gymnasium.make(ID, opponent="alphabeta:depth=3", color="black").unwrapped
    rng = np.random.default_rng(2)
    for seed in range(3):
        _, info = env.reset(seed=seed)
        done = False
        while not done:
            _, _, terminated, truncated, info = env.step(rng.choice(np.flatnonzero(info["action_mask"])))
            done = terminated or truncated
        assert info["winner"] == "white"
        assert lead(env.game.position, "white") > 0


def test_the_terminal() -> None:
    out = io.StringIO()
    script = iter(["huff 3", "1-5", "moves", "pdn", "undo", "draw", "resign", "no"])

    def read(prompt: str) -> str:
        answer = next(script)
        out.write(f"{prompt}{answer}\n")
        return answer

    HuffingTerminal(
        ENGLISH.with_huffing(),
        load_agent("alphabeta:depth=1", ENGLISH),
        color="black",
        fen="B:W18,32:B15,14,1",
        console=Console(file=out, width=100, highlight=False),
        read=read,
    ).run()
    text = out.getvalue()
    assert "the opponent has missed no capture" in text
    assert "White plays huff 14." in text or "White plays huff 15." in text
    assert "{huff 1" in text
    assert "White wins: resignation" in text or "Draw: agreement" in text
