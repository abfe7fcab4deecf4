"""Games with huffing as text.

PDN has no sign for a huff. Here it is a comment that the reader of these files takes as an action: ``{huff 15}`` after
the offence, ``{insist}`` after a move that then goes back and is replaced by the next one, which has its number again:

    1. 11-15 23-19 2. 8-11 {huff 15} 22-17 3. 11-16 {insist} 3. 9-14

(the moves only show the form). A tag ``[Huffing "1"]`` says that the game is played so.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping

from draughts_env.errors import IllegalMoveError
from draughts_env.huffing import HuffingGame, Insist
from draughts_env.moves import Move
from draughts_env.variants import Variant

_TAG = re.compile(r'\[\s*(\w+)\s+"([^"]*)"\s*\]')
_TOKEN = re.compile(r"\{([^}]*)\}|(\S+)")
_NUMBER = re.compile(r"\d+\.+")
_RESULTS = ("1-0", "0-1", "1/2-1/2", "*")


def rights(game: HuffingGame) -> str:
    """What is special about the turn, in a line; empty when nothing is."""
    if game.must_capture:
        return f"{game.turn.capitalize()} must capture"
    if game.huffable:
        squares = ", ".join(map(str, game.huffable))
        return f"{game.turn.capitalize()} may huff {squares}, insist on the capture, or play on"
    return ""


def write_huffing(game: HuffingGame, tags: Mapping[str, str] | None = None) -> str:
    """A game as text, ending in a newline.

    Args:
        game: the game, finished or not.
        tags: tags to write beside those that are always there.
    """
    outcome = game.outcome()
    result = "*"
    if outcome is not None:
        first = game.variant.first
        result = "1/2-1/2" if outcome.winner is None else "1-0" if outcome.winner == first else "0-1"
    lines = {"Event": "?", "Black": "?", "White": "?", "Result": result}
    lines |= {"GameType": str(game.variant.gametype), "Huffing": "1"}
    start = HuffingGame(game.variant)
    first_fen = game.first_fen
    if first_fen != start.fen:
        lines |= {"SetUp": "1", "FEN": first_fen}
    lines.update(tags or {})
    head = "\n".join(f'[{name} "{value}"]' for name, value in lines.items())
    body = textwrap.wrap(" ".join([*_words(game), result]), 80, break_long_words=False, break_on_hyphens=False)
    return head + "\n\n" + "\n".join(body) + "\n"


def _words(game: HuffingGame) -> list[str]:
    words = []
    made = int(game.start.turn != game.variant.first)  # plies that stand
    fresh = True  # whether a number is due also before the second player's move
    for action in game.actions:
        if isinstance(action, Move):
            if made % 2 == 0:
                words.append(f"{made // 2 + 1}.")
            elif fresh:
                words.append(f"{made // 2 + 1}...")
            words.append(str(action))
            made += 1
            fresh = False
        else:
            words.append(f"{{{action}}}")
            made -= isinstance(action, Insist)
            fresh = True
    return words


def read_huffing(text: str, of: Variant | str = "english-huffing") -> HuffingGame:
    """The game that :func:`write_huffing` wrote. Comments that are no actions are passed over.

    Raises:
        IllegalMoveError: an action that is not legal.
        FenError: a FEN tag that cannot be read.
        VariantError: no variant of that name, or one without huffing.
    """
    tags = dict(_TAG.findall(text))
    game = HuffingGame(of, tags.get("FEN"))
    for comment, word in _TOKEN.findall(_TAG.sub("", text)):
        if comment:
            if comment.strip().lower().startswith(("huff", "insist")):
                game.push(comment)
        elif word in _RESULTS:
            break
        elif not _NUMBER.fullmatch(word):
            try:
                game.push(word)
            except IllegalMoveError as error:
                raise IllegalMoveError(f"action {game.ply + 1}: {error}") from None
    return game
