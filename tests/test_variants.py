"""Variants as data: names, what the flags mean for play, and draw rules beyond those of tests/test_draws.py."""

from __future__ import annotations

import json
import random

import pytest
import reference
from cases import DATA, board_of, position_of

from draughts_env import Game, IllegalMoveError, Outcome, Position, Reason, VariantError, action_space, variant
from draughts_env.pdn import write_game
from draughts_env.variants import MORE_VARIANTS, POOL, VARIANTS, Variant

POOL_RULES = reference.Rules(8, men_capture_backwards=True, flying_kings=True, most=False, crown_in_flight=False)
EVERY = (*VARIANTS, *MORE_VARIANTS)


@pytest.mark.parametrize("of", EVERY, ids=str)
def test_names(of: Variant) -> None:
    for name in (of.name, *of.aliases):
        assert variant(name) is variant(f" {name.upper()} ") is of
    assert variant(of) is of


def test_unknown_names() -> None:
    with pytest.raises(VariantError, match=r"known are .*pool.*russian"):
        variant("chess")


def test_no_two_variants_share_a_gametype_or_rules() -> None:
    assert len({of.gametype for of in EVERY}) == len({of.rules for of in EVERY}) == len(EVERY)


@pytest.mark.parametrize("name", ["russian", "brazilian"])
def test_names_of_squares_are_used_and_numbers_understood(name: str) -> None:
    game = Game(name)
    for text in ("c3-d4", "12-16", "b2c3", "G7-H6"):
        game.push(text)
    assert [str(m) for m in game.moves[:2]] == ["22-18", "12-16"]
    assert [m.named(8) for m in game.moves[:2]] == ["c3-d4", "h6-g5"]
    assert "1. c3-d4" in write_game(game)


def test_one_position_four_rules() -> None:
    """White's man on 12 takes on 8 and comes to the last row."""
    fen = "W:W12:B8,14,26"
    assert [m.full for m in Position.from_fen(fen, "english").legal_moves()] == ["12x3"]
    assert [m.full for m in Position.from_fen(fen, "russian").legal_moves()] == ["12x3x17x31"]
    for name in ("brazilian", "pool"):
        [move] = Position.from_fen(fen, name).legal_moves()
        assert move.full == "12x3"
        assert Position.from_fen(fen, name).play(move).kings


def test_a_man_passes_the_last_row() -> None:
    """Over f8 and back: a king from there in Russian, a man still in Brazilian, Pool and International."""
    fen = "W:W12:B8,7"
    kings = {}
    for name in ("russian", "brazilian", "pool"):
        position = Position.from_fen(fen, name)
        ends = {m.target: position.play(m).kings != 0 for m in position.legal_moves()}
        kings[name] = ends
    assert kings["brazilian"] == kings["pool"] == {10: False}
    assert kings["russian"] == {10: True, 14: True, 17: True, 21: True}


# --- pool: everything the flags say, against the slow reference -------------------------------------------


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_pool_counts(depth: int) -> None:
    board = reference.start(POOL_RULES)
    assert Position.start(POOL).perft(depth) == reference.perft(POOL_RULES, board, "black", depth)


def test_pool_moves() -> None:
    for board, turn in reference.random_positions(POOL_RULES, 300, seed=1):
        position = position_of("pool", board, turn)
        expected = reference.legal_moves(POOL_RULES, board, turn)
        moves = {(m.origin, m.target, m.captured): m for m in position.legal_moves()}
        assert set(moves) == set(expected)
        for key, move in moves.items():
            assert move.path in expected[key]
            after = reference.play(POOL_RULES, board, turn, *key, min(expected[key]))
            assert board_of(position.play(move)) == after


def test_pool_is_a_whole_variant() -> None:
    chance = random.Random(1)
    space = action_space(POOL)
    game = Game("pool-checkers")
    assert game.turn == "black"
    while not game.is_over:
        ids = list(space.legal(game.position))
        assert len(ids) == len(set(ids))
        game.push(space.decode(game.position, chance.choice(ids)))


# --- italian ------------------------------------------------------------------------------------------


def test_the_italian_board_is_mirrored() -> None:
    position = Position.start("italian")
    assert position.text().splitlines()[0].split() == ["1", "b", "b", "b", "b", "4"]
    assert position.text().splitlines()[0].startswith(" 1 b")
    assert {str(m) for m in position.legal_moves()} == {
        "21-17", "21-18", "22-18", "22-19", "23-19", "23-20", "24-20"
    }  # fmt: skip
    board = position.geometry
    for square in range(1, 33):
        assert board.square_at(*board.row_column(square)) == square == board.square_of[board.bit_of[square]]
        assert board.named(board.name(square)) == square
    assert board.row_column(32) == (7, 7)


