"""What every request goes through: host and origin, size, session, headers of the answer."""

from __future__ import annotations

import ipaddress
import json
import re
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from typing import Any

COOKIE = "draughts_session"
#: Bytes of a request's body.
MOST_BODY = 256 * 1024
_LARGE = f"the request is too large: {MOST_BODY} bytes at most"
_YEAR = 365 * 24 * 3600
_SESSION = re.compile(r"[0-9a-f]{32}")
_SAFE = ("GET", "HEAD", "OPTIONS")
#: Headers of every answer. Everything the page needs comes from this server; nobody may frame it.
_HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
        b"connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]


class _TooLarge(Exception):
    """The body goes on beyond what is allowed; the application never sees more of it."""


class Guard:
    """Middleware that lets only good requests through to the application.

    The session's name is in ``scope["session"]`` afterwards.

    Args:
        app: the application.
        hosts: names under which the server may be asked for; other names are somebody else's who has let them point
            here (DNS rebinding).
        any_address: whether it may be asked for by any numeric address, too, for servers that listen on more than
            the loopback.
    """

    def __init__(self, app: App, hosts: Iterable[str], any_address: bool = False) -> None:
        self._app = app
        self._hosts = {host.lower() for host in hosts}
        self._any_address = any_address

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(scope["method"], headers)
        if refusal is not None:
            await _refuse(send, *refusal)
            return
        session, fresh = _session(headers.get("cookie", ""))
        scope["session"] = session
        size = 0

        async def limited() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > MOST_BODY:
                raise _TooLarge
            return message

        async def dressed(message: Message) -> None:
            if size > MOST_BODY:
                return  # whatever the application makes of half a body
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *_HEADERS]
                if fresh:
                    cookie = f"{COOKIE}={session}; Path=/; Max-Age={_YEAR}; HttpOnly; SameSite=Strict"
                    message["headers"].append((b"set-cookie", cookie.encode()))
            await send(message)

        with suppress(_TooLarge):
            await self._app(scope, limited, dressed)
        if size > MOST_BODY:
            await _refuse(send, 413, _LARGE)

    def _refusal(self, method: str, headers: dict[str, str]) -> tuple[int, str] | None:
        """Status and reason of a request that is not let through."""
        host = headers.get("host", "")
        if not self._known(host):
            return 403, "this server is not known by that name; use 127.0.0.1 or localhost"
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 12:
            return 400, "the length of the request is not a number"
        if int(length) > MOST_BODY:
            return 413, _LARGE
        if method in _SAFE:
            return None
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in (f"http://{host.lower()}", f"https://{host.lower()}"):
            return 403, "the request comes from another page"
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return 403, "the request comes from another page"
        if headers.get("x-draughts") != "1":
            return 403, "the header 'X-Draughts: 1' is missing"
        return None

    def _known(self, host: str) -> bool:
        match = re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[^:\[\]/@]+)(?::\d{1,5})?", host)
        if match is None:
            return False
        name = match[1].strip("[]").lower()
        if name in self._hosts:
            return True
        if not self._any_address:
            return False
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


def _session(cookies: str) -> tuple[str, bool]:
    """The session's name and whether it is new."""
    try:
        found = SimpleCookie(cookies).get(COOKIE)
    except CookieError:
        found = None
    if found is not None and _SESSION.fullmatch(found.value):
        return found.value, False
    return secrets.token_hex(16), True


async def _refuse(send: Send, status: int, reason: str) -> None:
    body = json.dumps({"error": reason, "position": None}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *_HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
