"""The web interface: paths, and what they answer. What it means is in :mod:`draughts_play.web.house`."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from draughts_env.errors import DraughtsError
from draughts_play.web import bodies
from draughts_play.web.house import MOST_GAMES, House, StaleError
from draughts_play.web.levels import levels
from draughts_play.web.rooms import CrowdedError, MissingError
from draughts_play.web.searches import BusyError
from draughts_play.web.security import MOST_BODY
from draughts_play.web.setups import new_game
from draughts_play.web.startup import Startup
from draughts_play.web.streams import Listener
from draughts_play.web.table import TurnError
from draughts_play.web.texts import look
from draughts_play.web.variants import offered_variant, variant_info

_STATIC = Path(__file__).with_name("static")
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".webmanifest": "application/manifest+json",
    ".png": "image/png",
    ".ico": "image/x-icon",
}
_ID = re.compile(r"[0-9a-f]{16}")
#: Statuses of errors, the first that fits; other errors of the project are the caller's, 400.
_STATUSES: tuple[tuple[type[Exception], int], ...] = (
    (MissingError, 404),
    (BusyError, 503),
    (CrowdedError, 503),
    (StaleError, 409),
    (TurnError, 409),
)


def _owner(request: Request) -> str:
    """The session as games are filed under; the cookie itself is kept nowhere."""
    return hashlib.sha256(request.scope["session"].encode()).hexdigest()


def _game_id(id: str) -> str:
    if not _ID.fullmatch(id):
        raise MissingError("there is no such game")
    return id


def _house(request: Request) -> House:
    startup: Startup = request.app.state.startup
    return startup.house()


HouseOf = Annotated[House, Depends(_house)]
Owner = Annotated[str, Depends(_owner)]
GameId = Annotated[str, Depends(_game_id)]


def create_app(startup: Startup) -> FastAPI:
    """The application.

    Args:
        startup: what is being made ready while the page is already up.
    """
    app = FastAPI(title="draughts-zero", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.startup = startup
    files = {path.name: path for path in _STATIC.iterdir() if path.suffix in _TYPES} if _STATIC.is_dir() else {}
    _add_errors(app)
    _add_page(app, files, startup)
    _add_games(app)
    return app


def _add_errors(app: FastAPI) -> None:
    def answer(status: int, error: str, position: int | None = None, **more: Any) -> JSONResponse:
        line = " ".join(error.split())
        return JSONResponse({"error": line[:500], "position": position, **more}, status)

    @app.exception_handler(DraughtsError)
    async def known(request: Request, error: DraughtsError) -> JSONResponse:
        status = next((status for kind, status in _STATUSES if isinstance(error, kind)), 400)
        more: dict[str, Any] = {"busy": True} if status == 503 else {}
        if isinstance(error, StaleError):
            more["state"] = error.state
        return answer(status, str(error), getattr(error, "at", getattr(error, "position", None)), **more)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            at = first["loc"][-1]
            why = first.get("ctx", {}).get("error", "")
            return answer(400, f"the request is not JSON: {why}", at if isinstance(at, int) else None)
        where = ".".join(str(part) for part in first["loc"] if part not in ("body", "path", "query"))[:80]
        return answer(400, f"{where or 'the request'}: {first['msg']}")

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> JSONResponse:
        text = "there is nothing here" if error.status_code == 404 else str(error.detail)
        return answer(error.status_code, text)

    @app.exception_handler(Exception)
    async def broken(request: Request, error: Exception) -> JSONResponse:
        return answer(500, "the server has made a mistake; its log says more")


def _add_page(app: FastAPI, files: dict[str, Path], startup: Startup) -> None:
    def file(name: str) -> Response:
        path = files.get(name)
        if path is None:
            raise HTTPException(404)
        headers = {"cache-control": "no-cache"}
        return Response(path.read_bytes(), media_type=_TYPES[path.suffix], headers=headers)

    @app.get("/")
    def page() -> Response:
        return file("index.html")

    @app.get("/static/{name}")
    def static(name: str) -> Response:
        return file(name)

    @app.get("/favicon.ico")
    def icon() -> Response:
        return file("favicon.ico" if "favicon.ico" in files else "favicon.svg")

    @app.get("/api/info")
    def info() -> dict[str, Any]:
        variants = variant_info()
        return {
            "version": metadata.version("draughts-zero"),
            "ready": startup.ready,
            "progress": startup.progress,
            "variants": variants,
            "levels": {v["name"]: [found.shown() for found in levels(v["name"])] for v in variants},
            "limits": {"games": MOST_GAMES, "body": MOST_BODY, "analysis_seconds": 60},
        }


def _add_games(app: FastAPI) -> None:
    @app.post("/api/games")
    def create(body: bodies.NewGame, owner: Owner, house: HouseOf) -> dict[str, Any]:
        return house.create(owner, *new_game(body))

    @app.get("/api/games")
    def games(owner: Owner, house: HouseOf) -> dict[str, Any]:
        return {"games": house.games(owner)}

    @app.get("/api/games/{id}")
    def state(id: GameId, owner: Owner, house: HouseOf) -> dict[str, Any]:
        return house.state(owner, id)

    @app.delete("/api/games/{id}")
    def delete(id: GameId, owner: Owner, house: HouseOf) -> dict[str, Any]:
        house.delete(owner, id)
        return {"deleted": id}

    @app.post("/api/games/{id}/next")
    def next_game(id: GameId, owner: Owner, house: HouseOf) -> dict[str, Any]:
        return house.next(owner, id)

    @app.post("/api/games/{id}/move")
    def move(id: GameId, body: bodies.MoveBody, owner: Owner, house: HouseOf) -> dict[str, Any]:
        return house.move(owner, id, body.ply, body.path)

    @app.post("/api/games/{id}/huff")
    def huff(id: GameId, body: bodies.HuffBody, owner: Owner, house: HouseOf) -> dict[str, Any]:
        return house.huff(owner, id, body.ply, body.square)

    @app.post("/api/games/{id}/takeback")
    def take_back(id: GameId, body: bodies.PlyBody, owner: Owner, house: HouseOf) -> dict[str, Any]:
        return house.take_back(owner, id, body.ply)

    @app.post("/api/games/{id}/resign")
    def resign(id: GameId, body: bodies.PlyBody, owner: Owner, house: HouseOf) -> dict[str, Any]:
        return house.resign(owner, id, body.ply)

    @app.post("/api/games/{id}/offer")
    def offer(id: GameId, body: bodies.PlyBody, owner: Owner, house: HouseOf) -> dict[str, Any]:
        return house.offer(owner, id, body.ply)

    @app.post("/api/games/{id}/answer")
    def answer(id: GameId, body: bodies.AnswerBody, owner: Owner, house: HouseOf) -> dict[str, Any]:
        return house.answer(owner, id, body.ply, body.accept)

    @app.post("/api/games/{id}/claim")
    def claim(id: GameId, body: bodies.PlyBody, owner: Owner, house: HouseOf) -> dict[str, Any]:
        house.state(owner, id)
        raise TurnError("there is nothing to claim: draws by rule are declared as soon as they are there")

    @app.post("/api/games/{id}/pause")
    def pause(id: GameId, body: bodies.PauseBody, owner: Owner, house: HouseOf) -> dict[str, Any]:
        return house.pause(owner, id, body.paused)

    @app.post("/api/games/{id}/hint")
    async def hint(id: GameId, owner: Owner, house: HouseOf) -> dict[str, Any]:
        job = await run_in_threadpool(house.hint, owner, id)
        with suppress(asyncio.CancelledError):
            found: dict[str, Any] = await asyncio.wrap_future(job.result)
            return found
        raise TurnError("the hint was called off: the game has gone on")

    @app.post("/api/games/{id}/analyse")
    def analyse(id: GameId, body: bodies.AnalyseBody, owner: Owner, house: HouseOf) -> dict[str, Any]:
        return house.analyse(owner, id, body.ply, body.seconds)

    @app.post("/api/games/{id}/stop")
    def stop(id: GameId, owner: Owner, house: HouseOf) -> dict[str, Any]:
        return house.stop(owner, id)

    @app.get("/api/games/{id}/pdn")
    def pdn(id: GameId, owner: Owner, house: HouseOf) -> Response:
        headers = {"content-disposition": f'attachment; filename="draughts-{id}.pdn"'}
        return PlainTextResponse(house.pdn(owner, id), headers=headers)

    @app.get("/api/games/{id}/events")
    async def events(id: GameId, owner: Owner, house: HouseOf) -> StreamingResponse:
        listener = Listener(asyncio.get_running_loop())
        await run_in_threadpool(house.listen, owner, id, listener)

        async def stream() -> AsyncIterator[str]:
            try:
                async for text in listener.events():
                    yield text
            finally:
                house.leave(id, listener)

        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(stream(), media_type="text/event-stream", headers=headers)

    @app.post("/api/parse")
    def parse(body: bodies.ParseBody, house: HouseOf) -> dict[str, Any]:
        return look(body.text, offered_variant(body.variant))
