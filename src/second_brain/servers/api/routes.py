"""The API over HTTP: every request is checked, limited, answered in a thread and accounted for, by the table."""

from __future__ import annotations

import contextlib
import logging
import threading
import traceback
from collections.abc import AsyncIterator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ... import wire
from ...clearance import stricter
from ...errors import BrainError, Busy, DeadlineMissed, GenerationMismatch, NotAllowed, NotFound, UsageError
from ...version import __version__
from .. import fleet
from ..callers import Callers
from ..desk import Cancelled, Desk
from ..metrics import Metrics
from ..tokens import Token
from .asking import Asked, Endpoint
from .limits import THREADS, Turn, Turns
from .marks import mark
from .openapi import described
from .sending import JSON, Sending
from .syncing import Receiving
from .table import ENDPOINTS

TOKEN_NEEDED = NotAllowed(
    "a bearer token is needed", hint="send 'Authorization: Bearer TOKEN'; `brain token add NAME` makes one"
)
PATIENCE_S = 3.0
PATIENCE_BYTES = 64 << 20
"""How much of a body that is too large is read and forgotten."""

MOST_TRIES = 3
"""Of an answer during which another generation became current."""

logger = logging.getLogger("second_brain.servers")


class Api:
    """What all endpoints share; ``app`` is the ASGI application below the prefix."""

    def __init__(self, callers: Callers, metrics: Metrics, met: fleet.Fleet) -> None:
        self.callers = callers
        self.metrics = metrics
        self.fleet = met
        self.receiving = Receiving()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="api")
        self._turns: dict[Token, Turns] = {}
        routes = [Route(endpoint.path, _Answering(self, endpoint), methods=[endpoint.method]) for endpoint in ENDPOINTS]
        description = Route("/openapi.json", _description, methods=["GET"])
        self.app = Starlette(routes=[description, *routes], exception_handlers={HTTPException: _not_routed})
        self.app.router.redirect_slashes = False

    def turns(self, token: Token) -> Turns:
        """Those of a token."""
        if token not in self._turns:
            self._turns[token] = Turns(self._threads)
        return self._turns[token]

    def end(self) -> None:
        """Begin nothing more."""
        self.receiving.end()
        self._threads.shutdown(wait=False, cancel_futures=True)


async def _description(request: Request) -> Response:
    return Response(wire.encode(described()), media_type=JSON)


def _not_routed(request: Request, error: Exception) -> Response:
    """404 and 405 of the router, in our form."""
    assert isinstance(error, HTTPException)
    path = request.url.path[:200]
    known = ", ".join(f"{endpoint.method} {wire.PREFIX}{endpoint.path}" for endpoint in ENDPOINTS)
    said: BrainError = NotFound(f"there is no {request.method} {path}", hint=f"there is: {known}")
    return Response(wire.raised(said)[1], error.status_code, dict(error.headers or {}), JSON)


class _TooSlow(Exception):
    """The body did not come in time."""


class _TooLarge(Exception):
    """The body is larger than the endpoint takes."""


class _Gone(Exception):
    """The client closed the connection."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What is sent; None for what the asker has already."""

    data: bytes | None
    headers: Mapping[str, str]


