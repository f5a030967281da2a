"""Ranked lists that can be read further at any time without changing what was read of them.

A page after the first must go on where it ended, however deep a retriever had to look. So a list is asked for in
steps that depend on its page size alone, and what a deeper look finds is appended, never inserted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from ..retrieval import Retriever
from ..types import Hit, Query, SearchResult

DEEPER = 4
"""So many times as many hits are asked for when more are needed."""


class HitList(Protocol):
    """Hits in an order that holds however many are asked for."""

    def first(self, count: int) -> list[Hit]:
        """At least the first ``count`` hits, fewer only where there are no more."""
        ...


@dataclass(slots=True)
class Retrieved:
    """The hits of one query: the first ``query.limit`` exactly as the retriever gives them."""

    retriever: Retriever
    query: Query
    results: list[SearchResult] = field(default_factory=list)
    _hits: list[Hit] = field(default_factory=list)
    _asked: int = 0
    _ended: bool = False

    def first(self, count: int) -> list[Hit]:
        """See ``HitList``. Cost: one retrieval for each step, of which most answers need one."""
        while not self._ended and len(self._hits) < max(count, 1):
            self._asked = self._asked * DEEPER or self.query.limit
            result = self.retriever.search(replace(self.query, limit=self._asked))
            self.results.append(result)
            known = {hit.id for hit in self._hits}
            self._hits.extend(hit for hit in result.hits if hit.id not in known)
            self._ended = len(result.hits) < self._asked
        return self._hits

    @property
    def result(self) -> SearchResult:
        """What the retriever said the first time."""
        self.first(1)
        return self.results[0]


@dataclass(frozen=True, slots=True)
class Lifted:
    """The hits of one list, then those of another."""

    above: HitList
    rest: HitList
    per_document: int | None = None

    def first(self, count: int) -> list[Hit]:
        """See ``HitList``."""
        above = self.above.first(count)
        if len(above) >= count:
            return above
        return capped([*above, *self.rest.first(count + len(above))], self.per_document)


@dataclass(frozen=True, slots=True)
class Interleaved:
    """The first hits of each list in turn, then the second ones, and so on; before, ``lead`` hits of the first list."""

    lists: Sequence[HitList]
    per_document: int | None = None
    lead: int = 0

    def first(self, count: int) -> list[Hit]:
        """See ``HitList``."""
        depth = count + self.lead
        while True:
            columns = [ranked.first(depth) for ranked in self.lists]
            ends = [len(column) < depth for column in columns]
            columns[0], leading = columns[0][self.lead :], columns[0][: self.lead]
            # Behind the last row that every list which may go on has, nothing is certain.
            certain = [len(column) for column, ended in zip(columns, ends, strict=True) if not ended]
            rows = min(certain) if certain else max(map(len, columns))
            turns = [column[row] for row in range(rows) for column in columns if row < len(column)]
            hits = capped([*leading, *turns], self.per_document)
            if len(hits) >= count or all(ends):
                return hits
            depth *= 2


def capped(hits: Sequence[Hit], per_document: int | None) -> list[Hit]:
    """Each hit once, at most ``per_document`` of each document."""
    taken: dict[str, Hit] = {}
    documents: Counter[str] = Counter()
    for hit in hits:
        if hit.id not in taken and (per_document is None or documents[hit.uri] < per_document):
            taken[hit.id] = hit
            documents[hit.uri] += 1
    return list(taken.values())
