"""One recorded game as it is put together from its tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

from draughts_env.errors import FenError, IllegalMoveError
from draughts_env.pdn_game import PdnGame, Problem, Variation, score_of
from draughts_env.pdn_lines import MAX_READINGS, Line
from draughts_env.pdn_rules import Rules, guessed_variants, read_starts, starting_position, told_rules
from draughts_env.variants import Variant

#: So many problems of one kind are listed for one game.
MAX_PROBLEMS = 100
_MAX_DEPTH = 30  # variations within variations

_DASHES = dict.fromkeys(map(ord, "‐‑‒–—−"), "-")

Kind = Literal["error", "warning"]
Place = tuple[int, int]


@dataclass
class _Frame:
    """The moves of the game, or of one of its variations, while they are read."""

    record: PdnGame | Variation
    line: Line | None = None  # None: not begun, or given up
    offset: int = 0  # plies of the game before the line
    open: dict[int, tuple[str, Place]] = field(default_factory=dict)  # plies that fit several moves: text and place

    @property
    def ply(self) -> int:
        """Plies of the game so far."""
        return self.offset + (self.line.ply if self.line else 0)


class GameBuilder:
    """Takes the tokens of a game in their order; :meth:`finish` makes the game of them.

    Places in the source are indices that ``locate`` turns into line and column.
    """

    def __init__(self, number: int, default: Variant | None, at: int, locate: Callable[[int], Place]) -> None:
        self._place = locate(at)
        self.game = PdnGame(number=number, line=self._place[0])
        #: Whether the moves have begun.
        self.body = False
        #: Whether the result has been read.
        self.closed = False
        self._default = default
        self._locate = locate
        self._main = _Frame(self.game)
        self._frames = [self._main]
        self._skipped = 0  # parentheses that are open and of no interest
        self._rules: Rules | None = None  # None: nothing has been played
        self._variants: list[Variant] = []  # that the game can belong to
        self._in_start = True  # the line begins at the start, not at a position set up later
        self._unknown_turn: Place | None = None
        self._fen_place: Place | None = None
        self._stop: int | None = None  # the problem after which moves are not read
        self._after_stop = 0
        self._wrong_sign: int | None = None  # the first problem with the sign of a move
        self._wrong_signs = 0
        self._listed: Counter[str] = Counter()
        self._omitted: Place | None = None  # the first problem that is not listed

    # --- problems -----------------------------------------------------------------------------------

    def problem(self, kind: Kind, message: str, place: int | Place, ply: int | None = None) -> int | None:
        """Note a problem; its index in the list, unless there are too many."""
        self._listed[kind] += 1
        if self._listed[kind] > MAX_PROBLEMS + 1:
            return None
        if isinstance(place, int):
            place = self._locate(place)
        if self._listed[kind] > MAX_PROBLEMS:
            self._omitted = self._omitted or place
            return None
        self.game.problems.append(Problem(kind, message, self.game.number, *place, ply))
        return len(self.game.problems) - 1

    def warn(self, message: str, place: int | Place, ply: int | None = None) -> None:
        """Note something odd."""
        self.problem("warning", message, place, ply)

    def _extend(self, index: int | None, more: str) -> None:
        """Add to the message of a problem."""
        if index is not None:
            problem = self.game.problems[index]
            self.game.problems[index] = replace(problem, message=problem.message + more)

    # --- tags, comments -----------------------------------------------------------------------------

    def tag(self, name: str, value: str, at: int) -> None:
        """A tag."""
        if self.game.tag(name) is not None:
            self.warn(f"a second tag {name}; the first one counts", at)
            return
        self.game.tags[name] = value
        if name.lower() == "fen":
            self._fen_place = self._locate(at)

    def comment(self, text: str) -> None:
        """A comment."""
        self._annotate("comments", " ".join(text.split()))

    def nag(self, text: str) -> None:
        """``$1``, ``!?``, ..."""
        self._annotate("nags", text)

    def _annotate(self, kind: Literal["comments", "nags"], text: str) -> None:
        frame = self._frames[-1]
        if text and not self._skipped and not (frame.line is None and self._rules is not None):
            notes: dict[int, list[str]] = getattr(frame.record, kind)
            notes.setdefault(frame.ply, []).append(text)

    # --- moves --------------------------------------------------------------------------------------

    @property
    def ply(self) -> int:
        """Plies of the game so far."""
        return self._main.ply

    @property
    def depth(self) -> int:
        """How many parentheses are open."""
        return len(self._frames) - 1 + self._skipped

    @property
    def line(self) -> Line | None:
        """The line to play the next move on; ``None`` when it is of no interest, or has not begun."""
        return None if self._skipped else self._frames[-1].line

    @property
    def tag_result(self) -> str:
        """The value of the ``Result`` tag, without blanks."""
        return "".join((self.game.tag_result or "").split())

    def move(self, text: str, at: int) -> None:
        """A move, squares and signs as they are written."""
        word = "".join(text.split()).translate(_DASHES)
        if self._skipped:
            return
        self._begin(word)
        frame = self._frames[-1]
        if frame.line is None:
            if frame is self._main:
                self.game.unread += 1
                self._after_stop += 1
            return
        ply = frame.ply + 1
        shown = " ".join(text.split())
        try:
            played = frame.line.play(word)
        except IllegalMoveError as error:
            if frame is not self._main:
                self._give_up(frame, f"in a variation: {error}", at, ply)
                return
            self.game.unread += 1
            self._halt("error", str(error), at, ply)
            return
        if played.remark:
            self.warn(f"{shown} {played.remark}", at, ply)
        if played.open:
            frame.open[frame.line.ply] = shown, self._locate(at)
        signs = set(word) & set("-xX:")
        if (played.capture and signs == {"-"}) or (not played.capture and signs - {"-"}):
            self.wrong_sign(shown, played.capture, at, ply)

    def wrong_sign(self, text: str, capture: bool, at: int, ply: int | None = None) -> None:
        """A move with the sign of the other kind of moves; it is counted, and the first one listed."""
        if self._wrong_signs == 0:
            what = "is a capture but is not written as one" if capture else "is written as a capture but takes nothing"
            self._wrong_sign = self.problem("warning", f"{text} {what}", at, ply or self._frames[-1].ply)
        self._wrong_signs += 1

    def unknown_move(self, at: int) -> None:
        """A dash in the place of a move."""
        if self._skipped:
            return
        self._begin(None)
        frame = self._frames[-1]
        if frame is not self._main:
            if frame.line is not None:
                self._give_up(frame, "a move of a variation is not known", at, frame.ply + 1)
        elif self._stop is None:
            self._halt("warning", "the move is not known", at, frame.ply + 1)

    def junk(self, text: str, at: int) -> None:
        """A word among the moves that is none."""
        if self._skipped:
            return
        frame = self._frames[-1]
        if frame.line is None and self._rules is not None:
            return
        shown = repr(text if len(text) <= 40 else f"{text[:40]}...")
        if not self.body or not any(c in "0123456789" for c in text):
            self.warn(f"{shown} is passed over", at, frame.ply or None)
        elif frame is self._main:
            self._begin(None)
            self._halt("error", f"{shown} is not understood as a move", at, frame.ply + 1)
        else:
            self._give_up(frame, f"in a variation: {shown} is not understood as a move", at, frame.ply + 1)

    def set_up(self, fen: str, at: int) -> None:
        """A position put on the board in mid-game."""
        if self._skipped or len(self._frames) > 1:
            self.warn("a position set up in a variation is passed over", at)
            return
        self._begin(None)
        self._close_main()
        if self._rules is not None and self._rules.variants == []:
            return  # not a game that is known here
        try:
            starts, _ = read_starts(fen, self._variants or guessed_variants(fen, None))
        except FenError as error:
            self._halt("error", str(error), at, self.ply + 1)
            return
        if fen.strip().startswith("?"):
            self.warn(f"the side to move is unknown; taken is {starts[0].turn.capitalize()}", at, self.ply + 1)
        self._settle_stop()
        self._in_start = False
        self._main.line = Line(starts[:1])
        self._variants = [starts[0].variant]
        self.game.variant = starts[0].variant
        self.game.setups[self._main.offset] = starts[0]

    def _begin(self, word: str | None) -> None:
        """Put the pieces on the board before the first move."""
        if self._rules is not None:
            return
        game = self.game
        rules = self._rules = told_rules(game.tags, self._default)
        game.variant_from = rules.source
        place = self._fen_place or self._place
        if rules.warning:
            self.warn(rules.warning, place)
        fen = game.tag("FEN")
        if fen is not None and not fen.strip():
            self.warn("the FEN tag is empty; the game starts from the starting position", place)
            fen = None
        guessed = guessed_variants(fen, word) if rules.variants is None else rules.variants
        self._variants = guessed
        if rules.error:
            self._stop = self.problem("error", rules.error, self._place)
        if not guessed:
            return
        game.variant = guessed[0] if len(guessed) == 1 else None
        if fen is None:
            self._main.line = Line([starting_position(of) for of in guessed])
            return
        if fen.strip().startswith("?"):
            self._unknown_turn = place
        try:
            starts, game.quiet = read_starts(fen, guessed)
        except FenError as error:
            game.variant = guessed[0]
            self._stop = self.problem("error", str(error), place)
        else:
            self._main.line = Line(starts)

    def _halt(self, kind: Kind, message: str, at: int, ply: int) -> None:
        """Stop reading the moves of the game."""
        self._close_main()
        self._settle_stop()
        self._stop = self.problem(kind, message, at, ply)

    def _settle_stop(self) -> None:
        """Say how many moves have not been read."""
        if self._after_stop:
            moves = "1 further move is" if self._after_stop == 1 else f"{self._after_stop} further moves are"
            self._extend(self._stop, f"; {moves} not read")
        self._stop = None
        self._after_stop = 0

    def _close_main(self) -> None:
        """Decide the line of the game."""
        main = self._main
        line = main.line
        if line is None:
            return
        game = self.game
        if self._in_start:
            game.start = line.start
            if self._unknown_turn and len({start.turn for start in line.starts()}) > 1:
                self.warn(f"the side to move is unknown; taken is {line.start.turn.capitalize()}", self._unknown_turn)
        game.variant = line.start.variant
        self._variants = [game.variant]
        self._doubts(main, line)
        game.moves += line.moves
        main.offset += line.ply
        main.line = None

    def _doubts(self, frame: _Frame, line: Line) -> None:
        """Say which moves stayed ambiguous."""
        for doubt in line.doubts():
            text, place = frame.open.get(doubt.ply, ("the move", self._place))
            options = " or ".join(move.full for move in doubt.moves[:4]) + (", ..." if len(doubt.moves) > 4 else "")
            message = f"{text} is ambiguous, and the rest fits all its readings: {options}; taken is the first"
            self.warn(message, place, frame.offset + doubt.ply)
        if line.overflowed:
            message = f"more than {MAX_READINGS} readings of ambiguous moves; not all were followed"
            self.warn(message, self._place)
        frame.open.clear()

    # --- variations ---------------------------------------------------------------------------------

    def open_variation(self, at: int) -> None:
        """An opening parenthesis."""
        frame = self._frames[-1]
        if self._skipped or frame.line is None or self.closed or len(self._frames) > _MAX_DEPTH:
            if not self._skipped and (frame.line is not None or self._rules is None):
                self.warn("what is in these parentheses is passed over", at)
            self._skipped += 1
            return
        line = frame.line.branch()
        if line is None:
            self.warn("a variation before the first move is passed over", at)
            self._skipped = 1
            return
        variation = Variation(frame.ply)
        frame.record.variations.setdefault(frame.ply, []).append(variation)
        self._frames.append(_Frame(variation, line, frame.ply - 1))

    def close_variation(self, at: int) -> None:
        """A closing parenthesis."""
        if self._skipped:
            self._skipped -= 1
        elif len(self._frames) > 1:
            frame = self._frames.pop()
            self._settle_variation(frame)
            if not (frame.record.moves or frame.record.comments):
                siblings = self._frames[-1].record.variations
                siblings[frame.offset + 1].pop()
                if not siblings[frame.offset + 1]:
                    del siblings[frame.offset + 1]
        else:
            self.warn("a stray ')'", at)

    def _settle_variation(self, frame: _Frame) -> None:
        if frame.line is not None:
            self._doubts(frame, frame.line)
            frame.record.moves = frame.line.moves
            frame.line = None

    def _give_up(self, frame: _Frame, message: str, at: int, ply: int) -> None:
        """Stop reading a variation."""
        self._settle_variation(frame)
        self.warn(message, at, ply)

    def close_all(self, at: int) -> None:
        """Close the parentheses that are still open."""
        if self.depth:
            self.warn("a variation is not closed", at)
        self._skipped = 0
        while len(self._frames) > 1:
            self.close_variation(at)

    # --- the end ------------------------------------------------------------------------------------

    def result(self, text: str, at: int) -> None:
        """The result at the end of the moves."""
        if self.closed:
            self.warn(f"a second result {text} is passed over", at)
            return
        self.close_all(at)
        self.closed = True
        game = self.game
        game.result = text
        ours, theirs = score_of(text), score_of(game.tag_result)
        if ours and theirs and _sign(ours) != _sign(theirs):
            self.warn(f"the moves end in {text}, but the Result tag says {game.tag_result}", at)

    def finish(self, at: int) -> PdnGame:
        """The game."""
        self.close_all(at)
        self._begin(None)
        self._close_main()
        self._settle_stop()
        if self._wrong_signs > 1:
            self._extend(self._wrong_sign, f" (so are {self._wrong_signs - 1} more of this game)")
        if self._omitted is not None:
            more = sum(max(0, count - MAX_PROBLEMS) for count in self._listed.values())
            problem = Problem("warning", f"{more} further problems are not listed", self.game.number, *self._omitted)
            self.game.problems.append(problem)
        return self.game


def _sign(score: tuple[float, float]) -> int:
    return (score[0] > score[1]) - (score[0] < score[1])
