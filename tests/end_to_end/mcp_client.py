"""An MCP client of our own over real pipes: JSON-RPC lines, nothing of any SDK."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

WAIT_S = 60.0

EVERY_CALL: dict[str, dict[str, Any]] = {
    "search_knowledge": {"query": "heron"}, "read_note": {"name": "Pump"}, "list_recent_notes": {},
    "get_index_status": {}, "index_paths": {}, "list_sources": {}, "search_notes": {"query": "heron"},
    "get_note": {"name": "Pump"}, "search_vault": {"query": "heron"}, "search_all": {"query": "heron"},
    "list_collections": {}, "get_document": {"name": "Pump"},
    "create_entities": {"entities": [{"name": n, "entityType": "t", "observations": ["o"]} for n in ("A", "B")]},
    "create_relations": {"relations": [{"from": "A", "to": "B", "relationType": "knows"}]},
    "add_observations": {"observations": [{"entityName": "A", "contents": ["p"]}]},
    "read_graph": {}, "search_nodes": {"query": "A"}, "open_nodes": {"names": ["A"]},
    "delete_observations": {"deletions": [{"entityName": "A", "observations": ["p"]}]},
    "delete_relations": {"relations": [{"from": "A", "to": "B", "relationType": "knows"}]},
    "delete_entities": {"entityNames": ["A", "B"]}, "remove_source": {"name": "notes", "confirm": True},
}  # fmt: skip
"""A call of each tool that works on a home with a note `Pump` about a heron; in this order they leave it as it was."""


class Pipes:
    """A server process. Every line of its stdout is kept in ``lines``, and must be JSON-RPC."""

    def __init__(self, home: Path, *arguments: str, cwd: Path | None = None, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "second_brain.entry", "--home", str(home), "mcp", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd or home,
            env={**os.environ, "HOME": str(home.parent), **environment},
        )
        self.lines: list[bytes] = []
        self.errors = b""
        self._answers: dict[int, queue.Queue[dict[str, Any]]] = {}
        self.notifications: list[dict[str, Any]] = []
        self._id = 0
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(line)
            message = json.loads(line)
            assert message["jsonrpc"] == "2.0"
            if message.get("id") in self._answers:
                self._answers[message["id"]].put(message)
            elif "id" not in message:
                self.notifications.append(message)

    def _read_errors(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self.errors += line

    def send(self, method: str, params: dict[str, Any] | None = None, *, notify: bool = False) -> int:
        """Send a request, or a notification; the request's id."""
        self._id += 1
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        if not notify:
            message["id"] = self._id
            self._answers[self._id] = queue.Queue()
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        return self._id

    def wait(self, id: int, wait_s: float = WAIT_S) -> dict[str, Any]:
        """The answer to a request: result or error."""
        return self._answers[id].get(timeout=wait_s)

    def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """The result of a request. Raises AssertionError for a protocol error."""
        answer = self.wait(self.send(method, params))
        assert "result" in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def shake_hands(self) -> dict[str, Any]:
        """The handshake that all clients but the newest begin with."""
        client = {"name": "pipes", "version": "1"}
        result = self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.send("notifications/initialized", notify=True)
        return result

    def call(self, tool: str, **given: Any) -> dict[str, Any]:
        """A tool's result."""
        return self.ask("tools/call", {"name": tool, "arguments": given})

    def text(self, tool: str, **given: Any) -> str:
        """The text of a tool that worked."""
        result = self.call(tool, **given)
        assert not result.get("isError"), result
        (content,) = result["content"]
        return str(content["text"])

    def refused(self, tool: str, **given: Any) -> str:
        """The text of a tool that did not."""
        result = self.call(tool, **given)
        assert result["isError"], result
        return str(result["content"][0]["text"])

    def close(self, wait_s: float = 20) -> int:
        """End stdin and wait for the process; its exit code."""
        assert self.process.stdin
        self.process.stdin.close()
        code = self.process.wait(wait_s)
        for thread in self._threads:
            thread.join(5)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream
            stream.close()
        return code

    def __enter__(self) -> Pipes:
        return self

    def __exit__(self, *gone: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for thread in self._threads:
            thread.join(5)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()


def wait_until(true: Any, wait_s: float = 20.0) -> bool:
    """Whether it became true in time."""
    ends = time.monotonic() + wait_s
    while time.monotonic() < ends:
        if true():
            return True
        time.sleep(0.05)
    return False
