"""What is dear to make of a whole index: made once for each view and state of it, then shared."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeAlias, TypeVar

from ..clearance import VisibleLinks
from ..index.sqlite import lookups
from ..types import Filter

T = TypeVar("T")

MOST = 4
"""Views whose value is kept: a server has few labels."""

Stamp: TypeAlias = tuple[str, Filter, tuple[object, ...]]


def stamp_of(visible: VisibleLinks) -> Stamp:
    """What changes whenever something that the view shows may have changed. Cost: some milliseconds."""
    database = visible.index.database
    relinked = tuple(database.rows("SELECT name, relink, synced FROM source ORDER BY name"))
    return lookups.state(database, visible.filter), visible.filter, relinked


class Kept(Generic[T]):
    """Values made by ``make``, one a view. Safe to use from many threads; two that ask at once wait for one making."""

    def __init__(self, make: Callable[[VisibleLinks], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._values: dict[Filter, tuple[Stamp, T]] = {}

    def of(self, visible: VisibleLinks) -> T:
        """The value for what this view shows now."""
        with self._lock:
            stamp = stamp_of(visible)
            known = self._values.pop(visible.filter, None)
            if known is None or known[0] != stamp:
                known = stamp, self._make(visible)
            self._values[visible.filter] = known
            while len(self._values) > MOST:
                del self._values[next(iter(self._values))]
            return known[1]
