"""What a recorded game consists of: tags, moves, comments, variations, result, and what was wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from draughts_env.errors import PdnError
from draughts_env.game import Game
from draughts_env.moves import Move
from draughts_env.position import Position
from draughts_env.variants import Color, Variant

_RESULT = re.compile(r"(1/2|\d{1,3}|[½*])(?:\s*[-–:]\s*(1/2|\d{1,3}|½))?(?![\d/])", re.ASCII)
_HALVES = ("1/2", "½")


def normal_result(text: str) -> str:
    """A result without blanks and with ``1/2-1/2`` for all ways to write the half point each."""
    plain = "".join(text.split()).replace("½", "1/2").replace("–", "-")
    return "1/2-1/2" if plain == "1/2" else plain


def score_of(result: str | None) -> tuple[float, float] | None:
    """Points of the first and the second player; ``None`` where the text does not say, as ``*``."""
    match = _RESULT.match(result.strip()) if result else None
    if match is None or match[1] == "*":
        return None
    if match[2] is None:
        return (0.5, 0.5) if match[1] in _HALVES else None
    first, second = (0.5 if part in _HALVES else float(part) for part in match.groups())
    return first, second


@dataclass(frozen=True)
class Problem:
    """Something wrong with a recorded game.

    Attributes:
        kind: ``"error"`` when something of the game could not be read, ``"warning"`` otherwise.
        message: what is wrong.
        game: number of the game in its source, from 1.
        line, column: where in the source, from 1.
        ply: number of the ply that it is about, from 1; ``None`` outside of the moves.
    """

    kind: Literal["error", "warning"]
    message: str
    game: int
    line: int
    column: int
    ply: int | None = None

    @property
    def place(self) -> str:
        """Game, move, line and column in words."""
        move = "" if self.ply is None else f", move {(self.ply + 1) // 2} (ply {self.ply})"
        return f"game {self.game}{move}, line {self.line}, column {self.column}"

    def __str__(self) -> str:
        return f"{self.place}: {self.kind}: {self.message}"


@dataclass
class Variation:
    """Other moves than those that were played.

    Attributes:
        ply: number of the ply, from 1, that its first move stands for.
        moves: the moves, as far as they are legal.
        comments, nags, variations: as in :class:`PdnGame`, by number of plies from the start of the game.
    """

    ply: int
    moves: list[Move] = field(default_factory=list)
    comments: dict[int, list[str]] = field(default_factory=dict)
    nags: dict[int, list[str]] = field(default_factory=dict)
    variations: dict[int, list[Variation]] = field(default_factory=dict)


@dataclass
class PdnGame:
    """A game as it is recorded.

    Attributes:
        number: number of the game in its source, from 1.
        line: line of the source on which it begins, from 1.
        tags: the tags in their order.
        variant: the rules; ``None`` when the tags name a game that is not known here.
        variant_from: how they were found: by the ``GameType`` (or ``Variant``) tag, by the caller, or by a guess.
        start: where it starts; ``None`` when that cannot be read, and then there are no moves.
        quiet: plies by kings only before that (``H`` in the FEN).
        moves: the moves, up to the first that is illegal or unknown. They go on from a position that is set up later.
        result: the result at the end of the moves, as written but for blanks; ``None`` without one.
        problems: what is wrong, in the order in which it was found.
        comments: comments by the number of plies before them.
        nags: ``$1``, ``!?`` and the like by the number of plies before them.
        variations: variations by the number of the ply, from 1, that they replace.
        setups: positions put on the board in mid-game, by the number of plies before them.
        unread: moves that are in the source but not in :attr:`moves`, without those in variations.
    """

    number: int = 1
    line: int = 1
    tags: dict[str, str] = field(default_factory=dict)
    variant: Variant | None = None
    variant_from: Literal["tag", "caller", "guess"] = "guess"
    start: Position | None = None
    quiet: int = 0
    moves: list[Move] = field(default_factory=list)
    result: str | None = None
    problems: list[Problem] = field(default_factory=list)
    comments: dict[int, list[str]] = field(default_factory=dict)
    nags: dict[int, list[str]] = field(default_factory=dict)
    variations: dict[int, list[Variation]] = field(default_factory=dict)
    setups: dict[int, Position] = field(default_factory=dict)
    unread: int = 0

    def tag(self, name: str) -> str | None:
        """The value of a tag, its name in any case."""
        return tag_value(self.tags, name)

    @property
    def tag_result(self) -> str | None:
        """The value of the ``Result`` tag."""
        return self.tag("Result")

    @property
    def score(self) -> tuple[float, float] | None:
        """Points of the player who moves first in this variant, and of the other.

        The result at the end of the moves counts, or, where it says nothing, the ``Result`` tag.
        """
        return score_of(self.result) or score_of(self.tag_result)

    @property
    def winner(self) -> Color | None:
        """Who won; ``None`` for a draw and where it is not known.

        The first number of a result belongs to the side that moves first in the variant. In English draughts and pool
        checkers this is Black, so that there ``1-0`` means that Black has won; elsewhere it means White.
        """
        if self.variant is None or self.score is None or self.score[0] == self.score[1]:
            return None
        second: Color = "white" if self.variant.first == "black" else "black"
        return self.variant.first if self.score[0] > self.score[1] else second

    @property
    def errors(self) -> list[Problem]:
        """The problems that are errors."""
        return [problem for problem in self.problems if problem.kind == "error"]

    @property
    def warnings(self) -> list[Problem]:
        """The problems that are warnings."""
        return [problem for problem in self.problems if problem.kind == "warning"]

    def positions(self) -> Iterator[Position]:
        """The position before every move, and the last one: one more than moves.

        A position that was set up takes the place of the one that the moves led to.
        """
        position = self.setups.get(0, self.start)
        if position is None:
            return
        for ply, move in enumerate(self.moves):
            position = self.setups.get(ply, position)
            yield position
            position = position.play(move)
        yield self.setups.get(len(self.moves), position)

    def game(self, until_over: bool = False) -> Game:
        """The game to go on with.

        Args:
            until_over: stop where a draw rule ends the game. People often play on, or the rules were others.

        Raises:
            PdnError: its start or its rules are not known, or a position was set up in mid-game.
            GameOverError: moves go on after a draw rule has ended the game.
        """
        if self.start is None:
            raise PdnError(f"game {self.number}: where it starts is not known")
        if self.setups:
            raise PdnError(f"game {self.number}: a position is set up after ply {min(self.setups)}; see positions()")
        game = Game.from_position(self.start, self.quiet)
        for move in self.moves:
            if until_over and game.is_over:
                break
            game.push(move)
        return game


def tag_value(tags: dict[str, str], name: str) -> str | None:
    """The value of a tag, its name in any case."""
    if name in tags:
        return tags[name]
    return next((value for key, value in tags.items() if key.lower() == name.lower()), None)
