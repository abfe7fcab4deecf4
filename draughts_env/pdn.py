"""Games as PDN text (Portable Draughts Notation): tags, then the moves in the notation customary for the variant."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping

from draughts_env.game import Game
from draughts_env.variants import Color, Variant

_WIDTH = 80
_GLUE = "\u00a0"  # a blank at which lines do not break
_ROSTER = ("Event", "Site", "Date", "Round")


def result_text(winner: Color | None, variant: Variant) -> str:
    """The PDN result of a finished game.

    The first number is that of the side that moves first. In English draughts this is Black: ``1-0`` means that
    Black won. In the other variants it means that White won.
    """
    if winner is None:
        return "1/2-1/2"
    return "1-0" if winner == variant.first else "0-1"


def write_game(game: Game, tags: Mapping[str, str] | None = None, result: str | None = None) -> str:
    """A game as PDN text, ending in a newline.

    Args:
        game: the game, finished or not.
        tags: further tags or other values for those that are always there (Event, Site, Date, Round, Black, White).
        result: the result, for games that ended off the board (resignation, ...); by default that of the game, ``*``
            while it goes on.
    """
    outcome = game.outcome()
    if result is None:
        result = result_text(outcome.winner, game.variant) if outcome else "*"
    players = ("Black", "White") if game.variant.first == "black" else ("White", "Black")
    lines: dict[str, str] = dict.fromkeys(_ROSTER + players, "?")
    lines.update({"Date": "????.??.??", "Result": result, "GameType": str(game.variant.gametype)})
    beginning = game.copy()
    while beginning.ply:
        beginning.pop()
    if beginning.fen != Game(game.variant).fen:
        lines.update({"SetUp": "1", "FEN": beginning.fen})
    lines.update(tags or {})
    head = "\n".join(f'[{name} "{_clean(value)}"]' for name, value in lines.items())
    body = textwrap.wrap(" ".join([*_words(game), result]), _WIDTH, break_long_words=False, break_on_hyphens=False)
    return head + "\n\n" + "\n".join(body).replace(_GLUE, " ") + "\n"


def _words(game: Game) -> Iterator[str]:
    """The moves, their numbers glued to them."""
    behind = game.start.turn != game.variant.first
    for ply, move in enumerate(game.moves, start=int(behind)):
        text = move.named(game.variant.size) if game.variant.algebraic else str(move)
        if ply % 2 == 0:
            text = f"{ply // 2 + 1}.{_GLUE}{text}"
        elif ply == 1 and behind:
            text = f"1...{_GLUE}{text}"
        yield text


def _clean(value: str) -> str:
    """A tag's value without what would end it: PDN has no generally understood escapes."""
    return "".join(c if c.isprintable() else " " for c in value).replace('"', "'").replace("\\", "/")