class _Answering:
    """One endpoint as an ASGI application."""

    def __init__(self, api: Api, endpoint: Endpoint) -> None:
        self._api = api
        self._endpoint = endpoint

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        gone = threading.Event()
        sending = Sending(send)
        try:
            with anyio.fail_after(self._endpoint.deadline_s):
                await self._answer(request, sending, gone)
        except _Gone:
            sending.status = 499
        except TimeoutError:
            words = f"no answer within {self._endpoint.deadline_s:g} s"
            await sending.error(DeadlineMissed(words, hint="ask for less, or again later"))
        except _TooSlow:
            await sending.error(UsageError("the request's body did not come in time"), 408, close=True)
        except _TooLarge:
            most = self._endpoint.largest
            words = f"the request's body is larger than {most:,} bytes"
            await sending.error(UsageError(words, hint="send less at once"), 413, close=True)
        except BrainError as error:
            await sending.error(error)
        except Exception as error:
            logger.error("%s failed:\n%s", self._endpoint.name, traceback.format_exc())
            words = f"unexpected {type(error).__name__}"
            await sending.error(BrainError(words, hint="this is a fault of second-brain; its log says where"))
        finally:
            gone.set()  # work that goes on stops when it reports next
            self._api.metrics.requested(self._endpoint.name, sending.status)

    async def _answer(self, request: Request, sending: Sending, gone: threading.Event) -> None:
        api, endpoint = self._api, self._endpoint
        caller = await anyio.to_thread.run_sync(self._caller, request)
        if caller is None:
            await sending.error(TOKEN_NEEDED, 401, {"WWW-Authenticate": "Bearer"}, close=True)
            return
        token, desk = caller
        if endpoint.changes and desk.read_only:  # before a body of megabytes is read
            raise NotAllowed(
                "this token may not change the index", hint="brain token add NAME --changes, on the server"
            )
        data = await _body(request, endpoint)
        async with api.turns(token).turn() as turn, _while_connected(request, gone, sending):
            sending.headers.update(await turn.run(partial(_identified, desk)))
            consumer = _consumer(request)
            if consumer is not None:
                api.fleet.met(consumer)
            expects = consumer.expects if consumer else _header(request, wire.EXPECTS)
            if endpoint.streams:
                asked = await turn.run(partial(self._asked, desk, request, data, gone))
                await self._stream(asked, expects, turn, sending)
                return
            answer = await turn.run(partial(self._whole, desk, request, data, gone, expects))
            sending.headers.update(answer.headers)
            if answer.data is None:
                await sending.begin(JSON, 304)
                await sending.end()
            else:
                await sending.answer(answer.data, zipped="gzip" in request.headers.get("accept-encoding", ""))

    def _caller(self, request: Request) -> tuple[Token, Desk] | None:
        """Who asks, and their desk; None for nobody. Raises UsageError for a label that is not known."""
        callers = self._api.callers
        token = callers.token(request.headers.get("authorization", ""))
        return None if token is None else (token, _narrowed(callers.desk(token), _header(request, wire.PRIVACY)))

    def _asked(self, desk: Desk, request: Request, data: bytes, gone: threading.Event) -> Asked:
        """The request, checked. Raises UsageError."""
        endpoint = self._endpoint
        known = {parameter.name for parameter in endpoint.parameters}
        for name in request.query_params:
            if name not in known or name in request.path_params:
                raise UsageError(
                    f"there is no parameter '{name[:80]}'",
                    hint="parameters: "
                    + (", ".join(p.name for p in endpoint.parameters if p.place == "query") or "none"),
                )
        values = {
            p.name: p.read(request.path_params.get(p.name) if p.place == "path" else request.query_params.get(p.name))
            for p in endpoint.parameters
        }
        body = wire.decode(data, endpoint.takes, strict=True) if endpoint.takes is not None else None

        def report(stage: str, done: int, total: int | None) -> None:
            if gone.is_set():
                raise Cancelled(stage)

        return Asked(desk, self._api.metrics, self._api.receiving, values, body, report)

    def _whole(self, desk: Desk, request: Request, data: bytes, gone: threading.Event, expects: str) -> _Answer:
        """The answer, all of it of one generation."""
        asked = self._asked(desk, request, data, gone)
        headers = {}
        if self._endpoint.marked:
            headers["ETag"] = own = _mark(desk, expects)
            if own == request.headers.get("if-none-match"):
                return _Answer(None, headers)
        for _ in range(MOST_TRIES):
            generation = _expected(desk, expects)
            answer = wire.encode(self._endpoint.run(asked))
            if self._endpoint.changes or desk.brain.generation == generation:
                return _Answer(answer, {**headers, wire.GENERATION: generation})
        raise Busy("generations change faster than an answer is made", hint="ask again")

    async def _stream(self, asked: Asked, expects: str, turn: Turn, sending: Sending) -> None:
        """Lines as they come. What goes wrong after the first is the last line."""
        generation = await turn.run(partial(_expected, asked.desk, expects))
        lines: Iterator[wire.StreamLine] = iter(self._endpoint.run(asked))
        line = await turn.run(partial(next, lines, None))  # what is wrong with the request itself has a status
        sending.headers[wire.GENERATION] = generation
        await sending.begin(wire.NDJSON)
        while line is not None:
            await sending.line(line)
            line = await turn.run(partial(_next, lines, asked.desk, generation))
        await sending.end()


