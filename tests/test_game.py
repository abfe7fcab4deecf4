"""Game: playing and taking back, history, outcomes, copies."""

from __future__ import annotations

import copy
import pickle
import random
from typing import Any

import pytest
from cases import NAMES
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from draughts_env import Game, GameOverError, IllegalMoveError, Move, Outcome, Position, Reason


def random_game(name: str, seed: int, plies: int = 1000, fen: str | None = None) -> Game:
    rng = random.Random(seed)
    game = Game(name, fen=fen)
    while not game.is_over and game.ply < plies:
        game.push(rng.choice(game.legal_moves()))
    return game


def state(game: Game) -> tuple[Any, ...]:
    """Everything a game shows."""
    return (
        game.position,
        game.turn,
        game.fen,
        game.moves,
        game.positions,
        game.quiet,
        game.ending,
        game.repeats,
        game.outcome(),
        game.is_over,
        game.ply,
        game.key_history.tolist(),
        game.legal_moves(),
    )


def test_a_new_game() -> None:
    game = Game()
    assert str(game.variant) == "english"
    assert (game.turn, game.ply, game.moves, game.outcome()) == ("black", 0, [], None)
    assert game.position == game.start == Position.start("english")
    assert Game("international").turn == "white"


def test_push_takes_text_and_moves_and_returns_the_move() -> None:
    game = Game("english")
    move = game.push("11-15")
    assert move == Move(11, 15)
    game.push(game.legal_moves()[0])
    game.push(Move(8, 11))
    assert [str(m) for m in game.moves][::2] == ["11-15", "8-11"]
    assert game.turn == "white"


def test_a_capture_made_by_hand_gets_its_path() -> None:
    game = Game("russian", fen="W:W12:B8,14,26")
    move = game.push(Move(12, 31, {8, 14, 26}))
    assert move.path == game.moves[0].path == (12, 3, 17, 31)


def test_an_illegal_move_changes_nothing() -> None:
    game = random_game("english", 1, 10)
    before = state(game)
    for wrong in ("1-32", "nonsense", Move(1, 32)):
        with pytest.raises(IllegalMoveError):
            game.push(wrong)
    assert state(game) == before


@pytest.mark.parametrize("name", NAMES)
def test_taking_back_restores_everything(name: str) -> None:
    for seed in range(15):
        rng = random.Random(seed)
        game = Game(name)
        states = [state(game)]
        while not game.is_over:
            game.push(rng.choice(game.legal_moves()))
            states.append(state(game))
        played = game.moves
        while game.ply:
            assert state(game) == states[game.ply]
            assert game.pop() == played[game.ply]
        assert state(game) == states[0]
        assert game == Game(name)
        with pytest.raises(GameOverError, match="no move"):
            game.pop()


@settings(max_examples=60, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(name=st.sampled_from(NAMES), choices=st.lists(st.integers(-3, 30), max_size=80))
def test_going_back_and_forth_is_playing_what_remains(name: str, choices: list[int]) -> None:
    game = Game(name)
    for choice in choices:
        if choice < 0:
            if game.ply:
                game.pop()
        elif not game.is_over:
            legal = game.legal_moves()
            game.push(legal[choice % len(legal)])
    replayed = Game(name)
    for move in game.moves:
        replayed.push(str(move))
    assert replayed == game
    assert state(replayed) == state(game)


@pytest.mark.parametrize("name", NAMES)
def test_copies_are_independent_and_keep_the_history(name: str) -> None:
    game = random_game(name, 4, 25)
    before = state(game)
    for twin in (game.copy(), copy.copy(game), copy.deepcopy(game), pickle.loads(pickle.dumps(game))):
        assert twin == game
        assert state(twin) == before
        twin.pop()
        assert twin != game
        twin.pop()
        twin.push(twin.legal_moves()[-1])
        assert state(game) == before
    other = game.copy()
    game.push(game.legal_moves()[0])
    assert state(other) == before


def test_copies_know_what_has_been_repeated() -> None:
    game = Game("english", fen="W:WK1,9:BK32,24:H2")
    for move in ("1-5", "32-28", "5-1", "28-32", "1-5", "32-28", "5-1"):
        game.push(move)
    for twin in (game.copy(), copy.deepcopy(game), pickle.loads(pickle.dumps(game))):
        assert (twin.quiet, twin.repeats) == (9, 1)
        twin.push("28-32")
        assert twin.outcome() == Outcome(None, Reason.REPETITION)
    assert not game.is_over


def test_games_differ_by_history_and_start() -> None:
    one, two = Game("english"), Game("english")
    for move in ("12-16", "24-20", "9-13"):
        one.push(move)
    for move in ("9-13", "24-20", "12-16"):
        two.push(move)
    assert one.position == two.position
    assert one != two
    assert Game("english") != Game("english", fen="W:W21-32:B1-12")
    assert Game("russian") != Game("brazilian")
    assert Game("english", fen="W:WK1:BK32") != Game("english", fen="W:WK1:BK32:H1")
    assert Game("english") != "game"
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)


@pytest.mark.parametrize("name", NAMES)
def test_key_history_is_the_window_since_the_last_irreversible_move(name: str) -> None:
    rng = random.Random(2)
    for _ in range(5):
        game = Game(name)
        since = 0
        while not game.is_over:
            before = game.position
            move = rng.choice(game.legal_moves())
            piece = before.piece_at(move.origin)
            assert piece is not None
            game.push(move)
            since = 0 if move.is_capture or not piece[1] else since + 1
            assert game.quiet == since
            keys = game.key_history
            assert keys.dtype.name == "uint64"
            assert keys.tolist() == [position.key for position in game.positions[-1 - since :]]


def test_key_history_starts_with_the_game_when_the_clock_does_not() -> None:
    game = Game("english", fen="W:WK1,9:BK32,24:H30")
    assert len(game.key_history) == 1
    game.push("1-5")
    assert len(game.key_history) == 2
    game.push("24-27")
    assert len(game.key_history) == 1


@pytest.mark.parametrize("name", NAMES)
def test_random_games_end_for_a_reason(name: str) -> None:
    reasons = set()
    for seed in range(60):
        game = random_game(name, seed)
        outcome = game.outcome()
        assert outcome is not None
        reasons.add(outcome.reason)
        loser_has = game.position.men_and_kings(game.turn)
        if outcome.winner:
            assert outcome.winner != game.turn
            assert game.legal_moves() == []
            assert (outcome.reason is Reason.NO_PIECES) == (loser_has == (0, 0))
        else:
            assert game.legal_moves()
        with pytest.raises(GameOverError, match="the game is over"):
            game.push("1-5")
    assert len(reasons) >= 2


def test_outcomes_read_well() -> None:
    assert str(Outcome("black", Reason.NO_MOVES)) == "black wins (no moves)"
    assert str(Outcome(None, Reason.REPETITION)) == "draw (threefold repetition)"
    assert Reason("no moves") is Reason.NO_MOVES
    assert f"{Reason.NO_MOVES}" == "no moves"


def test_from_position() -> None:
    position = Position.from_fen("W:WK1,9:BK32,24", "english")
    game = Game.from_position(position, quiet=4)
    assert game.position is position
    assert game == Game("english", fen="W:WK1,9:BK32,24:H4")


def test_repr() -> None:
    assert repr(Game("english")) == "<Game of english: 0 plies, B:W21-32:B1-12>"
