"""The web server against everything that should not come: bad bodies, strangers, crowds."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi.testclient import TestClient
from web_server import ADDRESS, Connect, new, play, post, server, settled

from draughts_play.web.app import create_app
from draughts_play.web.searches import BusyError, Job, Players, Searches
from draughts_play.web.security import MOST_BODY, Guard
from draughts_play.web.startup import Startup

NOTHING = "0" * 16


@pytest.fixture(scope="module")
def connect(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connect]:
    with server(tmp_path_factory.mktemp("data")) as found:
        yield found


@pytest.fixture
def client(connect: Connect) -> TestClient:
    return connect()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 403),
        ({"Host": "127.0.0.1.evil.example:8000"}, 403),
        ({"Host": "127.0.0.1:8000@evil.example"}, 403),
        ({"Host": "10.0.0.1"}, 403),
        ({"Host": ""}, 403),
        ({"Host": "localhost:8000", "Origin": "http://localhost:8000"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:9999"}, 403),
        ({"X-Draughts": ""}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
    ],
)
def test_who_may_ask(client: TestClient, headers: dict[str, str], status: int) -> None:
    answer = client.post("/api/games", json={"variant": "english", "mode": "two"}, headers=headers)
    assert answer.status_code == status
    assert (status == 200) == ("error" not in answer.json())


def test_headers_of_every_answer(client: TestClient) -> None:
    answers = [client.get(path) for path in ("/api/info", "/nothing", f"/api/games/{NOTHING}")]
    answers.append(client.post("/api/games", headers={"Host": "evil.example"}))
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
    cookie = client.get("/api/info", headers={"Cookie": "draughts_session=../x"}).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie


@pytest.mark.parametrize(
    "path",
    ["/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/app.py", "/static//etc/passwd", "/static/app.py"],
)
def test_no_path_from_outside_is_opened(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.json() == {"error": "there is nothing here", "position": None}


@pytest.mark.parametrize(
    ("text", "error", "position"),
    [
        ("B:W21,22:B1,x", "expected a square, at column 13 of 'B:W21,22:B1,x'", 12),
        ("?:W21:B1", "the side to move is unknown: replace '?' by W or B, at column 1 of '?:W21:B1'", 0),
        ("W:W99:B1", "99 is no square of this board (1-32), at column 4 of 'W:W99:B1'", 3),
        ("", "there is no text to read", 0),
    ],
)
def test_texts_are_refused_with_their_place(client: TestClient, text: str, error: str, position: int) -> None:
    answer = post(client, "/api/parse", 400, variant="english", text=text)
    assert answer == {"error": error, "position": position}


def test_a_pdn_is_refused_with_its_place(client: TestClient) -> None:
    text = '[Event "x"]\n\n1. 11-15 23-19 2. 8-12 *'
    answer = post(client, "/api/parse", 400, variant="english", text=text)
    assert "\n" not in answer["error"]
    assert text[answer["position"] :].startswith("8-12")
    good = post(client, "/api/parse", variant="english", text="1. 11-15 23-19 *")
    assert good["kind"] == "pdn"
    assert good["plies"] == 2
    assert post(client, "/api/parse", variant="english", text="B:W21:B1")["kind"] == "fen"
    file = Path(__file__).with_name("data") / "any.pdn"
    assert post(client, "/api/parse", 400, variant="english", text=str(file))["error"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"variant": 1},
        {"variant": "chess"},
        {"variant": "pool"},
        {"variant": "x" * 100},
        {"variant": "english", "black": "human", "white": "nobody"},
        {"variant": "english", "mode": "watch"},
        {"variant": "english", "mode": "play"},
        {"variant": "english", "mode": "two", "more": 1},
        {"variant": "english", "mode": "two", "fen": "W:W1"},
        {"variant": "english", "mode": "two", "fen": "B:W21:B1", "pdn": "1. 11-15"},
        {"variant": "english", "mode": "two", "pdn": '[GameType "25"]\n1. a3-b4 *'},
        {"variant": "english", "mode": "two", "clock": {"minutes": -1}},
        {"variant": "english", "mode": "two", "clock": {"minutes": 1e300}},
        {"variant": "english", "mode": "two", "huffing": "yes"},
        {"variant": "english", "colour": "lot", "opponent": "easy", "black": "human"},
    ],
)
def test_games_that_cannot_be(client: TestClient, body: dict[str, Any]) -> None:
    answer = client.post("/api/games", json=body)
    assert 400 <= answer.status_code < 500
    assert len(answer.json()["error"].splitlines()) == 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"x"',
        b"\xff\xfe",
        b'{"ply": NaN, "path": [11, 15]}',
        b'{"ply": 0, "path": [11, 15.5]}',
        b'{"ply": 0, "path": ["11", "15"]}',
        b'{"ply": 0, "path": [11]}',
        b'{"ply": 0, "path": [0, 1]}',
        b'{"ply": 0, "path": [11, 51]}',
        b'{"ply": 0, "path": [11, 50]}',
        b'{"ply": true, "path": [11, 15]}',
        b'{"ply": -1, "path": [11, 15]}',
        b'{"ply": 99999999999999999999999999, "path": [11, 15]}',
        b'{"ply": ' + b"9" * 5000 + b', "path": [11, 15]}',
        b"[" * 100_000,
        b'{"ply": 0, "path": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
        b'{"ply": 0, "path": "\\ud800"}',
    ],
)
def test_bodies_that_are_none(client: TestClient, body: bytes) -> None:
    state = new(client)
    answer = client.post(f"/api/games/{state['id']}/move", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400, answer.text
    assert len(answer.json()["error"].splitlines()) == 1
    assert client.get(f"/api/games/{state['id']}").json()["ply"] == 0


def test_bodies_that_are_too_large(client: TestClient) -> None:
    large = b'{"variant": "' + b"x" * MOST_BODY + b'"}'
    assert client.post("/api/games", content=large).status_code == 413
    assert client.post("/api/games", content=iter([large[:1000]] * (MOST_BODY // 500))).status_code == 413
    assert client.post("/api/games", content=b"x", headers={"Content-Length": "-5"}).status_code == 400


def test_fuzz(client: TestClient) -> None:
    """Whatever is sent is answered, in JSON, and never by a mistake of the server."""
    chance = random.Random(7)
    state = new(client)
    paths = ["/api/games", "/api/parse"]
    paths += [f"/api/games/{id}/{what}" for id in (state["id"], NOTHING, "x") for what in ("move", "answer", "huff")]
    values: list[Any] = [None, True, 0, -1, 2**70, 1.5, "", "english", "11-15", "B:W21:B1", [], [11, 15], {}, {"a": 1}]
    names = ["variant", "text", "ply", "path", "mode", "fen", "pdn", "clock", "accept", "square", "black", "\x00"]
    for _ in range(300):
        body = {name: chance.choice(values) for name in chance.sample(names, chance.randint(0, 5))}
        text = json.dumps(body).encode()
        if chance.random() < 0.3:
            cut = chance.randrange(len(text) + 1)
            text = text[:cut] + bytes(chance.randrange(256) for _ in range(3)) + text[cut:]
        answer = client.post(chance.choice(paths), content=text, headers={"Content-Type": "application/json"})
        assert answer.status_code < 500
        answer.json()
    assert client.get(f"/api/games/{state['id']}").status_code == 200


def test_a_full_queue_is_said_and_the_server_lives_on() -> None:
    searches = Searches(threads=1, waiting=2, per_owner=2)
    gate = threading.Event()

    def work(job: Job, players: Players) -> str:
        gate.wait(20)
        return job.key

    jobs = [searches.submit("a", "me", work), searches.submit("b", "me", work)]
    with pytest.raises(BusyError, match="searches of yours"):
        searches.submit("c", "me", work)
    jobs.append(searches.submit("c", "you", work))
    with pytest.raises(BusyError, match="the server is busy: 3 searches"):
        searches.submit("d", "others", work)
    replaced = searches.submit("c", "you", work)
    assert jobs[2].stop.is_set()
    searches.cancel("b")
    gate.set()
    assert [jobs[0].result.result(20), replaced.result.result(20)] == ["a", "c"]
    assert jobs[1].result.cancelled()
    searches.close()
    with pytest.raises(BusyError, match="shutting down"):
        searches.submit("e", "me", work)


def test_a_busy_server_makes_no_move(tmp_path: Path) -> None:
    with server(tmp_path, threads=1, waiting=0) as connect:
        client = connect()
        slow = new(client, mode="analysis")
        state = new(client, mode="play", black="human", white="easy")
        post(client, f"/api/games/{slow['id']}/analyse", ply=0, seconds=60)
        busy = play(client, state, 11, 15, status=503)
        assert busy["busy"]
        assert client.get(f"/api/games/{state['id']}").json()["ply"] == 0
        assert client.get("/api/info").status_code == 200
        post(client, f"/api/games/{slow['id']}/stop")
        until = time.monotonic() + 20
        while (answer := client.post(f"/api/games/{state['id']}/move", json={"ply": 0, "path": [11, 15]})).is_error:
            assert answer.status_code == 503
            assert time.monotonic() < until
        assert settled(client, answer.json())["ply"] == 2


def test_not_ready(tmp_path: Path) -> None:
    startup = Startup(tmp_path)
    client = TestClient(Guard(create_app(startup), ("127.0.0.1",)), base_url=ADDRESS)
    assert client.get("/api/info").json()["ready"] is False
    answer = client.get("/api/games")
    assert answer.status_code == 503
    assert answer.json()["busy"]
    startup.close()


def test_events(tmp_path: Path) -> None:
    """A real server: the state comes first, then every change, and a stream does not keep it from ending."""
    startup = Startup(tmp_path)
    startup.ready = True
    app: Any = Guard(create_app(startup), ("127.0.0.1",))
    serving = uvicorn.Server(
        uvicorn.Config(app, port=0, log_level="error", lifespan="off", timeout_graceful_shutdown=5)
    )
    thread = threading.Thread(target=serving.run)
    thread.start()
    while not serving.started:
        time.sleep(0.01)
    port = serving.servers[0].sockets[0].getsockname()[1]
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"X-Draughts": "1"}, timeout=30) as client:
        state = client.post("/api/games", json={"variant": "english", "mode": "analysis"}).json()
        game = f"/api/games/{state['id']}"
        with client.stream("GET", game + "/events") as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            lines = stream.iter_lines()
            assert _event(lines) == ("state", state)
            moved = client.post(game + "/move", json={"ply": 0, "path": [11, 15]}).json()
            assert _event(lines) == ("state", moved)
            client.post(game + "/analyse", json={"ply": 1, "seconds": 1})
            kind, data = _event(lines)
            while kind != "thinking":
                kind, data = _event(lines)
            assert data["ply"] == 1
            assert data["lines"][0]["pv"][0] == data["lines"][0]["move"]
            startup.end_streams()
            for _ in lines:
                pass
    serving.should_exit = True
    thread.join(20)
    assert not thread.is_alive()
    startup.close()


def _event(lines: Iterator[str]) -> tuple[str, Any]:
    kind = next(line for line in lines if line.startswith("event: "))
    return kind.removeprefix("event: "), json.loads(next(lines).removeprefix("data: "))
