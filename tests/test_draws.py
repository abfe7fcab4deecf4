"""Draws by rule: the published games, and what starts, stops, shortens and outranks the counts."""

from __future__ import annotations

from typing import Any

import pytest
from cases import NAMES, rows

from draughts_env import Game, GameOverError, Outcome, Reason

ROWS = [pytest.param(row, id=row["id"]) for row in rows("draws.jsonl")]
#: The rule each row is about. DR-08: FMJD's text, by which a capture does not prolong the 16 moves.
REASONS = {
    "DR-01": Reason.QUIET_LIMIT,
    "DR-04": Reason.ENDING_LIMIT,
    "DR-06": Reason.ENDING_LIMIT,
    "DR-07": Reason.ENDING_LIMIT,
    "DR-08": Reason.ENDING_LIMIT,
    "DR-09": Reason.QUIET_LIMIT,
    "DR-10": Reason.REPETITION,
    "DR-11": Reason.REPETITION,
}


@pytest.mark.parametrize("row", ROWS)
def test_row(row: dict[str, Any]) -> None:
    game = Game(row["variant"], fen=row["fen"])
    states = {item["after_ply"]: item["state"] for item in row["expect"]}
    drawn_at = min(ply for ply, state in states.items() if state == "draw")
    for ply, move in enumerate(row["moves"], start=1):
        game.push(move)
        if ply == drawn_at:
            break
        assert game.outcome() is None, ply
    assert game.outcome() == Outcome(None, REASONS[row["id"]])
    assert game.is_over
    with pytest.raises(GameOverError):
        game.push(game.legal_moves()[0])
    game.pop()
    assert game.outcome() is None
    game.push(row["moves"][drawn_at - 1])
    assert game.is_over


def play(game: Game, *moves: str) -> Game:
    for move in moves:
        game.push(move)
    return game


# --- losing comes first -------------------------------------------------------------------------------


def test_a_win_on_the_last_quiet_ply_is_a_win() -> None:
    game = Game("english", fen="W:WK22,K30:B21:H79")
    game.push("22-25")
    assert game.quiet == 80
    assert game.outcome() == Outcome("white", Reason.NO_MOVES)


def test_one_ply_later_it_would_be_a_draw() -> None:
    game = Game("english", fen="W:WK23,K30:B21:H79")
    game.push("23-26")
    assert game.outcome() == Outcome(None, Reason.QUIET_LIMIT)


def test_a_win_on_the_last_ply_of_an_ending_is_a_win() -> None:
    game = Game("international", fen="W:WK11:BK1")
    play(game, "11-22", "1-34", "22-4", "34-43", "4-18", "43-48", "18-9", "48-26", "9-31")
    assert game.ending == 1
    play(game, "26x48")
    assert game.ply == 10
    assert game.outcome() == Outcome("black", Reason.NO_PIECES)


def test_a_blocked_start_is_lost_at_once() -> None:
    game = Game("english", fen="W:W5:B1")
    assert game.outcome() == Outcome("black", Reason.NO_MOVES)
    assert Game("english", fen="W:W:B1").outcome() == Outcome("black", Reason.NO_PIECES)
    with pytest.raises(GameOverError):
        game.push("5-1")


def test_taking_the_last_piece_wins() -> None:
    game = play(Game("english", fen="W:W10:B7"), "10x3")
    assert game.outcome() == Outcome("white", Reason.NO_PIECES)
    assert str(game.outcome()) == "white wins (no pieces)"


# --- the quiet clock ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "plies"), [("english", 80), ("international", 50), ("russian", 30), ("brazilian", 40)]
)
def test_quiet_limits(name: str, plies: int) -> None:
    fen, move = "W:WK1,13:BK32,20", "1-6"
    if name == "international":
        fen, move = "W:WK46,K47,36:BK5,K4,15", "47-29"
    for ahead in (2, 1):
        game = play(Game(name, fen=f"{fen}:H{plies - ahead}"), move)
        assert game.quiet == plies - ahead + 1
        assert game.is_over == (ahead == 1)


