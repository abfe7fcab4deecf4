"""Draw offers, what follows from declining one, resignation, counting; and that taking back restores all of it."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Iterator

import pytest
from cases import NAMES

from draughts_env import Game, GameOverError, Move, OfferError, Outcome, Position, Reason
from draughts_env.offers import decisive_advantage, lead
from draughts_env.variants import Color

SHUFFLE = "B:W32,K25:B1,K4"  # 1 and 32 are far apart: room for kings to walk


def never(position: Position, color: Color, refused: Position) -> bool:
    return False


def always(position: Position, color: Color, refused: Position) -> bool:
    return True


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("color", ["black", "white", None])
def test_an_accepted_offer_draws(name: str, color: Color | None) -> None:
    game = Game(name)
    side = game.turn
    game.offer_draw(color)
    assert game.draw_offer == (color or side)
    assert game.accept_draw() == Outcome(None, Reason.AGREEMENT)
    assert game.outcome() == Outcome(None, Reason.AGREEMENT)
    with pytest.raises(GameOverError, match="agreement"):
        game.push(game.legal_moves()[0])
    for act in (game.offer_draw, game.accept_draw, game.decline_draw, game.resign, game.stop):
        with pytest.raises(GameOverError, match="the game is over"):
            act()


def test_what_cannot_be_said() -> None:
    game = Game()
    with pytest.raises(OfferError, match="no draw is offered"):
        game.accept_draw()
    with pytest.raises(OfferError, match="no draw is offered"):
        game.decline_draw()
    with pytest.raises(OfferError, match="'red'"):
        game.offer_draw("red")  # type: ignore[arg-type]
    with pytest.raises(OfferError, match="nobody has"):
        game.reopen()
    game.offer_draw("white")
    with pytest.raises(OfferError, match="White has already offered"):
        game.offer_draw("white")


def test_two_offers_meet() -> None:
    game = Game()
    game.offer_draw("white")
    game.offer_draw("black")
    assert game.outcome() == Outcome(None, Reason.AGREEMENT)


def test_an_offer_stands_until_the_other_side_moves() -> None:
    game = Game()
    game.offer_draw()  # Black's
    game.push("11-15")
    assert game.draw_offer == "black"
    assert game.refusals == ()
    game.push("22-18")
    assert game.draw_offer is None
    [count] = game.refusals
    assert (count.color, count.moves_left) == ("white", 39)
    assert count.position == Game().position.play("11-15")


@pytest.mark.parametrize("decliner", ["black", "white"])
@pytest.mark.parametrize("by_playing_on", [False, True])
def test_the_decliner_has_forty_moves_of_its_own(decliner: Color, by_playing_on: bool) -> None:
    game = Game("english", "W:WK1,K2,30:BK32,K31,3", never)
    moves = quiet_line(game)
    if by_playing_on and game.turn != decliner:
        game.push(next(moves))
    game.offer_draw("white" if decliner == "black" else "black")
    if not by_playing_on:
        game.decline_draw()
    own = 0
    while not game.is_over:
        own += game.turn == decliner
        game.push(next(moves))
        assert (game.outcome() is not None) == (own == 40), (own, game.outcome())
    assert game.outcome() == Outcome(None, Reason.REFUSAL)
    assert str(game.outcome()) == "draw (draw refused, no advantage in 40 moves)"


def quiet_line(game: Game) -> Iterator[Move]:
    """More than 80 plies without a capture that no other rule ends: both men move once, no position comes twice."""
    for seed in range(100):
        chance, trial = random.Random(seed), Game.from_position(game.position)
        while not trial.is_over and trial.ply < 85:
            quiet = [m for m in trial.legal_moves() if not captured_next(trial, m)]
            if not quiet:
                break
            trial.push(chance.choice(quiet))
        if trial.ply == 85:
            return iter(trial.moves)
    raise AssertionError("no such line")


def captured_next(game: Game, move: Move) -> bool:
    """Whether the move, or the best answer to it, is a capture; or leads to a position seen before."""
    after = game.position.play(move)
    return move.is_capture or after in game.positions or any(m.is_capture for m in after.legal_moves())


def test_other_variants_bind_nobody() -> None:
    for name in NAMES:
        game = Game(name)
        game.offer_draw("white")
        game.decline_draw()
        assert bool(game.refusals) == (name == "english")
        assert game.draw_offer is None


def test_a_count_is_not_started_anew() -> None:
    game = Game("english", SHUFFLE, never)
    game.offer_draw("white")
    game.decline_draw()
    game.push("4-8")
    game.push("25-22")
    game.offer_draw("white")
    game.decline_draw()
    assert [(r.color, r.moves_left) for r in game.refusals] == [("black", 39)]
    game.offer_draw("black")
    game.decline_draw()
    assert [(r.color, r.moves_left) for r in game.refusals] == [("black", 39), ("white", 40)]


def test_an_advantage_ends_the_count() -> None:
    game = Game("english", SHUFFLE, always)
    game.offer_draw("white")
    game.decline_draw()
    assert game.refusals
    game.push("4-8")
    assert game.refusals == ()
    game.pop()
    assert game.refusals


@pytest.mark.parametrize(
    ("refused", "now", "black", "white"),
    [
        ("W:W32,31:B1,2", "W:W32,31:B1,2", False, False),
        ("W:W32,31:B1,2", "W:W32:B1,2", True, False),  # the lead has grown
        ("W:W32:B1,2", "W:W32:B1,2", False, False),  # it has not
        ("W:W32:B1,2,3", "W:W32:B1,2,3", True, False),  # two men ahead: clear, however it was before
        ("W:W32,31:B1,2", "W:W32,31:B1,K2", True, False),  # a king is worth a man and a half
        ("W:W32:B1,2", "W:WK32:B1,2", False, True),
        ("W:W32,31:B1,2", "W:W18,31:B15", False, False),  # White has yet to take back: not settled
        ("B:W32:B1", "B:W32:B1", False, False),
    ],
)
def test_the_default_advantage(refused: str, now: str, black: bool, white: bool) -> None:
    before, after = Position.from_fen(refused), Position.from_fen(now)
    assert decisive_advantage(after, "black", before) is black
    assert decisive_advantage(after, "white", before) is white


def test_a_flying_king_is_worth_three_men() -> None:
    assert lead(Position.from_fen("W:WK1:B20,25", "international"), "white") == 1
    assert lead(Position.from_fen("W:WK1:B20,25", "english"), "white") == -0.5


def test_winning_comes_before_the_count() -> None:
    game = Game("english", "B:W18:B14,1", never)
    game.offer_draw("white")
    game.decline_draw()
    game.push("14x23")
    assert game.outcome() == Outcome("black", Reason.NO_PIECES)


@pytest.mark.parametrize("color", ["black", "white", None])
def test_resignation(color: Color | None) -> None:
    game = Game()
    outcome = game.resign(color)
    assert outcome == game.outcome() == Outcome("black" if color == "white" else "white", Reason.RESIGNATION)
    game.reopen()
    assert game == Game()


@pytest.mark.parametrize(
    ("fen", "winner"),
    [
        ("W:W32,31:B1", "white"),
        ("W:W32:B1,2", "black"),
        ("W:W32,31:B1,K2", "black"),  # as many pieces, more kings
        ("W:WK32:B1,2", "black"),  # pieces come first
        ("W:W32,K31:B1,K2", None),
    ],
)
def test_counting(fen: str, winner: Color | None) -> None:
    game = Game("english", fen)
    assert game.count() == winner
    assert not game.is_over
    assert game.stop() == game.outcome() == Outcome(winner, Reason.COUNT)
    game.reopen()
    assert not game.is_over


def test_reopening_finds_the_offer_again() -> None:
    game = Game()
    game.offer_draw("white")
    game.accept_draw()
    game.reopen()
    assert game.draw_offer == "white"
    assert not game.is_over


def test_a_pop_takes_back_what_was_said_since() -> None:
    game = Game()
    game.offer_draw("white")
    before = game.copy()
    game.push("11-15")
    game.offer_draw("black")
    game.resign()
    game.pop()
    assert game == before
    assert game.draw_offer == "white"


@pytest.mark.parametrize("name", NAMES)
def test_push_and_pop_give_an_equal_game(name: str) -> None:
    chance = random.Random(name)
    for _ in range(8):
        game = Game(name, None, never if chance.random() < 0.5 else decisive_advantage)
        snapshots = []
        while not game.is_over and game.ply < 90:
            babble(game, chance)
            snapshots.append(game.copy())
            if not game.is_over:
                game.push(chance.choice(game.legal_moves()))
        assert pickle.loads(pickle.dumps(game)) == game == copy.deepcopy(game)
        while snapshots:
            expected = snapshots.pop()
            while game.ply > expected.ply:
                game.pop()
            assert game == expected
            assert game.draw_offer == expected.draw_offer
            assert game.refusals == expected.refusals
            assert game.outcome() == expected.outcome()


def babble(game: Game, chance: random.Random) -> None:
    """Say something, sometimes."""
    if chance.random() < 0.3:
        if game.draw_offer is None:
            game.offer_draw(chance.choice(["black", "white"]))
        elif chance.random() < 0.7:
            game.decline_draw()
    if chance.random() < 0.01:
        chance.choice([game.resign, game.stop])()


def test_copies_do_not_share_what_is_said() -> None:
    game = Game()
    twin = game.copy()
    twin.offer_draw()
    assert game.draw_offer is None
    assert game != twin
