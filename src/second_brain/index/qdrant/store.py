"""The index whose passages are also in Qdrant: the catalogue with everything, and a copy that ranks."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from ...errors import BackendAway, BackendMismatch, StorageError
from ...protocols import Index, Progress
from ...types import Filter
from ..lock import sync_lock
from ..sqlite.schema import meta
from ..sqlite.store import SqliteIndex
from . import replica as copies
from .client import Client
from .collections import Collections
from .replica import Replica
from .scripts import ScriptMeans
from .searching import QdrantSearch
from .sending import BATCH, Sender
from .settings import QdrantSettings

LEFT_ALONE_S = 10.0
"""After a failure Qdrant is not asked for so long: a search must not wait for its time-out each time."""


class QdrantIndex(SqliteIndex):
    """A catalogue with a copy of its passages in Qdrant, of which it is the only writer.

    Args:
        path: the catalogue.
        settings: where Qdrant is.
        generation: whose catalogue it is: ``g1``.
        key: the API key, '' for none.
        dimensions: of the embedder that the settings name; asked when a collection is made.
        collections: which sources each collection holds, asked anew each time; the first also holds all others.
    """

    def __init__(
        self,
        path: Path,
        settings: QdrantSettings,
        *,
        generation: str,
        dimensions: Callable[[], int],
        collections: Callable[[], Mapping[str, tuple[str, ...]]],
        key: str = "",
    ) -> None:
        super().__init__(path)
        self.client = Client(settings, key)
        self.collections = Collections(self.client, settings)
        self.generation = generation
        self.means = ScriptMeans(self.database)
        self._settings = settings
        self._dimensions = dimensions
        self._collections = collections
        self._checked = False
        self._lost = ""
        self._off: tuple[float, str] = (0.0, "")

    def close(self) -> None:
        """Close the catalogue and the connection; a folder of local mode is free for others then."""
        self.client.close()
        super().close()

    # -- which collections -------------------------------------------------------------------------------

    def physical(self, sources: tuple[str, ...] = ()) -> list[str]:
        """The physical collections that hold these sources; of all, for none named."""
        names = dict.fromkeys(map(self._collection_of, sources)) if sources else self._collections()
        return [self.collections.name_of(name, self.generation) for name in names]

    def physical_of(self, source: str) -> str:
        """The physical collection that holds a source."""
        return self.collections.name_of(self._collection_of(source), self.generation)

    def _collection_of(self, source: str) -> str:
        named = self._collections()
        return next((name for name, sources in named.items() if source in sources), next(iter(named)))

    # -- searching ---------------------------------------------------------------------------------------

    def searching(self) -> Index:
        """Rankings for one search. Raises BackendMismatch when Qdrant holds something else under our names."""
        self.check()
        self._catch_up()
        return QdrantSearch(self)

    def check(self, dimensions: int | None = None) -> None:
        """See whether Qdrant's collections are ours, hold vectors as wide as ours, or as given, and all of them.

        Nothing is changed. Asks once after each failure, or for each width given. Raises BackendMismatch. While Qdrant
        does not answer nothing is raised: the catalogue answers.
        """
        if (self._checked and dimensions is None) or self._is_off():
            return
        try:
            owner, existing = str(meta(self.database, "index")), self.client.collections()
            names = list(self._collections())
            self.collections.check_names(self.generation, names, existing)
            for name in self.physical():
                if name in existing:
                    self.collections.check(name, dimensions or self._width(), owner)
            self._lost = self._what_is_lost(existing)
            self._checked = True
        except BackendAway as error:
            self.gave_up(error)

    def _what_is_lost(self, existing: set[str]) -> str:
        """That Qdrant holds fewer passages than it confirmed, in words, or '': it was restored or emptied since.

        What others send and delete while it is counted is no loss: the smaller number of before and after holds.
        """
        sent = self._sent_count()
        held = sum(self.client.count(name) for name in self.physical() if name in existing)
        sent = min(sent, self._sent_count())
        if held >= sent:
            return ""
        return (
            f"Qdrant at {self._settings.place} holds only {held:,} of the {sent:,} passages that were sent: the SQLite"
            " catalogue answered; run `brain embed`"
        )

    def _sent_count(self) -> int:
        with self.database.snapshot():
            return self.chunk_count() - copies.unsent_count(self.database)

    def why_not(self) -> str:
        """Why the catalogue has to rank, in words, or ''."""
        if self._is_off():
            return self._off[1]
        known = copies.read_replica(self.database)
        if known is None or not known.is_of(self._wanted()) or known.embedder is None:
            return (
                f"Qdrant at {self._settings.place} is not filled yet: the SQLite catalogue answered; run `brain embed`"
            )
        if known.embedder != self.vectors.embedder:
            return (
                f"Qdrant at {self._settings.place} holds vectors of '{known.embedder}' still: the SQLite catalogue"
                " answered; run `brain embed`"
            )
        return self._lost

    def gave_up(self, error: BackendAway) -> str:
        """Leave Qdrant alone for a while; returns what to tell."""
        why = f"{error}: the SQLite catalogue answered; {error.hint}"
        self._off = (time.monotonic() + LEFT_ALONE_S, why)
        self._checked = False  # who was away may come back with less
        return why

    def _is_off(self) -> bool:
        return time.monotonic() < self._off[0]

    def lag(self, filter: Filter = Filter()) -> tuple[str, ...]:
        """How many passages that the filter lets through Qdrant does not have as they are now, in words."""
        unsent = copies.unsent_count(self.database, filter)
        if not unsent:
            return ()
        return (f"{unsent:,} passages are not in Qdrant yet as they are now; `brain embed` sends them",)

    def notices(self, filter: Filter = Filter()) -> tuple[str, ...]:
        """What is to be told of the copy when nobody searches; what a search would refuse, too."""
        try:
            self.check()
        except BackendMismatch as error:
            return (f"{error}; {error.hint}",)
        why = self.why_not()
        return (*([why] if why else []), *self.lag(filter), *(() if filter.privacy is not None else self._left()))

    def _left(self) -> tuple[str, ...]:
        """How many passages are removed here but not there, in words."""
        left = copies.undeleted_count(self.database)
        return (
            (f"{left:,} passages that were removed are in Qdrant still; `brain embed` takes them out",) if left else ()
        )

    # -- sending -----------------------------------------------------------------------------------------

    def replicate(self, progress: Progress) -> tuple[str, ...]:
        """Bring Qdrant in step with the catalogue; returns what could not be done, in words.

        Raises:
            BackendMismatch: Qdrant holds something else under our names.
            IndexLocked: another process is sending for very long.
        """
        with sync_lock(self.path, purpose="qdrant", progress=progress):
            try:
                self._sender().send(progress)
            except BackendAway as error:
                self.gave_up(error)
                return (f"{error}; {error.hint}", *self.lag(), *self._left())
            self._off, self._lost = (0.0, ""), ""
            return ()

    def adopt(self) -> None:
        """Take over collections that another catalogue owned, before everything is read again."""
        try:
            self.collections.adopt(self.generation, list(self._collections()), str(meta(self.database, "index")))
        except BackendAway as error:
            self.gave_up(error)

    def _catch_up(self) -> None:
        """Send a few that others left behind, unless somebody is at it: whoever comes next goes on."""
        if self._is_off() or copies.read_replica(self.database) is None or copies.is_empty(self.database):
            return
        try:
            with sync_lock(self.path, purpose="qdrant", progress=lambda *_: None, wait_s=0.0):
                self._sender().send(lambda *_: None, limit=BATCH)
        except BackendAway as error:
            self.gave_up(error)
        except BackendMismatch:
            raise
        except StorageError:
            pass  # somebody is at it, or the file cannot be written: the search goes on

    def _wanted(self) -> Replica:
        """The copy that there should be by the settings of now."""
        sources = {name: self._collection_of(name) for name, _, _ in self.freshness()}
        return Replica(self._settings.place, self._settings.prefix, self.generation, sources=sources)

    def _sender(self) -> Sender:
        return Sender(
            self.database,
            self.collections,
            self.terms.weights,
            self._wanted(),
            list(self._collections()),
            self._width(),
        )

    def _width(self) -> int:
        """Of the vectors that the catalogue has, else of those that it will get."""
        return int(self.database.value("SELECT length(data) FROM vector LIMIT 1") or self._dimensions())
