"""Position and Move: reading moves, telling what is wrong with them, and being good Python objects."""

from __future__ import annotations

import copy
import pickle
import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from cases import NAMES, random_positions

from draughts_env import Game, IllegalMoveError, Move, Position, PositionError, VariantError, variant
from draughts_env.kernels import U, hash_position

PDN_STANDARD = "W:WK47:B14,19,29,31,42"  # IN-22


# --- reading moves ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "11-15",
        "011-015",
        "11x15",
        "11X15",
        "11:15",
        "11*15",
        "11–15",
        "11×15",
        " 11 - 15 ",
        "1115",
        "f6-e5",
        "F6E5",
        "f6:e5",
    ],
)
def test_ways_to_write_a_step(text: str) -> None:
    assert Position.start("english").parse(text) == Move(11, 15)


@pytest.mark.parametrize(
    "text",
    ["47x38x24x13x36", "47x33x24x13x36", "47x24x36", "47 x 38 x 24 x 36", "47-24-36", "c1:e3:h6:f8:a3", "c1h6a3"],
)
def test_ways_to_write_a_capture(text: str) -> None:
    assert Position.from_fen(PDN_STANDARD, "international").parse(text).captured == {19, 29, 31, 42}


@pytest.mark.parametrize("text", ["47x36", "47x38x36", "47x33x36"])
def test_ambiguous_text_is_refused_with_the_full_forms(text: str) -> None:
    position = Position.from_fen(PDN_STANDARD, "international")
    with pytest.raises(IllegalMoveError, match="ambiguous") as caught:
        position.parse(text)
    assert "47x33x24x13x36 or 47x33x20x9x36" in str(caught.value)


def test_text_of_moves() -> None:
    position = Position.from_fen(PDN_STANDARD, "international")
    assert [str(m) for m in position.legal_moves()] == [m.full for m in position.legal_moves()]
    assert {str(m) for m in position.legal_moves()} == {"47x33x24x13x36", "47x33x20x9x36"}
    single = Position.from_fen("W:W12:B8,14,26", "russian").legal_moves()[0]
    assert (str(single), single.full, single.path) == ("12x31", "12x3x17x31", (12, 3, 17, 31))
    assert single.named(8) == "h6:e1"
    assert repr(single) == "<Move 12x3x17x31>"
    step = Position.start("russian").parse("c3-d4")
    assert (str(step), step.full, step.named(8)) == ("22-18", "22-18", "c3-d4")


def test_a_move_that_is_part_of_anothers_path_can_be_written() -> None:
    position = Position.from_fen("W:WK10:B7,14,15,22,23", "english")  # EN-08
    assert position.parse("10x3").captured == {7}
    assert position.parse("10x19x26x17x10x3").captured == {7, 14, 15, 22, 23}


@pytest.mark.parametrize(
    ("name", "fen", "text", "message"),
    [
        ("english", None, "", "not understood"),
        ("english", None, "hello", "not understood"),
        ("english", None, "11-15!", "not understood"),
        ("english", None, "11", "names one square only"),
        ("english", None, "11-33", "33 in '11-33' is no square of this board: squares run from 1 to 32"),
        ("english", None, "0-5", "0 in '0-5' is no square"),
        ("english", None, "a1-a2", "a2 in 'a1-a2' is no square"),
        ("english", None, "15-19", "there is no piece on 15"),
        ("english", None, "22-18", "the piece on 22 is White's, and Black is to move"),
        ("english", None, "c3-d4", "the piece on c3 is White's, and Black is to move"),
        ("english", None, "11-18", "the man on 11 cannot go to 18; it can play 11-15 or 11-16"),
        ("english", None, "f6-e4", "e4 in 'f6-e4' is no square"),
        ("english", None, "f6-f4", "the man on f6 cannot go to f4; it can play f6-e5 or f6-g5"),
        ("english", None, "1-5", "it has no move"),
        ("english", "W:W5:B1", "5-1", "White has no legal move"),
        ("english", "W:WK5:B9,K22", "5-1", "capturing is compulsory, and this takes nothing; White must play 5x14"),
        ("english", "W:WK5:B9,K22", "5-9", "there is a piece on 9; White must capture: 5x14"),
        ("english", "B:W9,10,17:B6", "6x13", "not complete; the man on 6 must play 6x22 or 6x15"),
        ("english", "W:W10:B7,8", "10x3x12", "no capture that the man on 10 can make; it can play 10x3"),
        ("english", "W:W10,32:B7,8", "32-28", "capturing is compulsory"),
        ("international", "W:W48:B24,K31,34,K42,43", "48x37x26", "takes 2, but the most men must be taken, which is 3"),
        ("international", "W:WK31,6:B2,22,9,42", "31x48", "takes 1, but the most men must be taken, which is 2"),
        ("russian", "W:W12:B8,14,26", "h6:f8:a3", "no capture that the man on h6 can make; it can play h6:e1"),
    ],
)
def test_errors_say_what_is_wrong(name: str, fen: str | None, text: str, message: str) -> None:
    position = Position.from_fen(fen, name) if fen else Position.start(name)
    with pytest.raises(IllegalMoveError) as caught:
        position.parse(text)
    assert message in str(caught.value)


