"""``Brain``: the one object that the outside uses. CLI, servers and hooks only translate words and errors.

with Brain.open() as brain:
brain.add("~/notes")
brain.sync()
brain.embed()
result = brain.search("how did we fix the pump?")
"""

from __future__ import annotations

import copy
import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from types import TracebackType

from . import clearance as clearances
from . import config, health, ingest, keeping, wiring
from .answering.answerer import Answerer
from .answering.encoding import RememberingEmbedder, remembering
from .answering.reading import read
from .answering.reranking import Reranking
from .config import EndpointSettings, ModelSettings, Settings, SourceSettings
from .errors import Ambiguous, ConfigError, NotFound, UsageError
from .index.lock import sync_lock
from .index.sqlite.check import Finding, examine
from .index.sqlite.facets import Facets, count_facets, telling_match
from .index.sqlite.store import SqliteIndex
from .protocols import Embedder, Progress
from .ranking import adjust
from .ranking.adjust import SourceRules
from .records import Note, Status, StoredDocument
from .retrieval import Retriever
from .sources.fingerprints import fingerprint, folder_state
from .sources.paths import disk_bytes, normalize_relative
from .targets import chosen_sources, lies_at, no_source
from .types import Document, EmbedReport, Filter, Hit, Mode, Query, SearchResult, SyncReport

OLD_AFTER = timedelta(days=1)
"""A search says how old the index is when the last comparison with the disk is longer ago."""


_NOTE_LINK = re.compile(r"^note:([^#]+)#\d+$")
"""How summaries name the turn of a session: ``note:3f2a1c9b#4``."""


_LINE = re.compile(r":\d+$")
"""Hits are shown with the line that they begin on."""

SHORTEST_ID = 6
"""Digits of a passage's id that are shown at least."""


def _silent(stage: str, done: int, total: int | None) -> None:
    """Progress that nobody watches."""


class _Shared:
    """What all views of one brain have in common."""

    def __init__(self, settings: Settings, reading: Callable[[], Settings] | None) -> None:
        self.settings = settings
        self.reading = reading
        self.stamp: object = None  # of nothing yet: what changed while it was read is read at the first look
        self.lock = threading.Lock()
        self.index: SqliteIndex | None = None
        self.embedder: Embedder | None = None
        self.remembering: RememberingEmbedder | None = None
        self.reranking: tuple[ModelSettings, Reranking] | None = None


