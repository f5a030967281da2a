"""Beyond one machine: a box and two proxies, from the first file to a promotion, a lost line, and back.

Over real processes, from network namespaces where the system allows them, else over separate loopback addresses. The
table of latencies is written to ``$BRAIN_ARTIFACTS/box-and-proxies.md``, or into pytest's folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from far_places import HOSTS, Place, loopbacks, namespaces, namespaces_work

from second_brain import Brain
from second_brain.servers.tokens import add

VARIABLES = ("BRAIN_HOME", "BRAIN_INDEX", "BRAIN_PRIVACY", "BRAIN_TOKEN")
COMMAND = [sys.executable, "-m", "second_brain.entry"]
WAIT_S = 60.0
OTHER_EMBEDDER = '''
from second_brain.models.hashing import HashingEmbedder


class Narrow(HashingEmbedder):
    """Vectors of another length: never to be mixed with the others."""

    def __init__(self, cache_dir=None):
        super().__init__(cache_dir, dimensions=64)
        self.identity = "narrow-64/1"
'''
TIMES = 15
"""Calls of each kind that are timed."""


def environment(root: Path, **more: str) -> dict[str, str]:
    """Of a process that has our second embedder as well."""
    clean = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    return {**clean, "PYTHONPATH": str(root / "more"), "HOME": str(root), **more}


def install_embedder(root: Path) -> None:
    """A package beside ours that brings the embedder ``narrow``."""
    entry = root / "more" / "narrow_embedder-1.dist-info"
    entry.mkdir(parents=True)
    (root / "more" / "narrow_embedder.py").write_text(OTHER_EMBEDDER)
    (entry / "METADATA").write_text("Metadata-Version: 2.1\nName: narrow-embedder\nVersion: 1\n")
    (entry / "entry_points.txt").write_text("[second_brain.embedders]\nnarrow = narrow_embedder:Narrow\n")


class Box:
    """The machine with the index: its home, and the process that serves it."""

    def __init__(self, root: Path) -> None:
        self.root, self.home = root, root / "box"
        self.home.mkdir()
        (self.home / "models.yaml").write_text("embedder: hashing\n")
        hosts = "".join(f"\n  - {host}" for host in HOSTS)
        (self.home / "settings.yaml").write_text(f"public_hosts:{hosts}\n")
        with Brain.open(self.home, environment={}) as brain:
            self.tokens = [add(brain.settings, f"laptop-{n}", "secret", changes=True) for n in "ab"]
        self.port = 0
        self.process: subprocess.Popen[str] | None = None
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, "--home", str(self.home), "serve", "--host", "0.0.0.0", "--port", str(self.port)],
            stderr=subprocess.PIPE,
            env=environment(self.root),
            text=True,
        )
        assert self.process.stderr
        for line in self.process.stderr:
            if line.startswith("serving at "):
                self.port = int(line.split()[2].removesuffix("/mcp").rpartition(":")[2])
                break

    def end(self, how: signal.Signals) -> None:
        assert self.process
        self.process.send_signal(how)
        self.process.communicate(timeout=WAIT_S)

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            [*COMMAND, "--home", str(self.home), *arguments],
            env=environment(self.root), capture_output=True, text=True, timeout=WAIT_S, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@dataclass
class Laptop:
    """A machine elsewhere: its home, its notes, its proxy for an agent."""

    root: Path
    place: Place
    token: str
    name: str
    times: dict[str, list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.home, self.notes = self.root / self.name, self.root / f"{self.name}-notes"
        self.home.mkdir()
        self.notes.mkdir()
        self.settings("")

    def settings(self, more: str) -> None:
        (self.home / "settings.yaml").write_text(
            f"remote:\n  url: {self.place.url}\n  token: $BRAIN_TOKEN\n  name: {self.name}\n  timeout_s: 20\n{more}"
        )

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            (self.notes / name).write_text(text)

    def command(self, *arguments: str, errors: bool = True) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self.place.prefix, *COMMAND, "--home", str(self.home), *arguments],
            env=environment(self.root, BRAIN_TOKEN=self.token),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if errors else subprocess.DEVNULL,
            text=True,
        )

    def run(self, *arguments: str) -> str:
        process = self.command(*arguments)
        out, errors = process.communicate(timeout=WAIT_S)
        assert process.returncode == 0, out + errors
        return out

    def found(self, *words: str) -> dict[str, Any]:
        """What `brain search --remote` finds."""
        found: dict[str, Any] = json.loads(self.run("search", "--remote", "--json", *words))
        return found

    @contextlib.contextmanager
    def agent(self) -> Iterator[Callable[..., dict[str, Any]]]:
        """An agent's way to call a tool over `brain mcp --remote`."""
        process = self.command("mcp", "--remote", "--toolsets", "knowledge,vault", errors=False)
        assert process.stdin
        assert process.stdout
        ids = iter(range(1, 1_000_000))

        def ask(method: str, params: dict[str, Any]) -> dict[str, Any]:
            assert process.stdin
            assert process.stdout
            id = next(ids)
            message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
            for line in process.stdout:
                answer = json.loads(line)
                if answer.get("id") == id:
                    result: dict[str, Any] = answer["result"]
                    return result
            raise AssertionError("the proxy ended")

        def call(tool: str, kind: str = "", **given: Any) -> dict[str, Any]:
            began = time.perf_counter()
            result = ask("tools/call", {"name": tool, "arguments": given})
            if kind:
                self.times.setdefault(kind, []).append((time.perf_counter() - began) * 1000)
            return result

        client = {"name": "agent", "version": "1"}
        ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        process.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}}\n')
        process.stdin.flush()
        try:
            yield call
        finally:
            process.stdin.close()
            process.wait(WAIT_S)
            process.stdout.close()


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[tuple[Box, Laptop, Laptop]]:
    """A box that serves, and two laptops that reach it over lines of their own."""
    install_embedder(tmp_path)
    box = Box(tmp_path)
    far = namespaces if namespaces_work() else loopbacks
    try:
        with far(box.port) as places:
            one, other = (
                Laptop(tmp_path, place, token, name)
                for place, token, name in zip(places, box.tokens, ("laptop-a", "laptop-b"), strict=True)
            )
            yield box, one, other
    finally:
        box.end(signal.SIGTERM)