def test_a_man_move_and_a_capture_reset_the_clock() -> None:
    game = Game("english", fen="W:WK29,9:BK4,24:H50")
    play(game, "29-25", "4-8")
    assert game.quiet == 52
    play(game, "9-6")
    assert game.quiet == 0
    game = Game("english", fen="W:WK18,K1:BK14,K32:H50")
    play(game, "18x9")
    assert game.quiet == 0


def test_a_clock_already_full_is_a_draw() -> None:
    assert Game("english", fen="W:WK1:BK32:H80").outcome() == Outcome(None, Reason.QUIET_LIMIT)
    assert Game("english", fen="W:WK1:BK32:H79").outcome() is None


# --- repetition ---------------------------------------------------------------------------------------


def test_repeats_are_counted_from_the_start_position() -> None:
    game = Game("english", fen="W:WK1,9:BK32,24")
    assert game.repeats == 0
    play(game, "1-5", "32-28", "5-1", "28-32")
    assert game.repeats == 1
    assert game.outcome() is None
    play(game, "1-5")
    assert game.repeats == 1
    play(game, "32-28", "5-1")
    assert game.repeats == 1
    play(game, "28-32")
    assert game.repeats == 2
    assert game.outcome() == Outcome(None, Reason.REPETITION)


def test_the_side_to_move_makes_a_difference() -> None:
    # White takes three moves to come back, Black two: the same pieces, but the other side is to move
    game = play(Game("international", fen="W:WK36:BK5"), "36-31", "5-46", "31-27", "46-5", "27-36")
    assert (game.position.white, game.position.black) == (game.start.white, game.start.black)
    assert game.position != game.start
    assert game.position.key != game.start.key
    assert game.repeats == 0


# --- small endings ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "fen", "ending"),
    [
        ("international", "W:WK1,K2,K3:BK50", 32),
        ("international", "W:WK11,12,13:BK50", 32),
        ("international", "B:WK50:BK1,2,3", 32),
        ("international", "W:W11,12,13:BK50", -1),  # no king among the three
        ("international", "W:WK1,K2,K3:B40", -1),  # the single piece is a man
        ("international", "W:WK1,K2,K3,K4:BK50", -1),
        ("international", "W:WK1,12:BK50", 10),
        ("international", "W:WK1:BK50", 10),
        ("international", "W:W12:BK50", -1),
        ("russian", "W:WK1,K2,K3:BK32", 30),
        ("russian", "W:WK1:BK32", 10),
        ("brazilian", "W:WK1,K2,K3:BK32", -1),
        ("brazilian", "W:WK1:BK32", 10),
        ("english", "W:WK1:BK32", -1),
    ],
)
def test_an_ending_begins_with_all_its_plies(name: str, fen: str, ending: int) -> None:
    assert Game(name, fen=fen).ending == ending


def test_an_ending_begins_with_the_move_that_leads_to_it() -> None:
    game = Game("international", fen="W:WK46,6:BK5,37")
    assert game.ending == -1
    play(game, "46x28")
    assert game.ending == 10
    game.pop()
    assert game.ending == -1


def test_a_capture_in_the_ending_can_only_shorten_it() -> None:
    row = next(row for row in rows("draws.jsonl") if row["id"] == "DR-08")
    game = Game(row["variant"], fen=row["fen"])
    left = []
    for move in row["moves"][:31]:
        game.push(move)
        left.append(game.ending)
    assert left == list(range(31, 0, -1))  # 2 v 1 from ply 26 on, when fewer than 10 plies are left
    early = Game("international", fen="B:WK46,K47,K28:BK5")
    assert early.ending == 32
    early.push(next(m for m in early.legal_moves() if m.captured == {28}))
    assert early.ending == 10


@pytest.mark.parametrize("name", NAMES)
def test_crowning_starts_an_ending(name: str) -> None:
    game = Game(name, fen="W:W7:BK32" if name != "international" else "W:W7:BK50")
    game.push(game.legal_moves()[0])
    assert game.ending == (-1 if name == "english" else 10)
