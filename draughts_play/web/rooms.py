"""Rooms: the tables that are in use, with their searches and listeners."""

from __future__ import annotations

import json
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from draughts_env.errors import DraughtsError
from draughts_play.web import views
from draughts_play.web.searches import Job
from draughts_play.web.store import Store
from draughts_play.web.streams import Listener
from draughts_play.web.table import Table

#: Rooms kept in memory though nobody is in them.
_MOST_ROOMS = 1_000
#: Streams open at the same time, in all and for one room.
_MOST_LISTENERS = 500
_MOST_LISTENERS_OF_ROOM = 10
#: Seconds for which a room counts as watched after somebody has asked for it.
_WATCHED = 10.0


class MissingError(DraughtsError, LookupError):
    """There is no such game in this session."""


class CrowdedError(DraughtsError, RuntimeError):
    """Too many games or listeners."""


@dataclass
class Room:
    """A table in use.

    Attributes:
        table: the table; its lock guards everything here.
        view: what the page sees.
        listeners: open streams.
        job: the search that runs for the table.
        due: when an agent's next move is to be searched, by the monotonic clock; None when none is.
        seen: when somebody asked for it last, by the monotonic clock.
        failure: what was wrong with the agent; it is not asked again before something changes.
    """

    table: Table
    view: views.View
    listeners: set[Listener] = field(default_factory=set)
    job: Job | None = None
    due: float | None = None
    seen: float = field(default_factory=time.monotonic)
    failure: str | None = None

    def state(self) -> dict[str, Any]:
        """The State."""
        return self.view.state(self.job is not None or self.due is not None)

    def watched(self) -> bool:
        """Whether somebody looks at it."""
        return bool(self.listeners) or time.monotonic() - self.seen < _WATCHED

    def tell(self, kind: str, data: dict[str, Any]) -> None:
        """Send an event to all who listen."""
        if self.listeners:
            text = json.dumps(data, separators=(",", ":"))
            for listener in self.listeners:
                listener.push(kind, text)

    def tell_state(self) -> None:
        """Send the State to all who listen."""
        if self.listeners:
            self.tell("state", self.state())

    def stop(self) -> None:
        """Call off the search that runs."""
        self.due = None
        if self.job is not None:
            self.job.stop.set()
            self.job = None


class Rooms:
    """The rooms by the ids of their games; those not in use are read from the store.

    Args:
        store: where the games are kept.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._lock = threading.Lock()
        self._rooms: OrderedDict[str, Room] = OrderedDict()

    def open(self, id: str, owner: str) -> tuple[Room, bool]:
        """The room of a session's game, and whether it was read just now.

        Raises:
            MissingError: the session has no such game.
        """
        with self._lock:
            room = self._rooms.get(id)
            fresh = room is None
            if room is None:
                room = self._read(id)
                if room is not None:
                    self._rooms[id] = room
                    self._tidy()
            else:
                self._rooms.move_to_end(id)
        if room is None or room.table.owner != owner or room.table.deleted:
            raise MissingError("there is no such game")
        room.seen = time.monotonic()
        return room, fresh

    def _read(self, id: str) -> Room | None:
        found = self.store.load(id)
        if found is None:
            return None
        try:
            table = Table.read(id, found[0], found[1])
        except (DraughtsError, KeyError, TypeError, ValueError) as error:
            raise MissingError(f"the game cannot be read any more: {error}") from None
        return Room(table, views.View(table))

    def add(self, table: Table) -> Room:
        """A room for a new table."""
        room = Room(table, views.View(table))
        with self._lock:
            self._rooms[table.id] = room
            self._tidy()
        return room

    def drop(self, id: str) -> None:
        """Forget a room."""
        with self._lock:
            self._rooms.pop(id, None)

    def all(self) -> list[Room]:
        """The rooms in memory."""
        with self._lock:
            return list(self._rooms.values())

    def save(self, table: Table) -> None:
        """Write a table to the store."""
        row = {
            "plies": table.ply,
            "title": views.title(table),
            "result": views.result(table),
            "variant": table.setup.variant.without_huffing().name,
        }
        self.store.save(table.id, table.owner, table.saved(), row)

    def _tidy(self) -> None:
        """Forget the rooms that were not used for longest and have neither search, clock nor listener."""
        for id in list(self._rooms):
            if len(self._rooms) <= _MOST_ROOMS:
                return
            room = self._rooms[id]
            if room.job is None and room.due is None and not room.watched() and room.table.clock is None:
                del self._rooms[id]

    def listen(self, room: Room, listener: Listener) -> None:
        """Add a listener to a room, whose lock is held.

        Raises:
            CrowdedError: there are too many.
        """
        if len(room.listeners) >= _MOST_LISTENERS_OF_ROOM:
            raise CrowdedError("this game is open in too many places")
        if sum(len(other.listeners) for other in self.all()) >= _MOST_LISTENERS:
            raise CrowdedError("the server is busy: too many games are being watched")
        room.listeners.add(listener)
        listener.push("state", json.dumps(room.state(), separators=(",", ":")))

    def close(self) -> None:
        """End all streams."""
        for room in self.all():
            for listener in list(room.listeners):
                listener.close()
