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
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial, wraps
from pathlib import Path
from types import TracebackType
from typing import Concatenate, ParamSpec, TypeVar

from . import clearance as clearances
from . import collecting, config, generations, health, ingest, keeping, naming, wiring
from .answering.answerer import Answerer
from .answering.encoding import RememberingEmbedder, remembering
from .answering.reading import read
from .answering.reranking import Reranking
from .config import EndpointSettings, ModelSettings, Settings, SourceSettings
from .errors import Ambiguous, ConfigError, EmbedderMismatch, NotFound, StorageError, UsageError
from .freshness import file_notes, index_notices
from .index.lock import WAIT_S, sync_lock
from .index.sqlite.check import Finding, examine
from .index.sqlite.facets import count_facets, telling_match
from .index.sqlite.store import SqliteIndex
from .protocols import Embedder, Progress, Reranker
from .ranking import adjust
from .ranking.adjust import SourceRules
from .records import CollectionState, Facets, Note, Status, StoredDocument
from .retrieval import Retriever
from .targets import chosen_sources, lies_at
from .types import Document, EmbedReport, Filter, Hit, Mode, Query, SearchResult, SyncReport

P = ParamSpec("P")
R = TypeVar("R")


def _silent(stage: str, done: int, total: int | None) -> None:
    """Progress that nobody watches."""


def _steady(method: Callable[Concatenate[Brain, P], R]) -> Callable[Concatenate[Brain, P], R]:
    """All of one call is answered by one generation, whatever is promoted meanwhile."""

    @wraps(method)
    def steady(self: Brain, /, *arguments: P.args, **named: P.kwargs) -> R:
        with self._shared.followed.held():
            return method(self, *arguments, **named)

    return steady


class _Shared:
    """What all views of one brain have in common."""

    def __init__(self, settings: Settings, reading: Callable[[], Settings] | None, generation: str) -> None:
        self.followed = generations.Followed(settings, self._open_index, generation)
        self.reading = reading
        self.stamp: object = None  # of nothing yet: what changed while it was read is read at the first look
        self.lock = threading.Lock()
        self.embedders: dict[str, Embedder] = {}
        self.remembering: RememberingEmbedder | None = None
        self.reranking: tuple[ModelSettings, Reranking] | None = None

    def _open_index(self, settings: Settings) -> SqliteIndex:
        return wiring.index(settings, collections=lambda: self.followed.settings.collections)


