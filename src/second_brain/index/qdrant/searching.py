"""One search of an index whose passages are in Qdrant: Qdrant ranks, the catalogue resolves, checks and stands in."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from ...analysis import words_and_beginnings
from ...errors import BackendAway
from ...protocols import Codes, Vectors
from ...types import Filter, Ranking
from ..sqlite.filters import TABLES, condition
from ..sqlite.searching import SqliteSearch
from .client import Asking
from .collections import DENSE, TERMS
from .filters import TooMany, conditions
from .points import chunk_of, codes_of, point_id
from .sparse import query_vector

if TYPE_CHECKING:
    from .store import QdrantIndex

T = TypeVar("T")

SPARE = 16
"""Points asked for beyond the limit: for those that are gone from the catalogue, and to see whether scores tie."""

MOST_ASKED = 10_000
"""Points asked for at most, however many tie."""

DIGITS = 5
"""Qdrant adds up in float32: digits behind the first so many are noise, and would order equal scores by chance."""


class QdrantSearch:
    """Ranks by Qdrant. From the first failure on the catalogue ranks, for the rest of the search, and says why.

    What Qdrant cannot weigh as FTS5 does, a quoted phrase and a beginning of words, the catalogue ranks always.
    """

    def __init__(self, index: QdrantIndex) -> None:
        self.index = index
        self.catalogue = SqliteSearch(index)
        self._why = index.why_not()

    def notices(self, filter: Filter = Filter()) -> tuple[str, ...]:
        """Which backend answered instead, and why; how many passages Qdrant lacks."""
        return (*([self._why] if self._why else []), *self.index.lag(filter))

    # -- words -------------------------------------------------------------------------------------------

    def lexical(
        self,
        terms: Sequence[str],
        filter: Filter,
        limit: int,
        *,
        phrases: Sequence[tuple[str, ...]] = (),
        prefixed: Collection[str] = (),
    ) -> Ranking:
        """The best chunks for terms and phrases, see ``protocols.Index``."""
        words, beginnings = words_and_beginnings(terms, prefixed=prefixed)

        def ask() -> Ranking | None:
            if phrases or any(map(self.index.terms.begins_a_term, beginnings)):
                return None
            known = self.index.terms.frequencies(words)
            query = query_vector(known, self.index.terms.count())
            if not query[0] or limit <= 0:
                return Ranking("lexical", ())
            return Ranking("lexical", self._best(TERMS, query, filter, limit))

        return self._answered(
            ask, lambda: self.catalogue.lexical(terms, filter, limit, phrases=phrases, prefixed=prefixed)
        )

    def _best(
        self, using: str, query: tuple[list[int], list[float]], filter: Filter, limit: int
    ) -> tuple[tuple[int, float], ...]:
        """The best ``limit`` (key, score), equal scores by id also where the limit cuts through them."""
        asked = limit + SPARE
        while True:
            found, most = self._asked([Asking(using, query, conditions(filter, self.index.database), asked)], filter)
            known = self._known(found, filter)
            entries = sorted((-_rounded(found[id]), id, key) for key, id in known.items())
            last = min(map(_rounded, found.values()), default=0.0)
            tied = len(entries) >= limit and -entries[limit - 1][0] <= last
            if most < asked or asked >= MOST_ASKED or (len(entries) >= limit and not tied):
                return tuple((key, -score) for score, _, key in entries[:limit])
            asked = min(4 * asked, MOST_ASKED)

    # -- meaning -----------------------------------------------------------------------------------------

    def dense(
        self, vector: Vectors, filter: Filter, limit: int, *, script: int = 0, also: Sequence[int] = ()
    ) -> Ranking:
        """The chunks nearest to a unit vector, see ``protocols.Index``.

        Qdrant only chooses the candidates; their scores are the catalogue's, as after its own scan.
        """

        def ask() -> Ranking | None:
            if limit <= 0:
                return Ranking("dense", ())
            shifts = self.index.means.shifts(vector, filter, script)
            known = self._near(vector, filter, limit, list(shifts))
            return self.index.vectors.ordered(known, vector, limit, shifts=shifts, also=also)

        return self._answered(ask, lambda: self.catalogue.dense(vector, filter, limit, script=script, also=also))

    def _near(self, vector: Vectors, filter: Filter, limit: int, shifted: Sequence[int]) -> dict[int, str]:
        """The ids, by key, of the nearest in each script whose scores are raised, and in all others together."""
        narrowed = conditions(filter, self.index.database)
        groups = [{"key": "script", "match": {"value": one}} for one in shifted]
        rest = [*narrowed.get("must_not", []), *groups]
        wanted = [{**narrowed, "must": [*narrowed.get("must", []), group]} for group in groups]
        wanted.append({**narrowed, **({"must_not": rest} if rest else {})})
        asked = limit + SPARE
        while True:
            found, most = self._asked([Asking(DENSE, vector.tolist(), each, asked) for each in wanted], filter)
            known = self._known(found, filter)
            if most < asked or len(known) >= limit or asked >= MOST_ASKED:
                return known
            asked = min(4 * asked, MOST_ASKED)

    # -- tokens ------------------------------------------------------------------------------------------

    def codes(self, keys: Sequence[int], width: int) -> dict[int, Codes]:
        """The token codes of chunks, see ``protocols.Index``; those that Qdrant lacks are the catalogue's."""

        def ask() -> dict[int, Codes]:
            found: dict[int, Codes] = {}
            for physical, ids in self._by_collection(keys).items():
                packed = self.index.client.payloads(physical, [point_id(id) for id in ids], "codes")
                found.update((ids[chunk_of(point)], codes_of(text, width)) for point, text in packed.items())
            missing = [key for key in keys if key not in found]
            return {**found, **self.catalogue.codes(missing, width)} if missing else found

        return self._answered(ask, lambda: self.catalogue.codes(keys, width))

    def _by_collection(self, keys: Sequence[int]) -> dict[str, dict[str, int]]:
        """By physical collection the key of each chunk by its id."""
        held: dict[str, dict[str, int]] = {}
        for key, id, source in self.index.database.rows(
            f"SELECT c.key, c.id, s.name FROM chunk c {TABLES} WHERE c.key IN (SELECT value FROM json_each(?))",
            (json.dumps(list(keys)),),
        ):
            held.setdefault(self.index.physical_of(source), {})[id] = key
        return held

    # -- asking ------------------------------------------------------------------------------------------

    def _answered(self, ask: Callable[[], T | None], instead: Callable[[], T]) -> T:
        """What Qdrant answers, or the catalogue where Qdrant cannot or does not."""
        if not self._why:
            try:
                answer = ask()
            except TooMany:
                answer = None
            except BackendAway as error:
                self._why = self.index.gave_up(error)
                answer = None
            if answer is not None:
                return answer
        return instead()

    def _asked(self, askings: Sequence[Asking], filter: Filter) -> tuple[dict[str, float], int]:
        """The score of each chunk by id, over all collections that may hold it, and the length of the longest list.

        Scores are absolute: cosines, and BM25 by counts of the whole catalogue. So they are merged as they are.
        """
        found: dict[str, float] = {}
        longest = 0
        if filter.privacy == ():
            return found, longest
        for physical in self.index.physical(filter.sources):
            for ranked in self.index.client.ranked(physical, askings):
                longest = max(longest, len(ranked))
                found.update((chunk_of(point), score) for point, score in ranked)
        return found, longest

    def _known(self, ids: Iterable[str], filter: Filter) -> dict[int, str]:
        """Those of the chunks that are in the catalogue and pass the filter there, by key."""
        where, values = condition(filter)
        rows = self.index.database.rows(
            f"SELECT c.key, c.id FROM chunk c {TABLES if where else ''} WHERE c.id IN (SELECT value FROM json_each(?))"
            + (f" AND {where}" if where else ""),
            (json.dumps(list(ids)), *values),
        )
        return dict(rows)


def _rounded(score: float) -> float:
    """To significant digits: words that most passages hold have scores of a few millionths, and an order."""
    return float(f"{score:.{DIGITS}g}")
