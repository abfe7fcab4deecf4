"""A game at a table of the server: the game, who plays, what was said; kept as a list of events.

The events are all there is to keep: replaying them gives the game with its offers and counts. An event is a list, its
first entry a word: ``["move", [11, 15]]``, ``["huff", 18]``, ``["insist"]``, ``["offer", "black"]``, ``["accept"]``,
``["decline"]``, ``["resign", "white"]``, ``["flag", "white"]``, ``["stop"]``.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from draughts_env.errors import DraughtsError, GameOverError, IllegalMoveError, OfferError
from draughts_env.game import Game
from draughts_env.huffing import INSIST, Huff, HuffingGame
from draughts_env.moves import Move
from draughts_env.position import Position
from draughts_env.routes import Route
from draughts_env.variants import Color, Variant, variant
from draughts_play.web.clock import Clock
from draughts_play.web.legal import find_move
from draughts_play.web.levels import Level, level

OTHER: dict[Color, Color] = {"black": "white", "white": "black"}
COLOURS: tuple[Color, Color] = ("black", "white")
HUMAN = "human"
#: Moves and other actions in one game; draw rules end most games long before.
MOST_PLIES = 2_000


class TurnError(DraughtsError, ValueError):
    """What was asked for does not fit the state of the game."""


@dataclass(frozen=True)
class Setup:
    """What is agreed before a game.

    Attributes:
        variant: the rules; with huffing or without.
        fen: where the game starts; None for the starting position.
        seats: ``"human"`` or the id of a level for each side.
        mode: ``play``, ``two``, ``watch`` or ``analysis``.
        clock: minutes and increment in seconds; None without clocks.
        view: whose men stand nearest.
    """

    variant: Variant
    fen: str | None
    seats: dict[Color, str]
    mode: str
    clock: tuple[float, float] | None
    view: Color

    def swapped(self) -> Setup:
        """The next game, colours swapped."""
        seats = {OTHER[color]: seat for color, seat in self.seats.items()}
        view = OTHER[self.view] if self.mode == "play" else self.view
        return Setup(self.variant, self.fen, seats, self.mode, self.clock, view)

    def level(self, color: Color) -> Level | None:
        """The level that plays a side; None for a person."""
        return None if self.seats[color] == HUMAN else level(self.variant, self.seats[color])


class Table:
    """One game of the server.

    Its methods are called with :attr:`lock` held, except for those that say otherwise.

    Args:
        id: its name.
        owner: the session that it belongs to.
        setup: what is agreed.
        events: what has happened so far.
        clock: how the clocks stand; by default as agreed.

    Raises:
        FenError: the FEN cannot be read.
        DraughtsError: the events do not fit.
    """

    def __init__(
        self, id: str, owner: str, setup: Setup, events: list[list[Any]] | None = None, clock: Clock | None = None
    ) -> None:
        self.id = id
        self.owner = owner
        self.setup = setup
        self.lock = threading.RLock()
        self.version = 0
        self.updated = time.time()
        self.paused = False
        self.deleted = False
        self.clock = clock or (Clock.of(*setup.clock) if setup.clock else None)
        self.refused: tuple[Color, int] | None = None  # whose offer was refused last, and at which ply
        self.begin(events or [])

    def begin(self, events: list[list[Any]]) -> None:
        """Start anew with these events."""
        self.game: Any = self._new_game()
        self.events: list[list[Any]] = []
        self.paths: list[Route] = []  # the path of each action as it was played
        self.flagged: Color | None = None
        self.refused = None
        self.version += 1
        for event in events:
            self.add(event)

    def _new_game(self) -> Any:
        kind: Callable[..., Any] = HuffingGame if self.setup.variant.huffing else Game
        return kind(self.setup.variant, self.setup.fen)

    # --- where it stands ----------------------------------------------------------------------------

    @property
    def ply(self) -> int:
        """Number of actions."""
        return int(self.game.ply)

    @property
    def turn(self) -> Color:
        """The side to move."""
        turn: Color = self.game.turn
        return turn

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.flagged is not None or self.game.outcome() is not None

    @property
    def position(self) -> Position:
        """What stands on the board."""
        position: Position = self.game.position
        return position

    @property
    def seat(self) -> Level | None:
        """The level that is to move; None when a person is."""
        return self.setup.level(self.turn)

    @property
    def start_fen(self) -> str:
        """Where the game starts."""
        if isinstance(self.game, HuffingGame):
            return self.game.first_fen
        return self.setup.fen or self.game.start.fen

    def actions(self) -> list[Any]:
        """What has been played, oldest first."""
        return list(self.game.actions if isinstance(self.game, HuffingGame) else self.game.moves)

    def legal_moves(self) -> list[Move]:
        """The moves that may be made; none when the game is over."""
        return [] if self.is_over else list(self.game.legal_moves())

    # --- what happens -------------------------------------------------------------------------------

    def add(self, event: list[Any]) -> None:
        """Let something happen.

        Raises:
            DraughtsError: it cannot.
        """
        word, *rest = event
        if self.flagged is not None:
            raise GameOverError("the game is over: a side's time is up")
        _HAPPENINGS[word](self, *rest)
        self.events.append(event)
        self.version += 1
        self.updated = time.time()

    def _move(self, path: list[int]) -> None:
        if self.ply >= MOST_PLIES:
            raise TurnError(f"the game is too long: {MOST_PLIES} moves at most")
        if self.game.is_over:
            raise GameOverError(f"the game is over: {self.game.outcome()}")
        squares = tuple(path)
        offer = self.game.draw_offer
        if offer == OTHER[self.turn]:  # playing on declines it
            self.refused = offer, self.ply
        self.game.push(find_move(self.position, self.game.legal_moves(), squares))
        self.paths.append(squares)

    def _huff(self, square: int) -> None:
        self._act(Huff(square))

    def _insist(self) -> None:
        self._act(INSIST)

    def _act(self, action: Any) -> None:
        if not isinstance(self.game, HuffingGame):
            raise IllegalMoveError("this game is played without huffing")
        self.game.push(action)
        self.paths.append(())

    def _offer(self, color: Color) -> None:
        self.game.offer_draw(color)
        self.refused = None

    def _accept(self) -> None:
        self.game.accept_draw()

    def _decline(self) -> None:
        by = self.game.draw_offer
        self.game.decline_draw()
        self.refused = by, self.ply

    def _resign(self, color: Color) -> None:
        self.game.resign(color)

    def _flag(self, color: Color) -> None:
        if self.game.is_over:
            raise GameOverError(f"the game is over: {self.game.outcome()}")
        self.flagged = color

    # --- going back ---------------------------------------------------------------------------------

    def before_ply(self, ply: int) -> list[list[Any]]:
        """The events up to a ply, what was said there before the next action included."""
        kept: list[list[Any]] = []
        count = 0
        for event in self.events:
            acts = event[0] in ACTIONS
            if acts and count == ply:
                break
            count += acts
            kept.append(event)
        return kept

    def take_back(self) -> None:
        """Go back to a person's last turn; after resigning or the like, undo only that.

        Raises:
            OfferError, TurnError: there is nothing to take back.
        """
        people = [color for color in COLOURS if self.setup.seats[color] == HUMAN]
        if not people:
            raise TurnError("two agents play: there is nothing to take back")
        if self.events and self.events[-1][0] in ENDS and self.turn in people:
            self.begin(self.events[:-1])
            return
        own = [ply for ply, position in enumerate(self.game.positions[:-1]) if position.turn in people]
        if not own:
            raise TurnError("there is no move to take back")
        self.begin([event for event in self.before_ply(own[-1]) if event[0] not in ENDS])

    def game_at(self, ply: int) -> Any:
        """A copy of the game as it stood after so many plies."""
        game = self.game.copy()
        while game.ply > ply:
            game.pop()
        return game

    # --- kept ---------------------------------------------------------------------------------------

    def saved(self) -> dict[str, Any]:
        """The table as plain values."""
        setup = self.setup
        return {
            "variant": setup.variant.name,
            "fen": setup.fen,
            "seats": setup.seats,
            "mode": setup.mode,
            "agreed": setup.clock,
            "view": setup.view,
            "events": self.events,
            "clock": self.clock.saved() if self.clock else None,
            "paused": self.paused,
        }

    @classmethod
    def read(cls, id: str, owner: str, saved: dict[str, Any]) -> Table:
        """The table that :meth:`saved` gave.

        Raises:
            DraughtsError, KeyError, TypeError, ValueError: it is damaged.
        """
        agreed = saved["agreed"]
        setup = Setup(
            variant(saved["variant"]),
            saved["fen"],
            dict(saved["seats"]),
            saved["mode"],
            (agreed[0], agreed[1]) if agreed else None,
            saved["view"],
        )
        clock = Clock.read(saved["clock"]) if saved["clock"] else None
        table = cls(id, owner, setup, saved["events"], clock)
        table.paused = bool(saved["paused"])
        return table


#: Events that are plies of the game.
ACTIONS = ("move", "huff", "insist")
#: Events that end a game off the board.
ENDS = ("accept", "resign", "flag")
_HAPPENINGS: dict[str, Callable[..., None]] = {
    "move": Table._move,
    "huff": Table._huff,
    "insist": Table._insist,
    "offer": Table._offer,
    "accept": Table._accept,
    "decline": Table._decline,
    "resign": Table._resign,
    "flag": Table._flag,
}


def new_id() -> str:
    """A name for a game that nobody can guess."""
    return secrets.token_hex(8)


__all__ = ["ACTIONS", "ENDS", "HUMAN", "MOST_PLIES", "OTHER", "OfferError", "Setup", "Table", "TurnError", "new_id"]
