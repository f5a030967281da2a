"""Clients that are slow, leave, or come while the server ends; and answers that begin before they are complete."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from api_box import WAIT_S, Box, indexed_home, running_box

from second_brain import Brain, wire
from second_brain.errors import StorageError
from second_brain.servers import http as serving
from second_brain.servers import listening
from second_brain.servers.api import reading
from second_brain.types import SearchResult

ONE_STEP_S = 0.3
"""What the limits of patience are set to here."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return indexed_home(tmp_path_factory.mktemp("connections"))


@pytest.fixture(scope="module")
def module_box(home: Path) -> Iterator[Box]:
    with running_box(home) as box:
        yield box


@pytest.fixture
def box(module_box: Box) -> Iterator[Box]:
    """After whatever a client did, the next one is answered, and nothing of the last one is left."""
    yield module_box
    assert module_box.ask("POST", "/search", {"query": "heron"}).status == 200
    _until(lambda: module_box.running.count == 0)


def _until(true: Callable[[], bool]) -> None:
    ends = time.monotonic() + 20
    while not true():
        assert time.monotonic() < ends, "it did not come about"
        time.sleep(0.01)


def _request(box: Box, path: str, body: Any, *, length: int | None = None) -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = (
        f"POST /api/v1{path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {box.token}\r\n"
        f"Content-Length: {len(data) if length is None else length}\r\n\r\n"
    )
    return head.encode() + data


def _read_to_end(connection: socket.socket) -> bytes:
    data = b""
    while piece := connection.recv(65536):
        data += piece
    return data


def _read_until(connection: socket.socket, mark: bytes) -> bytes:
    data = b""
    while mark not in data:
        piece = connection.recv(65536)
        assert piece, data
        data += piece
    return data


# -- streams -------------------------------------------------------------------------------------------------


class _Paged:
    """The searches of a brain, of which those after the first wait to be let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun = threading.Semaphore(0)
        self.go = threading.Event()
        self.count = 0
        search = Brain.search

        def paged(brain: Brain, text: str, **more: Any) -> SearchResult:
            self.count += 1
            if self.count > 1:
                self.begun.release()
                assert self.go.wait(WAIT_S)
            return search(brain, text, **more)

        monkeypatch.setattr(Brain, "search", paged)


def test_the_first_line_of_a_stream_arrives_before_the_last_is_found(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    """Page by page; in the end all of it is there, each hit once, and the rest of the result."""
    paged = _Paged(monkeypatch)
    with box.raw() as connection:
        connection.sendall(_request(box, "/search/stream", {"query": "heron", "limit": 31}))
        began = _read_until(connection, b'"hit":{')
        assert paged.begun.acquire(timeout=20)
        assert b'"result":{' not in began
        paged.go.set()
        data = began + _read_until(connection, b"0\r\n\r\n")
    assert b"application/x-ndjson" in data
    lines = [wire.decode(line, wire.StreamLine) for line in _dechunked(data).split(b"\n") if line]
    hits = [line.hit for line in lines[:-1] if line.hit]
    assert len(hits) == len({hit.id for hit in hits}) == 31
    assert [hit.rank for hit in hits] == list(range(1, 32))
    rest = lines[-1].result
    assert rest is not None
    assert (rest.query, rest.hits, rest.cursor) == ("heron", (), "")
    assert all(line.short_id and line.hit and line.hit.id.startswith(line.short_id) for line in lines[:-1])


def _dechunked(data: bytes) -> bytes:
    _, _, body = data.partition(b"\r\n\r\n")
    whole = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        whole += body[: int(size, 16)]
        body = body[int(size, 16) + 2 :]
    return whole


def test_a_client_that_leaves_a_stream_stops_the_work(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page that is being found is the last one."""
    monkeypatch.setattr(reading, "PAGE", 2)
    paged = _Paged(monkeypatch)
    with box.raw() as connection:
        connection.sendall(_request(box, "/search/stream", {"query": "heron", "limit": 30}))
        _read_until(connection, b'"hit":{')
        assert paged.begun.acquire(timeout=20)
    _until(lambda: 'endpoint="stream",status="499"' in box.metrics())
    paged.go.set()
    time.sleep(0.2)
    assert paged.count == 2


def test_what_goes_wrong_in_a_stream_is_its_last_line(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    """The status was sent long before."""
    monkeypatch.setattr(reading, "PAGE", 2)
    search = Brain.search

    def broken(brain: Brain, text: str, **more: Any) -> SearchResult:
        if more["cursor"]:
            raise StorageError("the index went away", hint="bring it back")
        return search(brain, text, **more)

    monkeypatch.setattr(Brain, "search", broken)
    reply = box.ask("POST", "/search/stream", {"query": "heron", "limit": 9})
    lines = [wire.decode(line, wire.StreamLine) for line in reply.data.splitlines()]
    assert (reply.status, len(lines)) == (200, 3)
    assert lines[-1].error is not None
    assert type(wire.heard(lines[-1].error)) is StorageError


# -- slow clients --------------------------------------------------------------------------------------------


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "HEAD_S", ONE_STEP_S)
    monkeypatch.setattr(serving, "BODY_S", ONE_STEP_S)


