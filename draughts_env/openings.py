"""Decks of opening cards (ballots): short beginnings from which a pair of games is played, colours swapped.

The decks that ship lie in ``draughts_env/data`` as text, one card a line, the moves separated by blanks; ``#`` begins a
comment. Files of the same form can be used in their place. How the shipped ones were made: ``docs/openings.md`` and
:mod:`agents.arena.ballots`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path

from draughts_env.errors import DraughtsError, OpeningError
from draughts_env.game import Game
from draughts_env.variants import Variant, variant

#: A beginning, as the text of its moves from the starting position.
Opening = tuple[str, ...]

_NUMBER = re.compile(r"(?:^|(?<=\s))\d+\.+\s*")  # of a move, as in "1. 11-15"


def decks(of: Variant | str) -> tuple[str, ...]:
    """Names of the decks that ship for a variant, such as ``three-move``.

    Raises:
        VariantError: no variant of that name.
    """
    prefix = f"{variant(of).name}-"
    files = (file.name for file in (resources.files("draughts_env") / "data").iterdir())
    return tuple(sorted(f.removeprefix(prefix)[:-4] for f in files if f.startswith(prefix) and f.endswith("-move.txt")))


def deck(of: Variant | str, name: str) -> tuple[Opening, ...]:
    """A deck: one that ships, by its name, or a file.

    Args:
        of: the variant or its name.
        name: name of a deck (:func:`decks`), or path of a file.

    Raises:
        OpeningError: neither; or a card of the file cannot be read or played, with its line.
        VariantError: no variant of that name.
    """
    rules = variant(of)
    if name.strip().lower() in decks(rules):
        return _shipped(rules, name.strip().lower())
    try:
        text = Path(name).expanduser().read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        known = ", ".join(decks(rules)) or "none"
        reason = getattr(error, "strerror", None) or error
        raise OpeningError(
            f"{name!r} is neither a deck of {rules} (there are: {known}) nor a file that can be read: {reason}"
        ) from None
    return read_cards(text, rules, name)


@cache
def _shipped(rules: Variant, name: str) -> tuple[Opening, ...]:
    file = resources.files("draughts_env") / "data" / f"{rules.name}-{name}.txt"
    return read_cards(file.read_text(encoding="utf-8"), rules, file.name)


def read_cards(text: str, of: Variant | str, source: str = "the text") -> tuple[Opening, ...]:
    """Cards from text: one a line, the moves separated by blanks; numbers of moves and ``#`` comments are left out.

    Args:
        text: the cards; of: the variant or its name.
        source: what the text is called in error messages.

    Raises:
        OpeningError: a line that cannot be read or played, or ends the game; no card at all.
        VariantError: no variant of that name.
    """
    cards = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = _NUMBER.sub("", line.partition("#")[0]).split()
        if words:
            try:
                cards.append(played(words, of))
            except OpeningError as error:
                raise OpeningError(f"{source}, line {number}: {error}") from None
    if not cards:
        raise OpeningError(f"{source} has no cards")
    return tuple(cards)


def played(moves: Sequence[str], of: Variant | str) -> Opening:
    """An opening with its moves written as the project writes them.

    Raises:
        OpeningError: it cannot be played, or it ends the game.
        VariantError: no variant of that name.
    """
    game = Game(of)
    try:
        for move in moves:
            game.push(move)
    except DraughtsError as error:
        raise OpeningError(f"the opening {' '.join(moves)!r} cannot be played: {error}") from error
    if game.is_over:
        raise OpeningError(f"the opening {' '.join(moves)!r} ends the game")
    return tuple(map(str, game.moves))


def draw_cards(cards: Sequence[Opening], count: int, seed: int = 0) -> list[Opening]:
    """Cards drawn by lot; the same for the same arguments.

    Each card comes once before any comes a second time.

    Raises:
        OpeningError: there are no cards, or the number is negative.
    """
    if count < 0 or not cards:
        raise OpeningError("cards can be drawn only from a deck that has some, and not less than none")
    chance = random.Random(seed)
    drawn: list[Opening] = []
    while len(drawn) < count:
        drawn += chance.sample(list(cards), len(cards))
    return drawn[:count]
