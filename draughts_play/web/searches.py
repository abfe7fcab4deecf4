"""Searches: a few threads, a queue that has an end, and searches that can be called off."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from agents.agent import Agent
from draughts_env.errors import DraughtsError
from draughts_env.variants import Variant
from draughts_play.web.levels import Level, LevelPlayer

_log = logging.getLogger("draughts_play.web")


class BusyError(DraughtsError, RuntimeError):
    """The server has as many searches as it takes."""


class Job:
    """One search that waits or runs.

    Attributes:
        key: whose it is; a new job with the same key calls off the old one.
        stop: set when it was called off; the search looks at it.
        result: what it found.
    """

    def __init__(self, key: str, owner: str, work: Callable[[Job, Players], Any]) -> None:
        self.key = key
        self.owner = owner
        self.stop = threading.Event()
        self.result: Future[Any] = Future()
        self._work = work

    def run(self, players: Players) -> None:
        """Do it, unless it was called off."""
        if self.stop.is_set() or not self.result.set_running_or_notify_cancel():
            self.result.cancel()
            return
        try:
            self.result.set_result(self._work(self, players))
        except BaseException as error:  # the thread must live on, and whoever waits must hear of it
            if not isinstance(error, DraughtsError):
                _log.exception("a search failed")
            self.result.set_exception(error)


class Players:
    """The agents of one search thread; each plays one game at a time."""

    def __init__(self) -> None:
        self._agents: dict[tuple[str, str], Agent] = {}

    def player(self, of: Variant, level: Level) -> LevelPlayer:
        """A level as a player. Levels that differ only in their limit share an agent, and its memory.

        Raises:
            DraughtsError: its checkpoint is missing or damaged.
        """
        rules = of.without_huffing()
        spec = level.spec
        key = rules.name, str(spec.path or spec.kind.name)
        if key not in self._agents:
            self._agents[key] = spec.load(rules)
        return LevelPlayer(level, self._agents[key])


class Searches:
    """The search threads and their queue.

    Args:
        threads: how many search at the same time.
        waiting: how many may wait.
        per_owner: how many of one session may wait or run.
    """

    def __init__(self, threads: int = 2, waiting: int = 128, per_owner: int = 32) -> None:
        self._queue: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._jobs: dict[str, Job] = {}
        self._most = waiting + threads
        self._per_owner = per_owner
        self._closed = False
        self._threads = [threading.Thread(target=self._serve, name=f"search-{i}", daemon=True) for i in range(threads)]
        for thread in self._threads:
            thread.start()

    def submit(self, key: str, owner: str, work: Callable[[Job, Players], Any]) -> Job:
        """Queue a search; an older one with the same key is called off.

        Raises:
            BusyError: the queue is full, for everyone or for this session.
        """
        with self._lock:
            others = [job for job in self._jobs.values() if job.key != key]
            if self._closed:
                raise BusyError("the server is shutting down")
            if len(others) >= self._most:
                raise BusyError(f"the server is busy: {len(others)} searches wait or run; try again in a moment")
            if sum(job.owner == owner for job in others) >= self._per_owner:
                raise BusyError(f"the server is busy: {self._per_owner} searches of yours wait or run already")
            old = self._jobs.get(key)
            job = self._jobs[key] = Job(key, owner, work)
        if old is not None:
            old.stop.set()
        self._queue.put(job)
        return job

    def cancel(self, key: str) -> None:
        """Call off the search of a key, if there is one."""
        with self._lock:
            job = self._jobs.pop(key, None)
        if job is not None:
            job.stop.set()

    def active(self, key: str) -> bool:
        """Whether a search of a key waits or runs."""
        with self._lock:
            return key in self._jobs

    def close(self, wait: float = 3.0) -> None:
        """Call everything off and end the threads, waiting at most so many seconds."""
        with self._lock:
            self._closed = True
            jobs = list(self._jobs.values())
            self._jobs.clear()
        for job in jobs:
            job.stop.set()
        for _ in self._threads:
            self._queue.put(None)
        until = time.monotonic() + wait
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _serve(self) -> None:
        players = Players()
        while True:
            job = self._queue.get()
            if job is None:
                return
            job.run(players)
            with self._lock:
                if self._jobs.get(job.key) is job:
                    del self._jobs[job.key]