class Brain:
    """One person's memory: settings, one index, one embedder. Safe to use from many threads.

    Open it with ``Brain.open``; nothing is read or loaded before it is needed.

    ``clearance`` is the highest privacy label that this view shows, '' for everything. In a view that does not show
    everything, what is above the label does not exist: for no answer, count, name or error. Such a view only reads:
    whatever changes the index or the settings, or hands out the index itself, raises UsageError.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        clearance: str = "",
        reading: Callable[[], Settings] | None = None,
        generation: str = "",
    ) -> None:
        self._shared = _Shared(settings, reading, generation or settings.generation)
        self.clearance = clearances.stricter(settings, clearance.lower(), "")

    @classmethod
    def open(
        cls,
        home: str | os.PathLike[str] | None = None,
        *,
        index: str | os.PathLike[str] | None = None,
        environment: Mapping[str, str] | None = None,
        clearance: str = "",
        generation: str = "",
    ) -> Brain:
        """The brain whose settings are in ``home`` (default ``$BRAIN_HOME``, else the platform's folder).

        Args:
            home: folder of ``sources.yaml`` and ``models.yaml``; it need not exist yet.
            index: the index file, before ``$BRAIN_INDEX`` and the default.
            environment: instead of ``os.environ``.
            clearance: the highest privacy label that may be seen; '' for everything.
            generation: the name of one that answers whichever is current; '' for the current one.

        Raises:
            ConfigError: a settings file is wrong.
            UsageError: there is no such label.
        """
        reading = partial(config.load, home, index=index, environment=environment)
        return cls(_read(reading, clearance), clearance=clearance, reading=reading, generation=generation)

    def at(self, generation: str) -> Brain:
        """The same brain opened on a generation by its name, whichever is current; to be closed by itself."""
        settings, reading = self._shared.followed.settings, self._shared.reading
        return Brain(settings, clearance=self.clearance, reading=reading, generation=generation)

    def follow(self) -> None:
        """Take over what the settings files say by now, and the generation that is current, for all views.

        Whoever keeps a brain open for long asks first; what is being answered meanwhile ends as it began.
        Cost: four looks at the disk while nothing changed. Raises ConfigError, StorageError; then all is as it was.
        """
        shared = self._shared
        with shared.lock:
            settings = shared.followed.settings
            stamp = (config.stamp(settings.home), generations.stamp(settings))
            if stamp == shared.stamp:
                return
            shared.followed.take(_read(shared.reading, self.clearance) if shared.reading else settings)
            shared.stamp = stamp

    def seen_by(self, label: str) -> Brain:
        """A view of this brain up to a privacy label, never beyond this one's own: the same index and embedder.

        Closing it closes both. Raises UsageError for an unknown label.
        """
        view = copy.copy(self)
        view.clearance = clearances.stricter(self._shared.followed.settings, self.clearance, label.lower())
        return view

    def seen_as_set(self) -> Brain:
        """The view that `see:` of settings.yaml asks for: this one, if it asks for none."""
        return self.seen_by(self._shared.followed.settings.see)

    @property
    def settings(self) -> Settings:
        """The settings of now, placed on the generation that is open; without the sources that this view hides.

        Raises StorageError when it is unknown which generation is current.
        """
        return clearances.visible_settings(self._shared.followed.now().settings, self.clearance)

    @property
    def settings_as_read(self) -> Settings:
        """The settings on no generation yet, also where it is unknown which one is current."""
        self.must_see_all("read all settings")
        return self._shared.followed.settings

    @property
    def generation(self) -> str:
        """The name of the generation that answers."""
        return self._shared.followed.now().settings.generation

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
        self._shared.followed.close()

    @property
    def index(self) -> SqliteIndex:
        """The index, created on first use: everything that is in it, whatever its label."""
        self.must_see_all("look into the index itself")
        return self._index

    @property
    def _index(self) -> SqliteIndex:
        """The index, for queries whose filter is ``_allowed``."""
        return self._shared.followed.now().index.get()

    def embedder(self) -> Embedder:
        """The embedder of the vectors that the index holds, as long as it is installed; else ``wanted_embedder``."""
        wanted, held = self.wanted_embedder(), self._index.vectors.embedder
        if held in ("", wanted.identity):
            return wanted
        with self._shared.lock:
            known = self._shared.embedders
            found = known.get(held) or wiring.embedder_of(held, self.settings.model_cache)
            if found is not None:
                known[held] = found
            return found or wanted

    def embedder_notice(self) -> str:
        """What there is to tell when the index holds vectors of another embedder than models.yaml names, else ''."""
        return generations.embedder_notice(self.settings, self._index, self.wanted_embedder().identity)

    def wanted_embedder(self) -> Embedder:
        """The embedder that models.yaml names: that of the next generation, if the index holds vectors of another."""
        settings = self.settings
        with self._shared.lock:
            known, name = self._shared.embedders, f"models.yaml: {settings.models.embedder}"
            if name not in known:
                made = wiring.embedder(settings, settings.model_cache)
                known[name] = known.setdefault(made.identity, made)
            return known[name]

    def reranker(self) -> Reranker | None:
        """The cross-encoder that models.yaml names, None without one: the same object that searches use."""
        return self._answerer().reranking.ready()

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
            settings, added = config.add_source(
                self.settings,
                place,
                name=name,
                kind=kind,
                privacy=privacy,
                kinds=wiring.names("sources"),
                may_be_file=kind in wiring.names("sources") and wiring.takes_files(kind),
            )
            self._shared.followed.take(settings)
        return added

    def remove(self, name: str) -> int:
        """Take a source out of ``sources.yaml`` and of the index, never a file; returns how many documents went.

        Out of every generation, and our own copies of what an agent deleted go too: the user asked to forget it.

        Raises:
            NotFound: neither knows such a source.
        """
        self.must_see_all("remove a source")
        configured = [source for source in self.settings.sources if source.name == name]
        indexed = any(state.name == name for state in self.index.sources())
        if not configured and not indexed:
            raise clearances.no_source(self.settings, name)
        for source in configured:
            with self._shared.lock:
                self._shared.followed.take(config.remove_source(self.settings, name))
            shutil.rmtree(wiring.archive_folder(source, self.settings), ignore_errors=True)
            if source.path == wiring.received_folder(name, self.settings):
                shutil.rmtree(source.path, ignore_errors=True)
        removed = self.index.remove_source(name)
        self.index.replicate(_silent)
        for other in generations.listed(self.settings):
            if other.name != self.generation and generations.file_of(self.settings, other.name).exists():
                with self.at(other.name) as brain:
                    brain.index.remove_source(name)
                    brain.index.replicate(_silent)
        return removed

    # -- bringing it up to date --------------------------------------------------------------------------

    @_steady
    def sync(
        self,
        targets: Sequence[str | os.PathLike[str]] = (),
        *,
        rebuild: bool = False,
        prune: bool = False,
        progress: Progress = _silent,
        wait_s: float = WAIT_S,
    ) -> SyncReport:
        """Compare the sources with the index and write what differs (the lexical part; see ``embed``).

        Args:
            targets: names of sources, or paths that lie in one; empty means all sources.
            rebuild: read everything again, as if nothing were indexed; vectors of unchanged texts are kept.
            prune: believe it when most of a source is missing.
            progress: ``(source name, items done, items in all)``.
            wait_s: how long to wait for another process that is indexing.

        Raises:
            NotFound: a target is neither a source nor a path in one, or nothing is there and nothing was.
            IndexLocked: another process kept indexing for too long.
        """
        self.must_see_all("index")
        with sync_lock(self.settings.index, progress=progress, wait_s=wait_s):
            if rebuild and not targets:
                self.index.adopt()
            self.index.check()
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
            self.index.replicate(progress),
        )

    def _cleaning(self, setting: SourceSettings) -> Callable[[Document], Document]:
        """``cleaned`` for the documents of a source; notes belong to the project that their folder lies in."""
        return partial(self.cleaned, project=keeping.project_of(setting.path) if setting.kind == "markdown" else "")

    def cleaned(self, document: Document, *, project: str = "") -> Document:
        """The document as it is kept: its language found, secrets masked unless ``redact: off``; offsets stay."""
        return keeping.kept(document, redact=self.settings.redact, project=project)

    @_steady
    def embed(
        self,
        *,
        limit: int | None = None,
        in_place: bool = False,
        progress: Progress = _silent,
        wait_s: float = WAIT_S,
    ) -> EmbedReport:
        """Give every chunk that waits its vector, newest documents first; can be stopped and resumed at any point.

        An index with many vectors of another embedder than models.yaml names keeps that one, until a new generation
        takes its place: to drop the vectors first would be hours without search by meaning.

        Args:
            limit: stop after about so many passages.
            in_place: drop the other embedder's vectors now, however many there are.
            progress: ``("embed", passages done, passages in all)``.
            wait_s: how long to wait for another process that is making vectors.

        Raises:
            ModelError: the embedder cannot be loaded.
            EmbedderMismatch: the embedder whose vectors are to be kept is not installed.
            IndexLocked: another process made vectors for more than ``wait_s`` seconds.
        """
        self.must_see_all("make vectors")
        with sync_lock(self.settings.index, purpose="embed", progress=progress, wait_s=wait_s):
            index, wanted = self.index, self.wanted_embedder()
            kept = not in_place and generations.keeps_embedder(self.settings, index, wanted.identity)
            embedder = self.embedder() if kept else wanted
            if kept and embedder.identity != index.vectors.embedder:
                raise EmbedderMismatch(
                    f"the index holds vectors of '{index.vectors.embedder}', which is not installed;"
                    f" models.yaml asks for '{wanted.identity}'",
                    hint="make an index beside it: `brain index --new-generation`; or drop its vectors first:"
                    " `brain embed --in-place`",
                )
            index.check(embedder.dimensions)
            report = ingest.embed(index, embedder, progress=progress, limit=limit, late=self.settings.late)
        return replace(report, notices=self.index.replicate(progress))

    # -- generations -------------------------------------------------------------------------------------

    def roster(self) -> generations.Roster:
        """All generations, and which is current. Raises StorageError when that is unknown."""
        return generations.roster(self._shared.followed.settings)

    def contents(self, generation: str) -> generations.Contents:
        """What a generation holds, whichever is open; its file is not changed."""
        return generations.contents(generations.file_of(self.settings_as_read, generation))

    # -- asking ------------------------------------------------------------------------------------------

    @_steady
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
        collections: Sequence[str] = (),
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
            collections: only the sources of these; empty means all.

        Raises:
            UsageError: ``limit`` is below 1, or the cursor is not of this question and index.
            NotFound: the filter names a source, or ``collections`` a collection, that nobody knows.
            BackendMismatch: Qdrant holds something else under our names than this index writes.
        """
        if limit < 1:
            raise UsageError(f"the number of hits must be at least 1, not {limit}")
        filter = self._allowed(self.within(collections, filter))
        asked = replace(filter, without_status=tuple(sorted(adjust.DEPRECATED))) if strict else filter
        query = Query(text, now or datetime.now().astimezone(), limit, mode, asked, per_document, condensed)
        result = self._answerer().search(query, cursor)

        def looked_at(hit: Hit) -> Hit:
            return replace(hit, notes=(*hit.notes, *file_notes(self._index, hit.uri, hit.path)))

        return replace(
            result,
            hits=tuple(map(looked_at, result.hits)),
            rolled_up=tuple(map(looked_at, result.rolled_up)),
            notices=(*result.notices, *index_notices(self._index, self.settings, query.now, filter)),
            generation=self.generation,
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

    @_steady
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
        """The filter without what the asker may not see: every query of ours takes its filter from here."""
        return clearances.allowed(self._index, self.settings, self.clearance, filter)

    @_steady
    def get(self, name: str, *, filter: Filter = Filter()) -> Note:
        """A document by uri, path (absolute, below a source, or its end), title, alias, or the id of a chunk.

        Raises:
            NotFound: nothing answers to the name.
            Ambiguous: several documents do.
        """
        filter = self._allowed(filter)
        with self._index.database.snapshot():  # a document that is replaced meanwhile is not half the old one
            found = naming.named(self._index, name, filter)
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
                tuple(file_notes(self._index, document.uri, document.path)),
            )

    @_steady
    def short_ids(self, ids: Iterable[str]) -> dict[str, str]:
        """For each passage's id the shortest beginning that names no other passage here, of 6 digits or more.

        One of them is a figure, so that no word is taken for an id.
        """
        return naming.short_ids(self._index, ids, self._allowed())

    @_steady
    def recent(self, *, limit: int = 20, filter: Filter = Filter()) -> list[StoredDocument]:
        """Documents by date, newest first."""
        if limit < 1:
            raise UsageError(f"the number of notes must be at least 1, not {limit}")
        return self._index.recent(self._allowed(filter), limit)

    @_steady
    def visible(self, filter: Filter = Filter()) -> clearances.VisibleLinks:
        """What this view shows of the index, for questions that are asked nowhere else: each passes on its filter."""
        return clearances.VisibleLinks(self._index, self._allowed(filter))

    @_steady
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

    @_steady
    def status(self) -> Status:
        """What the index holds, how fresh it is, and what is wrong, as far as this view shows."""
        filter = self._allowed()
        notices = [
            *index_notices(self._index, self.settings, _now(), filter),
            *(() if self.clearance else generations.notices(self.settings)),
        ]
        notices += self._index.notices(filter)
        return health.status(self.settings, self._index, self.wanted_embedder(), filter, notices)

    def collections(self) -> tuple[CollectionState, ...]:
        """The collections that hold something this view shows, the default one first: what, and how fresh."""
        states = self._index.sources(self._allowed())
        return collecting.states(self._collections(), states, self.settings.default_collection)

    def _collections(self) -> dict[str, tuple[str, ...]]:
        """The sources of each collection as far as this view shows."""
        return collecting.members(self.settings, () if self.clearance else self._index.freshness())

    def within(self, collections: Sequence[str], filter: Filter = Filter()) -> Filter:
        """The filter narrowed to the sources of some collections. Raises NotFound for one that is not there."""
        return collecting.within(self._collections(), collections, filter) if collections else filter

    def doctor(self, *, fix: bool = False) -> list[Finding]:
        """What is wrong with the index file, and where secrets were masked, each with its remedy.

        ``fix`` applies what loses nothing. In a view that does not show everything, only what it may know.
        Without ``fix`` others may go on asking and writing meanwhile; a writer waits for about a second a gigabyte.
        """
        if fix:
            self.must_see_all("mend the index")
            self.close()
        try:
            path = self.settings.index
        except StorageError as error:
            told = Finding("generations", "error", str(error), error.hint)
            return [told] if not self.clearance else health.findings_for_guests([told])
        findings = [*examine(path), *(() if self.clearance else generations.findings(self.settings))]
        sound = path.exists() and not any(finding.severity == "error" for finding in findings)
        if sound:
            findings += keeping.examine_secrets(self._index, self._allowed(), redact=self.settings.redact)
        if self.clearance:
            return [*health.findings_for_guests(findings), *(found for found in findings if found.name == "secrets")]
        if fix and any(finding.fixable for finding in findings):
            with self._alone():
                self.close()
                self._shared.followed.close(forget=True)
                findings = health.mend(path, findings, redact=self.settings.redact, progress=_silent)
                findings += keeping.examine_secrets(self._index, self._allowed(), redact=self.settings.redact)
            self._index.replicate(_silent)
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


def _now() -> datetime:
    return datetime.now(UTC)
