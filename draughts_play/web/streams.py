"""Server-sent events: who listens to a game, and what waits to be sent."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import suppress

#: Seconds after which a line is sent though there is nothing to say, so that a connection that broke is noticed.
_PULSE = 15.0


class Listener:
    """One open stream. Of each kind of event only the latest waits, however slow the reader is.

    Args:
        loop: the event loop in which it is read.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._lock = threading.Lock()
        self._pending: dict[str, str] = {}
        self._news = asyncio.Event()
        self.closed = False

    def push(self, kind: str, data: str) -> None:
        """Let an event wait to be sent; from any thread. A new state makes old thoughts void."""
        with self._lock:
            if kind == "state":
                self._pending.pop("thinking", None)
            self._pending[kind] = data
        self._wake()

    def close(self) -> None:
        """End the stream; from any thread."""
        self.closed = True
        self._wake()

    def _wake(self) -> None:
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._news.set)

    async def events(self) -> AsyncIterator[str]:
        """The events as text for the stream, until it is closed."""
        while not self.closed:
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._news.wait(), _PULSE)
            self._news.clear()
            with self._lock:
                pending, self._pending = self._pending, {}
            yield "".join(f"event: {kind}\ndata: {data}\n\n" for kind, data in pending.items()) or ": still here\n\n"
