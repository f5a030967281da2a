"""What a server for agents costs: to start, to answer, and in memory with one, five and twenty clients.

    python bench/servers.py

Beside it in the same run: a bare server of the same SDK, and one server that all clients share.
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
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from second_brain import Brain
from second_brain.servers import tokens

ROOT = Path(__file__).parents[1]
ROUNDS = 7
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
    return f"p50 {statistics.median(ordered) * 1000:.3g} ms, p95 {ordered[int(len(ordered) * 0.95)] * 1000:.3g} ms"


def brain(home: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "second_brain.entry", "--home", str(home), *arguments]


def starts(home: Path, rows: list[tuple[str, str]]) -> None:
    """To the list of tools, beside a bare server of the same SDK; and the first answers."""
    commands = {"bare": [sys.executable, "-c", BARE], "ours": brain(home, "mcp", "--alone")}
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            pipe = Pipe(command)
            times[name].append(pipe.ready())
            pipe.end()
    least = {name: min(taken) for name, taken in times.items()}
    median = {name: statistics.median(taken) for name, taken in times.items()}
    rows.append(("start to list of tools", f"{least['ours']:.2f} s; bare server of the same SDK {least['bare']:.2f} s"))
    rows.append(("the same, median against median", f"{median['ours'] / median['bare']:.2f} times (aim: <= 1.25)"))
    pipe = Pipe(commands["ours"])
    pipe.ready()
    rows.append(("first answer after the handshake, with the model's load", f"{pipe.search(QUESTIONS[0]):.2f} s"))
    pipe.search(QUESTIONS[0])
    warm = [pipe.search(question) for _ in range(10) for question in QUESTIONS]
    rows.append(("warm answer, agentic, one client", percentiles(warm)))
    pipe.end()


def over_pipes(home: Path, rows: list[tuple[str, str]], *, server: int | None) -> None:
    """Clients on pipes: each with all of it in its own process, or all of them through one server."""
    command = brain(home, "mcp") if server else brain(home, "mcp", "--alone")
    what = "through one `brain serve`" if server else "each in its own process"
    for count in CLIENTS:
        pipes = [Pipe(command) for _ in range(count)]
        ready = max(one.ready() for one in pipes)
        for one in pipes:
            one.search(QUESTIONS[0])
        times = [one.search(question) for question in QUESTIONS for one in pipes]
        together = at_once(pipes)
        used = sum(memory_mb(one.process.pid) for one in pipes) + (memory_mb(server) if server else 0)
        rows.append(
            (
                f"{count} `brain mcp`, {what}",
                f"{used:.0f} MB in all; ready in {ready:.2f} s; {percentiles(times)};"
                f" all at once {percentiles(together)}",
            )
        )
        for one in pipes:
            one.end()


def at_once(pipes: list[Pipe]) -> list[float]:
    """Seconds of each search while every client asks."""
    with ThreadPoolExecutor(len(pipes)) as threads:
        return [
            taken for question in QUESTIONS for taken in threads.map(lambda one, text=question: one.search(text), pipes)
        ]


@contextmanager
def shared_server(home: Path) -> Iterator[tuple[int, int]]:
    """``brain serve``: its process and port."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(brain(home, "serve", "--port", str(port)), stderr=subprocess.DEVNULL)
    for _ in range(200):
        try:
            with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
                connection.request("GET", "/healthz")
                connection.getresponse().read()
            break
        except OSError:
            time.sleep(0.1)
    try:
        yield process.pid, port
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def over_http(home: Path, rows: list[tuple[str, str]], server: int, port: int) -> None:
    """Clients with a token over HTTP."""
    with Brain.open(home, environment={}) as brain:
        token = tokens.add(brain.settings, "bench", "secret", changes=False)
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
        rows.append((f"{count} clients over HTTP", f"{memory_mb(server):.0f} MB in all; {percentiles(times)}"))
        for connection, _ in clients:
            connection.close()


def api_beside_library(home: Path, rows: list[tuple[str, str]], port: int) -> None:
    """The same questions to the API over a kept connection, and to the library in this process, in turns."""
    with Brain.open(home, environment={}) as brain, closing(http.client.HTTPConnection("127.0.0.1", port)) as line:
        token = tokens.add(brain.settings, "bench-api", "secret", changes=False)
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

        def over_api(question: str, mode: str) -> None:
            line.request("POST", "/api/v1/search", json.dumps({"query": question, "mode": mode}), headers)
            response = line.getresponse()
            assert response.status == 200, response.read()
            json.loads(response.read())

        for mode in ("lexical", "hybrid", "agentic"):
            times: dict[str, list[float]] = {"library": [], "api": []}
            for number in range(ROUNDS * 5):
                for question in QUESTIONS:
                    for name, ask in (("library", lambda q, m: brain.search(q, mode=m)), ("api", over_api)):
                        began = time.perf_counter()
                        ask(question, mode)
                        if number:
                            times[name].append(time.perf_counter() - began)
            ratio = statistics.median(times["api"]) / statistics.median(times["library"])
            slow = [sorted(taken)[int(len(taken) * 0.95)] for taken in (times["api"], times["library"])]
            rows.append(
                (
                    f"API beside the library, {mode}, warm",
                    f"{percentiles(times['api'])}; library {percentiles(times['library'])};"
                    f" {ratio:.2f} times at p50, {slow[0] / slow[1]:.2f} at p95",
                )
            )


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
        starts(home, rows)
        over_pipes(home, rows, server=None)
        with shared_server(home) as (process, port):
            over_pipes(home, rows, server=process)
            over_http(home, rows, process, port)
            api_beside_library(home, rows, port)
    print("| what | measured |\n|---|---|")
    for what, measured in rows:
        print(f"| {what} | {measured} |")


if __name__ == "__main__":
    main()