@pytest.mark.parametrize("text", [None, 11, (11, 15)])
def test_other_things_than_text(text: Any) -> None:
    with pytest.raises(IllegalMoveError, match="a move is text"):
        Position.start("english").parse(text)


def test_long_lists_are_cut() -> None:
    crowded = Position.from_fen("W:WK4,K5,K6,K46:B7,8,11,13,19,20,29,30,33,38,41,42", "international")
    with pytest.raises(IllegalMoveError, match="and 278 more"):
        crowded.parse("4-10")


# --- moves as objects ---------------------------------------------------------------------------------


def test_moves_made_by_hand() -> None:
    position = Position.start("english")
    move = Move(11, 15)
    assert position.is_legal(move)
    assert position.index(move) == [str(m) for m in position.legal_moves()].index("11-15")
    assert position.play(move) == position.play("11-15")
    assert not position.is_legal(Move(11, 15, {3}))
    assert not position.is_legal(Move(11, 18))
    assert Move(47, 36, [14, 29]) == Move(47, 36, {29, 14}, path=(47, 20, 36))
    assert Move(47, 36, [14]) != Move(47, 36, [19])
    assert Move(11, 15) != "11-15"
    for wrong in ((0, 5), (5, 51), (-3, 4)):
        with pytest.raises(IllegalMoveError, match="no square"):
            Move(*wrong)
    with pytest.raises(IllegalMoveError, match="path"):
        Move(1, 5, path=(1, 6))


def test_the_same_captures_tell_moves_apart() -> None:
    position = Position.from_fen(PDN_STANDARD, "international")
    first, second = position.legal_moves()
    assert first != second
    assert len({first, second}) == 2
    for move in (first, second):
        assert position.play(Move(move.origin, move.target, move.captured)) == position.play(move)
    assert not position.is_legal(Move(47, 36))


@pytest.mark.parametrize("name", NAMES)
def test_moves_can_be_copied_and_pickled(name: str) -> None:
    for position in random_positions(name, 60):
        for move in position.legal_moves():
            twin = pickle.loads(pickle.dumps(move))
            assert twin == move
            assert hash(twin) == hash(move)
            assert (str(twin), twin.path) == (str(move), move.path)
            assert copy.deepcopy(move) == copy.copy(move) == move


def test_moves_cannot_be_changed() -> None:
    move = Position.start("english").legal_moves()[0]
    for attribute in ("origin", "target", "captured", "path"):
        with pytest.raises(AttributeError):
            setattr(move, attribute, 1)


# --- positions as objects -----------------------------------------------------------------------------


def test_positions_cannot_be_changed() -> None:
    position = Position.start("english")
    for attribute in ("white", "black", "kings", "turn", "variant", "new"):
        with pytest.raises(AttributeError):
            setattr(position, attribute, 1)
    position.legal_moves().clear()
    assert len(position.legal_moves()) == 7
    with pytest.raises(ValueError, match="read-only"):
        position.move_words[0, 0] = 1