def _next(lines: Iterator[wire.StreamLine], desk: Desk, generation: str) -> wire.StreamLine | None:
    """The next line. Raises GenerationMismatch when it would be of another generation than the first."""
    line = next(lines, None)
    if line is not None and desk.brain.generation != generation:
        raise GenerationMismatch(
            f"generation '{desk.brain.generation}' became current; this answer began with '{generation}'",
            hint="ask again",
        )
    return line


def _identified(desk: Desk) -> dict[str, str]:
    """The headers that say who answers."""
    brain = desk.brain
    return {wire.GENERATION: brain.generation, wire.VERSION: __version__, wire.INDEX: brain.visible().index.id}


def _narrowed(desk: Desk, label: str) -> Desk:
    """The desk, showing nothing above a label ('' is the token's own). Raises UsageError for an unknown one."""
    if not label:
        return desk
    return replace(desk, label=stricter(desk.brains.seen_by("").settings, desk.label.lower(), label.lower()))


def _mark(desk: Desk, expects: str) -> str:
    """An answer's mark, taken before it is made: what changes meanwhile is then seen the next time."""
    _expected(desk, expects)
    return f'"{mark(desk.brain)}"'


def _expected(desk: Desk, expects: str) -> str:
    """The generation of now. Raises GenerationMismatch when it is not the one that the asker pins."""
    generation = desk.brain.generation
    if expects not in ("", generation):
        raise GenerationMismatch(
            f"generation '{generation}' answers here, '{expects[:80]}' is expected",
            hint=f"expect '{generation}', or none; `brain fleet status` on the server shows who expects what",
        )
    return generation


def _header(request: Request, name: str) -> str:
    """A header as text; names may be in any language."""
    text = request.headers.get(name, "")
    with contextlib.suppress(UnicodeError):
        return text.encode("latin-1").decode("utf-8")
    return text


def _consumer(request: Request) -> fleet.Consumer | None:
    """Who asks, if it says so. Raises UsageError."""
    name = _header(request, wire.CONSUMER)
    if not name:
        return None
    version, expects = _header(request, wire.CONSUMER_VERSION), _header(request, wire.EXPECTS)
    return fleet.named(name, version, expects, now=datetime.now(UTC))


async def _body(request: Request, endpoint: Endpoint) -> bytes:
    """The whole body. Raises _TooLarge, _TooSlow, _Gone."""
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) > endpoint.largest:
        if "expect" not in request.headers:  # who waits for a go-ahead sends nothing without it
            await _let_pass(request)
        raise _TooLarge
    data = bytearray()
    with anyio.move_on_after(endpoint.deadline_s / 2) as patience:
        more = True
        while more:
            message = await request.receive()
            if message["type"] == "http.disconnect":
                raise _Gone
            data += message.get("body", b"")
            more = message.get("more_body", False)
            if len(data) > endpoint.largest:
                data.clear()
                if more:
                    await _let_pass(request)
                raise _TooLarge
    if patience.cancelled_caught:
        raise _TooSlow
    return bytes(data)


async def _let_pass(request: Request) -> None:
    """Take the rest of a body and forget it, for a while: a client that is still sending would not see the answer."""
    passed = 0
    with anyio.move_on_after(PATIENCE_S):
        while passed < PATIENCE_BYTES:
            message = await request.receive()
            passed += len(message.get("body", b""))
            if not message.get("more_body", False):
                return


@contextlib.asynccontextmanager
async def _while_connected(request: Request, gone: threading.Event, sending: Sending) -> AsyncIterator[None]:
    """The time in which somebody waits for the answer. Raises _Gone when the client leaves."""
    left = False

    async def watch() -> None:
        nonlocal left
        while (await request.receive())["type"] != "http.disconnect":
            pass
        left = not sending.whole  # after the end of an answer, the same is said
        gone.set()
        tasks.cancel_scope.cancel()

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch)
            yield
            tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:  # of the one that was answered
        raise group.exceptions[0] from None
    if left:
        raise _Gone
