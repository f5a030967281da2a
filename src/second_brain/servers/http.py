"""The process ``brain serve``: tools for agents at ``/mcp``, the API for programs, and pages for people.

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
import anyio.to_thread
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route

from .. import wire
from ..errors import BrainError, StorageError, UsageError
from .api.routes import Api
from .brains import Brains
from .callers import Callers
from .fleet import EVERY_S, Fleet
from .listening import Listener, Running
from .metrics import Metrics
from .neighbours import Neighbours
from .places import graph_file
from .scraping import MetricsEndpoint
from .tokens import tokens
from .toolsets import chosen
from .web.site import site
from .web.visitors import Visitors

NAMED = {"/mcp": "mcp", "/healthz": "healthz", "/metrics": "metrics"}
"""How requests are counted that are not the API's."""

LOOPBACK = ("127.0.0.1", "localhost", "::1")
BODY_S = 60.0
"""How long a client may take for the body of a request; the API has its own limits."""

_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[^\s:/?#@\[\]]+)(:\d{1,5})?")

logger = logging.getLogger("second_brain.servers")


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


@contextlib.asynccontextmanager
async def _saving(fleet: Fleet, brains: Brains) -> AsyncIterator[None]:
    """The time in which it is written down, every few seconds, who asked."""

    def save() -> None:
        try:
            fleet.save(brains.seen_by("").settings)
        except BrainError as error:
            logger.warning("%s; %s", error, error.hint)

    async def often() -> None:
        while True:
            await anyio.sleep(EVERY_S)
            await anyio.to_thread.run_sync(save)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(often)
        try:
            yield
        finally:
            tasks.cancel_scope.cancel()
            save()


class Gate:
    """Lets requests through that were meant for this server; everything else ends here.

    A name that is not ours in ``Host`` is a page that had its own name lead to this machine (DNS rebinding); an
    ``Origin`` that is not where the page itself came from is another site. Who comes while the server ends is told so.
    """

    def __init__(self, app: Any, brains: Brains, host: str, running: Running, metrics: Metrics) -> None:
        self._app = app
        self._brains = brains
        self._host = host
        self._running = running
        self._metrics = metrics

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        """One request, or the life of the server."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"]
        if self._running.ending and path != "/healthz":
            await _ending()(scope, receive, send)
            return
        if scope["method"] == "GET" and path == "/mcp":  # a client that listens for as long as it lives
            await self._pass(scope, receive, send)
            return
        with self._running.one():
            await self._pass(scope, receive, send)

    async def _pass(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        answer = self._app
        try:
            answer = await anyio.to_thread.run_sync(self._refusal, Request(scope)) or self._app
        except BrainError as error:  # a settings file became wrong: nobody can be told who may ask
            logger.warning("%s; %s", error, error.hint)
            answer = PlainTextResponse("the server's settings are wrong; its log says how", 503)
        path = scope["path"]
        if path.startswith(wire.PREFIX):  # counts by endpoint, and has limits of its own
            await answer(scope, receive, send)
            return
        status = 500

        async def counted(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await answer(scope, _within(BODY_S, receive), counted)
        finally:
            self._metrics.requested(NAMED.get(path, "page"), status)

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


def _ending() -> Response:
    error = StorageError("the server is ending", hint="come again in a few seconds")
    return Response(wire.raised(error)[1], 503, {"Retry-After": "5", "Connection": "close"}, "application/json")


def _within(seconds: float, receive: Any) -> Any:
    """The same, but a client whose body does not come in time counts as gone."""
    ends = anyio.current_time() + seconds
    whole = False

    async def patient() -> MutableMapping[str, Any]:
        nonlocal whole
        if whole:
            return dict(await receive())
        with anyio.CancelScope(deadline=ends):
            message = await receive()
            whole = not message.get("more_body", False)
            return dict(message)
        return {"type": "http.disconnect"}

    return patient


def make_app(
    brains: Brains,
    toolsets: Sequence[str],
    *,
    host: str,
    read_only: bool,
    neighbours: Path | None,
    visitors: Visitors | None = None,
    running: Running | None = None,
) -> Any:
    """The ASGI application. ``neighbours`` is the socket for processes of this machine, None for none.

    ``visitors`` are those who look at the pages in a browser; None begins with nobody. ``running`` knows whether the
    process is ending.
    """
    callers = Callers(brains, toolsets, read_only=read_only)
    metrics = brains.metrics = brains.metrics or Metrics()
    running = running or Running()
    fleet = Fleet()
    api = Api(callers, metrics, fleet)

    def local(request: Request) -> bool:
        # A proxy hands requests from outside on to loopback; it names the host that was asked for.
        return is_loopback(host) and _name_of(request.headers.get("host", "")) in LOOPBACK

    async def health(request: Request) -> Response:
        return JSONResponse({"status": "ending"}, 503) if running.ending else JSONResponse({"status": "ready"})

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(callers.running())
            await stack.enter_async_context(_saving(fleet, brains))
            stack.callback(api.end)
            if neighbours is not None:
                await stack.enter_async_context(Neighbours(brains, neighbours).listening())
            yield

    routes = [
        Route("/healthz", health, methods=["GET"]),
        Route("/metrics", MetricsEndpoint(callers, brains, metrics, local), methods=["GET"]),
        Route("/mcp", McpEndpoint(callers)),
        Mount(wire.PREFIX, api.app),
    ]
    graph = graph_file(None, os.environ)
    routes += site(brains, visitors or Visitors(), read_only=read_only, graph=graph)
    return Gate(Starlette(routes=routes, lifespan=lifespan), brains, host.strip("[]").lower(), running, metrics)


def serve(
    brains: Brains,
    toolsets: Sequence[str],
    *,
    host: str,
    port: int,
    read_only: bool,
    neighbours: Path | None,
    ready: Callable[[int], None],
    visitors: Visitors | None = None,
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
        running = Running()
        app = make_app(
            brains,
            toolsets,
            host=host,
            read_only=read_only,
            neighbours=neighbours,
            visitors=visitors,
            running=running,
        )
        Listener(app, running).run(sockets=[taken])


def _bound(host: str, port: int) -> socket.socket:
    """The listening socket. Raises UsageError naming port and cure."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With its protocol named, asyncio sends small answers at once (TCP_NODELAY); else each waits 40 ms for an ACK.
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
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
