"""A box that serves on loopback in a thread, and the settings of a machine that asks it."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from second_brain import Brain
from second_brain.remote.brain import RemoteBrain
from second_brain.servers.brains import Brains
from second_brain.servers.http import make_app
from second_brain.servers.tokens import add
from second_brain.testing.cutting_proxy import CuttingProxy

LABELS = {"all": "secret", "work": "work"}


class Box:
    """The brain of ``home``, with the embedder for tests, as others reach it. ``tokens`` by name."""

    def __init__(self, home: Path) -> None:
        self.home = home
        home.mkdir(parents=True)
        (home / "models.yaml").write_text("embedder: hashing\n")
        self.brain = Brain.open(home, environment={})
        self.tokens = {name: add(self.brain.settings, name, label, changes=True) for name, label in LABELS.items()}
        self.tokens["reader"] = add(self.brain.settings, "reader", "secret", changes=False)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        """Serve, as a process does that has just begun."""
        if self._listening.fileno() < 0:
            self._listening = socket.create_server(("127.0.0.1", self.port))
        app = make_app(Brains(lambda: self.brain), ["knowledge"], host="127.0.0.1", read_only=False, neighbours=None)
        config = uvicorn.Config(app, log_level="error", access_log=False, ws="none", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._listening]}, daemon=True)
        self._thread.start()
        ends = time.monotonic() + 20
        while not self._server.started and time.monotonic() < ends:
            time.sleep(0.01)

    def stop(self) -> None:
        """End as a process does that is asked to."""
        self._server.should_exit = True
        self._thread.join(20)
        self._listening.close()

    def index(self, files: Mapping[str, str | bytes], *, source: str = "notes", privacy: str | None = None) -> Path:
        """Write files into a source of the box itself, and index them; its folder."""
        root = self.home / "own" / source
        write(root, files)
        if all(known.name != source for known in self.brain.sources()):
            self.brain.add(root, name=source, privacy=privacy)
        self.brain.sync([source])
        self.brain.embed()
        return root


def write(root: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files by their path below a folder."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    """A box that serves, with nothing in it."""
    made = Box(tmp_path / "box")
    yield made
    made.stop()
    made.brain.close()


@pytest.fixture
def line(box: Box) -> Iterator[CuttingProxy]:
    """A line to the box that can be made bad."""
    with CuttingProxy(box.port).running() as proxy:
        yield proxy


@pytest.fixture
def laptop(tmp_path: Path, box: Box) -> Iterator[Callable[..., RemoteBrain]]:
    """Makes the brain of the box as a machine sees it: ``laptop(url=..., token=..., home=..., **remote settings)``."""
    made: list[RemoteBrain] = []

    def make(url: str = "", token: str = "all", home: str = "laptop", **remote: Any) -> RemoteBrain:
        folder = tmp_path / home
        folder.mkdir(exist_ok=True)
        (folder / "models.yaml").write_text("embedder: hashing\n")
        paths = remote.pop("paths", {})
        lines = ["remote:", f"  url: {url or box.url}", "  token: $TOKEN"]
        lines += [f"  {key}: {value}" for key, value in remote.items()]
        lines += ["  paths:", *(f"    {there}: {here}" for there, here in paths.items())] if paths else []
        (folder / "settings.yaml").write_text("\n".join(lines) + "\n")
        brain = RemoteBrain.open(folder, environment={"TOKEN": box.tokens.get(token, token)})
        made.append(brain)
        return brain

    yield make
    for brain in made:
        brain.close()
