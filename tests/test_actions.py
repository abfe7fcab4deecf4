"""Action ids: in range, distinct, exact both ways, in the mover's frame."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from cases import NAMES, random_positions

from draughts_env import ActionError, Game, IllegalMoveError, Move, Position, VariantError, action_space

SHORT_KINGS = ["english"]


def many_kings(name: str, count: int) -> list[Position]:
    """Positions of a few flying kings of one side among many scattered men: captures that share their ends."""
    rng = random.Random(7)
    found = []
    start = Position.start(name)
    board = start.geometry
    inner = [s for s in range(1, board.squares + 1) if all(0 < x < board.size - 1 for x in board.row_column(s))]
    while len(found) < count:
        victims = rng.sample(inner, rng.randint(3, len(inner) // 3))
        free = [s for s in range(1, board.squares + 1) if s not in victims]
        kings = board.mask(rng.sample(free, rng.randint(1, 4)))
        men = board.mask(victims)
        white, black, turn = rng.choice([(kings, men, "white"), (men, kings, "black")])
        found.append(Position(name, white, black, kings, turn))
    return found


def check_exact(position: Position) -> None:
    space = action_space(position.variant)
    legal = position.legal_moves()
    actions = space.legal(position).tolist()
    assert len(set(actions)) == len(legal)
    assert all(0 <= action < space.n for action in actions)
    sample = range(len(legal)) if len(legal) < 20 else range(0, len(legal), len(legal) // 10)
    for n in sample:
        assert space.encode(position, legal[n]) == actions[n]
        assert space.decode(position, actions[n]) == legal[n]
    mask = space.mask(position)
    assert mask.shape == (space.n,)
    assert mask.dtype == np.int8
    assert np.flatnonzero(mask).tolist() == sorted(actions)


@pytest.mark.parametrize("name", NAMES)
def test_ids_are_exact(name: str) -> None:
    for position in random_positions(name, 1000):
        check_exact(position)


@pytest.mark.parametrize("name", NAMES)
def test_ids_are_exact_with_many_kings(name: str) -> None:
    shared = 0
    for position in many_kings(name, 300):
        check_exact(position)
        pairs = Counter((move.origin, move.target) for move in position.legal_moves())
        shared += max(pairs.values(), default=0) > 1
    assert shared >= 3 or name in SHORT_KINGS


@pytest.mark.parametrize("name", NAMES)
def test_ids_are_in_the_movers_frame(name: str) -> None:
    space = action_space(name)
    for position in random_positions(name, 500) + many_kings(name, 50):
        twin = position.turned()
        last = position.geometry.squares + 1
        for move, action in zip(position.legal_moves(), space.legal(position).tolist()):
            image = Move(last - move.origin, last - move.target, (last - s for s in move.captured))
            assert space.decode(twin, action) == image


@pytest.mark.parametrize("name", SHORT_KINGS)
def test_short_kings_each_id_means_one_move(name: str) -> None:
    space = action_space(name)
    meaning: dict[int, Move] = {}
    for position in random_positions(name, 2000):
        last = position.geometry.squares + 1
        for move, action in zip(position.legal_moves(), space.legal(position).tolist()):
            seen = move
            if position.turn == "black":
                seen = Move(last - move.origin, last - move.target, (last - s for s in move.captured))
            assert meaning.setdefault(action, seen) == seen
    assert len(set(meaning.values())) == len(meaning)


def test_english_has_98_steps_and_936_captures() -> None:
    space = action_space("english")
    assert space.n == 98 + 936
    steps: set[int] = set()
    captures: set[int] = set()
    for position in random_positions("english", 2000):
        for move, action in zip(position.legal_moves(), space.legal(position).tolist()):
            (captures if move.is_capture else steps).add(action)
    assert max(steps) < 98 <= min(captures)


def test_each_of_the_98_steps_is_some_kings_move() -> None:
    space = action_space("english")
    found: set[int] = set()
    for square in range(1, 33):
        position = Position.from_fen(f"W:WK{square}:B", "english")
        found.update(space.legal(position).tolist())
    assert found == set(range(98))


def test_286_captures_at_once() -> None:
    crowded = Position.from_fen("W:WK4,K5,K6,K46:B7,8,11,13,19,20,29,30,33,38,41,42", "international")
    assert len(crowded.legal_moves()) == 286
    check_exact(crowded)
    check_exact(crowded.turned())


def test_start_masks() -> None:
    assert action_space("english").mask(Position.start("english")).sum() == 7
    assert action_space("international").mask(Position.start("international")).sum() == 9


def test_a_finished_game_has_no_actions() -> None:
    assert not action_space("english").mask(Position.from_fen("W:W5:B1", "english")).any()


def test_errors() -> None:
    space = action_space("english")
    position = Position.start("english")
    for action in (-1, space.n, 10**9):
        with pytest.raises(ActionError, match="out of range"):
            space.decode(position, action)
    illegal = int(np.flatnonzero(space.mask(position) == 0)[0])
    with pytest.raises(ActionError, match="no legal move"):
        space.decode(position, illegal)
    with pytest.raises(IllegalMoveError):
        space.encode(position, Move(1, 5))
    with pytest.raises(ActionError):
        space.mask(Position.start("russian"))
    with pytest.raises(VariantError):
        action_space("chess")


def test_one_space_per_variant() -> None:
    assert action_space("english") is action_space("english")
    assert action_space("polish").n == action_space("international").n


@pytest.mark.parametrize("name", NAMES)
def test_random_games_by_action(name: str) -> None:
    space = action_space(name)
    rng = random.Random(3)
    for _ in range(5):
        game = Game(name)
        while not game.is_over:
            action = rng.choice(np.flatnonzero(space.mask(game.position)).tolist())
            game.push(space.decode(game.position, action))
