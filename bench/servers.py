"""What a server for agents costs: to start, to answer, and in memory with one, five and twenty clients.

    python bench/servers.py

Beside it in the same run: a bare server of the same SDK, and one shared server over HTTP.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from second_brain import Brain
from second_brain.servers import tokens

ROOT = Path(__file__).parents[1]
ROUNDS = 5
QUESTIONS = ("why did the pump fail", "how is the compost turned", "what was decided about backups", "水やりの間隔は")
CLIENTS = (1, 5, 20)

BARE = """
import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
async def tools(context, params):
    return types.ListToolsResult(tools=[types.Tool(name="a", input_schema={"type": "object"})])
async def main():
    server = Server("bare", on_list_tools=tools)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
anyio.run(main)
"""


class Pipe:
    """A server on stdin and stdout."""

    def __init__(self, command: list[str]) -> None:
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=tempfile.gettempdir()
        )
        self.id = 0

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        self.id += 1
        self._send({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params})
        while True:
            line = self.process.stdout.readline()  # type: ignore[union-attr]
            message = json.loads(line)
            if message.get("id") == self.id:
                return message["result"]

    def _send(self, message: dict[str, Any]) -> None:
        self.process.stdin.write(json.dumps(message).encode() + b"\n")  # type: ignore[union-attr]
        self.process.stdin.flush()  # type: ignore[union-attr]

    def ready(self) -> float:
        """Seconds from the start of the process to the list of tools."""
        client = {"name": "bench", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}})
        self.ask("tools/list", {})
        return time.perf_counter() - self.began

    def search(self, question: str) -> float:
        """Seconds of one search."""
        began = time.perf_counter()
        result = self.ask("tools/call", {"name": "search_knowledge", "arguments": {"query": question}})
        assert not result.get("isError"), result
        return time.perf_counter() - began

    def end(self) -> None:
        self.process.stdin.close()  # type: ignore[union-attr]
        self.process.wait()


def memory_mb(pid: int) -> float:
    """Proportional set size: pages that several processes share are divided among them."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0


def percentiles(times: list[float]) -> str:
    ordered = sorted(times)
    return f"p50 {statistics.median(ordered) * 1000:.0f} ms, p95 {ordered[int(len(ordered) * 0.95)] * 1000:.0f} ms"


def over_pipes(home: Path, rows: list[tuple[str, str]]) -> None:
    bare = [sys.executable, "-c", BARE]
    ours = [sys.executable, "-m", "second_brain.entry", "--home", str(home), "mcp"]
    starts: dict[str, list[float]] = {"bare": [], "ours": []}
    for _ in range(ROUNDS):
        for name, command in (("bare", bare), ("ours", ours)):
            pipe = Pipe(command)
            starts[name].append(pipe.ready())
            pipe.end()
    least = {name: min(times) for name, times in starts.items()}
    ratio = statistics.median(starts["ours"]) / statistics.median(starts["bare"])
    rows.append(("start to list of tools", f"{least['ours']:.2f} s; bare server of the same SDK {least['bare']:.2f} s"))
    rows.append(("the same, median against median", f"{ratio:.2f} times (aim: <= 1.25)"))
    pipe = Pipe(ours)
    pipe.ready()
    first = pipe.search(QUESTIONS[0])
    rows.append(("first answer after the handshake, model not loaded", f"{first:.2f} s"))
    time.sleep(3)
    warm = [pipe.search(question) for _ in range(10) for question in QUESTIONS]
    rows.append(("warm answer, agentic, one client", percentiles(warm)))
    pipe.end()
    for count in CLIENTS:
        pipes = [Pipe(ours) for _ in range(count)]
        for one in pipes:
            one.ready()
        for one in pipes:
            one.search(QUESTIONS[0])
        time.sleep(3)
        times = [one.search(question) for question in QUESTIONS for one in pipes]
        used = sum(memory_mb(one.process.pid) for one in pipes)
        rows.append(
            (f"{count} servers in process", f"{used / count:.0f} MB each, {used:.0f} MB in all; {percentiles(times)}")
        )
        for one in pipes:
            one.end()


def over_http(home: Path, rows: list[tuple[str, str]]) -> None:
    with Brain.open(home, environment={}) as brain:
        token = tokens.add(brain.settings, "bench", "secret", changes=False)
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "second_brain.entry", "--home", str(home), "serve", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }

    def post(connection: http.client.HTTPConnection, body: Any, session: str = "") -> tuple[str, str]:
        more = {"Mcp-Session-Id": session} if session else {}
        connection.request("POST", "/mcp", json.dumps(body), {**headers, **more})
        response = connection.getresponse()
        text = response.read().decode()
        assert response.status < 300, text
        return response.getheader("mcp-session-id") or "", text

    for _ in range(200):
        try:
            with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
                connection.request("GET", "/healthz")
                connection.getresponse().read()
            break
        except OSError:
            time.sleep(0.1)
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    for count in CLIENTS:
        clients = []
        for _ in range(count):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            session, _ = post(connection, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
            post(connection, {"jsonrpc": "2.0", "method": "notifications/initialized"}, session)
            clients.append((connection, session))
        times = []
        for number, question in enumerate((QUESTIONS[0], *QUESTIONS)):
            for connection, session in clients:
                call = {"name": "search_knowledge", "arguments": {"query": question}}
                began = time.perf_counter()
                post(connection, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}, session)
                if number:
                    times.append(time.perf_counter() - began)
        rows.append(
            (f"{count} clients of one `brain serve`", f"{memory_mb(process.pid):.0f} MB in all; {percentiles(times)}")
        )
        for connection, _ in clients:
            connection.close()
    process.send_signal(signal.SIGTERM)
    process.wait()


def main() -> None:
    """Index the example vault, measure, print the table."""
    rows: list[tuple[str, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        os.environ.pop("BRAIN_HOME", None)
        with Brain.open(home, environment={}) as brain:
            brain.add(ROOT / "example-vault", name="vault")
            brain.sync()
            brain.embed()
        if "--http" not in sys.argv:
            over_pipes(home, rows)
        over_http(home, rows)
    print("| what | measured |\n|---|---|")
    for what, measured in rows:
        print(f"| {what} | {measured} |")


if __name__ == "__main__":
    main()
