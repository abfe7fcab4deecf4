"""What takes time at the start: compiling or loading kernels and networks, while the page is already up."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core import event

from draughts_env.errors import DraughtsError
from draughts_play.web.house import House
from draughts_play.web.searches import BusyError, Searches
from draughts_play.web.store import Store

_log = logging.getLogger("draughts_play.web")


class StartupError(DraughtsError, RuntimeError):
    """The server cannot start."""


class _Counter(event.Listener):  # type: ignore[misc]
    """Counts the kernels that are compiled."""

    def __init__(self) -> None:
        self.compiled = 0

    def on_start(self, what: event.Event) -> None:
        self.compiled += 1

    def on_end(self, what: event.Event) -> None:
        pass


class Startup:
    """Makes the house ready in a thread.

    Args:
        data: folder for the games.
        threads: how many searches run at the same time.
        waiting: how many wait.
        say: is told of the progress, in a line.

    Raises:
        StartupError: the folder cannot be used.
    """

    def __init__(
        self, data: Path, threads: int = 2, waiting: int = 128, say: Callable[[str], Any] = lambda line: None
    ) -> None:
        self._say = say
        self.ready = False
        self._failure: str | None = None
        self._what = "loading"
        self._counter = _Counter()
        try:
            store = Store(data / "games.sqlite3")
        except (OSError, sqlite3.Error) as error:
            raise StartupError(f"games cannot be kept in {data}: {error}") from None
        self._house = House(store, Searches(threads, waiting))
        self._thread = threading.Thread(target=self._prepare, name="startup", daemon=True)

    def begin(self) -> None:
        """Start to make ready."""
        event.register("numba:compile", self._counter)
        self._thread.start()

    @property
    def progress(self) -> str | None:
        """What is being done; None when all is ready."""
        if self.ready:
            return None
        if self._failure is not None:
            return self._failure
        compiled = self._counter.compiled
        return f"{self._what}: {compiled} kernels compiled (once, about a minute)" if compiled else self._what

    def house(self) -> House:
        """The house.

        Raises:
            BusyError: it is not ready yet.
        """
        if not self.ready:
            raise BusyError(f"the server is not ready yet: {self.progress}")
        return self._house

    def close(self) -> None:
        """End streams, searches, and the store."""
        self._house.close()

    def end_streams(self) -> None:
        """End the open streams, which nothing else would."""
        self._house.rooms.close()

    def _prepare(self) -> None:
        try:
            self._warm_up()
        except Exception as error:
            self._failure = f"the start has failed: {error}"
            _log.exception("the start has failed")
            self._say(self._failure)
            return
        finally:
            event.unregister("numba:compile", self._counter)
        self.ready = True

    def _warm_up(self) -> None:
        """Use everything once, the most important first."""
        from agents.agent import Limit, parse_spec
        from draughts_env.game import Game
        from draughts_env.variants import VARIANTS
        from draughts_play.web.levels import levels

        done = set()
        for of in VARIANTS:
            for found in levels(of.name):
                self._what = f"preparing {of.name} draughts"
                spec = parse_spec(found.agent)
                kind = of.name, spec.kind.name
                if kind in done:
                    continue
                done.add(kind)
                agent = spec.load(of)
                agent.choose(Game(of), Limit(seconds=0.01))
        self._what = "ready"