class Brain:
    """One person's memory: settings, one index, one embedder. Safe to use from many threads.

    Open it with ``Brain.open``; nothing is read or loaded before it is needed.

    ``clearance`` is the highest privacy label that this view shows, '' for everything. In a view that does not show
    everything, what is above the label does not exist: for no answer, count, name or error. Such a view only reads:
    whatever changes the index or the settings, or hands out the index itself, raises UsageError.
    """

    def __init__(
        self, settings: Settings, *, clearance: str = "", reading: Callable[[], Settings] | None = None
    ) -> None:
        self._shared = _Shared(settings, reading)
        self.clearance = clearances.stricter(settings, clearance.lower(), "")

    @classmethod
    def open(
        cls,
        home: str | os.PathLike[str] | None = None,
        *,
        index: str | os.PathLike[str] | None = None,
        environment: Mapping[str, str] | None = None,
        clearance: str = "",
    ) -> Brain:
        """The brain whose settings are in ``home`` (default ``$BRAIN_HOME``, else the platform's folder).

        Args:
            home: folder of ``sources.yaml`` and ``models.yaml``; it need not exist yet.
            index: the index file, before ``$BRAIN_INDEX`` and the default.
            environment: instead of ``os.environ``.
            clearance: the highest privacy label that may be seen; '' for everything.

        Raises:
            ConfigError: a settings file is wrong.
            UsageError: there is no such label.
        """
        reading = partial(config.load, home, index=index, environment=environment)
        return cls(_read(reading, clearance), clearance=clearance, reading=reading)

    def follow(self) -> None:
        """Take over what the settings files say by now, for all views: whoever keeps a brain open for long asks first.

        Cost: three looks at the disk while nothing changed. Raises ConfigError; then all is as it was.
        """
        shared = self._shared
        with shared.lock:
            stamp = config.stamp(shared.settings.home)
            if shared.reading is None or stamp == shared.stamp:
                return
            settings = _read(shared.reading, self.clearance)
            if settings.models.embedder != shared.settings.models.embedder:
                shared.embedder = shared.remembering = None
            shared.settings, shared.stamp = settings, stamp

    def seen_by(self, label: str) -> Brain:
        """A view of this brain up to a privacy label, never beyond this one's own: the same index and embedder.

        Closing it closes both. Raises UsageError for an unknown label.
        """
        view = copy.copy(self)
        view.clearance = clearances.stricter(self._shared.settings, self.clearance, label.lower())
        return view

    @property
    def settings(self) -> Settings:
        """The settings of now, without the sources that this view does not show."""
        return clearances.visible_settings(self._shared.settings, self.clearance)

    def must_see_all(self, deed: str) -> None:
        """Raise UsageError in a view that does not show everything: it may not do this (``deed``: a verb)."""
        if self.clearance:
            raise UsageError(
                f"who sees documents up to '{self.clearance}' only may not {deed}",
                hint="that needs a view of everything: leave out --privacy, $BRAIN_PRIVACY and `see:`",
            )

    def __enter__(self) -> Brain:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the index."""
        if self._shared.index is not None:
            self._shared.index.close()

    @property
    def index(self) -> SqliteIndex:
        """The index, created on first use: everything that is in it, whatever its label."""
        self.must_see_all("look into the index itself")
        return self._index

    @property
    def _index(self) -> SqliteIndex:
        """The index, for queries whose filter is ``_allowed``."""
        with self._shared.lock:
            if self._shared.index is None:
                self._shared.index = SqliteIndex(self._shared.settings.index)
            return self._shared.index

    def embedder(self) -> Embedder:
        """The embedder that models.yaml names."""
        with self._shared.lock:
            if self._shared.embedder is None:
                self._shared.embedder = wiring.embedder(self.settings, self.settings.model_cache)
            return self._shared.embedder

    def fetch_models(self) -> list[str]:
        """Download the models of the hub that models.yaml names; returns their names. Nothing else ever downloads.

        Raises:
            MissingExtra: the package that runs them is not installed.
            ModelError: the hub cannot be reached, or has no such model.
        """
        self.must_see_all("download models")
        return wiring.fetch(self.settings)

    # -- sources -----------------------------------------------------------------------------------------

    def sources(self) -> tuple[SourceSettings, ...]:
        """The sources of the settings."""
        return self.settings.sources

    def add(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        name: str | None = None,
        kind: str | None = None,
        privacy: str | None = None,
    ) -> SourceSettings:
        """Write a source into ``sources.yaml``; nothing is read from it yet.

        Args:
            path: its folder, or for an export its file. None: where sources of the kind usually are.
            name: how it is called; None means after its folder or, of an agent's sessions, after the agent.
            kind: None means what the path is by its place: an agent's store of sessions, else Markdown.
            privacy: its label; None means the default one.

        Raises:
            UsageError: nothing is there, or path or name are taken.
        """
        self.must_see_all("add a source")
        place = wiring.default_root(kind or "markdown", os.environ) if path is None else config.as_named(path)
        kind = kind or wiring.kind_of(place, os.environ)
        with self._shared.lock:
            self._shared.settings, added = config.add_source(
                self.settings,
                place,
                name=name,
                kind=kind,
                privacy=privacy,
                kinds=wiring.names("sources"),
                may_be_file=kind in wiring.names("sources") and wiring.takes_files(kind),
            )
        return added

    def remove(self, name: str) -> int:
        """Take a source out of ``sources.yaml`` and of the index, never a file; returns how many documents went.

        Our own copies of what an agent deleted go too: the user asked to forget it.

        Raises:
            NotFound: neither knows such a source.
        """
        self.must_see_all("remove a source")
        configured = [source for source in self.settings.sources if source.name == name]
        indexed = any(state.name == name for state in self.index.sources())
        if not configured and not indexed:
            raise no_source(self.settings, name)
        for source in configured:
            with self._shared.lock:
                self._shared.settings = config.remove_source(self.settings, name)
            shutil.rmtree(wiring.archive_folder(source, self.settings), ignore_errors=True)
        return self.index.remove_source(name)

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
        self.must_see_all("index")
        with sync_lock(self.settings.index, progress=progress):
            if keeping.needs_masking(self.index, redact=self.settings.redact):
                with sync_lock(self.settings.index, purpose="embed", progress=progress):
                    keeping.mask_older(self.index, redact=self.settings.redact, progress=progress)
            for setting in self.settings.sources:
                self.index.put_source(setting.name, setting.kind, str(setting.path))
                self.index.relabel(setting.name, partial(self.settings.label, setting.name))
            chosen = chosen_sources(self.settings, targets, self.index.items)
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
                        ingest.Reading(wiring.parser, wiring.chunker, self.settings.label, self._cleaning(setting)),
                        now=_now,
                        progress=progress,
                        prune=prune,
                        only=partial(lies_at, wanted) if wanted else None,
                        claimed=claimed,
                    )
                )
        return SyncReport(
            tuple(source for report in reports for source in report.sources),
            sum(report.seconds for report in reports),
        )

    def _cleaning(self, setting: SourceSettings) -> Callable[[Document], Document]:
        """``cleaned`` for the documents of a source; notes belong to the project that their folder lies in."""
        return partial(self.cleaned, project=keeping.project_of(setting.path) if setting.kind == "markdown" else "")

    def cleaned(self, document: Document, *, project: str = "") -> Document:
        """The document as it is kept: its language found, secrets masked unless ``redact: off``; offsets stay."""
        return keeping.kept(document, redact=self.settings.redact, project=project)

    def embed(self, *, limit: int | None = None, progress: Progress = _silent) -> EmbedReport:
        """Give every chunk that waits its vector, newest documents first; can be stopped and resumed at any point.

        Raises:
            ModelError: the embedder cannot be loaded.
        """
        self.must_see_all("make vectors")
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
        condensed: bool = False,
        strict: bool = False,
        cursor: str = "",
    ) -> SearchResult:
        """The passages that answer best, in order, with what the reader must know about them.

        Args:
            text: a question, which may hold fields (``type:meeting``) and words of time ("last week").
            limit: hits of a page.
            mode: ``agentic`` takes a question apart that is several.
            filter: what counts, besides what the question itself says.
            now: aware; days are those of its time zone. None: this moment, in the local one.
            per_document: at most so many hits of one document; None lifts the cap.
            condensed: for a reader: neighbouring passages of a document are one hit, copies are folded into the best.
            strict: leave out what its author has withdrawn, instead of ranking it lower.
            cursor: of an earlier page (``SearchResult.cursor``) of the same question.

        Raises:
            UsageError: ``limit`` is below 1, or the cursor is not of this question and index.
            NotFound: the filter names a source that nobody knows.
        """
        if limit < 1:
            raise UsageError(f"the number of hits must be at least 1, not {limit}")
        filter = self._allowed(filter)
        asked = replace(filter, without_status=tuple(sorted(adjust.DEPRECATED))) if strict else filter
        query = Query(text, now or datetime.now().astimezone(), limit, mode, asked, per_document, condensed)
        result = self._answerer().search(query, cursor)

        def looked_at(hit: Hit) -> Hit:
            return replace(hit, notes=(*hit.notes, *self._disk_notes(hit.uri, hit.path)))

        return replace(
            result,
            hits=tuple(map(looked_at, result.hits)),
            rolled_up=tuple(map(looked_at, result.rolled_up)),
            notices=(*result.notices, *self._notices(query.now, filter)),
        )

    def _answerer(self) -> Answerer:
        """What answers, by the settings of now; models are loaded when they are needed."""
        settings = self.settings
        rules = {s.name: SourceRules(s.weight, s.half_life_days) for s in settings.sources}
        retriever = Retriever(
            self._index, self._remembering, settings.fusion, rules, settings.late, settings.adjustments
        )
        chat = partial(wiring.chat, settings) if settings.decompose == "chat" else None
        with self._shared.lock:
            if self._shared.reranking is None or self._shared.reranking[0] != settings.models:
                self._shared.reranking = settings.models, self._reranking(settings)
            _, reranking = self._shared.reranking
        return Answerer(retriever, reranking, chat)

    @staticmethod
    def _reranking(settings: Settings) -> Reranking:
        endpoint = settings.models.reranker
        if not isinstance(endpoint, EndpointSettings):
            return Reranking(partial(wiring.reranker, settings), settings.reranking)
        sendable = settings.labels_up_to(endpoint.privacy)
        return Reranking(partial(wiring.reranker, settings), settings.reranking, lambda hit: hit.privacy in sendable)

    def _remembering(self) -> Embedder:
        """The embedder, with a memory for the last questions."""
        embedder = self.embedder()
        with self._shared.lock:
            if self._shared.remembering is None or self._shared.remembering.remembers_for is not embedder:
                self._shared.remembering = remembering(embedder)
            return self._shared.remembering

    def facets(self, text: str = "", *, filter: Filter = Filter(), now: datetime | None = None) -> Facets:
        """How documents spread over sources, projects, kinds, types, languages, tags and time.

        Of those that the filter lets through, and the fields in ``text``, which is read as a search reads it; if it
        has words, of those which hold at least one of its telling ones: however many a search shows of them.
        """
        query = Query(text, now or datetime.now().astimezone(), filter=self._allowed(filter))
        asked = read(query, self._index, None).whole
        match = telling_match(self._index.terms, asked.text, asked.filter) if asked.text.strip() else None
        return count_facets(self._index.database, asked.filter, match)

    def _allowed(self, filter: Filter = Filter()) -> Filter:
        """The filter without what the asker may not see by the settings of now, its path in normal form.

        The one place where a view is limited: every query of ours takes its filter from here. The labels in the
        index are those of the last sync. Raises NotFound for a source that nobody knows, or that is not to be seen.
        """
        if self.clearance:
            seen = self.settings.labels_up_to(self.clearance)
            asked = seen if filter.privacy is None else filter.privacy
            filter = replace(filter, privacy=tuple(label for label in asked if label in seen))
        known = {source.name for source in self.settings.sources}
        if not self.clearance:
            known |= {name for name, _, _ in self._index.freshness()}
        for name in filter.sources:
            if name not in known:
                raise no_source(self.settings, name)
        filter = replace(filter, path_prefix=_prefix(filter.path_prefix))
        if filter.privacy is None:
            return filter
        names = filter.sources or sorted(known)
        allowed = tuple(name for name in names if self.settings.label(name, "") in filter.privacy)
        return replace(filter, sources=allowed) if allowed else replace(filter, privacy=())

    def _disk_notes(self, uri: str, path: str) -> Iterator[str]:
        """Whether the file still is what was indexed: one stat."""
        known = self._index.fingerprint(uri)
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
        """What is told of the index; where the asker may not see everything, only of what they may."""
        guest = filter.privacy is not None
        states = [state for state in self._index.freshness() if not guest or state[0] in filter.sources]
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
            if unavailable:
                yield f"source '{name}' was not available at the last run" + ("" if guest else f": {unavailable}")
            elif any(
                folder_state(folder) != state and (not guest or self._index.lies_in(folder, filter))
                for folder, state in self._index.folders(name).items()
            ):
                yield f"files of source '{name}' were added, renamed or removed since the last run; run `brain index`"

    def get(self, name: str, *, filter: Filter = Filter()) -> Note:
        """A document by uri, path (absolute, below a source, or its end), title, alias, or the id of a chunk.

        Raises:
            NotFound: nothing answers to the name.
            Ambiguous: several documents do.
        """
        filter = self._allowed(filter)
        with self._index.database.snapshot():  # a document that is replaced meanwhile is not half the old one
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
            links = clearances.VisibleLinks(self._index, filter)
            return Note(
                document,
                self._index.text(document.key),
                tuple(links.outgoing(document.key, document.uri)),
                tuple(links.backlinks(document.uri)),
                tuple(self._disk_notes(document.uri, document.path)),
            )

    def _find(self, name: str, filter: Filter) -> list[StoredDocument]:
        name = _NOTE_LINK.sub(r"\1", name.strip())
        if not name:
            return []
        found = self._index.find(name, filter) or self._index.find(_LINE.sub("", name), filter)
        if not found and ("/" in name or "\\" in name or name.startswith(("~", "."))):
            found = self._index.find(str(config.as_named(name)), filter)
        if not found and len(name) >= 4 and all(char in "0123456789abcdef" for char in name):
            keys = [key for key, _ in self._index.chunk_keys(name, filter)]
            documents = {chunk.document.uri: chunk.document for chunk in self._index.chunks(keys).values()}
            found = list(documents.values())
        return found

    def short_ids(self, ids: Iterable[str]) -> dict[str, str]:
        """For each passage's id the shortest beginning that names no other passage here, of 6 digits or more.

        One of them is a figure, so that no word is taken for an id.
        """
        filter = self._allowed()
        short = {}
        for id in dict.fromkeys(ids):
            length = SHORTEST_ID
            while length < len(id) and (id[:length].isalpha() or len(self._index.chunk_keys(id[:length], filter)) > 1):
                length += 1
            short[id] = id[:length]
        return short

    def recent(self, *, limit: int = 20, filter: Filter = Filter()) -> list[StoredDocument]:
        """Documents by date, newest first."""
        if limit < 1:
            raise UsageError(f"the number of notes must be at least 1, not {limit}")
        return self._index.recent(self._allowed(filter), limit)

    def linked(self, *, limit: int = 100_000) -> list[tuple[StoredDocument, list[str]]]:
        """Every note, by uri, with the titles of the notes that it links to."""
        filter = self._allowed()
        notes = self._index.documents("1", (), filter, limit)
        titles = {note.uri: note.title for note in notes}
        links = clearances.VisibleLinks(self._index, filter)
        return [
            (note, [titles[link.target] for link in links.outgoing(note.key, note.uri) if link.target in titles])
            for note in notes
        ]

    # -- health ------------------------------------------------------------------------------------------

    def status(self) -> Status:
        """What the index holds, how fresh it is, and what is wrong, as far as this view shows."""
        filter = self._allowed()
        return health.status(self.settings, self._index, self.embedder(), filter, self._notices(_now(), filter))

    def doctor(self, *, fix: bool = False) -> list[Finding]:
        """What is wrong with the index file, and where secrets were masked, each with its remedy.

        ``fix`` applies what loses nothing. In a view that does not show everything, only what it may know.
        """
        if fix:
            self.must_see_all("mend the index")
        self.close()
        path = self.settings.index
        findings = examine(path)
        sound = path.exists() and not any(finding.severity == "error" for finding in findings)
        if sound:
            findings += keeping.examine_secrets(self._index, self._allowed(), redact=self.settings.redact)
        if self.clearance:
            return [*health.findings_for_guests(findings), *(found for found in findings if found.name == "secrets")]
        if fix and any(finding.fixable for finding in findings):
            with self._alone():
                self.close()
                self._shared.index = None
                findings = health.mend(path, findings, redact=self.settings.redact, progress=_silent)
                findings += keeping.examine_secrets(self._index, self._allowed(), redact=self.settings.redact)
        return findings

    def compact(self) -> tuple[int, int]:
        """Give free space back to the disk: (bytes before, bytes after)."""
        self.must_see_all("compact the index")
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


def _read(reading: Callable[[], Settings], clearance: str) -> Settings:
    """The settings. What is wrong with them is told to those who may see everything."""
    try:
        return reading()
    except ConfigError:
        if clearance:  # the message may name what this asker may not see
            raise ConfigError("a settings file is wrong", hint="its owner sees what with `brain status`") from None
        raise


def _prefix(path: str) -> str:
    """A path prefix in the form that uris have. An absolute one keeps its spelling, which the disk's may be."""
    return re.sub(r"/(?:\.?/)+", "/", path) if Path(path).is_absolute() else normalize_relative(path)


def _now() -> datetime:
    return datetime.now(UTC)
