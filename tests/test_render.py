"""Pictures of a position."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from draughts_env import Game, Position, render
from draughts_env.variants import VARIANTS, Variant


@pytest.mark.parametrize("of", VARIANTS, ids=str)
def test_pixels(of: Variant) -> None:
    picture = render.rgb_array(Position.start(of), square_size=16)
    assert picture.shape == (of.size * 16, of.size * 16, 3)
    assert picture.dtype == np.uint8
    white = render.PIECES["white"][0]
    black = render.PIECES["black"][0]
    for square in range(1, of.geometry.squares + 1):
        row, column = of.geometry.row_column(square)
        middle = tuple(picture[row * 16 + 8, column * 16 + 8].tolist())
        men = of.rows_of_men * of.size // 2
        assert middle == (black if square <= men else white if square > of.geometry.squares - men else render.DARK)
    assert tuple(picture[0, 0].tolist()) == render.LIGHT


def test_flipped_pixels_are_the_board_turned() -> None:
    position = Position.from_fen("W:W9,K14:B23,K32", "english")
    grounds = [render.rgb_array(Position.start("english"), flipped=f, square_size=16) for f in (False, True)]
    # a man looks the same when turned, so that the whole picture of the start does
    assert np.array_equal(grounds[0], grounds[1][::-1, ::-1])
    seen = render.rgb_array(position, flipped=True, square_size=16)
    assert tuple(seen[16 * 0 + 8, 16 * 0 + 3].tolist()) == render.LIGHT
    row, column = position.geometry.row_column(9)
    assert tuple(seen[(7 - row) * 16 + 8, (7 - column) * 16 + 8].tolist()) == render.PIECES["white"][0]


def test_kings_and_the_last_move_are_set_off() -> None:
    men = Position.from_fen("W:W14:B23", "english")
    kings = Position.from_fen("W:WK14:B23", "english")
    differ = (render.rgb_array(men) != render.rgb_array(kings)).any(axis=2)
    row, column = men.geometry.row_column(14)
    assert differ.any()
    differ[row * 48 : row * 48 + 48, column * 48 : column * 48 + 48] = False
    assert not differ.any()
    game = Game("english")
    move = game.push("11-15")
    differ = (render.rgb_array(game.position) != render.rgb_array(game.position, move)).any(axis=2)
    assert sorted(set(zip(*(np.argwhere(differ) // 48).T.tolist()))) == [(2, 5), (3, 4)]


def test_svg_is_well_formed_and_holds_every_piece() -> None:
    position = Position.from_fen("W:W22,K14:B1-3,K32", "english")
    root = ElementTree.fromstring(render.svg(position, size=200))
    names = [group.get("class") for group in root.iter("{http://www.w3.org/2000/svg}g")]
    assert sorted(names) == ["black king", *["black man"] * 3, "white king", "white man"]
    labels = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert labels == [str(square) for square in range(1, 33)]
    assert root.get("width") == "200"
    algebraic = ElementTree.fromstring(render.svg(Position.start("russian"), flipped=True))
    assert "a1" in [text.text for text in algebraic.iter("{http://www.w3.org/2000/svg}text")]


def test_text() -> None:
    game = Game("russian")
    move = game.push("c3-d4")
    assert render.ansi(game.position, move).endswith("Black to move, after c3-d4")
    assert render.ansi(game.position).splitlines()[0].split()[1:-1] == ["b"] * 4
    assert render.ansi(game.position, flipped=True).splitlines()[0].split()[1:-1] == ["w"] * 4
