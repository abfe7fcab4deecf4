"""What the page shows of each variant: names of the colours, the rule card, where the squares lie."""

from __future__ import annotations

from functools import cache
from typing import Any

from draughts_env.errors import VariantError
from draughts_env.position import Position
from draughts_env.variants import VARIANTS, Color, Variant, variant

#: Titles by variant.
_TITLES = {
    "english": "English draughts (checkers)",
    "international": "International draughts",
    "russian": "Russian draughts",
    "brazilian": "Brazilian draughts",
}
#: What the books call the sides, where it is not Black and White.
_COLOURS: dict[str, dict[Color, str]] = {"english": {"black": "Red", "white": "White"}}
_BOOKS: dict[Color, str] = {"black": "Black", "white": "White"}

_HUFFING_CARD = (
    "With huffing, a capture may be missed; the opponent may then take the piece that should have captured off the "
    "board (huff it) and move, or insist on the capture."
)


def colours(of: Variant) -> dict[Color, str]:
    """The names of the sides."""
    return _COLOURS.get(of.without_huffing().name, _BOOKS)


def square_name(of: Variant, square: int) -> str:
    """A square as the books of the variant write it: ``18`` or ``c3``."""
    return of.geometry.name(square) if of.algebraic else str(square)


def may_huff(of: Variant) -> bool:
    """Whether the variant may be played with huffing."""
    try:
        of.with_huffing()
    except VariantError:
        return False
    return True


def rule_card(of: Variant) -> list[str]:
    """The rules, a sentence each."""
    names = colours(of)
    draws = of.draws
    card = [
        f"{names[of.first]} moves first. Whoever cannot move, or has no piece left, loses.",
        "Men move one square forwards, diagonally; "
        + ("they capture forwards and backwards." if of.men_capture_backwards else "they capture forwards only, too."),
        "Capturing is compulsory, and a multiple capture is made to its end.",
        "The capture that takes the most pieces must be made."
        if of.most
        else "Of several captures any may be chosen, not only the longest.",
        "Kings fly: they move and capture over any distance."
        if of.flying_kings
        else "Kings move and capture one square away, forwards and backwards.",
    ]
    if of.crown_in_flight:
        card.append("A man that reaches the last row while capturing goes on as a king at once.")
    elif of.men_capture_backwards:
        card.append("A man is crowned only where its move ends on the last row.")
    else:
        card.append("A man that reaches the last row is crowned, and its move ends.")
    card.append(
        f"Drawn: the same position for the {draws.repetitions}rd time with the same side to move; "
        f"{draws.quiet_plies // 2} moves by each side with kings only and without a capture; by agreement."
    )
    if draws.refusal_moves is not None:
        card.append(
            f"Whoever declines a draw has {draws.refusal_moves} moves of their own to win or to show an advantage; "
            "otherwise the game is drawn."
        )
    if may_huff(of):
        card.append(_HUFFING_CARD)
    return card


@cache
def variant_info() -> tuple[dict[str, Any], ...]:
    """The variants for ``/api/info``."""
    found = []
    for of in VARIANTS:
        board = of.geometry
        squares = range(1, board.squares + 1)
        found.append(
            {
                "name": of.name,
                "title": _TITLES[of.name],
                "rows": of.size,
                "first": of.first,
                "colours": colours(of),
                "huffing": may_huff(of),
                "start_fen": Position.start(of).fen,
                "rules": rule_card(of),
                "squares": board.squares,
                "squares_layout": [list(board.row_column(square)) for square in squares],
                "square_names": [square_name(of, square) for square in squares],
            }
        )
    return tuple(found)


def offered_variant(name: str) -> Variant:
    """A variant that the page offers, by its name.

    Raises:
        VariantError: there is none of that name.
    """
    found = variant(name)
    if found not in VARIANTS:
        raise VariantError(f"unknown variant {found}; the page offers {', '.join(v.name for v in VARIANTS)}")
    return found
