"""How much nearer a query is to the passages of one script than to those of another, without asking Qdrant for all.

The mean cosine of a query with some passages is its product with their mean vector, and that stays the same from query
to query: so the catalogue adds vectors up once, until it changes.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ...protocols import Vectors
from ...types import Filter
from ..sqlite.connection import Database
from ..sqlite.filters import TABLES, condition
from ..sqlite.remembering import Remembered
from ..sqlite.vectors import restored, shifts_of

MOST_SUMMED = 20_000
"""Of more vectors every second, third ... is added up: the mean of so many cosines is off by 0.001 at most."""

READ_AT_ONCE = 4_000

Sums: TypeAlias = "tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]"
"""By script: the sum of vectors, shape (scripts, dimensions), and how many."""


class ScriptMeans:
    """Sums of vectors by script, remembered for each filter while the catalogue stays as it is."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._remembered = Remembered(database, most=64)

    def shifts(self, vector: Vectors, filter: Filter, script: int) -> dict[int, float]:
        """What is to be added to the cosines of passages in each other script, see ``VectorIndex.search``."""
        if not script:
            return {}
        where, values = condition(filter)
        sums, counts = self._remembered.take((where, *values), lambda: self._sums(where, values))
        if not counts.size:
            return {}
        return shifts_of(sums @ vector.astype(np.float64), counts, script)

    def _sums(self, where: str, values: list[object]) -> Sums:
        passing = f"FROM chunk c JOIN vector v ON v.key = c.vector {TABLES if where else ''}" + (
            f" WHERE {where}" if where else ""
        )
        count = int(self.database.value(f"SELECT count(DISTINCT v.key) {passing}", values))
        step = -(-count // MOST_SUMMED)
        if not step:
            return np.zeros((0, 0)), np.zeros(0, dtype=np.int64)
        every = "AND" if where else "WHERE"
        rows = self.database.rows(
            f"SELECT c.script, v.data {passing} {every} v.key % {step} = 0 GROUP BY v.key", values
        )
        scripts = np.array([script for script, _ in rows], dtype=np.int64)
        most = int(scripts.max(initial=0)) + 1
        sums: npt.NDArray[np.float64] | None = None
        for first in range(0, len(rows), READ_AT_ONCE):
            vectors = restored([data for _, data in rows[first : first + READ_AT_ONCE]])
            if sums is None:
                sums = np.zeros((most, vectors.shape[1]))
            np.add.at(sums, scripts[first : first + READ_AT_ONCE], vectors)
        if sums is None:
            return np.zeros((0, 0)), np.zeros(0, dtype=np.int64)
        return sums, np.bincount(scripts, minlength=most)
