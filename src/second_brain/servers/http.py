"""The process ``brain serve``: the same tools over streamable HTTP at ``/mcp``, for those who have a token.

Loopback by default. Every request names a token; a token shows no more than its label. No page of another origin may
ask, whatever the browser would allow.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import UsageError
from ..library import Brain
from .desk import Desk, usable_roots
from .tokens import Token, matching, tokens
from .toolsets import Tool

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
LARGEST_REQUEST = 1 << 20
GRACE_S = 5


class Callers:
    """The desks of those who may ask, by token; tokens are read anew, so that a removed one is worthless at once."""

    def __init__(self, brain: Brain) -> None:
        self._brain = brain
        self._desks: dict[Token, Desk] = {}

    def desk(self, authorization: str) -> Desk | None:
        """The desk of whoever sends this header, None for nobody."""
        scheme, _, text = authorization.partition(" ")
        if scheme.lower() != "bearer" or not text.strip():
            return None
        token = matching(tokens(self._brain.settings), text.strip())
        if token is None:
            return None
        if token not in self._desks:
            view = self._brain.seen_by(token.privacy)
            owner = self._brain if token.changes and not view.clearance else None
            self._desks[token] = Desk(view, owner, usable_roots(self._brain.settings.allowed_roots, None))
        return self._desks[token]


def make_app(brain: Brain, tools: Sequence[Tool], *, host: str, port: int) -> Any:
    """The ASGI application."""
    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    from .adapter import make_server

    callers = Callers(brain)
    names = [*LOOPBACK, *brain.settings.public_hosts]
    hosts = [f"{name}:{port}" for name in names] + list(brain.settings.public_hosts)
    origins = [f"{scheme}://{name}" for scheme in ("http", "https") for name in hosts]
    security = TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)

    def desk_of(context: Any) -> Desk:
        desk = callers.desk(context.request.headers.get("authorization", ""))
        if desk is None:  # the gate let it through: the token was removed meanwhile
            raise UsageError("this token is not valid any more")
        return desk

    async def health(request: Any) -> Any:
        return JSONResponse({"status": "ok"})

    server = make_server(tools, desk_of)
    app = server.streamable_http_app(
        host=host,
        transport_security=security,
        max_request_body_size=LARGEST_REQUEST,
        custom_starlette_routes=[Route("/healthz", health, methods=["GET"])],
    )
    return Gate(app, callers, hosts, origins)


class Gate:
    """Lets requests through whose host, origin and token are right; everything else ends here."""

    def __init__(self, app: Any, callers: Callers, hosts: Sequence[str], origins: Sequence[str]) -> None:
        self._app = app
        self._callers = callers
        self._hosts = frozenset(hosts)
        self._origins = frozenset(origins)

    async def __call__(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        """One request, or the life of the server."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        host, origin = headers.get("host", ""), headers.get("origin", "")
        if host.lower() not in self._hosts:
            await _refuse(send, 421, f"the host '{host[:100]}' is not ours: see `public_hosts` in settings.yaml")
        elif origin and origin.lower() not in self._origins:
            await _refuse(send, 403, "requests from other origins are not answered")
        elif scope["path"] != "/healthz" and self._callers.desk(headers.get("authorization", "")) is None:
            await _refuse(
                send, 401, "a bearer token is needed: `brain token add NAME`", (b"www-authenticate", b"Bearer")
            )
        else:
            await self._app(scope, receive, send)


async def _refuse(send: Any, status: int, words: str, *more: tuple[bytes, bytes]) -> None:
    body = words.encode("utf-8")
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode()), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def serve(brain: Brain, tools: Sequence[Tool], *, host: str, port: int) -> None:
    """Serve until the process is asked to end. Raises UsageError when the port is taken, or the place not safe."""
    import uvicorn

    if not tokens(brain.settings):
        raise UsageError("there is no token yet, so nobody could ask", hint="brain token add laptop --privacy work")
    taken = _bound(host, port)
    config = uvicorn.Config(
        make_app(brain, tools, host=host, port=taken.getsockname()[1]),
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=GRACE_S,
        server_header=False,
    )
    with contextlib.closing(taken):
        uvicorn.Server(config).run(sockets=[taken])


def _bound(host: str, port: int) -> socket.socket:
    """The listening socket. Raises UsageError naming port and cure."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
        found.listen(128)
    except OSError as error:
        found.close()
        raise UsageError(
            f"{host}:{port} cannot be used: {error.strerror}",
            hint=f"another program holds the port; choose one: brain serve --port {port + 1 if port else 8766}",
        ) from error
    return found


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    return host in ("127.0.0.1", "localhost", "::1")
