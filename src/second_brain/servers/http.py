"""The process ``brain serve``: the same tools over streamable HTTP at ``/mcp``, for those who have a token.

Loopback by default. Every request names a token; a token shows no more than its label. No page of another origin may
ask, whatever the browser would allow.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import socket
from collections.abc import AsyncIterator, Callable, MutableMapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import anyio.abc
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from ..errors import BrainError, UsageError
from .adapter import Sessions, make_server
from .brains import Brains
from .desk import Desk
from .neighbours import Neighbours
from .places import graph_file
from .tokens import Token, matching, tokens
from .toolsets import chosen

LOOPBACK = ("127.0.0.1", "localhost", "::1")
GRACE_S = 3
MOST_AT_ONCE = 200
"""Connections at the same time; the next ones get 503."""

_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[^\s:/?#@\[\]]+)(:\d{1,5})?")

logger = logging.getLogger("second_brain.servers")


class Callers:
    """The sessions of those who may ask, by token. Tokens are read anew: a removed one is worthless at once."""

    def __init__(self, brains: Brains, toolsets: Sequence[str], *, read_only: bool) -> None:
        self._brains = brains
        self._toolsets = toolsets
        self._read_only = read_only
        self._sessions: dict[Token, Sessions] = {}
        self._tasks: anyio.abc.TaskGroup | None = None

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The time in which they are answered."""
        async with anyio.create_task_group() as self._tasks:
            yield
            self._tasks.cancel_scope.cancel()

    def token(self, authorization: str) -> Token | None:
        """Who sends this header, None for nobody."""
        scheme, _, text = authorization.partition(" ")
        if scheme.lower() != "bearer" or not text.strip():
            return None
        return matching(tokens(self._brains.seen_by("").settings), text.strip())

    async def sessions(self, token: Token) -> Sessions:
        """The sessions of whoever has this token."""
        assert self._tasks is not None, "asked outside of `running`"
        if token not in self._sessions:
            read_only = self._read_only or not token.changes
            tools = chosen(self._toolsets, read_only=read_only)
            desk = Desk(self._brains, token.privacy, read_only, graph=graph_file(None, os.environ))
            self._sessions[token] = Sessions(make_server(tools, desk))
            await self._tasks.start(_keep, self._sessions[token])
        return self._sessions[token]


async def _keep(sessions: Sessions, *, task_status: anyio.abc.TaskStatus[None]) -> None:
    async with sessions.running():
        task_status.started()
        await anyio.sleep_forever()


class McpEndpoint:
    """``/mcp``: whoever names a valid token is led to their own sessions."""

    def __init__(self, callers: Callers) -> None:
        self._callers = callers

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        header = Request(scope).headers.get("authorization", "")
        try:
            token = await anyio.to_thread.run_sync(self._callers.token, header)
        except BrainError as error:
            logger.warning("%s; %s", error, error.hint)
            token = None
        if token is None:
            words = "a bearer token is needed: `brain token add NAME` makes one"
            await PlainTextResponse(words, 401, {"WWW-Authenticate": "Bearer"})(scope, receive, send)
        else:
            await (await self._callers.sessions(token))(scope, receive, send)


class Gate:
    """Lets requests through that were meant for this server; everything else ends here.

    A name that is not ours in ``Host`` is a page that had its own name lead to this machine (DNS rebinding); an
    ``Origin`` that is not where the page itself came from is another site.
    """

    def __init__(self, app: Any, brains: Brains, host: str) -> None:
        self._app = app
        self._brains = brains
        self._host = host

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        """One request, or the life of the server."""
        answer = self._app
        if scope["type"] == "http":
            try:
                answer = await anyio.to_thread.run_sync(self._refusal, Request(scope)) or self._app
            except BrainError as error:  # a settings file became wrong: nobody can be told who may ask
                logger.warning("%s; %s", error, error.hint)
                answer = PlainTextResponse("the server's settings are wrong; its log says how", 503)
        await answer(scope, receive, send)

    def _refusal(self, request: Request) -> Response | None:
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        public = self._brains.seen_by("").settings.public_hosts
        name = _name_of(host)
        if name not in LOOPBACK and name != self._host and name not in public and host.lower() not in public:
            logger.warning("refused a request for the host %r: see `public_hosts` in settings.yaml", host[:100])
            return PlainTextResponse(f"the host '{host[:100]}' is not ours: see `public_hosts` in settings.yaml", 421)
        if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            logger.warning("refused a request from a page of %r", origin[:100])
            return PlainTextResponse("requests from pages of other origins are not answered", 403)
        return None


def _name_of(host: str) -> str:
    """The name in a Host header in lower case, without port and brackets; '' where it is none."""
    found = _HOST.fullmatch(host)
    return found["name"].strip("[]").lower() if found else ""


def make_app(brains: Brains, toolsets: Sequence[str], *, host: str, read_only: bool, neighbours: Path | None) -> Any:
    """The ASGI application. ``neighbours`` is the socket for processes of this machine, None for none."""
    callers = Callers(brains, toolsets, read_only=read_only)

    async def health(request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(callers.running())
            if neighbours is not None:
                await stack.enter_async_context(Neighbours(brains, neighbours).listening())
            yield

    routes = [Route("/healthz", health, methods=["GET"]), Route("/mcp", McpEndpoint(callers))]
    return Gate(Starlette(routes=routes, lifespan=lifespan), brains, host.strip("[]").lower())


def serve(
    brains: Brains,
    toolsets: Sequence[str],
    *,
    host: str,
    port: int,
    read_only: bool,
    neighbours: Path | None,
    ready: Callable[[int], None],
) -> None:
    """Serve until the process is asked to end. ``ready`` is told the port, which is a free one for 0.

    Raises UsageError when the port is taken, or others could reach it and nobody has a token.
    """
    brain = brains.seen_by("")
    if not tokens(brain.settings) and not is_loopback(host):
        raise UsageError(
            f"{host} can be reached from other machines, and there is no token yet",
            hint="brain token add laptop --privacy work",
        )
    chosen(toolsets)
    with contextlib.closing(_bound(host, port)) as taken:
        ready(taken.getsockname()[1])
        config = uvicorn.Config(
            make_app(brains, toolsets, host=host, read_only=read_only, neighbours=neighbours),
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=GRACE_S,
            limit_concurrency=MOST_AT_ONCE,
            server_header=False,
            ws="none",
        )
        uvicorn.Server(config).run(sockets=[taken])


def _bound(host: str, port: int) -> socket.socket:
    """The listening socket. Raises UsageError naming port and cure."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host.strip("[]"), port))
        found.listen(128)
    except OSError as error:
        found.close()
        raise UsageError(
            f"{host}:{port} cannot be used: {error.strerror}",
            hint=f"another program may hold the port; choose one: brain serve --port {port + 1 if port else 8766}",
        ) from error
    return found


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    return host.strip("[]") in LOOPBACK