def notes(kind: str, count: int) -> dict[str, str]:
    return {
        f"{kind}-{n:03}.md": f"# {kind} {n}\n\nOn day {n} the {kind} at weir {n % 7} was seen near the old pump.\n"
        for n in range(count)
    }


def hits(result: dict[str, Any]) -> list[str]:
    return [hit["title"] for hit in result["structuredContent"]["hits"]]


def text_of(result: dict[str, Any]) -> str:
    return str(result["content"][0]["text"])


def test_index_search_promote_roll_back(
    machines: tuple[Box, Laptop, Laptop], tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both laptops send, both find everything; a new embedder is promoted, one laptop pins the old; a line is cut."""
    box, a, b = machines
    a.write(notes("heron", 120))
    b.write(notes("kingfisher", 80))
    for laptop, name in ((a, "herons"), (b, "kingfishers")):
        with Brain.open(laptop.home, environment={}) as brain:
            brain.add(laptop.notes, name=name)

    # Both at once; the box is killed in the middle and comes back: nothing is lost, nothing doubled.
    sending = [laptop.command("index", "--remote", "--json") for laptop in (a, b)]
    time.sleep(0.7)
    box.end(signal.SIGKILL)
    box.start()
    for process in sending:
        out, errors = process.communicate(timeout=WAIT_S)
        assert process.returncode == 0, out + errors
    with Brain.open(box.home, environment={}) as own:
        held = own.status()
        assert (held.documents, held.waiting) == (200, 0)
        expected = [hit.id for hit in own.search("kingfisher near weir 3").hits]
    for laptop in (a, b):
        found = laptop.found("kingfisher", "near", "weir", "3")
        assert [hit["id"] for hit in found["hits"]] == expected
        assert found["generation"] == "g1"
    assert a.found("heron", "day", "7")["hits"][0]["path"].startswith(str(a.notes))

    b.settings("  expects: g1\n")
    with a.agent() as ask_a, b.agent() as ask_b:
        for call in (ask_a, ask_b):
            assert "kingfisher 42" in hits(call("search_knowledge", query="kingfisher day 42", mode="lexical"))
        for n in range(TIMES):
            ask_a("search_knowledge", "search by word, over the line", query=f"heron on day {n}", mode="lexical")
            ask_a("search_knowledge", "search by both, over the line", query=f"heron of day {n}", mode="hybrid")
            ask_a("search_knowledge", "the same question again (unchanged)", query=f"heron of day {n}", mode="hybrid")
            ask_a("read_note", "read a note, file here", name=f"heron {n}")
            ask_a("read_note", "read a note, file elsewhere", name=f"kingfisher {n}")
            ask_a("list_recent_notes", "recent notes", limit=10)

        # A change here is found there.
        a.write({"avocet.md": "# Avocet\n\nAn avocet at the weir.\n"})
        a.run("index", "--remote", "--quiet")
        assert hits(ask_b("search_knowledge", query="avocet", mode="lexical"))[0] == "Avocet"

        # A new embedder is built while both are answered by the old one, then it answers; who pins the old is told.
        (box.home / "models.yaml").write_text("embedder: narrow\n")
        box.run("index", "--new-generation", "--quiet")
        assert a.found("avocet")["generation"] == "g1"
        box.run("promote", "g2", "--force")
        began = time.perf_counter()
        assert hits(ask_a("search_knowledge", query="avocet near the weir"))[0] == "Avocet"
        a.times["first answer after a promotion"] = [(time.perf_counter() - began) * 1000]
        found = a.found("avocet")
        assert (found["generation"], found["mode"]) == ("g2", "hybrid")
        kept = ask_b("search_knowledge", query="avocet", mode="lexical")
        assert hits(kept)[0] == "Avocet"
        assert "the box serves another generation" in text_of(kept)
        refused = ask_b("search_knowledge", query="a question of now", mode="lexical")
        assert refused["isError"]
        assert "generation 'g2' answers here, 'g1' is expected" in text_of(refused)
        wait_until(lambda: consumers(box).get("laptop-b", {}).get("state") == "stale")
        assert consumers(box)["laptop-a"]["state"] == "current"
        assert consumers(box)["laptop-b"]["expects"] == "g1"

        box.run("rollback")
        answer = ask_b("search_knowledge", query="a question of now, about herons", mode="lexical")
        assert "another generation" not in text_of(answer)
        assert a.found("avocet")["generation"] == "g1"

        # The line of one is cut: it says so, and answers by what it has; the other does not notice.
        a.place.cut()
        for n in range(TIMES):
            kind = "the line is cut: first question" if n == 0 else "the line is cut: from the cache"
            answer = ask_a("search_knowledge", kind, query=f"heron of day {n}", mode="hybrid")
            assert "answered from the cache of " in text_of(answer)
            assert "the box cannot be reached" in text_of(answer)
        assert ask_a("search_knowledge", query="nobody asked this yet", mode="lexical")["isError"]
        assert "as it is on this machine now" in text_of(ask_a("read_note", name="heron 7"))
        assert hits(ask_b("search_knowledge", query="heron of day 3", mode="lexical"))
        a.place.restore()
        wait_until(lambda: not ask_a("search_knowledge", query="nobody asked this yet", mode="lexical").get("isError"))

    table = as_table(a.place.name, a.times, on_the_box(box))
    folder = os.environ.get("BRAIN_ARTIFACTS")
    file = (Path(folder) if folder else tmp_path_factory.getbasetemp()) / "box-and-proxies.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(table)
    with capsys.disabled():
        sys.stdout.write(f"\n{table}({file})\n")


def consumers(box: Box) -> dict[str, dict[str, Any]]:
    told = json.loads(box.run("fleet", "status", "--json"))
    return {consumer["name"]: consumer for consumer in told["consumers"]}


def on_the_box(box: Box) -> dict[str, list[float]]:
    """The same questions, asked of the library on the box itself."""
    times: dict[str, list[float]] = {}
    with Brain.open(box.home, environment={}) as own:
        own.search("warm up")
        for n in range(TIMES):
            for kind, mode in (("by word", "lexical"), ("by both", "hybrid")):
                began = time.perf_counter()
                own.search(f"heron of day {n}", mode=mode, condensed=True)  # type: ignore[arg-type]
                times.setdefault(f"search {kind}, in the library", []).append((time.perf_counter() - began) * 1000)
    return times


def as_table(place: str, *times: dict[str, list[float]]) -> str:
    lines = [f"| {place}: what | n | median ms | 95 % ms |", "|---|--:|--:|--:|"]
    for kind, spent in (pair for each in times for pair in each.items()):
        ordered = sorted(spent)
        most = ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))]
        lines.append(f"| {kind} | {len(spent)} | {statistics.median(spent):.1f} | {most:.1f} |")
    return "\n".join(lines) + "\n"


def wait_until(true: Callable[[], Any]) -> None:
    """Wait until it is true, for as long as a slow machine may need."""
    ends = time.monotonic() + WAIT_S
    while not true():
        assert time.monotonic() < ends
        time.sleep(0.25)
