"""Observations: every plane by one-piece positions, the clocks, the mover's frame, and what a state must show."""

from __future__ import annotations

import random

import numpy as np
import pytest

from draughts_env import PLANES, Game, Position, PositionError, action_space, observation_shape, observe
from draughts_env.observation import observe_position
from draughts_env.variants import ENGLISH, INTERNATIONAL, VARIANTS, Variant

#: Only kings: clocks run and positions come back.
KINGS = {
    "english": "W:WK1,K5,K23:BK32,K28",
    "international": "W:WK46,K47,K48:BK5",
    "russian": "W:WK29,K30,K31:BK4",
    "brazilian": "W:WK29,K30:BK4",
}


def plane(observation: np.ndarray, name: str) -> np.ndarray:
    return observation[PLANES.index(name)]


def single(of: Variant, square: int, color: str, king: bool, turn: str) -> Position:
    bit = 1 << of.geometry.bit_of[square]
    return Position(of, bit if color == "white" else 0, bit if color == "black" else 0, bit if king else 0, turn)


@pytest.mark.parametrize("of", VARIANTS, ids=str)
def test_each_piece_plane_by_one_piece_positions(of: Variant) -> None:
    board = of.geometry
    for square in range(1, board.squares + 1):
        for color in ("white", "black"):
            for turn in ("white", "black"):
                for king in (False, True):
                    seen = observe_position(single(of, square, color, king, turn))
                    name = ("own " if color == turn else "opponent's ") + ("kings" if king else "men")
                    # the mover's frame: Black sees the board turned, so that its square s lies where s' does for White
                    place = square - 1 if turn == "white" else board.squares - square
                    expected = np.zeros((4, board.squares), np.float32)
                    expected[PLANES.index(name), place] = 1
                    assert np.array_equal(seen[:4].reshape(4, -1), expected), (square, color, turn, king)


