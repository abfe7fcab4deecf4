"""FEN: what is read, what is refused and why, what is written."""

from __future__ import annotations

from typing import Any

import pytest
from cases import NAMES, random_positions, rows

from draughts_env import DraughtsError, FenError, Game, Position, VariantError
from draughts_env.errors import quoted
from draughts_env.fen import read

ROWS = {row["id"]: row for row in rows("pdn_cases.jsonl") if row["kind"] == "fen"}


def pieces(position: Position, color: str) -> set[int | str]:
    found: set[int | str] = set()
    for square in range(1, position.geometry.squares + 1):
        piece = position.piece_at(square)
        if piece and piece[0] == color:
            found.add(f"K{square}" if piece[1] else square)
    return found


@pytest.mark.parametrize("name", list(ROWS))
def test_row(name: str) -> None:
    row = ROWS[name]
    expect: dict[str, Any] = row["expect"]
    if not expect["ok"]:  # false, and null for '?', which has no side to move
        with pytest.raises(FenError, match="at column"):
            Position.from_fen(row["input"], row["variant"])
        return
    position = Position.from_fen(row["input"], row["variant"])
    if "same_as" in expect:
        assert position == Position.from_fen(ROWS[expect["same_as"]]["input"], row["variant"])
    else:
        assert position.turn == {"W": "white", "B": "black"}[expect["turn"]]
        assert pieces(position, "white") == set(expect["white"])
        assert pieces(position, "black") == set(expect["black"])
    assert Position.from_fen(position.fen, row["variant"]) == position


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", 1, "begins with the side to move"),
        ("W31,32:B1,2", 1, "begins with the side to move"),
        ("white:W31:B2", 1, "begins with the side to move"),
        ("?:W31:B2", 1, "replace '?' by W or B"),
        ("W:W51:B1", 4, "51 is no square"),
        ("W:W31,0:B1", 7, "0 is no square"),
        ("W:W31,100:B1", 7, "100 is no square"),
        ("W:Wa2:B1", 4, "a2 is no square"),
        ("W:W50-31:B20-1", 4, "50-31 runs backwards"),
        ("W:W40-51:B1", 7, "51 is no square"),
        ("W:W31,31:B20", 7, "second piece on square 31"),
        ("W:W30-33,K32:B20", 10, "second piece on square 32"),
        ("W:W20:B20", 8, "second piece on square 20"),
        ("W:W31;B20", 6, "unexpected ';'"),
        ("W:W31,:B20", 7, "expected a square"),
        ("W:WK:B20", 5, "expected a square"),
        ("W:W31,x:B20", 7, "expected a square"),
        ("W:W31-:B20", 6, "unexpected '-'"),
        ("W:Wa1-c1:B20", 6, "unexpected '-'"),
        ("W:W31:W32", 7, "second part W"),
        ("W:W31:B20:G1", 11, "expected W or B"),
        ("W:W31::B20", 7, "found nothing"),
        ("W:W31:B20:H", 12, "expected a number"),
        ("W:W31:B20:H1:H2", 14, "second part H"),
        ("W:W1:B20", 4, "a white man cannot stand on 1"),
        ("W:W31:B46", 8, "a black man cannot stand on 46"),
        ("W:W31:B45-47", 8, "a black man cannot stand on 46"),
        ("W:W:B", 1, "no piece"),
    ],
)
def test_errors_name_the_place(text: str, column: int, message: str) -> None:
    with pytest.raises(FenError, match="at column") as caught:
        Position.from_fen(text, "international")
    assert message in str(caught.value)
    assert f"at column {column} of {text!r}" in str(caught.value)
    assert isinstance(caught.value, DraughtsError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("text", [None, 7, b"W:W31:B1"])
def test_other_things_than_text(text: Any) -> None:
    with pytest.raises(FenError, match="is text"):
        Position.from_fen(text, "international")


def test_unknown_variant() -> None:
    with pytest.raises(VariantError):
        Position.from_fen("W:W31:B1", "chess")


@pytest.mark.parametrize(
    ("text", "fen"),
    [
        ("W: W31 , K32 : B 1 - 3 , k4 .", "W:W31,K32:B1-3,K4"),
        ("b:b1,2:w31", "B:W31:B1,2"),
        ("W:W31", "W:W31:B"),
        ("W:B1", "W:W:B1"),
        ("W:W28:B", "W:W28:B"),
        ("W:WKa1,b2:Bj10", "W:W41,K46:B5"),
        ("W:WA1:Bkj10", "W:W46:BK5"),
        ("W:W031:B01.", "W:W31:B1"),
        ("W:W31:B20:F12:H3", "W:W31:B20"),
        ("W:WK1,K2,31:BK50,K48", "W:WK1,K2,31:BK48,K50"),
        ("W:W6,7,8,K9,K10,K11,12,13:B1", "W:W6-8,K9-11,12,13:B1"),
        ("\n W:W31:B1 \n", "W:W31:B1"),
    ],
)
def test_other_ways_to_write_it(text: str, fen: str) -> None:
    assert Position.from_fen(text, "international").fen == fen


@pytest.mark.parametrize(
    ("name", "fen"),
    [
        ("english", "B:W21-32:B1-12"),
        ("international", "W:W31-50:B1-20"),
        ("russian", "W:W21-32:B1-12"),
        ("brazilian", "W:W21-32:B1-12"),
    ],
)
def test_start(name: str, fen: str) -> None:
    assert Position.start(name).fen == fen
    assert Position.from_fen(fen, name) == Position.start(name)
    assert Game(name, fen=fen).position == Game(name).position


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_can_be_read(name: str) -> None:
    for position in random_positions(name, 1000):
        assert Position.from_fen(position.fen, name) == position
        assert Position.from_fen(position.fen.lower() + ".", name) == position


def test_names_and_numbers_agree_on_both_boards() -> None:
    for name in ("russian", "international"):
        board = Position.start(name).geometry
        for square in range(1, board.squares + 1):
            by_number = Position.from_fen(f"W:WK{square}:B", name)
            assert Position.from_fen(f"W:WK{board.name(square)}:B", name) == by_number
            assert Position.from_fen(f"W:WK{board.name(square).upper()}", name) == by_number


def test_clocks() -> None:
    found = read("W:WK31:BK20:H7:F12", "international")
    assert (found.quiet, found.move_number) == (7, 12)
    assert read("W:WK31:BK20", "international").quiet == 0
    game = Game("international", fen="W:WK31,40:BK20,5:H7")
    assert game.quiet == 7
    assert game.fen == "W:WK31,40:B5,K20:H7"
    assert game.position.fen == "W:WK31,40:B5,K20"
    assert Game("international", fen=game.fen) == game
    assert Game("international").fen == "W:W31-50:B1-20"


def test_errors_quote_no_more_than_the_part_around_the_place() -> None:
    text = "W:W" + ",".join(["31"] * 10_000)
    with pytest.raises(FenError, match="a second piece on square 31, at column 7 of 'W:W31,31") as caught:
        Position.from_fen(text, "international")
    assert len(str(caught.value)) < 150
    assert quoted("a" * 60) == repr("a" * 60)
    assert quoted("a" * 99 + "b" + "c" * 99, 99) == f"'...{'a' * 30}b{'c' * 29}...'"
    assert quoted("a" * 99 + "b", 99) == f"'...{'a' * 59}b'"
