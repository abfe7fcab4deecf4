"""Serving the page: port, browser, shutdown."""

from __future__ import annotations

import ipaddress
import logging
import socket
import sys
import threading
import time
import webbrowser
from pathlib import Path
from types import FrameType
from typing import Any

import platformdirs
import uvicorn

from draughts_play.web.app import create_app
from draughts_play.web.security import Guard
from draughts_play.web.startup import Startup, StartupError

#: Ports tried after the first when it is taken.
_PORTS = 20
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def data_folder() -> Path:
    """Where games are kept unless told otherwise."""
    return Path(platformdirs.user_data_dir("draughts-zero", appauthor=False))


def serve(
    host: str = "127.0.0.1",
    port: int | None = None,
    data: Path | None = None,
    browser: bool = True,
    threads: int = 2,
    waiting: int = 128,
) -> None:
    """Serve the page until Ctrl-C or SIGTERM.

    Args:
        host: address to listen on; the loopback only, unless asked otherwise.
        port: the port; by default 8000 or the next that is free.
        data: folder for the games.
        browser: whether to open the browser.
        threads: searches at the same time.
        waiting: searches that may wait.

    Raises:
        StartupError: the address or the folder cannot be used.
    """
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    listening = _listen(host, port)
    number = listening.getsockname()[1]
    shown = f"[{host}]" if ":" in host else "127.0.0.1" if host == "0.0.0.0" else host
    url = f"http://{shown}:{number}/"
    local = _is_loopback(host)
    startup = Startup(data or data_folder(), threads, waiting, say=_say)
    app = Guard(create_app(startup), (*_LOOPBACK, host, socket.gethostname()), any_address=not local)
    if not local:
        _say(f"Warning: everyone who can reach {host} can play here; there are no passwords.")
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="off",
        timeout_keep_alive=30,
        timeout_graceful_shutdown=3,
        limit_concurrency=1_000,
        ws="none",
    )
    startup.begin()
    print(f"The board is at {url} (Ctrl-C ends it)", flush=True)
    threading.Thread(target=_accompany, args=(startup, url if browser else None), daemon=True).start()
    try:
        _Server(config, startup).run(sockets=[listening])
    finally:
        startup.close()
        listening.close()
    _say("The games are kept. Goodbye.")


class _Server(uvicorn.Server):
    """A server that ends its streams before it waits for its connections to end."""

    def __init__(self, config: uvicorn.Config, startup: Startup) -> None:
        super().__init__(config)
        self._startup = startup

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to shut down; a second signal does not wait for connections.

        Unlike uvicorn's own, it does not raise the signal again afterwards: the games are still to be closed.
        """
        threading.Thread(target=self._startup.end_streams, daemon=True).start()
        self.force_exit = self.should_exit
        self.should_exit = True


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listen(host: str, port: int | None) -> socket.socket:
    """A listening socket; of several ports the first that is free when none is given."""
    ports = range(8000, 8000 + _PORTS) if port is None else (port,)
    error: Any = None
    for number in ports:
        try:
            found = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0]
            listening = socket.socket(found[0], found[1])
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(found[4])
            listening.listen(512)
        except (OSError, OverflowError) as reason:
            error = reason
            continue
        return listening
    where = f"{host}:{ports[0]}" if port is not None else f"{host}, ports {ports[0]} to {ports[-1]}"
    raise StartupError(f"cannot listen on {where}: {getattr(error, 'strerror', None) or error}")


def _accompany(startup: Startup, url: str | None) -> None:
    """Open the browser, and say how the start goes on."""
    if url is not None:
        time.sleep(0.3)  # the server is about to accept
        webbrowser.open(url)
    said = None
    while not startup.ready:
        time.sleep(2.0)
        progress = startup.progress
        if progress is not None and progress != said:
            _say(progress)
            said = progress


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
