"""Reading PDN: tokens, and where one game ends and the next begins."""

from __future__ import annotations

import re
from collections.abc import Iterator

from draughts_env import notation
from draughts_env.pdn_builder import GameBuilder, Place
from draughts_env.pdn_game import PdnGame, normal_result
from draughts_env.pdn_lines import plain_words
from draughts_env.pdn_text import AHEAD, PdnText, Source, check_source
from draughts_env.variants import Variant, variant

#: A comment without a closing brace goes no further than this.
_MAX_COMMENT = 1 << 18
_MAX_PENDING = 20

_SIGN = "[-‐‑‒–—−xX×:]"
_NUMBER = "[0-9]{1,3}"
_SQUARE = "[a-jA-J](?:10|[1-9])(?![0-9])"
# Between two squares there may be blanks or a line break after the sign. Blanks before it only if no dot follows: in
# `32-28 - 2. 28-22` the dash is a move that is not known.
_NUMBERS = rf"{_NUMBER}(?:(?:{_SIGN}\s{{0,20}}|\*){_NUMBER}|[ \t]{{1,20}}{_SIGN}[ \t]{{0,20}}{_NUMBER}(?![0-9.]))+"
_NAMES = rf"{_SQUARE}(?:(?:[ \t]{{0,20}}{_SIGN}\s{{0,20}}|\*?){_SQUARE})+"
_RESULT = (
    r"[012][ ]?[-–][ ]?0|0[ ]?[-–][ ]?[12]|1[-–]1|[0-9]{1,2}[-–]0|0[-–][0-9]{1,2}"
    r"|1/2(?:[ ]?[-–][ ]?1/2)?|½(?:[ ]?[-–][ ]?½)?"
)
_TOKEN = re.compile(
    rf"""
      (?P<comment> \{{ )
    | (?P<rest> ; )
    | (?P<tag> \[ )
    | (?P<nag> [!?‼⁇⁈⁉]{{1,20}} | \([!?]{{1,20}}\) | \$[0-9]{{1,3}} )
    | (?P<open> \( )
    | (?P<close> \) )
    | (?P<result> (?: {_RESULT} ) (?![\w/:×]|[-–][0-9]) )
    | (?P<star> \* )
    | (?P<move> (?: {_NUMBERS} | {_NAMES} | [0-9]{{4}}(?!\.) ) (?![\w/]|{_SIGN}[0-9]) )
    | (?P<number> [0-9]{{1,4}} [ \t]{{0,20}} [.…] [ \t.…]{{0,20}} )
    | (?P<bare> [0-9]{{1,3}} (?=\s|\Z) )
    | (?P<dots> [.…]{{1,20}} )
    | (?P<unknown> [-‐‑‒–—−]{{1,3}} (?=[\s(){{}};*\[]|\Z) )
    | (?P<setup> /\s{{0,20}}(?:FEN|fen)\s{{0,20}}"(?P<fen>[^"\n]{{0,2000}})"\s{{0,20}}/ )
    | (?P<escape> % )
    | (?P<word> [^\s(){{}}\[\];]{{1,200}} )
    | (?P<stray> . )
    """,
    re.VERBOSE | re.DOTALL,
)
_BLANK = re.compile(r"\s+")
#: A move written by two squares, with or without its number, that is followed by a blank and no further sign.
_QUICK = re.compile(
    r"[ \t]{0,40}\n?[ \t]{0,40}(?:[0-9]{1,4}\.[ ]{0,4})?([0-9a-hxX:-]{3,12})"
    rf"(?=[ \n](?![ \t]{{0,40}}{_SIGN}))"
)
_PLAIN = re.compile(r"(?:[0-9]{1,2}([-xX:])[0-9]{1,2}|[a-hA-H][1-8]([-xX:]?)[a-hA-H][1-8])")

_TAG = re.compile(r'\[\s{0,20}([A-Za-z_][\w-]{0,60})\s{0,200}"([^\n]{0,2000}?)"\s{0,20}\]')
_BROKEN_TAG = re.compile(r'\[\s{0,20}([A-Za-z_][\w-]{0,60})\s{0,200}"([^"\[\]{}]{0,2000})"\s{0,20}\]')  # over lines
_BARE_TAG = re.compile(r'\[[ \t]{0,20}([A-Za-z_][\w-]{0,60})(?:[ \t]+([^\]\n"]{0,4000}))?\]')
_OPEN_TAG = re.compile(r'\[[ \t]{0,20}([A-Za-z_][\w-]{0,60})[ \t]{0,200}"([^\n]{0,4000})')
_TAG_LINE = re.compile(r'^[ \t]*\[[ \t]*[A-Za-z_][\w-]*[ \t]*"[^"\n]*"[ \t]*\]', re.MULTILINE)

_ENDS = re.compile(r"(?:\s|\{[^{}]{0,1000}\})*(?:\Z|\[)")
_ENDS_GAME = re.compile(r"[ \t]*(?:\Z|\n\s*(?:\Z|\[|0?1\s*\.))")
_BLANK_LINE = re.compile(r"\n[ \t]*\n\s*\Z")


