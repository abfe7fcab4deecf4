"""What the tests of the web server share: a server in this process, and sessions that ask it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient

from draughts_play.web.app import create_app
from draughts_play.web.security import Guard
from draughts_play.web.startup import Startup

ADDRESS = "http://127.0.0.1"
Connect = Callable[[], TestClient]


@contextmanager
def server(data: Path, threads: int = 2, waiting: int = 128) -> Iterator[Connect]:
    """A server that is ready at once; gives a function that opens a new session."""
    startup = Startup(data, threads, waiting)
    startup.ready = True
    app = Guard(create_app(startup), ("127.0.0.1", "localhost"))

    def connect() -> TestClient:
        return TestClient(
            app, base_url=ADDRESS, headers={"X-Draughts": "1", "Origin": ADDRESS}, raise_server_exceptions=False
        )

    try:
        yield connect
    finally:
        startup.close()


def post(client: TestClient, url: str, status: int = 200, /, **body: Any) -> Any:
    """Post JSON and check the status of the answer."""
    answer = client.post(url, json=body)
    assert answer.status_code == status, answer.text
    return answer.json()


def new(client: TestClient, status: int = 200, **body: Any) -> Any:
    """A new game; English, two people, unless told otherwise."""
    return post(client, "/api/games", status, **({"variant": "english", "mode": "two"} | body))


def play(client: TestClient, state: Any, *path: int, status: int = 200) -> Any:
    """A move in the game of a state."""
    return post(client, f"/api/games/{state['id']}/move", status, ply=state["ply"], path=list(path))


def do(client: TestClient, state: Any, what: str, status: int = 200, **body: Any) -> Any:
    """Something else in the game of a state."""
    return post(client, f"/api/games/{state['id']}/{what}", status, ply=state["ply"], **body)


def settled(client: TestClient, state: Any, limit: float = 60.0) -> Any:
    """The state once no agent thinks any more."""
    until = time.monotonic() + limit
    while state["thinking"] and time.monotonic() < until:
        time.sleep(0.02)
        state = client.get(f"/api/games/{state['id']}").json()
    assert not state["thinking"]
    return state
