"""``memory.jsonl`` as a whole: read at any time, changed by one at a time, valid at every moment.

The reference server writes in place and knows no lock. What it leaves half-written for a moment is read again; what
stays unreadable is moved to a file beside it, ``memory.jsonl.quarantine``, before anything else is written.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from ..config import write_atomically
from ..errors import IndexLocked, StorageError
from ..index.lock import file_lock, lock_elsewhere
from .lines import Graph, read

T = TypeVar("T")

WAIT_S = 30.0
"""How long a change waits for others; each takes some milliseconds."""

SETTLE_S = 0.05
RETRIES = 4
"""A file that holds a bad line is read again so often, so long apart: somebody may be writing it just now."""


class MemoryFile:
    """One file. Many threads and processes may use it at once; the file need not exist."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def quarantine(self) -> Path:
        """Where lines go that cannot be read."""
        return self.path.with_name(self.path.name + ".quarantine")

    def read(self) -> Graph:
        """What the file holds now. Raises StorageError when it cannot be read at all."""
        return self._read()[0]

    def change(self, change: Callable[[Graph], tuple[Graph, T]]) -> T:
        """Apply ``change`` to what the file holds, alone; what it returns besides the graph is the result.

        Raises what ``change`` raises, with the file as it was; IndexLocked, StorageError.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock = file_lock(lock_elsewhere(self.path), wait_s=WAIT_S)
        except TimeoutError as error:
            raise IndexLocked(
                f"{self.path}: another process has been changing it for more than {WAIT_S:.0f} s",
                hint="wait for it, or stop it, and try again",
            ) from error
        with lock:
            graph, before = self._read()
            changed, result = change(graph)
            if changed == graph and not graph.bad:
                return result
            if graph.bad:
                self._set_aside(graph.bad)
            if self._bytes() != before:  # a program without our lock wrote meanwhile: its change counts too
                changed, result = change(self._read()[0])
            self._replace(changed.text())
            return result

    def _read(self) -> tuple[Graph, bytes]:
        for attempt in range(RETRIES + 1):
            data = self._bytes()
            graph = read(data.decode("utf-8", "replace"))
            if not graph.bad or attempt == RETRIES:
                break
            time.sleep(SETTLE_S)
        return graph, data

    def _bytes(self) -> bytes:
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise StorageError(
                f"{self.path}: cannot be read ({error.strerror})", hint="check its permissions"
            ) from error

    def _set_aside(self, bad: tuple[str, ...]) -> None:
        with self.quarantine.open("a", encoding="utf-8") as stream:
            stream.writelines(line + "\n" for line in bad)
            stream.flush()
            os.fsync(stream.fileno())

    def _replace(self, text: str) -> None:
        try:
            write_atomically(self.path, text)
        except OSError as error:
            raise StorageError(
                f"{self.path}: cannot be written ({error.strerror})", hint="check its folder and free space"
            ) from error