@pytest.mark.parametrize("said", [b"", b"GET /heal", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: "])
@pytest.mark.usefixtures("impatient")
def test_a_client_that_does_not_finish_its_head_is_cut_off(box: Box, said: bytes) -> None:
    """However often it sends another byte."""
    began = time.monotonic()
    with box.raw() as connection:
        connection.sendall(said)
        connection.settimeout(0.05)
        while True:
            try:
                if said:
                    connection.sendall(b"x")
                if connection.recv(1) == b"":
                    break
            except TimeoutError:
                assert time.monotonic() - began < 10 * ONE_STEP_S + 10
            except (ConnectionError, OSError):
                break
    assert time.monotonic() - began >= ONE_STEP_S / 2


@pytest.mark.usefixtures("impatient")
def test_a_kept_connection_whose_next_head_does_not_come_is_cut_off(box: Box) -> None:
    """The limit holds for each request, and not for the time between two."""
    with box.raw() as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        _read_until(connection, b"ready")
        time.sleep(2 * ONE_STEP_S)
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        _read_until(connection, b"ready")
        connection.sendall(b"GET /healthz HTT")
        assert _read_to_end(connection) == b""


@pytest.mark.usefixtures("impatient")
def test_a_body_that_does_not_come_ends_the_request(box: Box) -> None:
    """At the tools for agents; the API says so with 408."""
    with box.raw() as connection:
        connection.sendall(_request(box, "", b"{", length=100).replace(b"/api/v1 ", b"/mcp "))
        assert b" 200 " not in _read_until(connection, b"\r\n")


def test_a_body_that_does_not_come_is_answered_with_408(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the deadline is for the body."""
    (stream,) = [r.endpoint for r in _api_routes(box) if getattr(r, "path", "") == "/links"]
    monkeypatch.setattr(stream, "_endpoint", replace(stream._endpoint, deadline_s=2 * ONE_STEP_S))
    with box.raw() as connection:
        connection.sendall(_request(box, "/links", b'{"names"', length=100))
        answer = _read_to_end(connection)
    assert b" 408 " in answer
    assert b"did not come in time" in answer


def _api_routes(box: Box) -> list[Any]:
    app: Any = box.listener.config.app
    (mounted,) = [route for route in app._app.routes if getattr(route, "path", "") == wire.PREFIX]
    return list(mounted.app.routes)


# -- connections that end ------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/search", "/search/stream", "/embeddings", "/documents/sync"])
def test_a_connection_may_be_cut_at_any_byte(box: Box, path: str) -> None:
    """Of the request, and of the answer: the server goes on, and counts no fault of its own."""
    body: dict[str, Any] = {
        "/search": {"query": "heron"},
        "/search/stream": {"query": "heron", "limit": 25},
        "/embeddings": {"input": ["heron"] * 50},
        "/documents/sync": {"source": "cut", "manifest": [{"path": "a.md", "hash": "00"}]},
    }[path]
    request = _request(box, path, body)
    for cut in range(0, len(request), 13):
        with box.raw() as connection:
            connection.sendall(request[:cut])
    for cut in (1, 20, 200, 2_000):
        with box.raw() as connection:
            connection.sendall(request)
            connection.recv(cut)
    for cut in (0, 5):
        with box.raw() as connection:  # with a reset instead of an end
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            connection.sendall(request)
            if cut:
                connection.recv(cut)
    assert 'status="500"' not in box.metrics()


def test_a_client_that_leaves_gives_its_turn_back(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    """When its work has ended: many who leave do not pile up work."""
    go, begun = threading.Event(), threading.Semaphore(0)

    def slow(brain: Brain, **more: Any) -> list[Any]:
        begun.release()
        assert go.wait(WAIT_S)
        return []

    monkeypatch.setattr(Brain, "recent", slow)
    head = f"GET /api/v1/documents HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {box.token}\r\n\r\n"
    for _ in range(4):
        with box.raw() as connection:
            connection.sendall(head.encode())
            assert begun.acquire(timeout=20)
    _until(lambda: 'endpoint="recent",status="499"} 4.0' in box.metrics())
    waiting: list[int] = []
    asking = threading.Thread(target=lambda: waiting.append(box.ask("GET", "/sources").status))
    asking.start()
    asking.join(0.3)
    assert not waiting
    go.set()
    asking.join(WAIT_S)
    assert waiting == [200]


# -- the end of the server -----------------------------------------------------------------------------------


def test_a_server_that_ends_answers_what_it_began_and_refuses_the_rest(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """503 with Retry-After, and a probe is told; then it is gone."""
    go, begun = threading.Event(), threading.Event()
    search = Brain.search

    def slow(brain: Brain, text: str, **more: Any) -> SearchResult:
        begun.set()
        assert go.wait(WAIT_S)
        return search(brain, text, **more)

    with running_box(indexed_home(tmp_path)) as box:
        monkeypatch.setattr(Brain, "search", slow)
        replies: list[Any] = []
        asking = threading.Thread(target=lambda: replies.append(box.ask("POST", "/search", {"query": "heron"})))
        asking.start()
        assert begun.wait(20)
        box.listener.handle_exit(15, None)
        box.listener._captured_signals.clear()  # only a main thread can raise it again
        refused = box.ask("GET", "/status")
        assert (refused.status, refused.headers["retry-after"]) == (503, "5")
        assert type(wire.error_of(refused.status, refused.data)) is StorageError
        probe = box.ask("GET", "//healthz", token="")
        assert (probe.status, probe.value) == (503, {"status": "ending"})
        go.set()
        asking.join(WAIT_S)
        assert replies[0].status == 200
        with pytest.raises(OSError):
            _until(lambda: box.ask("GET", "//healthz", token="") is None)
