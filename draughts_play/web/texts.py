"""FEN and PDN from people: read, or refused with the place of what is wrong."""

from __future__ import annotations

from typing import Any

from draughts_env.errors import DraughtsError
from draughts_env.fen import read
from draughts_env.game import Game
from draughts_env.pdn import read_games
from draughts_env.position import Position
from draughts_env.variants import Variant

_MOST_MOVES = 1_000


class TextError(DraughtsError, ValueError):
    """A text that cannot be read; ``position`` is the place of the first character that is wrong, from 0, or None."""

    def __init__(self, message: str, position: int | None = None) -> None:
        super().__init__(message)
        self.position = position


def recorded(text: str, of: Variant) -> tuple[str | None, list[list[Any]]]:
    """Where the first game of a PDN starts, None for the starting position, and its moves as events of a table.

    Raises:
        TextError: it cannot be read, in whole.
    """
    # As bytes, because the reader takes some texts for the names of files.
    record = next(iter(read_games(text.encode("utf-8", "replace"), of)), None)
    if record is None:
        raise TextError("there is no game in the PDN", 0)
    errors = record.errors
    if errors:
        place = _offset(text, errors[0].line, errors[0].column)
        raise TextError(f"{errors[0].message} (line {errors[0].line}, column {errors[0].column})", place)
    if record.variant is not None and record.variant != of.without_huffing():
        raise TextError(f"the PDN is of a game of {record.variant} draughts, not {of} draughts")
    if record.start is None or record.setups:
        raise TextError("the PDN sets up a position in mid-game, which cannot be shown here")
    if not record.moves and not record.tags:
        raise TextError("there is no game in the PDN", 0)
    if len(record.moves) > _MOST_MOVES:
        raise TextError(f"the game is too long: {_MOST_MOVES} moves at most")
    game = record.game(until_over=True)
    events: list[list[Any]] = [["move", list(move.path)] for move in game.moves]
    if record.start == Position.start(of.without_huffing()) and record.quiet == 0:
        return None, events
    return Game.from_position(record.start, record.quiet).fen, events


def _offset(text: str, line: int, column: int) -> int:
    """The place of a line and column, both from 1, in a text."""
    lines = text.splitlines(keepends=True)
    return min(len(text), sum(map(len, lines[: line - 1])) + column - 1)


def look(text: str, of: Variant) -> dict[str, Any]:
    """What a text is: a FEN or a PDN.

    Raises:
        DraughtsError: neither, with the place where it is known.
    """
    stripped = text.strip()
    if not stripped:
        raise TextError("there is no text to read", 0)
    if stripped[:1].upper() in ("W", "B", "?") and "[" not in stripped and "\n" not in stripped:
        found = read(text, of.without_huffing())
        return {"kind": "fen", "fen": Game.from_position(found.position, found.quiet).fen, "plies": 0}
    fen, events = recorded(text, of)
    return {"kind": "pdn", "fen": fen or Position.start(of.without_huffing()).fen, "plies": len(events)}
