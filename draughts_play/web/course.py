"""How games go on: the clock, the agents' moves and answers, the housekeeping.

Methods that take a room are called with the lock of its table held; searches take it when they have something to say.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from agents.agent import Decision, Limit
from draughts_env.variants import Color
from draughts_play.web.levels import Level
from draughts_play.web.rooms import Room, Rooms
from draughts_play.web.searches import BusyError, Job, Players, Searches
from draughts_play.web.table import OTHER, Table
from draughts_play.web.thoughts import accepts_draw, choose_event, strict_game, thought

_log = logging.getLogger("draughts_play.web")

#: Seconds between two moves of agents that play each other.
_PACE = 0.8
#: Seconds between two rounds of the housekeeping.
_ROUND = 0.2
#: An agent offers a draw where it sees one: from this ply on, after so many plies without progress, not too often.
_OFFER_FROM, _OFFER_QUIET, _OFFER_EVERY, _LEVEL_VALUE = 60, 16, 40, 0.03

Work = Callable[[Job, Players, Room], None]


class Course:
    """What happens at the tables, and what follows from it.

    Args:
        rooms: the tables in use.
        searches: the search threads.
    """

    def __init__(self, rooms: Rooms, searches: Searches) -> None:
        self._rooms = rooms
        self._searches = searches
        self._leaving = threading.Event()
        self._keeper = threading.Thread(target=self._keep, name="housekeeping", daemon=True)
        self._keeper.start()

    def close(self) -> None:
        """End the housekeeping."""
        self._leaving.set()
        self._keeper.join(2.0)

    def happen(self, room: Room, event: list[Any]) -> dict[str, Any]:
        """Let something happen at a table; nothing has happened when the agent that is next cannot be asked."""
        table = room.table
        before, version, clock = list(table.events), table.version, table.clock.saved() if table.clock else None
        mover = table.turn
        table.add(event)
        if table.clock is not None and event[0] == "move":
            table.clock.moved(mover)
        try:
            return self.changed(room)
        except BusyError:
            table.begin(before)
            if clock is not None and table.clock is not None:
                table.clock = type(table.clock).read(clock)
            self._run_clock(table)
            assert table.version > version
            raise

    def changed(self, room: Room) -> dict[str, Any]:
        """After a change: the search of before is void, the game goes on, all who listen hear of it."""
        room.stop()
        room.failure = None
        self.go_on(room)
        return self.kept(room)

    def kept(self, room: Room) -> dict[str, Any]:
        self._rooms.save(room.table)
        room.tell_state()
        return room.state()

    def resume(self, room: Room) -> None:
        """Go on with a game that was read from the store."""
        self._run_clock(room.table)
        try:
            self.schedule(room)
        except BusyError:
            room.due = time.monotonic() + _PACE

    def go_on(self, room: Room) -> None:
        """Start the clock, and the agent if it is its turn."""
        self._run_clock(room.table)
        self.schedule(room)

    @staticmethod
    def _run_clock(table: Table) -> None:
        if table.clock is not None:
            table.clock.run(table.turn if table.ply and not table.is_over and not table.paused else None)

    def schedule(self, room: Room) -> None:
        """Let the agent think whose turn it is."""
        table = room.table
        if table.is_over or table.seat is None or table.paused or table.deleted or room.failure:
            return
        if table.setup.mode == "watch":
            room.due = time.monotonic() + _PACE
        else:
            self.search(room, self.agent_moves)

    def search(self, room: Room, work: Work) -> None:
        """Ask for a search of a room, whose lock is held.

        Raises:
            BusyError: the queue is full.
        """

        def run(job: Job, players: Players) -> None:
            try:
                work(job, players, room)
            except Exception as error:  # whatever is wrong with an agent, the game can be gone on with
                with room.table.lock:
                    if room.job is job:
                        room.failure = str(error) or type(error).__name__
                        room.tell("error", {"error": f"the agent has failed: {room.failure}"})
                raise
            finally:
                with room.table.lock:
                    if room.job is job:
                        room.job = None
                        room.tell_state()

        room.stop()
        room.job = self._searches.submit(room.table.id, room.table.owner, run)

    def agent_moves(self, job: Job, players: Players, room: Room) -> None:
        """An agent's move; it answers a draw offer that stands before."""
        table = room.table
        with table.lock:
            if room.job is not job or table.seat is None:
                return
            level, game, color = table.seat, table.game.copy(), table.turn
            limit = self._limit(table, level)
        player = players.player(table.setup.variant, level)
        started, thinker = time.perf_counter(), strict_game(game)

        def tell(decision: Decision) -> None:
            with table.lock:
                if room.job is job:
                    room.tell("thinking", {**thought(thinker, decision, started), "ply": game.ply})

        event, value = choose_event(
            player, game, limit, watch=None if getattr(game, "huffable", ()) else tell, stop=job.stop
        )
        with table.lock:
            if room.job is not job:
                return
            room.job = None
            if table.game.draw_offer == OTHER[color]:
                if accepts_draw(value, table.ply):
                    self.happen(room, ["accept"])
                    return
                table.add(["decline"])
            if self._would_offer(table, value, color):
                table.add(["offer", color])
            self._agent_happens(room, event)

    def _agent_happens(self, room: Room, event: list[Any]) -> None:
        """An agent's event; when its opponent, an agent too, cannot be asked at once, it is asked later."""
        table = room.table
        mover = table.turn
        if table.clock is not None and table.clock.flag() is not None:
            return  # too late: the housekeeping ends the game
        table.add(event)
        if table.clock is not None and event[0] == "move":
            table.clock.moved(mover)
        try:
            self.go_on(room)
        except BusyError:
            room.due = time.monotonic() + _PACE
        self.kept(room)

    def consider(self, job: Job, players: Players, room: Room) -> None:
        """An agent considers a draw offer of the person who is to move."""
        table = room.table
        with table.lock:
            if room.job is not job or table.game.draw_offer is None:
                return
            color = OTHER[table.turn]
            level, game = table.setup.level(color), table.game.copy()
        assert level is not None
        player = players.player(table.setup.variant, level)
        value = player.judge(strict_game(game), job.stop)
        with table.lock:
            if room.job is not job:
                return
            room.job = None
            agrees = accepts_draw(None if value is None else -value, table.ply)
            self.happen(room, ["accept" if agrees else "decline"])

    @staticmethod
    def _limit(table: Table, level: Level) -> Limit:
        """The level's limit, shorter when the clock is short."""
        limit = level.spec.limit
        if table.clock is None:
            return limit
        seconds = max(0.02, table.clock.seconds(table.turn) / 30)
        given = limit.given()
        given["seconds"] = min(seconds, given.get("seconds", seconds))
        return Limit(**given)  # type: ignore[arg-type]

    @staticmethod
    def _would_offer(table: Table, value: float | None, color: Color) -> bool:
        game = table.game
        if table.setup.mode != "play" or value is None or abs(value) > _LEVEL_VALUE or game.draw_offer is not None:
            return False
        return bool(table.ply >= _OFFER_FROM and game.quiet >= _OFFER_QUIET and table.ply % _OFFER_EVERY < 2)

    # --- housekeeping -------------------------------------------------------------------------------

    def _keep(self) -> None:
        """End games whose time is up, and start the searches that are due."""
        while not self._leaving.wait(_ROUND):
            for room in self._rooms.all():
                try:
                    self._keep_room(room)
                except BusyError:
                    continue
                except Exception:
                    _log.exception("housekeeping")

    def _keep_room(self, room: Room) -> None:
        table = room.table
        if room.due is None and table.clock is None:
            return
        with table.lock:
            flag = table.clock.flag() if table.clock is not None else None
            if flag is not None and not table.is_over:
                self.happen(room, ["flag", flag])
            elif room.due is not None and time.monotonic() >= room.due and room.watched():
                due = room.due
                try:
                    self.search(room, self.agent_moves)
                except BusyError:
                    room.due = due
                    raise
