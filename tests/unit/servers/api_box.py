"""A box to ask over a real socket: ``brain serve`` in a thread of this process, and a client that knows no library."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from second_brain import Brain
from second_brain.servers import http as serving
from second_brain.servers import tokens
from second_brain.servers.brains import Brains
from second_brain.servers.listening import Listener, Running

WAIT_S = 30.0

VAULT = {
    "pump.md": "# Pump\n\nThe heron pump failed in May; its seal was worn. See [[Garden]] and [[Diary]].\n",
    "garden.md": "---\ntags: [plants]\n---\n# Garden\n\nA heron stands in the garden beside the pump.\n",
    "compost.md": "# Compost\n\nTurn the compost every second week.\n",
    "diary.md": "---\nprivacy: secret\n---\n# Diary\n\nThe heron is called Zanzibar, and nobody may know.\n",
    "水やり.md": "# 水やり\n\n水やりの間隔は三日。鷺がポンプの横に立っている。\n",
    **{f"log/{day:02}.md": f"# Log {day}\n\nDay {day}: the heron came at {day} o'clock.\n" for day in range(1, 31)},
}


@dataclass(frozen=True)
class Reply:
    """What came back. Header names are in lower case."""

    status: int
    headers: dict[str, str]
    data: bytes

    @property
    def value(self) -> Any:
        return json.loads(self.data)

    @property
    def error(self) -> dict[str, Any]:
        found: dict[str, Any] = self.value["error"]
        return found


class Box:
    """One running server."""

    def __init__(self, brain: Brain, port: int, running: Running, listener: Listener) -> None:
        self.brain = brain
        self.port = port
        self.running = running
        self.listener = listener
        self.token = tokens.add(brain.settings, "all", "secret", changes=True)
        self.guest = tokens.add(brain.settings, "guest", "personal", changes=False)

    def ask(self, method: str, path: str, body: Any = None, *, token: str | None = None, **headers: str) -> Reply:
        """One request below the prefix (or at ``//path`` outside of it)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        token = self.token if token is None else token
        if token:
            sent.setdefault("Authorization", f"Bearer {token}")
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        with contextlib.closing(connection):
            connection.request(method, path[1:] if path.startswith("//") else f"/api/v1{path}", data, sent)
            response = connection.getresponse()
            raw = response.read()
        return Reply(response.status, {name.lower(): value for name, value in response.getheaders()}, raw)

    def search(self, query: str, *, token: str | None = None, **request: Any) -> Any:
        """The answer to a search, as JSON."""
        reply = self.ask("POST", "/search", {"query": query, **request}, token=token)
        assert reply.status == 200, reply.data
        return reply.value

    def raw(self) -> socket.socket:
        """A bare connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_S)

    def metrics(self) -> str:
        """What Prometheus reads."""
        reply = self.ask("GET", "//metrics", token="")
        assert reply.status == 200, reply.data
        return reply.data.decode()


@contextlib.contextmanager
def running_box(home: Path, *, read_only: bool = False, toolsets: tuple[str, ...] = ("knowledge",)) -> Iterator[Box]:
    """A box whose home is there and indexed."""
    brain = Brain.open(home, environment={})
    running = Running()
    app = serving.make_app(
        Brains(lambda: brain), toolsets, host="127.0.0.1", read_only=read_only, neighbours=None, running=running
    )
    listening = serving._bound("127.0.0.1", 0)
    listener = Listener(app, running)
    thread = threading.Thread(target=listener.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield Box(brain, listening.getsockname()[1], running, listener)
    finally:
        listener.should_exit = True
        thread.join(WAIT_S)
        assert not thread.is_alive(), "the server did not end"
        brain.close()


def indexed_home(folder: Path) -> Path:
    """A home with ``VAULT`` in it, indexed with the embedder for tests."""
    home, vault = folder / "home", folder / "vault"
    home.mkdir(parents=True)
    (home / "models.yaml").write_text("embedder: hashing\n")
    for name, text in VAULT.items():
        (vault / name).parent.mkdir(parents=True, exist_ok=True)
        (vault / name).write_text(text, encoding="utf-8")
    with Brain.open(home, environment={}) as brain:
        brain.add(vault, name="vault", privacy="public")
        brain.sync()
        brain.embed()
    return home
