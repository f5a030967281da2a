"""Which generation a long-lived process has open: it follows the pointer, and one question never sees two."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ..config import Settings
from ..index.sqlite.store import SqliteIndex
from .pointer import placed


class Lazy:
    """An index that is opened when it is first asked for. Safe to use from many threads."""

    def __init__(self, settings: Settings, opening: Callable[[Settings], SqliteIndex]) -> None:
        self._settings = settings
        self._opening = opening
        self._lock = threading.Lock()
        self._index: SqliteIndex | None = None

    def get(self) -> SqliteIndex:
        """The index. Raises StorageError."""
        with self._lock:
            if self._index is None:
                self._index = self._opening(self._settings)
            return self._index

    def close(self, *, forget: bool = False) -> None:
        """Close the index, if it is open; it reopens by itself, or with ``forget`` is made anew."""
        with self._lock:
            if self._index is not None:
                self._index.close()
            if forget:
                self._index = None


@dataclass(frozen=True, slots=True)
class Opened:
    """A generation in use: placed settings, and its index."""

    settings: Settings
    index: Lazy


class Followed:
    """The generation that answers now, or the one that was asked for by name. Safe to use from many threads.

    Whoever asks inside ``held`` gets the same one until the block ends, in this thread. One that is not current any
    more is closed when the last who uses it lets go of it: with the last reference to its index.
    """

    def __init__(self, settings: Settings, opening: Callable[[Settings], SqliteIndex], name: str = "") -> None:
        self.settings = settings
        self._opening = opening
        self._name = name
        self._lock = threading.Lock()
        self._opened: Opened | None = None
        self._local = threading.local()

    def now(self) -> Opened:
        """What is open. Raises StorageError when it is unknown which generation is current, NotFound for a name."""
        held: Opened | None = getattr(self._local, "held", None)
        if held is not None:
            return held
        with self._lock:
            if self._opened is None:
                self._opened = self._open(self.settings)
            return self._opened

    @contextmanager
    def held(self) -> Iterator[Opened]:
        """What is open now stays so for this thread, settings and all."""
        outer: Opened | None = getattr(self._local, "held", None)
        opened = self.now()
        self._local.held = opened
        try:
            yield opened
        finally:
            self._local.held = outer

    def take(self, settings: Settings) -> None:
        """Go on with these settings and with the generation that is current by now; questions in flight end as begun.

        Raises StorageError, NotFound; then all is as it was.
        """
        with self._lock:
            self._opened = self._open(settings)
            self.settings = settings

    def _open(self, settings: Settings) -> Opened:
        found = placed(settings, self._name)
        if self._opened is not None:
            old = self._opened.settings
            if (old.index, old.qdrant) == (found.index, found.qdrant):
                return Opened(found, self._opened.index)
        return Opened(found, Lazy(found, self._opening))

    def close(self, *, forget: bool = False) -> None:
        """Close the index; it reopens by itself."""
        with self._lock:
            if self._opened is not None:
                self._opened.index.close(forget=forget)
