"""Opening decks: what ships, how it was made, files, drawing, and matches played from cards."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from cases import NAMES
from typer.testing import CliRunner

from agents.arena import play_match
from agents.arena.ballots import ballots
from draughts_env import Game, Position
from draughts_env.errors import OpeningError
from draughts_env.openings import deck, decks, draw_cards, read_cards
from draughts_play.cli import app

SIZES = {
    ("english", "two-move"): 47,
    ("english", "three-move"): 174,
    ("international", "two-move"): 79,
    ("russian", "three-move"): 155,
    ("brazilian", "three-move"): 155,
}
#: Cards that the ACF deck of 156 leaves out although no man is lost by force within our search: found lost by analysis.
FOUND_LOST = (
    "9-13 21-17 10-14",
    "9-13 23-18 10-14",
    "9-13 24-20 12-16",
    "9-14 22-18 12-16",
    "9-14 22-18 14-17",
    "9-14 23-19 10-15",
    "9-14 24-19 10-15",
    "10-14 24-19 11-15",
    "10-15 21-17 9-14",
    "10-15 22-17 9-14",
    "10-15 24-20 11-16",
    "11-15 21-17 10-14",
    "11-16 21-17 10-14",
    "11-16 22-18 10-15",
    "11-16 24-19 10-15",
    "12-16 23-18 9-14",
    "12-16 23-19 16x23",
)


def after(opening: str, name: str = "english") -> Position:
    game = Game(name)
    for move in opening.split():
        game.push(move)
    return game.position


def test_every_variant_has_a_deck() -> None:
    assert {(name, d) for name in NAMES for d in decks(name)} == set(SIZES)


@pytest.mark.parametrize(("name", "which"), SIZES)
def test_decks(name: str, which: str) -> None:
    cards = deck(name, which)
    assert len(cards) == SIZES[name, which]
    assert len({after(" ".join(card), name) for card in cards}) == len(cards)
    assert {len(card) for card in cards} == {2 if which == "two-move" else 3}
    assert deck(name, f" {which.upper()} ") == cards


@pytest.mark.parametrize(
    ("name", "plies", "positions"), [("english", 2, 49), ("english", 3, 216), ("international", 2, 81)]
)
def test_the_decks_can_be_made_again(name: str, plies: int, positions: int) -> None:
    cards, before = ballots(name, plies, depth=7)
    assert before == positions
    assert tuple(cards) == deck(name, "two-move" if plies == 2 else "three-move")


def test_what_the_acf_deck_leaves_out_is_here() -> None:
    positions = {after(" ".join(card)) for card in deck("english", "three-move")}
    left_out = {after(opening) for opening in FOUND_LOST}
    assert len(left_out) == len(FOUND_LOST)
    assert left_out < positions


def test_cards_are_read_from_files(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_bytes(
        b"\xef\xbb\xbf# mine\r\n1. 11-15 24-20\r\n\r\n 1.11-15 23-19 2. 8-11 # the Glasgow, almost\r\nb6-a5\r\n"
    )
    assert deck("english", str(file)) == (("11-15", "24-20"), ("11-15", "23-19", "8-11"), ("9-13",))
    assert deck("polish", "two-move") == deck("international", "two-move")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no cards"),
        ("# nothing\n\n", "has no cards"),
        ("11-15\n11-15 24-19 99-1", "line 2: .* cannot be played: 99"),
        ("11-15 hello", "line 1: .*hello"),
    ],
)
def test_bad_cards(text: str, message: str) -> None:
    with pytest.raises(OpeningError, match=message):
        read_cards(text, "english")


def test_unknown_decks(tmp_path: Path) -> None:
    with pytest.raises(OpeningError, match="there are: three-move, two-move"):
        deck("english", "four-move")
    with pytest.raises(OpeningError, match="neither a deck"):
        deck("english", str(tmp_path))
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(OpeningError, match="neither a deck"):
        deck("english", str(tmp_path / "binary"))


def test_drawing() -> None:
    cards = deck("english", "three-move")
    assert draw_cards(cards, 5, 1) == draw_cards(cards, 5, 1) != draw_cards(cards, 5, 2)
    assert sorted(draw_cards(cards, 174)) == sorted(cards)
    assert len(draw_cards(cards, 400)) == 400
    assert draw_cards(cards, 0) == []
    for count, of in ((-1, cards), (1, ())):
        with pytest.raises(OpeningError):
            draw_cards(of, count)


def test_each_card_is_played_twice_with_colours_swapped() -> None:
    cards = draw_cards(deck("english", "three-move"), 3, 7)
    result = play_match("random", "random", "english", 6, openings=cards)
    assert [game.opening for game in result.games] == [card for card in cards for _ in range(2)]
    assert [game.a_color for game in result.games] == ["black", "white"] * 3
    won, tied, lost = result.cards
    assert won == sum(s > 0.5 for s in result.pair_scores)
    assert tied == sum(s == 0.5 for s in result.pair_scores)
    assert won + tied + lost == 3


Draughts = Callable[..., tuple[int, str]]


@pytest.fixture
def draughts() -> Draughts:
    def call(*arguments: str) -> tuple[int, str]:
        result = CliRunner().invoke(app, arguments)
        return result.exit_code, result.output

    return call


def test_the_command_lists_and_draws(draughts: Draughts, tmp_path: Path) -> None:
    status, text = draughts("openings", "list")
    assert status == 0
    assert len(text.splitlines()) == 174
    assert text.splitlines()[0].split() == ["1", "9-13", "21-17", "5-9"]
    status, text = draughts("openings", "draw", "-v", "international", "-n", "3", "--seed", "1")
    assert status == 0
    assert len(text.splitlines()) == 3
    assert draughts("openings", "draw", "-v", "international", "-n", "3", "--seed", "1") == (0, text)


def test_the_match_command_takes_cards(draughts: Draughts, tmp_path: Path) -> None:
    file = tmp_path / "cards"
    file.write_text("11-15 24-20\n9-14 22-18\n")
    status, text = draughts("match", "random", "alphabeta:depth=1", "--openings", str(file))
    assert status == 0
    assert "4 games in pairs from 2 openings" in text
    assert "cards (two games each, better total wins): won 0, tied 0, lost 2" in text
    status, text = draughts("match", "random", "random", "-o", "three-move", "-n", "4")
    assert "4 games in pairs from 2 openings" in text
