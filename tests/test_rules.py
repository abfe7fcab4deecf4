"""The rules of every variant: published positions, and the slow reference on random ones."""

from __future__ import annotations

from typing import Any

import pytest
import reference
from cases import NAMES, REFERENCE, board_of, position_of, random_boards, random_positions, rows

from draughts_env import Game, IllegalMoveError, Move, Position, action_space

ROWS = [pytest.param(row, id=row["id"]) for row in rows("rules.jsonl")]
DEFAULT = {"english": 4000, "international": 1000, "russian": 2500, "brazilian": 2500}


def rotated(position: Position, square: int) -> int:
    return position.geometry.squares + 1 - square


def squares_of(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.replace("x", "-").split("-"))


# --- published positions ------------------------------------------------------------------------------


@pytest.mark.parametrize("row", ROWS)
def test_row(row: dict[str, Any]) -> None:
    position = Position.from_fen(row["fen"], row["variant"])
    legal = position.legal_moves()
    assert len(legal) == len(set(legal)) == row["legal_count"]
    assert not set(row.get("not_legal", ())) & set(row.get("legal", ()))
    for text in row.get("not_legal", ()):
        with pytest.raises(IllegalMoveError):
            position.parse(text)
    if "legal" not in row:
        return
    parsed = [position.parse(text) for text in row["legal"]]
    assert sorted(map(position.index, parsed)) == list(range(len(legal)))
    routes = reference.legal_moves(REFERENCE[row["variant"]], board_of(position), position.turn)
    for n, (text, move) in enumerate(zip(row["legal"], parsed)):
        assert (move.origin, move.target) == (squares_of(text)[0], squares_of(text)[-1])
        assert squares_of(text) in routes[move.origin, move.target, move.captured]
        assert move.captured == set(row["captured"][n] if "captured" in row else ())
        assert move.is_capture == ("x" in text)
        assert position.play(move).piece_at(move.target) == (position.turn, row["ends_as_king"][n])
        if "legal_alpha" in row:
            assert position.parse(row["legal_alpha"][n]) == move
            assert position.parse(row["legal_alpha"][n].replace(":", "")) == move
    if "fen_alpha" in row:
        assert Position.from_fen(row["fen_alpha"], row["variant"]) == position
    if not legal:
        assert Game.from_position(position).is_over
    if "then" in row:
        game = Game.from_position(position)
        game.push(row["then"]["move"])
        assert game.is_over == row["then"]["terminal"]
        assert sorted(map(str, game.legal_moves())) == sorted(row["then"]["next_legal"])


@pytest.mark.parametrize("row", ROWS)
def test_row_and_its_twin_have_distinct_actions(row: dict[str, Any]) -> None:
    space = action_space(row["variant"])
    position = Position.from_fen(row["fen"], row["variant"])
    for place in (position, position.turned()):
        legal = place.legal_moves()
        actions = [space.encode(place, move) for move in legal]
        assert len(set(actions)) == len(legal)
        assert all(0 <= action < space.n for action in actions)
        assert [space.decode(place, action) for action in actions] == legal


@pytest.mark.parametrize("row", ROWS)
def test_row_and_its_twin_allow_the_same(row: dict[str, Any]) -> None:
    check_twin(Position.from_fen(row["fen"], row["variant"]))


def test_a_move_cannot_be_played_twice() -> None:
    position = Position.from_fen("W:WK2,25:B14,15,16", "international")  # IN-29
    move = position.parse("25-20")
    after = position.play(move)
    with pytest.raises(IllegalMoveError, match="no piece on 25"):
        after.play(move)
    game = Game.from_position(position)
    game.push(move)
    with pytest.raises(IllegalMoveError):
        game.push(move)
    assert game.ply == 1


# --- random positions against the reference -----------------------------------------------------------


def check_against_reference(name: str, board: reference.Board, turn: str) -> None:
    rules = REFERENCE[name]
    position = position_of(name, board, turn)
    assert board_of(position) == board
    expected = reference.legal_moves(rules, board, turn)
    legal = position.legal_moves()
    assert len(legal) == len(expected), position.fen
    shorts = [(move.origin, move.target) for move in legal]
    for move in legal:
        routes = expected[move.origin, move.target, move.captured]  # a KeyError names the move that is too many
        assert move.path == min(routes), position.fen
        alone = shorts.count((move.origin, move.target)) == 1
        assert len(squares_of(str(move))) == (2 if alone else len(move.path))
        assert position.parse(str(move)) is move
        after = reference.play(rules, board, turn, move.origin, move.target, move.captured, move.path)
        assert board_of(position.play(move)) == after, position.fen


@pytest.mark.parametrize("name", NAMES)
def test_moves_agree_with_the_reference(name: str) -> None:
    for board, turn in random_boards(name, DEFAULT[name]):
        check_against_reference(name, board, turn)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_moves_agree_with_the_reference_20000_times(name: str) -> None:
    for board, turn in reference.random_positions(REFERENCE[name], 20_000, seed=2):
        check_against_reference(name, board, turn)


@pytest.mark.parametrize("name", NAMES)
def test_every_route_of_a_move_is_understood(name: str) -> None:
    for board, turn in random_boards(name, 200):
        position = position_of(name, board, turn)
        for (origin, target, captured), routes in reference.legal_moves(REFERENCE[name], board, turn).items():
            sign = "x" if captured else "-"
            for route in sorted(routes)[:10]:
                assert position.parse(sign.join(map(str, route))) == Move(origin, target, captured)


def check_twin(position: Position) -> None:
    """Rotating the board and swapping the colours maps the legal moves one to one, and the positions they lead to."""
    twin = position.turned()
    assert twin.turned() == position
    assert twin.turn != position.turn
    legal = position.legal_moves()
    images = [
        Move(
            rotated(position, move.origin),
            rotated(position, move.target),
            (rotated(position, square) for square in move.captured),
        )
        for move in legal
    ]
    assert set(images) == set(twin.legal_moves())
    assert len(images) == len(twin.legal_moves())
    for move, image in zip(legal, images):
        assert position.play(move).turned() == twin.play(image)


@pytest.mark.parametrize("name", NAMES)
def test_colours_are_alike(name: str) -> None:
    for position in random_positions(name, 500):
        check_twin(position)