class Reader:
    """Turns a source into games, one at a time."""

    def __init__(self, source: Source, default: Variant | None) -> None:
        self._text = PdnText(source)
        self._default = default
        self._number = 0
        self._game: GameBuilder | None = None
        self._done: list[PdnGame] = []
        self._same_line = False  # whether this is still the line of the result
        self._comments: list[str] = []  # for the game that comes next
        self._pending: list[tuple[str, Place]] = []  # warnings for it

    def games(self) -> Iterator[PdnGame]:
        """All games."""
        text = self._text
        while text.fill():
            self._quick_moves()
            self._token()
            if self._done:
                yield from self._done
                self._done.clear()
        self._finish()
        yield from self._done

    # --- games --------------------------------------------------------------------------------------

    def _finish(self) -> None:
        if self._game is not None:
            self._done.append(self._game.finish(self._text.at))
            self._game = None

    def _new(self, at: int) -> GameBuilder:
        self._finish()
        self._number += 1
        game = self._game = GameBuilder(self._number, self._default, at, self._text.place)
        for message, place in self._pending:
            game.warn(message, place)
        for comment in self._comments:
            game.comment(comment)
        self._pending.clear()
        self._comments.clear()
        return game

    def _open(self, at: int) -> GameBuilder:
        """The game that a token of the moves belongs to."""
        game = self._game
        if game is None or game.closed:
            game = self._new(at)
        game.body = True
        return game

    def _odd(self, message: str, at: int) -> None:
        """Something between the games."""
        if self._game is not None:
            self._game.warn(message, at)
        elif len(self._pending) < _MAX_PENDING:
            self._pending.append((message, self._text.place(at)))

    # --- tokens -------------------------------------------------------------------------------------

    def _quick_moves(self) -> None:
        """Most moves, quickly: those that need no second look."""
        game, text = self._game, self._text
        if game is None or game.closed:
            return
        line = game.line
        if line is None:
            return
        words, result = plain_words(line.board), game.tag_result
        buffer, at, match, step = text.buffer, text.at, _QUICK.match, line.step
        last = len(buffer) if text.ended else len(buffer) - AHEAD
        while at <= last:
            found = match(buffer, at)
            if found is None:
                break
            word = found[1]
            known = words.get(word)
            if known is None or word == result:
                break
            played = step(known[0], word)
            if played is None:
                break
            if known[1] and played.capture != (known[1] != "-"):
                game.wrong_sign(word, played.capture, found.start(1))
            at = found.end()
        text.at = at

    def _token(self) -> None:
        """Anything."""
        text = self._text
        at = text.at
        blank = _BLANK.match(text.buffer, at)
        if blank:
            self._same_line = self._same_line and "\n" not in blank[0]
            at = text.at = blank.end()
            if at == len(text.buffer) or not (text.ended or at < len(text.buffer) - AHEAD // 2):
                return
        found = _TOKEN.match(text.buffer, at)
        if found is None or found.lastgroup is None:
            return
        text.at = found.end()
        getattr(self, f"_read_{found.lastgroup}")(found[0], at)

    def _read_move(self, word: str, at: int) -> None:
        game = self._game
        year = word.isdigit()  # four digits: between games more likely a year
        if year and (game is None or game.closed):
            self._odd(f"{word!r} is passed over", at)
            return
        repeats_tag = game is not None and not game.closed and "".join(word.split()) == game.tag_result
        if repeats_tag and _ENDS.match(self._text.buffer, self._text.at):
            self._read_result(word, at)
            return
        game = self._open(at)
        game.move(word, at)
        line = game.line
        plain = _PLAIN.fullmatch(word)
        if line is not None and plain:
            squares = notation.read_squares(line.board, word)
            if squares[0] != squares[1]:
                plain_words(line.board)[word] = squares[0] << 6 | squares[1], plain[1] or plain[2] or ""

    def _read_number(self, word: str, at: int) -> None:
        game = self._game
        if game is not None and not game.closed and game.body and not game.depth and game.ply + game.game.unread > 1:
            restarts = int(re.split(r"[ \t.…]", word)[0]) == 1 and word.count(".") == 1
            if restarts and _BLANK_LINE.search(self._text.buffer, max(0, at - 200), at):
                self._finish()
        self._open(at)

    def _read_bare(self, word: str, at: int) -> None:
        self._odd(f"{word} is taken for the number of a move", at)

    def _read_dots(self, word: str, at: int) -> None:
        pass

    def _read_unknown(self, word: str, at: int) -> None:
        game = self._game
        if game is None or game.closed:
            self._odd(f"a stray {word!r}", at)
            return
        self._open(at).unknown_move(at)

    def _read_star(self, word: str, at: int) -> None:
        game, buffer = self._game, self._text.buffer
        glued = at > 0 and buffer[at - 1] in "0123456789!?"
        if glued and game is not None and not game.closed and not _ENDS.match(buffer, at + 1):
            after = _BLANK.match(buffer, at + 1)
            following = _TOKEN.match(buffer, after.end() if after else at + 1)
            if following and following.lastgroup in ("move", "number", "nag", "open", "close"):
                game.nag("$7")  # a forced move
                return
        self._read_result(word, at)

    def _read_result(self, word: str, at: int) -> None:
        game = self._game
        in_variation = game is not None and not game.closed and game.depth
        if in_variation and not _ENDS_GAME.match(self._text.buffer, self._text.at):
            return  # what a variation leads to
        if game is None:
            game = self._new(at)
        game.result(normal_result(word), at)
        self._same_line = True

    def _read_nag(self, word: str, at: int) -> None:
        if self._game is not None and not self._game.closed:
            self._game.nag(word.strip("()"))

    def _read_open(self, word: str, at: int) -> None:
        if self._game is None:
            self._odd("a stray '('", at)
        else:
            self._game.open_variation(at)

    def _read_close(self, word: str, at: int) -> None:
        if self._game is None:
            self._odd("a stray ')'", at)
        else:
            self._game.close_variation(at)

    def _read_setup(self, word: str, at: int) -> None:
        self._open(at).set_up(word.split('"')[1], at)

    def _read_word(self, word: str, at: int) -> None:
        if self._game is None or self._game.closed:
            if self._game is None or not self._game.depth:
                self._odd(f"{word[:40]!r} is passed over", at)
        else:
            self._game.junk(word, at)

    def _read_stray(self, word: str, at: int) -> None:
        self._odd(f"a stray {word!r}", at)

    # --- comments and tags --------------------------------------------------------------------------

    def _read_escape(self, word: str, at: int) -> None:
        if self._text.begins_line(at):
            self._rest_of_line()
        else:
            self._read_stray(word, at)

    def _read_rest(self, word: str, at: int) -> None:
        self._note(self._rest_of_line())

    def _rest_of_line(self) -> str:
        text = self._text
        begin = text.at
        end = text.find("\n", begin, _MAX_COMMENT)
        text.at = end if end >= 0 else min(len(text.buffer), begin + _MAX_COMMENT)
        return text.buffer[begin : text.at]

    def _read_comment(self, word: str, at: int) -> None:
        text = self._text
        begin = text.at
        end = text.find("}", begin, _MAX_COMMENT)
        stop = end if end >= 0 else min(len(text.buffer), begin + _MAX_COMMENT)
        # The brace that follows may close another comment, of another game.
        tag = _TAG_LINE.search(text.buffer, begin, stop)
        if tag and (end < 0 or "{" in text.buffer[tag.end() : end]):
            end, stop = -1, tag.start()
        text.at = stop + (end >= 0)
        if end < 0:
            (self._game or self._new(at)).problem("error", "a comment is not closed", at)
        self._note(text.buffer[begin:stop])

    def _note(self, comment: str) -> None:
        game = self._game
        if game is not None and (not game.closed or self._same_line):
            game.comment(comment)
        elif comment.strip() and len(self._comments) < _MAX_PENDING:
            self._comments.append(comment)

    def _read_tag(self, word: str, at: int) -> None:
        text, game = self._text, self._game
        at_start = text.begins_line(at)
        in_variation = game is not None and game.depth > 0
        found = _TAG.match(text.buffer, at) or _BROKEN_TAG.match(text.buffer, at)
        odd = None
        if found is None and at_start:
            found = _BARE_TAG.match(text.buffer, at)
            odd = "a tag without quotation marks"
            if found is None:
                found = _OPEN_TAG.match(text.buffer, at)
                odd = "a tag that is not closed"
        if found is None or (in_variation and not at_start):
            self._read_stray(word, at)
            return
        name, value = found[1], (found[2] or "").strip()
        if game is None or game.closed or game.body:
            game = self._new(at)
        elif game.game.tag(name) is not None:
            first = next(iter(game.game.tags)).lower()
            apart = _BLANK_LINE.search(text.buffer, max(0, at - 200), at) is not None
            if apart or name.lower() in ("event", first):
                game = self._new(at)
        if odd:
            game.warn(odd, at)
            value = value.rstrip('"] \t')
        game.tag(name, value.replace('\\"', '"').replace("\\\\", "\\"), at)
        text.at = found.end()


def read_games(source: Source, variant: Variant | str | None = None) -> Iterator[PdnGame]:
    """The games of a source, one after the other; no more than one is in memory.

    Nothing that stands in the source raises an error: what is wrong is in the ``problems`` of the games.

    Args:
        source: a path (a text that ends in ``.pdn`` is one too), the content as bytes or text, or a file object.
        variant: the variant of games whose tags do not say; without it, it is guessed from squares and moves.

    Raises:
        PdnError: not something that can be read.
        VariantError: no variant of that name.
        OSError: when the first game is asked for: the file cannot be read.
    """
    check_source(source)
    return Reader(source, _default(variant)).games()


def _default(of: Variant | str | None) -> Variant | None:
    return None if of is None else variant(of).without_huffing()
