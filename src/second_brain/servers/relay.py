"""A thin ``brain mcp``: where ``brain serve`` runs for the same home, messages go to it over a local socket.

Only the standard library is imported: no SDK, no index, no model in this process. If the server ends in the middle,
the conversation is handed over, to go on in this process.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import select
import socket
import stat
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..version import __version__
from .desk import Desk
from .stdio import CHUNK, Begun, Wire

GREETING_S = 2.0
"""How long a server may take to say yes."""

LONGEST_LINE = 16 << 20
ENDED = "the shared server ended before it answered; the next call is answered by another process: call again"

VARIABLES = (
    "BRAIN_HOME", "BRAIN_INDEX", "BRAIN_MODEL_CACHE", "BRAIN_RERANK", "BRAIN_PRIVACY", "VAULT_INDEX_DB",
    "VAULT_MODEL_CACHE", "VAULT_RERANK", "HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME",
)  # fmt: skip
"""What else decides which brain is opened, and what it may show."""


def socket_path(home: str | None, index: str | None, environment: Mapping[str, str]) -> Path:
    """Where a server of this version for this home, index and environment listens.

    In a folder of the user's own. Whoever is started otherwise looks elsewhere, and works alone.
    """
    named = [None if path is None else os.path.abspath(os.path.expanduser(path)) for path in (home, index)]  # noqa: PTH100, PTH111
    decides = [__version__, *named, *(environment.get(name, "") for name in VARIABLES)]
    name = hashlib.blake2b(json.dumps(decides).encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()
    runtime = environment.get("XDG_RUNTIME_DIR")
    folder = Path(runtime) / "second-brain" if runtime else Path(tempfile.gettempdir()) / f"second-brain-{_user()}"
    return folder / f"{name}.sock"


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


def is_private(folder: Path) -> bool:
    """Whether a folder is ours, and nobody else may look into it."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == _user() and not found.st_mode & 0o077


def connected(path: Path, hello: Mapping[str, Any]) -> socket.socket | None:
    """A connection to a server that takes us; None where there is none, or it serves others."""
    if not hasattr(socket, "AF_UNIX") or not is_private(path.parent):
        return None
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(GREETING_S)
        connection.connect(os.fspath(path))
        connection.sendall(json.dumps(dict(hello)).encode("utf-8") + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            byte = connection.recv(1)
            if not byte:
                raise ConnectionResetError
            answer += byte
        if json.loads(answer) == {"welcome": True}:
            connection.settimeout(None)
            return connection
    except (OSError, ValueError):
        pass
    connection.close()
    return None


def handed_on(wire: Wire, home: str | None, index: str | None, toolsets: Sequence[str], desk: Desk) -> Begun | None:
    """Let the server for this home answer, if there is one, until the client is gone (None).

    Else, or when the server ends, the conversation as far as it has gone; ``desk`` has the news then.
    """
    hello = {
        "toolsets": list(toolsets),
        "read_only": desk.read_only,
        "privacy": desk.label,
        "project": str(desk.project or ""),
        "graph": str(desk.graph or ""),
    }
    connection = connected(socket_path(home, index, os.environ), hello)
    if connection is None:
        return Begun()
    desk.news.append("the shared server `brain serve` ended: this process answers from here on")
    return Relay(wire, connection).run()


class Relay:
    """Hands messages on in both directions, and keeps what another process would need to take over."""

    def __init__(self, wire: Wire, connection: socket.socket) -> None:
        self._wire = wire
        self._connection = connection
        self._from_client = b""
        self._from_server = b""
        self._said: list[bytes] = []
        self._opening: int | str | None = None
        self._waiting: dict[int | str, None] = {}

    def run(self) -> Begun | None:
        """Until the client's stdin ends (None), or the server does: then what there is to take over."""
        with self._connection:
            while True:
                ends: list[Any] = [self._wire.stdin, self._connection]
                ready, _, _ = select.select(ends, [], [])
                if self._wire.stdin in ready:
                    data = os.read(self._wire.stdin, CHUNK)
                    if not data:
                        return None
                    self._from_client += data
                    if not self._hand_on():
                        return self._over()
                if self._connection in ready and not self._hand_back():
                    return self._over()

    def _hand_on(self) -> bool:
        """Send whole lines to the server; whether it is still there. What it did not get stays in ``_from_client``."""
        while b"\n" in self._from_client:
            line, _, rest = self._from_client.partition(b"\n")
            try:
                self._connection.sendall(line + b"\n")
            except OSError:
                return False
            self._from_client = rest
            self._note(line)
        return True

    def _note(self, line: bytes) -> None:
        message = _parsed(line)
        method, id = message.get("method"), message.get("id")
        if method == "initialize":
            self._opening = id
        if method in ("initialize", "notifications/initialized"):
            self._said.append(line)
        if method and id is not None:
            self._waiting[id] = None

    def _hand_back(self) -> bool:
        """Give the client whole lines of the server; whether it is still there."""
        try:
            data = self._connection.recv(CHUNK)
        except OSError:
            return False
        self._from_server += data
        lines, found, self._from_server = self._from_server.rpartition(b"\n")
        for line in lines.split(b"\n") if found else ():
            message = _parsed(line)
            if "method" not in message:
                self._waiting.pop(message.get("id", ""), None)
        self._wire.write(lines + found)
        return bool(data)

    def _over(self) -> Begun:
        """Answer what the server left unanswered, but for the handshake, which the next process repeats."""
        answered = self._opening if self._opening not in self._waiting else None
        for id in self._waiting:
            if id != self._opening:
                error = {"jsonrpc": "2.0", "id": id, "error": {"code": -32603, "message": ENDED}}
                self._wire.write(json.dumps(error).encode("utf-8") + b"\n")
        return Begun(tuple(self._said), answered, self._from_client)


def _parsed(line: bytes) -> dict[str, Any]:
    with contextlib.suppress(ValueError):
        found = json.loads(line)
        if isinstance(found, dict):
            return found
    return {}
