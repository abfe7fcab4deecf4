"""Every error a caller can cause. All derive from :class:`DraughtsError` and say what was wrong and where."""

from __future__ import annotations


class DraughtsError(Exception):
    """Base of all errors that bad input to this package can raise."""


_SHOWN = 60  # characters of a text that an error message quotes


def quoted(text: str, at: int = 0) -> str:
    """A text for an error message, in quotes; of a long one, the part around a place in it."""
    if len(text) <= _SHOWN:
        return repr(text)
    start = max(0, min(at - _SHOWN // 2, len(text) - _SHOWN))
    end = start + _SHOWN
    return repr("..." * (start > 0) + text[start:end] + "..." * (end < len(text)))


class VariantError(DraughtsError, ValueError):
    """No variant of that name."""


class FenError(DraughtsError, ValueError):
    """A FEN that cannot be read; the message names the place.

    Attributes:
        at: the place as an index into the text; None when the text is not what is wrong.
    """

    at: int | None = None


class IllegalMoveError(DraughtsError, ValueError):
    """A move that is not legal in the position, or text that fits none or several of its moves."""


class ActionError(DraughtsError, ValueError):
    """An action id out of range, or one that is no legal move of the position."""


class GameOverError(DraughtsError, ValueError):
    """A move was played in a game that has ended, or taken back where none was played."""


class OfferError(DraughtsError, ValueError):
    """An answer to a draw offer that nobody made, a second offer by one side, an ending that cannot be taken back."""


class PositionError(DraughtsError, ValueError):
    """A position that cannot be: pieces on top of each other or off the board; or a square that does not exist."""


class OptionError(DraughtsError, ValueError):
    """An argument or option of an environment that does not exist or has no such value."""


class OpponentError(DraughtsError, RuntimeError):
    """An opponent that cannot be found, or that answered with something other than a legal move."""


class OpeningError(DraughtsError, ValueError):
    """Openings that do not exist, cannot be read, or cannot be played; or not so many of them."""


class PdnError(DraughtsError, ValueError):
    """What is no source of games, or a recorded game that cannot be played or written."""
