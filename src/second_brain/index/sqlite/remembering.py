"""What was counted or listed once is not counted again while the index stays as it is."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

from .connection import Database

T = TypeVar("T")


class Remembered:
    """Values that follow from an index alone, by key, until anyone changes it. Each thread has its own, as it has its
    own connection: two of them may see different states.
    """

    def __init__(self, database: Database, *, most: int) -> None:
        self.database = database
        self.most = most
        self._local = threading.local()

    def take(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value for a key, made where it is not known. Cost of one that is known: some 10 microseconds.

        SQLite counts the changes of others (``data_version``) and our own (``total_changes``) for each connection.
        """
        with self.database.snapshot() as connection:  # the value is of the state that the counters were read in
            state = connection, self.database.value("PRAGMA data_version"), connection.total_changes()
            if getattr(self._local, "state", None) != state:
                self._local.state, self._local.known = state, OrderedDict()
            known: OrderedDict[Hashable, Any] = self._local.known
            if key in known:
                known.move_to_end(key)
                return cast(T, known[key])
            value = known[key] = make()
            if len(known) > self.most:
                known.popitem(last=False)
            return value
