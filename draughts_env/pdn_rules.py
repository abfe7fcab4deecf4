"""Which variant a recorded game belongs to: by its tags, by the caller's word, or by a guess."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, NamedTuple

from draughts_env import fen
from draughts_env.errors import FenError, VariantError
from draughts_env.pdn_game import tag_value
from draughts_env.position import Position
from draughts_env.variants import (
    BRAZILIAN,
    ENGLISH,
    INTERNATIONAL,
    ITALIAN,
    MORE_VARIANTS,
    RUSSIAN,
    VARIANTS,
    Variant,
    variant,
)

_BY_TYPE = {v.gametype: v for v in (*VARIANTS, *MORE_VARIANTS)}
_OTHER_TYPES = {
    24: "Spanish draughts",
    27: "Canadian draughts",
    28: "Portuguese draughts",
    29: "Czech draughts",
    30: "Turkish draughts",
    31: "Thai draughts",
    40: "Frisian draughts",
    41: "Spantsireti",
}
_TYPE = re.compile(r"\s*(\d{1,3})(?!\d)", re.ASCII)
_NAME = re.compile(r"[a-j](?:10|[1-9])(?![0-9])", re.ASCII | re.IGNORECASE)


class Rules(NamedTuple):
    """What the tags and the caller say.

    Attributes:
        variants: the variants that come into question; none when the game is none of those known here; ``None`` when
            nothing is said.
        source: who said it.
        error, warning: what is wrong with the tags.
    """

    variants: list[Variant] | None
    source: Literal["tag", "caller", "guess"]
    error: str | None = None
    warning: str | None = None


def told_rules(tags: dict[str, str], default: Variant | None) -> Rules:
    """The rules by the tags or else by the caller."""
    warning = None
    huffing = tag_value(tags, "Huffing")
    if huffing is not None and huffing.strip() not in ("", "0"):
        return Rules([], "tag", "the game is played with huffing; draughts_env.huffing_text.read_huffing reads it")
    gametype = tag_value(tags, "GameType")
    if gametype is not None and gametype.strip().strip("?"):
        number = _TYPE.match(gametype)
        found = _BY_TYPE.get(int(number[1])) if number else _named(gametype)
        if found is not None:  # the further fields of the tag are often wrong, such as N1 for the 10x10 board
            return Rules([found], "tag")
        if number:
            other = _OTHER_TYPES.get(int(number[1]), "no game that is known here")
            return Rules([], "tag", f"GameType {int(number[1])} is {other}: its moves are not read")
        warning = f"GameType {gametype!r} is not understood"
    found = _named(tag_value(tags, "Variant"))
    if found is not None:
        return Rules([found], "tag", None, warning)
    if default is not None:
        return Rules([default], "caller", None, warning)
    return Rules(None, "guess", None, warning)


def _named(text: str | None) -> Variant | None:
    name = (text or "").strip().lower()
    if name == "standard":  # so Lidraughts calls it
        return INTERNATIONAL
    try:
        return variant(name).without_huffing()
    except VariantError:
        return None


def guessed_variants(fen_text: str | None, word: str | None) -> list[Variant]:
    """The variants that a position and a first move can belong to, the likeliest first.

    A square beyond the small board means International. Names mean Russian or Brazilian, or International, numbers
    English, International, Russian, Brazilian or Italian: the moves decide, and if they do not, the first of these.
    """
    if word is None and fen_text is None:
        return []
    texts = [word or ""]
    texts += (part[1:] for part in (fen_text or "").split(":")[1:] if part[:1] in ("W", "w", "B", "b"))
    names = [name for text in texts for name in _NAME.findall(text)]
    numbers = [int(n) for text in texts for n in re.findall(r"(?<![a-jA-J])[0-9]{1,3}", text)]
    if any(name[0] in "iIjJ" or int(name[1:]) > 8 for name in names) or any(number > 32 for number in numbers):
        return [INTERNATIONAL]
    if _NAME.search(word if word is not None else texts[-1]):
        return [RUSSIAN, BRAZILIAN, INTERNATIONAL]
    return [ENGLISH, INTERNATIONAL, RUSSIAN, BRAZILIAN, ITALIAN]


@cache
def starting_position(of: Variant) -> Position:
    """The starting position; always the same object, which knows its legal moves already."""
    return Position.start(of)


def read_starts(text: str, variants: list[Variant]) -> tuple[list[Position], int]:
    """The positions that a FEN means in these variants, for either side to move if it has ``?`` there; quiet clock.

    Raises:
        FenError: none, and why in the first of the variants.
    """
    side, colon, pieces = text.strip().partition(":")
    texts = [f"{turn}:{pieces}" for turn in "WB"] if side.strip() == "?" and colon else [text]
    found: list[Position] = []
    errors: list[FenError] = []
    quiet = 0
    for of in variants:
        for each in texts:
            try:
                read = fen.read(each, of)
            except FenError as error:
                errors.append(error)
            else:
                found.append(read.position)
                quiet = read.quiet
    if not found:
        raise errors[0]
    return found, quiet
