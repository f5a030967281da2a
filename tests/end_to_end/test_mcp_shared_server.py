"""``brain mcp`` beside ``brain serve``: one process answers for all, and nobody notices when it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from mcp_client import Pipes, wait_until

from second_brain import Brain
from second_brain.servers.relay import connected, socket_path

pytestmark = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="no local sockets here")

HELLO = {"toolsets": ["knowledge"], "read_only": False, "privacy": "", "project": "", "graph": ""}


@pytest.fixture
def home(heron_home: Path) -> Path:
    """Two notes, one of them secret."""
    return heron_home


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """Variables for every process here: a home and a runtime folder of their own, with a path that fits a socket."""
    with tempfile.TemporaryDirectory(prefix="b") as runtime:
        for name, value in (("XDG_RUNTIME_DIR", runtime), ("HOME", str(tmp_path))):
            monkeypatch.setenv(name, value)
        yield dict(os.environ)


@pytest.fixture
def serve(home: Path, environment: dict[str, str]) -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    """Starts ``brain serve``, and waits until local clients are taken."""
    with ExitStack() as stack:

        def started() -> subprocess.Popen[bytes]:
            command = [sys.executable, "-m", "second_brain.entry", "--home", str(home), "serve", "--port", "0"]
            process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
            stack.callback(process.wait)
            stack.callback(process.kill)
            path = socket_path(str(home), None, environment)

            def taken() -> bool:
                connection = connected(path, HELLO)
                if connection is not None:
                    connection.close()
                return connection is not None

            assert wait_until(taken)
            return process

        yield started


@pytest.fixture
def start(home: Path, environment: dict[str, str]) -> Iterator[Callable[..., Pipes]]:
    """Starts ``brain mcp``."""
    with ExitStack() as stack:
        yield lambda *arguments: stack.enter_context(Pipes(home, *arguments))


def modules(pid: int) -> str:
    """The files that a process has mapped."""
    return Path(f"/proc/{pid}/maps").read_text()


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs /proc")
def test_where_a_server_runs_clients_are_thin(serve, start):
    """No SDK, no SQLite in the process that the client started; answers are those of the server."""
    alone = start()
    alone.shake_hands()
    alone.text("search_knowledge", query="heron")
    assert "pydantic_core" in modules(alone.process.pid)
    serve()
    thin = start()
    assert thin.shake_hands()["serverInfo"]["name"] == "second-brain"
    assert "heron pump" in thin.text("search_knowledge", query="heron")
    assert not any(name in modules(thin.process.pid) for name in ("pydantic_core", "apsw", "numpy"))
    assert thin.close() == 0


def test_each_client_keeps_its_own_limits(serve, start, home, tmp_path):
    """Toolsets, label, read-only and project are the client's, as if it worked by itself; so is what `see:` says."""
    serve()
    limited = start("--privacy", "work", "--toolsets", "knowledge,sources", "--read-only")
    limited.shake_hands()
    names = [tool["name"] for tool in limited.ask("tools/list")["tools"]]
    assert "search_knowledge" in names
    assert "index_paths" not in names
    assert "4711" not in limited.text("search_knowledge", query="bittern code")
    whole = start()
    whole.shake_hands()
    assert "4711" in whole.text("search_knowledge", query="bittern code")
    (home / "settings.yaml").write_text("see: work\n")
    after = start()
    after.shake_hands()
    assert "4711" not in after.text("search_knowledge", query="bittern code")


def test_when_the_server_is_killed_the_conversation_goes_on(serve, start):
    """The call in flight is answered with an error, the next one by the client's own process, which says so once."""
    server = serve()
    client = start()
    client.shake_hands()
    assert "heron pump" in client.text("search_knowledge", query="heron")
    os.kill(server.pid, signal.SIGSTOP)
    asked = client.send("tools/call", {"name": "search_knowledge", "arguments": {"query": "heron"}})
    time.sleep(0.5)
    os.kill(server.pid, signal.SIGKILL)
    server.wait()
    assert "call again" in client.wait(asked)["error"]["message"]
    again = client.text("search_knowledge", query="heron")
    assert "heron pump" in again
    assert "brain serve` ended" in again
    assert "brain serve` ended" not in client.text("search_knowledge", query="heron")
    assert client.close() == 0
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in client.lines)
    assert len([line for line in client.lines if b"serverInfo" in line]) == 1


def test_a_socket_that_a_killed_server_left_is_taken_over(serve, start):
    """Clients meanwhile work by themselves; the next server is used again."""
    first = serve()
    first.kill()
    first.wait()
    alone = start()
    alone.shake_hands()
    assert "heron pump" in alone.text("search_knowledge", query="heron")
    serve()
    thin = start()
    thin.shake_hands()
    assert "heron pump" in thin.text("search_knowledge", query="heron")


def test_settings_that_change_are_followed(serve, start, home, tmp_path):
    """A source that another process adds is searched by the server that runs already."""
    serve()
    client = start()
    client.shake_hands()
    more = tmp_path / "more"
    more.mkdir()
    (more / "dunlin.md").write_text("The dunlin runs along the shore.\n")
    with Brain.open(home, environment={}) as brain:
        brain.add(more, name="more")
        brain.sync()
    assert "dunlin runs" in client.text("search_knowledge", query="dunlin", source="more")
    assert "more" in client.text("list_sources")


def test_a_folder_that_others_may_look_into_is_not_used(home, environment, tmp_path):
    """Neither by the server nor by clients: somebody else could have put the socket there."""
    path = socket_path(str(home), None, environment)
    path.parent.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as foreign:
        foreign.bind(os.fspath(path))
        foreign.listen()

        def welcome() -> None:
            connection, _ = foreign.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(b'{"welcome": true}\n')

        threading.Thread(target=welcome, daemon=True).start()
        taken = connected(path, HELLO)
        assert taken is not None
        taken.close()
        path.parent.chmod(0o755)
        threading.Thread(target=welcome, daemon=True).start()
        assert connected(path, HELLO) is None
        path.parent.chmod(0o700)
        connected(path, HELLO).close()  # the second thread was still waiting


def test_another_home_version_or_environment_has_another_socket(home, environment):
    """Whoever would open another brain never reaches this one."""
    own = socket_path(str(home), None, environment)
    assert own == socket_path(str(home), None, dict(environment))
    assert own != socket_path(None, None, environment)
    assert own != socket_path(str(home), "elsewhere.db", environment)
    assert own != socket_path(str(home), None, {**environment, "BRAIN_PRIVACY": "work"})
    assert len(os.fspath(own)) < 104 + len(environment["XDG_RUNTIME_DIR"])
