"""``brain serve`` as a process, asked over loopback: it ends well, and whatever kills it, nothing is broken after."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from second_brain import Brain
from second_brain.index.sqlite.check import examine
from second_brain.servers import fleet, tokens
from second_brain.testing.cutting_proxy import CuttingProxy

WAIT_S = 60.0
SLOW = {"input": [" ".join(f"heron{n}word{m}" for m in range(2_000)) for n in range(60)]}
"""Texts that keep the embedder for tests busy for a second or so."""


class Box:
    """A server process on a port of its own."""

    def __init__(self, home: Path, token: str) -> None:
        self.home = home
        self.token = token
        with closing(socket.socket()) as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "second_brain.entry", "--home", str(self.home), "serve"]
        self.process = subprocess.Popen(
            [*command, "--port", str(self.port)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(self.home.parent)},
        )
        self.until(lambda: self.ask("GET", "//healthz")[0] == 200)

    def until(self, true: Any) -> None:
        ends = time.monotonic() + WAIT_S
        while True:
            with contextlib.suppress(OSError, http.client.HTTPException):
                if true():
                    return
            assert time.monotonic() < ends, "it did not come about"
            time.sleep(0.02)

    def ask(self, method: str, path: str, body: Any = None, *, port: int = 0, **headers: str) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=WAIT_S)
        sent = {"Authorization": f"Bearer {self.token}", **{k.replace("_", "-"): v for k, v in headers.items()}}
        with closing(connection):
            data = None if body is None else json.dumps(body)
            connection.request(method, path[1:] if path.startswith("//") else f"/api/v1{path}", data, sent)
            response = connection.getresponse()
            raw = response.read()
        try:
            return response.status, json.loads(raw)
        except ValueError as error:  # its head was cut, and with it the length of the rest
            raise http.client.IncompleteRead(raw) from error

    def end(self) -> int:
        self.process.terminate()
        return self.process.wait(WAIT_S)


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    home, notes = tmp_path / "home", tmp_path / "notes"
    home.mkdir()
    notes.mkdir()
    (home / "models.yaml").write_text("embedder: hashing\n")
    (notes / "pump.md").write_text("# Pump\n\nThe heron pump failed in May.\n")
    with Brain.open(home, environment={}) as brain:
        brain.add(notes, name="notes")
        brain.sync()
        brain.embed()
        token = tokens.add(brain.settings, "laptop", "secret", changes=True)
    box = Box(home, token)
    yield box
    if box.process.poll() is None:
        box.process.kill()
        box.process.wait()


def _files(count: int, *, size: int = 400) -> dict[str, bytes]:
    return {f"n/{i}.md": f"# Note {i}\n\n{'egret ' * (size // 6)}{i}\n".encode() for i in range(count)}


def _entry(path: str, data: bytes) -> dict[str, Any]:
    return {"path": path, "hash": blake2b(data, digest_size=16).hexdigest()}


def _sent(box: Box, files: dict[str, bytes], *, port: int = 0, **more: Any) -> dict[str, Any]:
    """Send a source to its end, as a worker does: manifest, files, manifest, and the run that it named."""
    manifest = [_entry(path, data) for path, data in files.items()]
    step = {"source": "laptop", "worker": "w", "manifest": manifest, "complete": True, **more}
    while True:
        status, answer = box.ask("POST", "/documents/sync", step, port=port)
        assert status == 200, answer
        if answer["wanted"]:
            bodies = [
                {**_entry(path, files[path]), "modified_ns": 10**18, "data": b64encode(files[path]).decode()}
                for path in answer["wanted"]
            ]
            brought = {"source": "laptop", "worker": "w", "files": bodies}
            status, told = box.ask("POST", "/documents/sync", brought, port=port)
            assert (status, told["refused"]) == (200, {})
        elif answer["run"]:
            run = {"source": "laptop", "worker": "w", "run": answer["run"]}
            while answer["state"] in ("queued", "running"):
                time.sleep(0.05)
                status, answer = box.ask("POST", "/documents/sync", run, port=port)
                assert status == 200, answer
            if answer["state"] == "done":
                return answer
        else:
            return answer


def _documents(box: Box) -> set[str]:
    status, found = box.ask("GET", "/documents?limit=1000")
    assert status == 200
    return {document["uri"] for document in found}


# -- the end -------------------------------------------------------------------------------------------------


def test_a_process_that_is_asked_to_end_answers_what_it_began_and_refuses_the_rest(box: Box) -> None:
    """Within its grace; the next one starts at the same port, and knows who asked."""
    assert box.ask("GET", "/status", Brain_Consumer="laptop", Brain_Consumer_Version="0.1.0")[0] == 200
    replies: list[tuple[int, Any]] = []
    asking = threading.Thread(target=lambda: replies.append(box.ask("POST", "/embeddings", SLOW)))
    asking.start()
    time.sleep(0.25)
    box.process.send_signal(signal.SIGTERM)
    seen = set()
    with contextlib.suppress(OSError):
        while True:
            seen.add(box.ask("GET", "//healthz")[0])
            seen.add(box.ask("GET", "/sources")[0])
            time.sleep(0.02)
    asking.join(WAIT_S)
    box.process.wait(WAIT_S)
    assert replies[0][0] == 200
    assert len(replies[0][1]["data"]) == 60
    assert 503 in seen
    box.start()
    with Brain.open(box.home, environment={}) as brain:
        assert [consumer.name for consumer in fleet.consumers(brain.settings)] == ["laptop"]


# -- sudden ends ---------------------------------------------------------------------------------------------


def test_a_server_that_is_killed_again_and_again_while_files_come_loses_nothing(box: Box) -> None:
    """Whoever sends says it again, and in the end all of it is there once, and the index is sound."""
    files = _files(80)
    for delay in (0.01, 0.08, 0.4):
        sending = threading.Thread(target=_sent_or_not, args=(box, files))
        sending.start()
        time.sleep(delay)
        box.process.kill()
        box.process.wait()
        sending.join(WAIT_S)
        box.start()
    _sent(box, files)
    assert _documents(box) == {"notes/pump.md", *(f"laptop/{path}" for path in files)}
    status, found = box.ask("POST", "/search", {"query": "egret", "mode": "lexical", "limit": 3})
    assert (status, len(found["hits"])) == (200, 3)
    del files["n/7.md"]
    _sent(box, files)
    assert "laptop/n/7.md" not in _documents(box)
    box.end()
    assert not [finding for finding in examine(box.home / "index.db") if finding.severity == "error"]


def _sent_or_not(box: Box, files: dict[str, bytes], *, port: int = 0) -> None:
    with contextlib.suppress(OSError, http.client.HTTPException, AssertionError):
        _sent(box, files, port=port)


def test_a_server_that_is_killed_in_an_answer_answers_the_same_after(box: Box) -> None:
    """Nothing of a search is kept."""
    request = {"query": "heron", "now": "2031-05-02T09:00:00Z"}
    _, before = box.ask("POST", "/search", request)
    asking = threading.Thread(target=_sent_or_not, args=(box, {}))
    asking.start()
    box.process.kill()
    box.process.wait()
    asking.join(WAIT_S)
    box.start()
    _, after = box.ask("POST", "/search", request)
    assert {**after, "timings_ms": 0} == {**before, "timings_ms": 0}
    began = time.monotonic()
    box.end()
    assert time.monotonic() - began < 20, "nobody asks: it waits for nothing"


def test_files_arrive_over_a_line_that_is_cut_again_and_again(box: Box) -> None:
    """At many places of the requests and of the answers; the end is the same."""
    files = _files(40)
    with CuttingProxy(box.port).running() as proxy:
        for place in (1, 100, 700, 3_000, 9_000, 20_000):
            for proxy.up, proxy.down in ((place, None), (None, place)):
                _sent_or_not(box, files, port=proxy.port)
        assert proxy.cut >= 6
        proxy.restore()
        _sent(box, files, port=proxy.port)
    assert len(_documents(box)) == 41
