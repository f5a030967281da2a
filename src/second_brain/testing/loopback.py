"""A server on loopback that answers as it is told: the other end of a model behind HTTP."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it came in."""

    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent back. ``data`` goes out as it is, else ``body`` as JSON.

    ``delay_s`` passes before the first byte. ``cut_at`` bytes of the data the connection ends.
    """

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    data: bytes | None = None
    delay_s: float = 0.0
    cut_at: int | None = None


@contextmanager
def serving(server: ThreadingHTTPServer) -> Iterator[None]:
    """Serve in a thread until the end of the block."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Loopback:
    """The server: its ``url``, and what it was ``asked`` so far, in order."""

    def __init__(self, respond: Callable[[Asked], Answer]) -> None:
        self.asked: list[Asked] = []
        self._respond = respond
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    @contextmanager
    def running(self) -> Iterator[Loopback]:
        """Serve until the end of the block."""
        with serving(self._server):
            yield self

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        loopback = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                asked = Asked(self.path, dict(self.headers), json.loads(data))
                loopback.asked.append(asked)
                answer = loopback._respond(asked)
                time.sleep(answer.delay_s)
                out = json.dumps(answer.body).encode() if answer.data is None else answer.data
                try:
                    self.send_response(answer.status)
                    for name, value in answer.headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(out)))
                    self.end_headers()
                    self.wfile.write(out if answer.cut_at is None else out[: answer.cut_at])
                except OSError:
                    pass  # the client did not wait
                self.close_connection = True

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler


def chat_answer(text: str, *, finish: str = "stop", prompt_tokens: int = 10, completion_tokens: int = 5) -> Answer:
    """A chat completion in OpenAI's form."""
    return Answer(
        {
            "id": "c1",
            "object": "chat.completion",
            "choices": [
                {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}},
            ],
            "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens},
        }
    )