@pytest.mark.parametrize("name", NAMES)
def test_positions_compare_hash_copy_and_pickle(name: str) -> None:
    positions = random_positions(name, 300)
    assert len(set(positions)) == len({p.fen for p in positions})
    for position in positions:
        for twin in (
            pickle.loads(pickle.dumps(position)),
            copy.deepcopy(position),
            copy.copy(position),
            Position(position.variant, position.white, position.black, position.kings, position.turn),
        ):
            assert twin == position
            assert hash(twin) == hash(position)
            assert twin.key == position.key
            assert twin.legal_moves() == position.legal_moves()


def test_variant_and_side_tell_positions_apart() -> None:
    fen = "W:W21-32:B1-12"
    positions = [Position.from_fen(fen, name) for name in ("english", "russian", "brazilian")]
    positions += [Position.from_fen("B" + fen[1:], name) for name in ("english", "russian", "brazilian")]
    assert len(set(positions)) == 6
    assert Position.start("english") != "B:W21-32:B1-12"


@pytest.mark.parametrize("name", NAMES)
def test_keys_are_the_kernels(name: str) -> None:
    keys = set()
    positions = set(random_positions(name, 1000))
    for position in positions:
        expected = hash_position(U(position.white), U(position.black), U(position.kings), position.turn == "white")
        assert position.key == int(expected)
        keys.add(position.key)
        for move in position.legal_moves()[:3]:
            after = position.play(move)
            twin = Position(after.variant, after.white, after.black, after.kings, after.turn)
            assert twin.key == after.key
            assert np.array_equal(twin.move_words, after.move_words)
    assert len(keys) == len(positions)


def test_what_cannot_be() -> None:
    for wrong in ((1, 1, 0), (1, 2, 4), (1 << 8, 0, 0), (-1, 0, 0), (1 << 40, 0, 0)):
        with pytest.raises(PositionError):
            Position("english", *wrong, "white")
    with pytest.raises(PositionError, match="red"):
        Position("english", 1, 2, 0, "red")  # type: ignore[arg-type]
    with pytest.raises(VariantError):
        Position.start("chess")
    for square in (0, 33, -1):
        with pytest.raises(PositionError, match="no square"):
            Position.start("english").piece_at(square)


def test_what_is_on_the_board() -> None:
    position = Position.from_fen("W:W31,K32:B1,2,K3", "polish")
    assert position.variant is variant("international")
    assert position.piece_at(31) == ("white", False)
    assert position.piece_at(32) == ("white", True)
    assert position.piece_at(3) == ("black", True)
    assert position.piece_at(4) is None
    assert position.men_and_kings("white") == (1, 1)
    assert position.men_and_kings("black") == (2, 1)
    assert position.turn == "white"


def test_text_of_positions() -> None:
    position = Position.from_fen("B:W21,K32:B1,K12", "english")
    assert position.text().splitlines() == [
        " 1   b   .   .   .  4",
        " 5 .   .   .   .    8",
        " 9   .   .   .   B 12",
        "13 .   .   .   .   16",
        "17   .   .   .   . 20",
        "21 w   .   .   .   24",
        "25   .   .   .   . 28",
        "29 .   .   .   W   32",
    ]
    assert position.text(flipped=True).splitlines()[0] == "32   W   .   .   . 29"
    assert str(position) == position.text()
    assert eval(repr(position)) == position


def test_threads_do_not_disturb_each_other() -> None:
    """Games played at the same time in several threads are those played one after the other."""

    def play(seed: int) -> list[str]:
        rng = random.Random(seed)
        game = Game("international")
        while not game.is_over:
            game.push(rng.choice(game.legal_moves()))
        return [*map(str, game.moves), game.fen]

    seeds = range(24)
    expected = [play(seed) for seed in seeds]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(play, seeds)) == expected
