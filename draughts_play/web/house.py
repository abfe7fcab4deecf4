"""The house: what sessions may do with their games. Every method may be called from any thread.

A request that comes too late, for a ply that is no longer on the board, raises :class:`StaleError`. Agents' moves are
searched in the threads of :class:`~draughts_play.web.searches.Searches`; whatever changes a game calls its search off.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agents.agent import Decision, Limit
from draughts_env.errors import DraughtsError
from draughts_env.variants import Color
from draughts_play.web import views
from draughts_play.web.course import Course
from draughts_play.web.levels import strongest
from draughts_play.web.rooms import CrowdedError, Room, Rooms
from draughts_play.web.searches import BusyError, Job, Players, Searches
from draughts_play.web.store import Store
from draughts_play.web.streams import Listener
from draughts_play.web.table import HUMAN, OTHER, Setup, Table, TurnError, new_id
from draughts_play.web.thoughts import choose_event, strict_game, thought

#: Games of one session and of all.
MOST_GAMES = 500
_MOST_GAMES_OF_ALL = 100_000
#: Seconds of a hint.
_HINT = Limit(seconds=1.0)


class StaleError(DraughtsError, ValueError):
    """A request for a ply that is not on the board; ``state`` is how the game stands."""

    def __init__(self, ply: int, state: dict[str, Any]) -> None:
        super().__init__(f"the game is at ply {state['ply']}, not at {ply}")
        self.state = state


class House:
    """All games and searches of a server.

    Args:
        store: where games are kept.
        searches: the search threads.
    """

    def __init__(self, store: Store, searches: Searches) -> None:
        self.rooms = Rooms(store)
        self._store = store
        self._searches = searches
        self._course = Course(self.rooms, searches)

    def close(self) -> None:
        """Call off all searches and write what has not been written."""
        self._course.close()
        self.rooms.close()
        self._searches.close()
        for room in self.rooms.all():
            with room.table.lock:
                if room.table.clock is not None and not room.table.deleted:
                    self.rooms.save(room.table)
        self._store.close()

    # --- games --------------------------------------------------------------------------------------

    def create(self, owner: str, setup: Setup, events: list[list[Any]]) -> dict[str, Any]:
        """A new game; returns its State.

        Raises:
            CrowdedError: there are too many.
            BusyError: an agent is to move and the queue is full.
            DraughtsError: the setup or the events do not fit.
        """
        if self._store.count(owner) >= MOST_GAMES:
            raise CrowdedError(f"you have {MOST_GAMES} games: delete some first")
        if self._store.count() >= _MOST_GAMES_OF_ALL:
            raise CrowdedError("the server keeps too many games already")
        table = Table(new_id(), owner, setup, events)
        room = self.rooms.add(table)
        with table.lock:
            try:
                self._course.go_on(room)
            except BusyError:
                self.rooms.drop(table.id)
                raise
            self.rooms.save(table)
            return room.state()

    def games(self, owner: str) -> list[dict[str, Any]]:
        """The session's games, the last changed first."""
        return self._store.games(owner)

    def delete(self, owner: str, id: str) -> None:
        """Delete a game."""
        with self._room(owner, id) as room:
            room.stop()
            room.table.deleted = True
            self._searches.cancel(f"{id}:hint")
            self._store.delete(id)
            self.rooms.drop(id)
            for listener in list(room.listeners):
                listener.close()

    def next(self, owner: str, id: str) -> dict[str, Any]:
        """A new game like this one, colours swapped."""
        with self._room(owner, id) as room:
            setup = room.table.setup.swapped()
        return self.create(owner, setup, [])

    def state(self, owner: str, id: str) -> dict[str, Any]:
        """How a game stands."""
        with self._room(owner, id) as room:
            return room.state()

    def pdn(self, owner: str, id: str) -> str:
        """A game as PDN."""
        with self._room(owner, id) as room:
            return views.pdn(room.table)

    @contextmanager
    def _room(self, owner: str, id: str, ply: int | None = None) -> Iterator[Room]:
        """The room of a game, its lock held; an agent whose turn it is begins to think.

        Raises:
            MissingError: the session has no such game.
            StaleError: it is at another ply.
        """
        room, fresh = self.rooms.open(id, owner)
        with room.table.lock:
            if fresh:
                self._course.resume(room)
            if ply is not None and ply != room.table.ply:
                raise StaleError(ply, room.state())
            yield room

    def listen(self, owner: str, id: str, listener: Listener) -> None:
        """Send a game's events to a listener, its State first."""
        with self._room(owner, id) as room:
            self.rooms.listen(room, listener)

    def leave(self, id: str, listener: Listener) -> None:
        """Send no more events to a listener."""
        for room in self.rooms.all():
            if room.table.id == id:
                room.listeners.discard(listener)
                room.seen = time.monotonic()

    # --- what people do -----------------------------------------------------------------------------

    def move(self, owner: str, id: str, ply: int, path: list[int]) -> dict[str, Any]:
        """A person's move. In an analysis, a move at an earlier ply replaces what followed."""
        with self._room(owner, id) as room:
            table = room.table
            if table.setup.mode == "analysis" and ply < table.ply:
                before, clock = table.events, table.clock
                table.begin([event for event in table.before_ply(ply) if event[0] not in ("resign", "accept", "flag")])
                try:
                    return self._course.happen(room, ["move", path])
                except DraughtsError:
                    table.begin(before)
                    table.clock = clock
                    raise
        with self._room(owner, id, ply) as room:
            self._persons_turn(room.table)
            return self._course.happen(room, ["move", path])

    def huff(self, owner: str, id: str, ply: int, square: int | None) -> dict[str, Any]:
        """A person huffs a piece, or insists on the capture when no square is given."""
        with self._room(owner, id, ply) as room:
            self._persons_turn(room.table)
            return self._course.happen(room, ["insist"] if square is None else ["huff", square])

    def take_back(self, owner: str, id: str, ply: int) -> dict[str, Any]:
        """Back to a person's last turn."""
        with self._room(owner, id, ply) as room:
            room.table.take_back()
            return self._course.changed(room)

    def resign(self, owner: str, id: str, ply: int) -> dict[str, Any]:
        """A person gives up: the one to move, or the only one there is."""
        with self._room(owner, id, ply) as room:
            table = room.table
            side = self._person(table)
            if side is None:
                raise TurnError("two agents play: nobody can resign for them")
            return self._course.happen(room, ["resign", side])

    def offer(self, owner: str, id: str, ply: int) -> dict[str, Any]:
        """The person to move offers a draw; an agent considers it, a person at the same screen answers."""
        with self._room(owner, id, ply) as room:
            table = room.table
            self._persons_turn(table)
            by = table.turn
            if table.game.draw_offer == OTHER[by]:
                return self._course.happen(room, ["accept"])
            if table.setup.level(OTHER[by]) is None:
                return self._course.happen(room, ["offer", by])
            before = list(table.events)
            table.add(["offer", by])
            try:
                self._course.search(room, self._course.consider)
            except BusyError:
                table.begin(before)
                raise
            return self._course.kept(room)

    def answer(self, owner: str, id: str, ply: int, accept: bool) -> dict[str, Any]:
        """A person answers a draw offer."""
        with self._room(owner, id, ply) as room:
            by = room.table.game.draw_offer
            if by is not None and room.table.setup.seats[OTHER[by]] != HUMAN:
                raise TurnError("the answer is the agent's to give")
            return self._course.happen(room, ["accept" if accept else "decline"])

    def pause(self, owner: str, id: str, paused: bool) -> dict[str, Any]:
        """Let agents that play each other wait, or go on."""
        with self._room(owner, id) as room:
            table = room.table
            if table.setup.mode != "watch":
                raise TurnError("only a game of two agents can be paused")
            table.paused = paused
            if paused:
                room.stop()
            return self._course.changed(room)

    # --- searches that people ask for ---------------------------------------------------------------

    def hint(self, owner: str, id: str) -> Job:
        """Search a hint for the person to move; its result is the answer."""
        with self._room(owner, id) as room:
            table = room.table
            self._persons_turn(table)
            game, of, ply = table.game.copy(), table.setup.variant, table.ply
            legal = room.state()["legal"]

            def work(job: Job, players: Players) -> dict[str, Any]:
                player = players.player(of, strongest(of))
                event, value = choose_event(player, game, _HINT, stop=job.stop)
                if event[0] != "move":
                    return {"ply": ply, "move": None, "action": event, "value": None, "text": " ".join(map(str, event))}
                shown = next(entry for entry in legal if entry["path"] == event[1])
                text = f"Hint: {shown['text']}"
                if value is not None:
                    text += f" (expected result {value:+.2f}, from -1, lost, to 1, won)"
                return {"ply": ply, "move": shown, "value": value, "text": text + "."}

            return self._searches.submit(f"{id}:hint", owner, work)

    def analyse(self, owner: str, id: str, ply: int, seconds: float) -> dict[str, Any]:
        """Think about the game as it stood at a ply; listeners hear of it."""
        with self._room(owner, id) as room:
            table = room.table
            if table.setup.mode != "analysis":
                raise TurnError("live thinking is for analyses; ask for a hint in a game")
            if ply > table.ply:
                raise StaleError(ply, room.state())
            game = strict_game(table.game_at(ply))
            if not game.legal_moves():
                raise TurnError("nothing can be played in this position")
            if game.is_over:
                game = type(game).from_position(game.position)

            def think(job: Job, players: Players, room: Room) -> None:
                player = players.player(table.setup.variant, strongest(table.setup.variant))
                started = time.perf_counter()

                def tell(decision: Decision) -> None:
                    with table.lock:
                        if room.job is job:
                            room.tell("thinking", {**thought(game, decision, started), "ply": ply})

                tell(player.agent.choose(game, Limit(seconds=seconds), watch=tell, stop=job.stop))

            self._course.search(room, think)
            room.tell_state()
            return room.state()

    def stop(self, owner: str, id: str) -> dict[str, Any]:
        """Call off the analysis."""
        with self._room(owner, id) as room:
            if room.table.setup.mode == "analysis":
                room.stop()
                room.tell_state()
            return room.state()

    @staticmethod
    def _person(table: Table) -> Color | None:
        """The person to move, or else the only one."""
        if table.seat is None:
            return table.turn
        return OTHER[table.turn] if table.setup.level(OTHER[table.turn]) is None else None

    @staticmethod
    def _persons_turn(table: Table) -> None:
        if not table.is_over and table.seat is not None:
            raise TurnError("it is the agent's turn")
