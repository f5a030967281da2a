"""A Qdrant server on loopback that speaks the few endpoints we use, over qdrant-client's local mode.

In a test it stands where a real server would: real sockets, real HTTP, real JSON; and it fails as it is told. As a
process of its own, for tests that kill it:

    python -m second_brain.testing.qdrant_server [--port N] [--path FOLDER]

prints its address as the first line. Not for use: it is slow, and lets in everybody on this machine.
"""

from __future__ import annotations

import argparse
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

from ..index.qdrant.client import IN_MEMORY, open_local, rest_models
from .loopback import serving

VERSION = "1.16.0"


@dataclass
class Fault:
    """What happens to the next ``times`` requests whose ``<METHOD> <path>`` holds ``matching``.

    ``status`` above 0 is sent instead of the answer. ``delay_s`` passes first. ``cut``: the connection ends in the
    middle of the answer. ``after``: the request is carried out all the same, so that only the answer is lost.
    """

    matching: str = ""
    times: int = 1
    status: int = 0
    delay_s: float = 0.0
    cut: bool = False
    after: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that die in the middle are what this is for."""


class QdrantServer:
    """The server: ``url``; ``asked`` is every request so far as ``<METHOD> <path>``, ``keys`` every API key that
    came with one; ``faults`` wait for theirs.

    ``POST /faults`` with the fields of a fault adds one from outside of the process.
    """

    def __init__(self, path: str = IN_MEMORY, port: int = 0) -> None:
        self.asked: list[str] = []
        self.faults: list[Fault] = []
        self.keys: set[str] = set()
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Lock()
        self._local = open_local(path)
        self._server = _Quiet(("127.0.0.1", port), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    @contextmanager
    def running(self) -> Iterator[QdrantServer]:
        """Serve until the end of the block."""
        with closing(self._local), serving(self._server):
            yield self

    def serve(self) -> None:
        """Serve until the process ends."""
        self._server.serve_forever()

    def _fault(self, line: str) -> Fault | None:
        with self._lock:
            for fault in self.faults:
                if fault.times > 0 and fault.matching in line:
                    fault.times -= 1
                    return fault
        return None

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        """Status and JSON for a request."""
        steps = [unquote(step) for step in path.strip("/").split("/") if step]
        if path == "/faults":
            self.faults.append(Fault(**body))
            return 200, {"result": True}
        with self._lock:  # local mode takes one call at a time
            try:
                return 200, {"result": self._carried_out(method, steps, body), "status": "ok", "time": 0.0}
            except LookupError as error:
                return 404, {"status": {"error": f"Not found: {error}"}, "time": 0.0}
            except ValueError as error:
                missing = "not found" in str(error)
                return (404 if missing else 400), {"status": {"error": str(error)}, "time": 0.0}

    def _carried_out(self, method: str, steps: list[str], body: Any) -> Any:
        local, models = self._local, rest_models()
        match (method, *steps):
            case ("GET",):
                return {"title": "qdrant", "version": VERSION}
            case ("GET", "collections"):
                return local.get_collections()
            case ("GET", "aliases"):
                return local.get_aliases()
            case ("POST", "collections", "aliases"):
                changes = models.ChangeAliasesOperation.model_validate(body)
                _check_moves(body["actions"], {each.alias_name for each in local.get_aliases().aliases})
                return local.update_collection_aliases(changes.actions)
            case ("GET", "collections", name):
                return local.get_collection(name)
            case ("DELETE", "collections", name):
                return local.delete_collection(name)
            case ("PUT", "collections", name):
                made = models.CreateCollection.model_validate(body)
                return local.create_collection(
                    name,
                    vectors_config=made.vectors,
                    sparse_vectors_config=made.sparse_vectors,
                    metadata=made.metadata,
                )
            case ("PATCH", "collections", name):
                return local.update_collection(name, metadata=body.get("metadata"))
            case ("PUT", "collections", name, "index"):
                local.get_collection(name)
                return {"operation_id": 0, "status": "completed"}
            case (_, "collections", name, "points", *rest):
                return self._points(method, name, rest, body)
        raise LookupError(f"{method} /{'/'.join(steps)}")

    def _points(self, method: str, name: str, rest: list[str], body: Any) -> Any:
        local, models = self._local, rest_models()
        match (method, *rest):
            case ("PUT",):
                return local.upsert(name, [models.PointStruct.model_validate(point) for point in body["points"]])
            case ("POST",):
                return local.retrieve(
                    name, body["ids"], with_payload=body.get("with_payload", True), with_vectors=False
                )
            case ("POST", "delete"):
                return local.delete(name, models.PointIdsList.model_validate(body))
            case ("POST", "count"):
                return local.count(name, exact=True)
            case ("POST", "scroll"):
                points, following = local.scroll(
                    name,
                    limit=body["limit"],
                    offset=body.get("offset"),
                    with_payload=body.get("with_payload", True),
                    with_vectors=body.get("with_vector", False),
                )
                return {"points": points, "next_page_offset": following}
            case ("POST", "query", "batch"):
                requests = [models.QueryRequest.model_validate(search) for search in body["searches"]]
                for request in requests:
                    request.params = None  # local mode is exact, and warns that it is
                return local.query_batch_points(name, requests)
        raise LookupError(f"{method} points {'/'.join(rest)}")

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _respond(self) -> None:
                path = urlsplit(self.path).path
                data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                line = f"{self.command} {path}"
                with server._lock:
                    server.asked.append(line)
                    server.keys.update(filter(None, [self.headers.get("api-key")]))
                    server._at_once += 1
                    server.most_at_once = max(server.most_at_once, server._at_once)
                fault = server._fault(line) or Fault(times=0)
                time.sleep(fault.delay_s)
                status, answer = 200, None
                if fault.after or not fault.status:
                    status, answer = server.answer(self.command, path, json.loads(data) if data else None)
                if fault.status:
                    status, answer = fault.status, {"status": {"error": "a fault of the test"}}
                out = json.dumps(answer, default=_plain).encode()
                with server._lock:
                    server._at_once -= 1
                self._send(status, out, fault)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _respond

            def _send(self, status: int, out: bytes, fault: Fault) -> None:
                try:
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(out)))
                    for name, value in fault.headers.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(out[: len(out) // 2] if fault.cut else out)
                except OSError:
                    pass  # the client did not wait
                self.close_connection = fault.cut or self.close_connection

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler


def _check_moves(actions: list[dict[str, Any]], taken: set[str]) -> None:
    """An alias moves by being deleted and made in one request, as Qdrant's documentation has it."""
    for action in actions:
        if "delete_alias" in action:
            taken.discard(action["delete_alias"]["alias_name"])
        if "create_alias" in action and action["create_alias"]["alias_name"] in taken:
            raise ValueError(f"Alias {action['create_alias']['alias_name']} exists and is not deleted before")


def _plain(value: Any) -> Any:
    """The JSON of qdrant-client's values."""
    return value.model_dump(mode="json", exclude_none=True)


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description="A Qdrant server for tests.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--path", default=IN_MEMORY)
    given = parser.parse_args()
    server = QdrantServer(given.path, given.port)
    print(server.url, flush=True)  # noqa: T201
    server.serve()


if __name__ == "__main__":
    main()
