"""``Brain``: the one object that the outside uses. CLI, servers and hooks only translate words and errors.

with Brain.open() as brain:
brain.add("~/notes")
brain.sync()
brain.embed()
result = brain.search("how did we fix the pump?")
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from types import TracebackType

from . import config, ingest, wiring
from .config import Settings, SourceSettings
from .errors import Ambiguous, NotFound, UsageError
from .index.lock import sync_lock
from .index.sqlite.check import Finding, examine, repair
from .index.sqlite.records import SourceState, StoredDocument, StoredLink
from .index.sqlite.store import SqliteIndex
from .protocols import Embedder, Progress, TokenEmbedder
from .retrieval import Retriever, SourceRules
from .sources.fingerprints import fingerprint, folder_state
from .sources.paths import compose, disk_bytes, joined, normalize_relative
from .types import EmbedReport, Filter, Mode, Query, SearchResult, SyncReport

OLD_AFTER = timedelta(days=1)
"""A search says how old the index is when the last comparison with the disk is longer ago."""


def _silent(stage: str, done: int, total: int | None) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, slots=True)
class Note:
    """A document whole: its text, what it says of itself, and what it is linked with."""

    document: StoredDocument
    text: str
    links: tuple[StoredLink, ...]
    backlinks: tuple[StoredLink, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Status:
    """What the index holds and how fresh it is."""

    version: str
    home: Path
    index: Path
    documents: int
    chunks: int
    embedded: int
    waiting: int
    links: int
    unresolved_links: int
    failures: int
    embedder: str
    wanted_embedder: str
    text_bytes: int
    index_bytes: int
    matrix_bytes: int
    last_sync: datetime | None
    sources: tuple[SourceState, ...]
    notices: tuple[str, ...]


class Brain:
    """One person's memory: settings, one index, one embedder. Safe to use from many threads.

    Open it with ``Brain.open``; nothing is read or loaded before it is needed.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._lock = threading.Lock()
        self._index: SqliteIndex | None = None
        self._embedder: Embedder | None = None

    @classmethod
    def open(
        cls,
        home: str | os.PathLike[str] | None = None,
        *,
        index: str | os.PathLike[str] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Brain:
        """The brain whose settings are in ``home`` (default ``$BRAIN_HOME``, else the platform's folder).

        Args:
            home: folder of ``sources.yaml`` and ``models.yaml``; it need not exist yet.
            index: the index file, before ``$BRAIN_INDEX`` and the default.
            environment: instead of ``os.environ``.

        Raises:
            ConfigError: a settings file is wrong.
        """
        return cls(config.load(home, index=index, environment=environment))

    def __enter__(self) -> Brain:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the index."""
        if self._index is not None:
            self._index.close()

    @property
    def index(self) -> SqliteIndex:
        """The index, created on first use."""
        with self._lock:
            if self._index is None:
                self._index = SqliteIndex(self.settings.index)
            return self._index

    def embedder(self) -> Embedder:
        """The embedder that models.yaml names."""
        with self._lock:
            if self._embedder is None:
                self._embedder = wiring.embedder(self.settings, self.settings.model_cache)
            return self._embedder

    def fetch_models(self) -> list[str]:
        """Download the models of the hub that models.yaml names; returns their names. Nothing else ever downloads.

        Raises:
            MissingExtra: the package that runs them is not installed.
            ModelError: the hub cannot be reached, or has no such model.
        """
        return wiring.fetch(self.settings)

    # -- sources -----------------------------------------------------------------------------------------

    def sources(self) -> tuple[SourceSettings, ...]:
        """The sources of the settings."""
        return self.settings.sources

    def add(
        self,
        path: str | os.PathLike[str],
        *,
        name: str | None = None,
        kind: str = "markdown",
        privacy: str | None = None,
    ) -> SourceSettings:
        """Write a source into ``sources.yaml``; nothing is read from it yet.

        Raises:
            UsageError: the folder does not exist, or folder or name are taken.
        """
        with self._lock:
            self.settings, added = config.add_source(
                self.settings, Path(path), name=name, kind=kind, privacy=privacy, kinds=wiring.names("sources")
            )
        return added

    def remove(self, name: str) -> int:
        """Take a source out of ``sources.yaml`` and of the index, never a file; returns how many documents went.

        Raises:
            NotFound: neither knows such a source.
        """
        configured = any(source.name == name for source in self.settings.sources)
        indexed = any(state.name == name for state in self.index.sources())
        if not configured and not indexed:
            raise self._no_source(name)
        if configured:
            with self._lock:
                self.settings = config.remove_source(self.settings, name)
        return self.index.remove_source(name)

    def _no_source(self, name: str) -> NotFound:
        known = ", ".join(source.name for source in self.settings.sources) or "none yet"
        return NotFound(f"no source is named '{name}'; sources: {known}", hint="see `brain sources`")

    # -- bringing it up to date --------------------------------------------------------------------------

    def sync(
        self,
        targets: Sequence[str | os.PathLike[str]] = (),
        *,
        rebuild: bool = False,
        prune: bool = False,
        progress: Progress = _silent,
    ) -> SyncReport:
        """Compare the sources with the index and write what differs (the lexical part; see ``embed``).

        Args:
            targets: names of sources, or paths that lie in one; empty means all sources.
            rebuild: read everything again, as if nothing were indexed; vectors of unchanged texts are kept.
            prune: believe it when most of a source is missing.
            progress: ``(source name, items done, items in all)``.

        Raises:
            NotFound: a target is neither a source nor a path in one, or nothing is there and nothing was.
            IndexLocked: another process kept indexing for too long.
        """
        with sync_lock(self.settings.index, progress=progress):
            for setting in self.settings.sources:
                self.index.put_source(setting.name, setting.kind, str(setting.path))
                self.index.relabel(setting.name, partial(self.settings.label, setting.name))
            chosen = self._targets(targets)
            reports: list[SyncReport] = []
            for setting, wanted in chosen.items():
                if rebuild and not wanted:
                    self.index.forget_hashes(setting.name)
                inner = tuple(s.path for s in self.settings.sources if s != setting)

                def claimed(path: str, inner: tuple[Path, ...] = inner, root: Path = setting.path) -> bool:
                    return any(Path(path).is_relative_to(p) for p in inner if p.is_relative_to(root))

                reports.append(
                    ingest.sync(
                        self.index,
                        [wiring.source(setting, self.settings)],
                        ingest.Reading(wiring.parser, wiring.chunker, self.settings.label),
                        now=_now,
                        progress=progress,
                        prune=prune,
                        only=partial(_lies_at, wanted) if wanted else None,
                        claimed=claimed,
                    )
                )
        return SyncReport(
            tuple(source for report in reports for source in report.sources),
            sum(report.seconds for report in reports),
        )

    def _targets(self, targets: Sequence[str | os.PathLike[str]]) -> dict[SourceSettings, list[str]]:
        """The sources that the targets name, each with the uris of the paths inside it (none: the whole source)."""
        if not targets:
            if not self.settings.sources:
                raise UsageError(
                    f"there is nothing to index: {self.settings.sources_file} names no source",
                    hint="type `brain add ~/notes` (the folder of your notes), then `brain index`",
                )
            return {source: [] for source in self.settings.sources}
        chosen: dict[SourceSettings, list[str]] = {}
        for target in targets:
            named = [source for source in self.settings.sources if source.name == str(target)]
            if named:
                chosen[named[0]] = []
                continue
            path = config.as_named(target)
            # In composed form, as uris are: people and shells spell a name in either.
            spelled = Path(compose(str(path)))
            roots = {source: Path(compose(str(source.path))) for source in self.settings.sources}
            owners = [source for source, root in roots.items() if spelled.is_relative_to(root)]
            if not owners:
                if os.path.exists(disk_bytes(path)):  # noqa: PTH110 - bytes, for any locale
                    raise NotFound(
                        f"{path} lies in no source; sources: "
                        + (", ".join(f"{s.name} ({s.path})" for s in self.settings.sources) or "none yet"),
                        hint=f"type `brain add {target}` to make it one",
                    )
                raise self._no_source(str(target))
            owner = max(owners, key=lambda source: len(source.path.parts))
            if spelled == roots[owner]:
                chosen[owner] = []
                continue
            uri = f"{owner.name}/{spelled.relative_to(roots[owner]).as_posix()}"
            if _on_disk(disk_bytes(path)) is None and not any(
                _lies_at([uri], known) for known in self.index.items(owner.name)
            ):
                raise NotFound(
                    f"{path} does not exist, and nothing of it is indexed",
                    hint=f"check its spelling, or type `brain index {owner.name}` to compare the whole source",
                )
            if owner not in chosen or chosen[owner]:
                chosen.setdefault(owner, []).append(uri)
        return chosen

    def embed(self, *, limit: int | None = None, progress: Progress = _silent) -> EmbedReport:
        """Give every chunk that waits its vector, newest documents first; can be stopped and resumed at any point.

        Raises:
            ModelError: the embedder cannot be loaded.
        """
        with sync_lock(self.settings.index, purpose="embed", progress=progress):
            return ingest.embed(self.index, self.embedder(), progress=progress, limit=limit, late=self.settings.late)

    # -- asking ------------------------------------------------------------------------------------------

    def search(
        self,
        text: str,
        *,
        limit: int = 10,
        mode: Mode = "hybrid",
        filter: Filter = Filter(),
        now: datetime | None = None,
        per_document: int | None = 2,
    ) -> SearchResult:
        """The passages that answer best, in order, with what the reader must know about them."""
        if limit < 1:
            raise UsageError(f"the number of hits must be at least 1, not {limit}")
        filter = self._allowed(filter)
        retriever = Retriever(
            self.index,
            self.embedder,
            self.settings.fusion,
            {s.name: SourceRules(s.weight, s.half_life_days) for s in self.settings.sources},
            self.settings.late,
        )
        query = Query(text, now or _now(), limit, mode, filter, per_document)
        result = retriever.search(query)
        hits = tuple(replace(hit, notes=(*hit.notes, *self._disk_notes(hit.uri, hit.path))) for hit in result.hits)
        return replace(result, hits=hits, notices=(*result.notices, *self._notices(query.now, filter)))

    def _allowed(self, filter: Filter) -> Filter:
        """The filter without the sources that the asker may not see by the settings of now, its path in normal form.

        The labels in the index are those of the last sync. Raises NotFound for a source that nobody knows.
        """
        known = {source.name for source in self.settings.sources} | {name for name, _, _ in self.index.freshness()}
        for name in filter.sources:
            if name not in known:
                raise self._no_source(name)
        filter = replace(filter, path_prefix=_prefix(filter.path_prefix))
        if filter.privacy is None:
            return filter
        names = filter.sources or sorted(known)
        allowed = tuple(name for name in names if self.settings.label(name, "") in filter.privacy)
        return replace(filter, sources=allowed) if allowed else replace(filter, privacy=())

    def _disk_notes(self, uri: str, path: str) -> Iterator[str]:
        """Whether the file still is what was indexed: one stat."""
        known = self.index.fingerprint(uri)
        try:
            now = fingerprint(os.stat(disk_bytes(path)), time.time_ns())  # noqa: PTH116
        except FileNotFoundError:
            yield "the file is gone or its disk is not there; run `brain index`"
        except OSError as error:
            yield f"the file cannot be looked at: {error.strerror}"
        else:
            if known and now.rstrip("~") != known.rstrip("~"):
                yield "the file changed since it was indexed; run `brain index`"

    def _notices(self, now: datetime, filter: Filter = Filter()) -> Iterator[str]:
        """What is told of the index; where the asker may not see everything, only of the sources that they may."""
        states = self.index.freshness()
        if not states and self.settings.sources:
            yield "nothing is indexed yet: type `brain index`"
        elif not states:
            yield "the index is empty: type `brain add ~/notes` (the folder of your notes), then `brain index`"
        synced = [when for _, when, _ in states if when]
        if synced and now - max(synced) > OLD_AFTER:
            days = (now - max(synced)).days
            ago = "a day" if days == 1 else f"{days} days"
            yield f"the index was last compared with the files {ago} ago; run `brain index`"
        for name, _, unavailable in states:
            if filter.privacy is not None and name not in filter.sources:
                continue
            if unavailable:
                yield f"source '{name}' was not available at the last run: {unavailable}"
            elif any(folder_state(folder) != state for folder, state in self.index.folders(name).items()):
                yield f"files of source '{name}' were added, renamed or removed since the last run; run `brain index`"

    def get(self, name: str, *, filter: Filter = Filter()) -> Note:
        """A document by uri, path (absolute, below a source, or its end), title, alias, or the id of a chunk.

        Raises:
            NotFound: nothing answers to the name.
            Ambiguous: several documents do.
        """
        filter = self._allowed(filter)
        with self.index.database.snapshot():  # a document that is replaced meanwhile is not half the old one
            found = self._find(name, filter)
            if not found:
                raise NotFound(
                    f"nothing in the index answers to '{name}'",
                    hint=f"try `brain search '{name}'`, or `brain index` if the file is new",
                )
            if len(found) > 1:
                raise Ambiguous(
                    f"{len(found)} documents answer to '{name}'",
                    [document.uri for document in found],
                    hint="use one of: " + ", ".join(document.uri for document in found[:10]),
                )
            (document,) = found
            return Note(
                document,
                self.index.text(document.key),
                tuple(self.index.outgoing(document.key, filter)),
                tuple(self.index.backlinks(document.uri, filter)),
                tuple(self._disk_notes(document.uri, document.path)),
            )

    def _find(self, name: str, filter: Filter) -> list[StoredDocument]:
        name = name.strip()
        if not name:
            return []
        found = self.index.find(name, filter)
        if not found and ("/" in name or "\\" in name or name.startswith(("~", "."))):
            found = self.index.find(str(config.as_named(name)), filter)
        if not found and len(name) >= 4 and all(char in "0123456789abcdef" for char in name):
            keys = [key for key, _ in self.index.chunk_keys(name, filter)]
            documents = {chunk.document.uri: chunk.document for chunk in self.index.chunks(keys).values()}
            found = list(documents.values())
        return found

    def recent(self, *, limit: int = 20, filter: Filter = Filter()) -> list[StoredDocument]:
        """Documents by date, newest first."""
        if limit < 1:
            raise UsageError(f"the number of notes must be at least 1, not {limit}")
        return self.index.recent(self._allowed(filter), limit)

    # -- health ------------------------------------------------------------------------------------------

    def status(self) -> Status:
        """What the index holds, how fresh it is, and what is wrong: of everything, for its owner only."""
        from . import __version__

        stats = self.index.stats()
        states = self.index.sources()
        synced = [state.synced for state in states if state.synced]
        wanted = self.embedder().identity
        notices = list(self._notices(_now()))
        if stats.embedder and stats.embedder != wanted:
            notices.append(
                f"the index holds vectors of '{stats.embedder}', the settings ask for '{wanted}'; run `brain embed`"
            )
        elif stats.waiting:
            notices.append(f"{stats.waiting:,} of {stats.chunks:,} passages wait for a vector; run `brain embed`")
        elif self.settings.late and isinstance(self.embedder(), TokenEmbedder):
            uncoded = self.index.vectors.uncoded_count()
            if uncoded:
                notices.append(f"{uncoded:,} passages have no token codes and rank without; run `brain embed`")
        configured = {source.name for source in self.settings.sources}
        notices.extend(
            f"source '{state.name}' is indexed but not in the settings; `brain remove {state.name}` forgets it"
            for state in states
            if state.name not in configured
        )
        return Status(
            version=__version__,
            home=self.settings.home,
            index=self.settings.index,
            documents=stats.documents,
            chunks=stats.chunks,
            embedded=stats.chunks - stats.waiting,
            waiting=stats.waiting,
            links=stats.links,
            unresolved_links=stats.unresolved_links,
            failures=stats.failures,
            embedder=stats.embedder,
            wanted_embedder=wanted,
            text_bytes=stats.text_bytes,
            index_bytes=stats.file_bytes,
            matrix_bytes=stats.matrix_bytes,
            last_sync=max(synced) if synced else None,
            sources=tuple(states),
            notices=tuple(notices),
        )

    def doctor(self, *, fix: bool = False) -> list[Finding]:
        """What is wrong with the index file, each with its remedy; ``fix`` applies what loses nothing."""
        self.close()
        findings = examine(self.settings.index)
        if fix and any(finding.fixable for finding in findings):
            with self._alone():
                self._index = None
                findings = repair(self.settings.index, findings)
        return findings

    def compact(self) -> tuple[int, int]:
        """Give free space back to the disk: (bytes before, bytes after)."""
        with self._alone():
            before = self.index.stats().file_bytes
            self.index.compact()
            return before, self.index.stats().file_bytes

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Nobody indexes or embeds meanwhile: what they write would go into a file that is set aside."""
        index = self.settings.index
        with sync_lock(index, progress=_silent), sync_lock(index, purpose="embed", progress=_silent):
            yield


def _lies_at(wanted: Sequence[str], uri: str) -> bool:
    """Whether the uri is one of these or lies below one, in either Unicode form."""
    composed = compose(uri)
    return any(composed == place or composed.startswith(place + "/") for place in wanted)


def _on_disk(path: bytes) -> bytes | None:
    """The path as the disk spells it, whose names may be in the other Unicode form; None if nothing is there."""
    if os.path.lexists(path):
        return path
    parent, name = os.path.split(path)
    folder = _on_disk(parent) if name else None
    if folder is None or not os.path.isdir(folder):  # noqa: PTH112 - bytes, for any locale
        return None
    same = [entry for entry in _names(folder) if _composed(entry) == _composed(name)]
    return joined(folder, same[0]) if same else None


def _names(folder: bytes) -> list[bytes]:
    with os.scandir(folder) as listing:
        return [entry.name for entry in listing]


def _composed(name: bytes) -> str:
    return compose(name.decode("utf-8", "surrogateescape"))


def _prefix(path: str) -> str:
    """A path prefix in the form that uris have. An absolute one keeps its spelling, which the disk's may be."""
    return re.sub(r"/(?:\.?/)+", "/", path) if Path(path).is_absolute() else normalize_relative(path)


def _now() -> datetime:
    return datetime.now(UTC)