def test_italian_rows() -> None:
    rows = [json.loads(line) for line in (DATA / "rules.jsonl").read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row["variant"] == "italian"]
    assert len(rows) == 5
    for row in rows:
        position = Position.from_fen(row["fen"], "italian")
        moves = [position.parse(text) for text in row["legal"]]
        assert len(position.legal_moves()) == row["legal_count"] == len(set(moves)), row["id"]
        for move, text, captured, king in zip(
            moves, row["legal"], row.get("captured", [()]), row["ends_as_king"], strict=True
        ):
            assert move.full == text
            assert move.captured == set(captured)
            assert position.play(move).piece_at(move.target) == ("white", king)


def test_the_kings_that_come_first_decide() -> None:
    """Two men and a king each way: the way that meets the king first must be taken."""
    position = Position.from_fen("W:WK31:B18,20,K27,K28", "italian")
    assert {m.full for m in position.legal_moves()} == {"31x24x15", "31x22x13"}
    position = Position.from_fen("W:WK31:B27,K18,20,K28", "italian")
    assert {m.full for m in position.legal_moves()} == {"31x24x15"}
    with pytest.raises(IllegalMoveError, match="must play 31x15"):
        position.parse("31x22x13")


def test_a_man_that_could_only_take_a_king_may_be_blocked() -> None:
    position = Position.from_fen("W:W31:BK28,5", "italian")
    assert [str(m) for m in position.legal_moves()] == ["31-27"]
    assert Game("italian", "W:W32:BK28,5").outcome() == Outcome("black", Reason.NO_MOVES)
    assert str(Game("italian", "W:WK32:BK28,5").legal_moves()[0]) == "32x23"


def test_whole_italian_games() -> None:
    space = action_space("italian")
    for seed in range(5):
        chance = random.Random(seed)
        game = Game("italian")
        while not game.is_over and game.ply < 200:
            ids = list(space.legal(game.position))
            assert len(ids) == len(set(ids))
            move = space.decode(game.position, chance.choice(ids))
            assert game.position.parse(move.full) == move
            before = game.position
            game.push(move)
            assert Position.from_fen(game.position.fen, "italian") == game.position
            assert before.perft(2) == sum(len(before.play(m).legal_moves()) for m in before.legal_moves())


# --- draws --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "fen", "plies"),
    [
        ("russian", "W:WK1,K2,K3:BK32", 30),
        ("russian", "W:WK1,K2,13:BK32", -1),  # a man among the three: only the 15 moves of kings count
        ("russian", "W:WK1,13:BK32", 10),
        ("russian", "W:WK1,K2:BK32,K31", -1),
        ("pool", "W:WK1,K2,K3:BK32", 26),
        ("pool", "B:WK32:BK1,K2,K3", 26),
        ("pool", "W:WK1,K2,13:BK32", -1),
        ("pool", "W:WK1,K2:BK32", -1),
        ("brazilian", "W:WK1:BK32", 10),
        ("brazilian", "W:WK1,13:BK32", 10),
        ("brazilian", "W:WK1,K2:BK32,K31", 10),
        ("brazilian", "W:WK1,K2:BK32,20", 10),
        ("brazilian", "W:WK1,13:BK32,20", -1),  # two men
        ("brazilian", "W:WK1,K2:B13,20", -1),
        ("brazilian", "W:WK1,K2,K3:BK32", -1),
        ("brazilian", "W:WK1,K2,K3:BK32,K31", -1),
        ("international", "W:WK1,K2:BK50,K49", -1),
    ],
)
def test_small_endings(name: str, fen: str, plies: int) -> None:
    assert Game(name, fen).ending == plies


def walk(game: Game) -> None:
    """Moves of kings without captures or repetition until the game ends."""
    seen = {game.position}
    while not game.is_over:
        for move in game.legal_moves():
            after = game.position.play(move)
            replies = after.legal_moves()
            if not move.is_capture and after not in seen and replies and not replies[0].is_capture:
                seen.add(after)
                game.push(move)
                break
        else:
            raise AssertionError("no way to walk on")


@pytest.mark.parametrize(
    ("name", "fen", "plies", "reason"),
    [
        ("russian", "W:WK1,K2,K3:BK32", 30, Reason.QUIET_LIMIT),
        ("russian", "W:WK1,K2:BK32", 10, Reason.ENDING_LIMIT),
        ("brazilian", "W:WK1,K2,K3:BK32", 40, Reason.QUIET_LIMIT),
        ("brazilian", "W:WK5,K6:BK28,K32", 10, Reason.ENDING_LIMIT),
        ("pool", "W:WK1,K2,K3:BK32", 26, Reason.ENDING_LIMIT),
    ],
)
def test_games_are_drawn_at_the_limit(name: str, fen: str, plies: int, reason: Reason) -> None:
    game = Game(name, fen)
    walk(game)
    assert (game.ply, game.outcome()) == (plies, Outcome(None, reason))


def test_crowning_the_third_king_starts_the_thirteen_moves() -> None:
    game = Game("pool", "W:WK1,K2,8:BK32")
    assert game.ending == -1
    game.push("8-3")
    assert game.ending == 26
