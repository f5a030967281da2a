"""Sends what the outbox names: in batches, several at once, never more than can be waited for, again after failures.

Everything here can be done twice: a point is written whole under its passage's id, and taken off the outbox only when
Qdrant has it. Whoever is killed leaves the rest to whoever comes next.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

from ...protocols import Progress
from ..sqlite.connection import Database
from ..sqlite.schema import meta
from . import replica as copies
from .collections import Collections
from .points import Point, chunk_of, point_id, read_points
from .replica import Queued, Replica
from .retrying import Patience
from .sparse import average_length

BATCH = 128
"""Points of one request: some 2 MB, a tenth of what Qdrant takes at most."""

WORKERS = 4
"""Requests on their way at once, to a server; as many more wait with their points made."""

STRAYS_AT_ONCE = 10_000

PATIENCE = Patience()
"""With requests that fail: nobody waits, and what is given up stays queued."""


class Sender:
    """Brings the collections of one generation in step with its catalogue. One at a time: the caller holds the lock."""

    def __init__(
        self,
        database: Database,
        collections: Collections,
        field_weights: Sequence[float],
        wanted: Replica,
        names: Sequence[str],
        dimensions: int,
    ) -> None:
        self.database = database
        self.collections = collections
        self.client = collections.client
        self.field_weights = field_weights
        self.wanted = wanted
        self.names = names
        self.dimensions = dimensions
        self.held: Sequence[str] = names

    def send(self, progress: Progress, limit: int | None = None) -> int:
        """Send what is queued, at most about ``limit`` passages; returns how many entries are left.

        Raises:
            BackendAway: Qdrant does not answer; what it has not confirmed stays queued.
            BackendMismatch: our names are taken by something else.
        """
        self._begin()
        self._send_queued(progress, limit)
        if not copies.is_empty(self.database):
            return int(self.database.value("SELECT count(*) FROM outbox"))
        if self._reconcile():
            self._send_queued(progress, None)
        self._complete()
        return 0

    def _begin(self) -> None:
        """Make what is missing, and queue what was made with something that holds no more."""
        owner = str(meta(self.database, "index"))
        made = self.collections.create(self.wanted.generation, self.names, self.dimensions, owner)
        # Also those that no setting names any more: what they hold is to go.
        others = self.collections.of_generation(self.client.collections(), self.wanted.generation)
        self.held = list(dict.fromkeys((*self.names, *others)))
        average = average_length(self.database)
        with self.database.transaction():
            known = copies.read_replica(self.database)
            if known is None or not known.is_of(self.wanted):
                copies.write_replica(self.database, self.wanted.weighed(average, self.field_weights))
                copies.queue_all(self.database)
                return
            fresh = [name for name in self.names if self._physical(name) in made]
            if fresh:
                known = replace(known, embedder=None)
                copies.queue_all(self.database, self._sources_of(fresh))
            if known.has_drifted(average, self.field_weights):
                known = known.weighed(average, self.field_weights)
                copies.queue_all(self.database)
            moved = [name for name, place in self.wanted.sources.items() if known.sources.get(name) != place]
            copies.queue_all(self.database, moved)
            copies.write_replica(self.database, replace(known, sources=self.wanted.sources))

    def _complete(self) -> None:
        """All is there: from now on Qdrant may answer."""
        with self.database.transaction():
            known = copies.read_replica(self.database)
            if known is not None and copies.is_empty(self.database):
                embedder = str(meta(self.database, "embedder") or "")
                if known.embedder != embedder:
                    copies.write_replica(self.database, replace(known, embedder=embedder))

    # -- sending -----------------------------------------------------------------------------------------

    def _send_queued(self, progress: Progress, limit: int | None) -> None:
        total = int(self.database.value("SELECT count(*) FROM outbox"))
        average = known.average if (known := copies.read_replica(self.database)) else 0.0
        workers = 1 if self.client.is_local else WORKERS
        done, taken, last = 0, 0, 0
        underway: deque[tuple[Queued, Future[None]]] = deque()

        def settle() -> int:
            batch, future = underway.popleft()
            future.result()
            copies.was_sent(self.database, batch)
            progress("qdrant", done + len(batch), total)
            return len(batch)

        with ThreadPoolExecutor(workers, thread_name_prefix="qdrant") as pool:
            try:
                while limit is None or taken < limit:
                    batch = copies.queued(self.database, last, BATCH)
                    if not batch:
                        break
                    last, taken = batch[-1][0], taken + len(batch)
                    points, gone = self._sorted(batch, average)
                    while len(underway) >= 2 * workers:  # wait, rather than hold ever more points
                        done += settle()
                    underway.append((batch, pool.submit(self._deliver, points, gone)))
                while underway:
                    done += settle()
            finally:
                for _, future in underway:
                    future.cancel()

    def _sorted(self, batch: Queued, average: float) -> tuple[dict[str, list[Point]], list[str]]:
        """The points by physical collection, and the ids of passages that are no more."""
        ids = [id for _, id in batch]
        upserts: dict[str, list[Point]] = {}
        left = set(ids)
        for source, point in read_points(self.database, ids, self.field_weights, average):
            upserts.setdefault(self._physical(self._collection_of(source)), []).append(point)
            left.discard(chunk_of(point["id"]))
        return upserts, [point_id(id) for id in ids if id in left]

    def _deliver(self, upserts: Mapping[str, Sequence[Point]], deletions: Sequence[str]) -> None:
        for name, points in upserts.items():
            self.client.upsert(name, points, PATIENCE)
        if deletions:
            for name in self.held:  # which one held them is not known any more
                self.client.delete(self._physical(name), deletions, PATIENCE)

    # -- agreement ---------------------------------------------------------------------------------------

    def _reconcile(self) -> bool:
        """Compare counts; where they differ, delete strays and queue what lacks. Returns whether anything was queued.

        They differ when Qdrant was restored from an older state, a source moved to another collection, or the
        catalogue was made anew.
        """
        lacking = []
        for name in self.held:
            physical, sources = self._physical(name), self._sources_of([name])
            expected = copies.passages_of(self.database, sources)
            if self.client.count(physical) == expected:
                continue
            found: list[str] = []
            for id in self.client.ids(physical):
                found.append(id)
                if len(found) == STRAYS_AT_ONCE:
                    self._delete_strays(physical, found, sources)
                    found = []
            self._delete_strays(physical, found, sources)
            if self.client.count(physical) != expected:
                lacking += sources
        if lacking:
            with self.database.transaction():
                copies.queue_all(self.database, lacking)
        return bool(lacking)

    def _delete_strays(self, physical: str, points: Sequence[str], sources: Sequence[str]) -> None:
        stray = copies.strays(self.database, [chunk_of(point) for point in points], sources)
        if stray:
            self.client.delete(physical, [point_id(id) for id in stray])

    def _physical(self, collection: str) -> str:
        return self.collections.name_of(collection, self.wanted.generation)

    def _collection_of(self, source: str) -> str:
        return self.wanted.sources.get(source, self.names[0])

    def _sources_of(self, names: Sequence[str]) -> list[str]:
        """The sources in the catalogue that belong to some collections."""
        every = [name for (name,) in self.database.rows("SELECT name FROM source ORDER BY name")]
        return [source for source in every if self._collection_of(source) in names]