@pytest.mark.parametrize("of", VARIANTS, ids=str)
def test_shape_type_and_start(of: Variant) -> None:
    seen = observe(Game(of))
    assert seen.shape == observation_shape(of) == (8, of.size, of.size // 2)
    assert seen.dtype == np.float32
    men = of.rows_of_men
    assert plane(seen, "own men")[-men:].all()
    assert not plane(seen, "own men")[:-men].any()
    assert plane(seen, "opponent's men")[:men].all()
    assert not plane(seen, "opponent's men")[men:].any()
    for name in ("own kings", "opponent's kings", "quiet clock", "ending clock", "earlier occurrences"):
        assert not plane(seen, name).any()


@pytest.mark.parametrize("of", VARIANTS, ids=str)
def test_row_parity_says_which_neighbours_are_diagonal(of: Variant) -> None:
    parity = plane(observe(Game(of)), "row parity")
    for square in range(1, of.geometry.squares + 1):
        row, place = divmod(square - 1, of.geometry.half)
        # at parity 0 the row below holds the neighbours at the same place and the next, at parity 1 that before
        other = place + (1 if parity[row, place] == 0 else -1)
        column = of.geometry.row_column(square)[1]
        for near in (place, other):
            if row + 1 < of.size and 0 <= near < of.geometry.half:
                below = of.geometry.row_column((row + 1) * of.geometry.half + near + 1)
                assert abs(below[1] - column) == 1


@pytest.mark.parametrize("of", VARIANTS, ids=str)
def test_every_value_of_every_clock_shows(of: Variant) -> None:
    position = Game(of, KINGS[of.name]).position
    limit = of.draws.quiet_plies
    quiet = [plane(observe_position(position, quiet=q), "quiet clock") for q in range(limit + 1)]
    assert all(np.ptp(p) == 0 for p in quiet)
    assert [p[0, 0] for p in quiet] == [np.float32(q / limit) for q in range(limit + 1)]
    longest = max(of.draws.three_v_one_plies or 0, of.draws.two_v_one_plies or 0)
    values = [plane(observe_position(position, ending=left), "ending clock") for left in range(-1, longest + 1)]
    assert all(np.ptp(p) == 0 for p in values)
    numbers = [float(p[0, 0]) for p in values]
    assert numbers[0] == 0.0  # not begun: unlike begun with all plies left
    assert len(set(numbers)) == len(numbers)
    if longest:
        assert numbers[1] == 1.0
        assert numbers[1:] == sorted(numbers[1:], reverse=True)
    repeats = [plane(observe_position(position, repeats=n), "earlier occurrences") for n in range(3)]
    assert [p.min() for p in repeats] == [p.max() for p in repeats] == [0.0, 0.5, 1.0]


@pytest.mark.parametrize("of", VARIANTS, ids=str)
def test_colours_see_the_same_game_alike(of: Variant) -> None:
    """MC-09: turning the board and swapping the colours changes neither observation nor actions."""
    rng = random.Random(5)
    space = action_space(of)
    for _ in range(5):
        game = Game(of)
        while not game.is_over:
            position = game.position
            turned = position.turned()
            assert np.array_equal(observe_position(position), observe_position(turned))
            assert set(space.legal(position)) == set(space.legal(turned))
            game.push(rng.choice(game.legal_moves()))


def test_view_from_the_other_side() -> None:
    game = Game(ENGLISH)
    game.push("11-15")
    seen = observe(game, view="black")
    assert plane(seen, "own men").sum() == 12
    assert plane(seen, "own men")[-4, 1] == 1  # 15 as Black sees it: the fourth row from below
    assert np.array_equal(observe(game), observe(game, view="white"))


@pytest.mark.parametrize("of", VARIANTS, ids=str)
def test_markov_equal_observations_mean_equal_states(of: Variant) -> None:
    """States with equal observations have the same legal actions, clocks and number of occurrences."""
    rng = random.Random(11)
    space = action_space(of)
    known: dict[bytes, tuple[object, ...]] = {}
    states = again = 0
    for number in range(40):
        game = Game(of, KINGS[of.name] if number % 2 else None)
        while not game.is_over:
            state = (frozenset(space.legal(game.position).tolist()), game.quiet, game.ending, game.repeats)
            seen = observe(game).tobytes()
            again += seen in known
            assert known.setdefault(seen, state) == state
            states += 1
            game.push(rng.choice(game.legal_moves()))
    assert len(known) < states == len(known) + again  # some states did come up twice


def test_distance_to_a_draw_shows() -> None:
    """The same board, the same side to move: after shuffling, only the clocks and the count tell it apart."""
    game = Game(ENGLISH, "W:WK1,9:BK32,24")
    first = observe(game)
    for move in ("1-5", "32-28", "5-1", "28-32"):
        game.push(move)
    second = observe(game)
    assert np.array_equal(first[:4], second[:4])
    assert plane(second, "quiet clock")[0, 0] == np.float32(4 / 80)
    assert plane(second, "earlier occurrences")[0, 0] == 0.5


def test_terminal_observation_is_defined() -> None:
    """MC-10."""
    game = Game(ENGLISH, "W:W14:B10")
    game.push("14x7")
    assert game.is_over
    seen = observe(game)
    assert plane(seen, "opponent's men").sum() == 1
    assert not plane(seen, "own men").any()


def test_writing_into_an_array() -> None:
    batch = np.full((3, *observation_shape(INTERNATIONAL)), 7, np.float32)
    game = Game(INTERNATIONAL)
    assert observe(game, out=batch[1]).base is batch
    assert np.array_equal(batch[1], observe(game))
    assert (batch[0] == 7).all()
    assert (batch[2] == 7).all()
    for wrong in (np.zeros((8, 8, 4), np.float32), np.zeros((8, 10, 5)), np.zeros((10, 5, 8), np.float32).T):
        with pytest.raises(PositionError, match="float32"):
            observe(game, out=wrong)
    with pytest.raises(PositionError, match="'red'"):
        observe(game, view="red")  # type: ignore[arg-type]
