"""``RemoteBrain``: a brain on another machine, with the methods of ``Brain`` that servers and commands use.

Every question goes to the box, and the box's own words come back. What differs is said in the answer: which files are
read here, and in which state the line is.

    the box answers ──► its answer, paths as they are here, hubs that were edited here since
    it does not     ──► the answer it gave to the same question before, of the same generation
                    ──► else this machine's own index, by word
                    ──► else the error, with what to type
"""

from __future__ import annotations

import contextlib
import copy
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, TypeVar
from urllib.parse import quote

from .. import config, wire
from ..config import Settings, SourceSettings
from ..errors import BrainError, ConfigError, GenerationMismatch, NotAllowed, NotFound, Unreachable, UsageError
from ..records import CollectionState, Facets, Note, Status, StoredDocument
from ..types import EmbedReport, Filter, Hit, Mode, SearchResult, SyncReport
from .answers import Kept
from .box import Box, address_of, asking, machine_name, token_of
from .connection import Line
from .reading import bytes_of, is_text, local_note, with_local_text

if TYPE_CHECKING:
    from ..library import Brain

T = TypeVar("T")

MOST_HITS = 100
"""Of one answer; more come as a stream."""

STILL_HOLDS = timedelta(hours=1)
"""For so long, on the same day, an answer of an index that did not change is the answer: scores change with age, by
less than 1 in 1,000 in an hour at the half-lives that are usual."""

_LINE = re.compile(r":\d{1,7}$")


class RemoteBrain:
    """One box as one consumer on this machine sees it. Safe to use from many threads; making it connects to nothing.

    Args:
        settings: of this machine; ``settings.remote`` names the box.
        token: the bearer token, '' for none.
        clearance: the highest privacy label that is asked for, '' for all that the token shows.
        consumer: how we call ourselves.
        reading: yields the settings and the token of now, for ``follow``.
        local: opens this machine's own brain, for the time when the box is away.
    """

    def __init__(
        self,
        settings: Settings,
        token: str,
        *,
        clearance: str = "",
        consumer: str = "",
        reading: Callable[[], tuple[Settings, str]] | None = None,
        local: Callable[[], Brain] | None = None,
    ) -> None:
        if not settings.remote.url:
            raise ConfigError("no box is named", hint="brain mcp --remote URL, or `remote: url` in settings.yaml")
        self.clearance = clearance.lower()
        self._box = Box(settings, token, consumer or settings.remote.name or machine_name(), reading, local)
        if self.clearance:
            settings.labels_up_to(self.clearance)

    @classmethod
    def open(
        cls,
        home: str | os.PathLike[str] | None = None,
        *,
        url: str = "",
        index: str | os.PathLike[str] | None = None,
        environment: Mapping[str, str] | None = None,
        clearance: str = "",
    ) -> RemoteBrain:
        """The brain at ``url``, else at that of the settings in ``home``.

        Raises:
            ConfigError: a settings file is wrong, no box is named, or the token's variable is not set.
        """
        variables = os.environ if environment is None else environment

        def reading() -> tuple[Settings, str]:
            settings = config.load(home, index=index, environment=environment)
            if url:
                settings = replace(settings, remote=replace(settings.remote, url=address_of(url)))
            return settings, token_of(settings, variables)

        def local() -> Brain:
            from ..library import Brain  # a database and more: only when the box is away

            return Brain.open(home, index=index, environment=environment)

        settings, token = reading()
        return cls(settings, token, clearance=clearance or settings.see, reading=reading, local=local)

    def __enter__(self) -> RemoteBrain:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections, and the local index if it was opened."""
        self._box.close()

    # -- as a brain of this machine would ----------------------------------------------------------------

    @property
    def settings(self) -> Settings:
        """The settings of this machine."""
        return self._box.settings

    @property
    def generation(self) -> str:
        """The generation that answered last, '' before the first answer."""
        seen = self._box.line.seen
        return seen.generation if seen else ""

    @property
    def index_file(self) -> Path:
        """Where this machine's own index would be."""
        return self._box.settings.index

    def follow(self) -> None:
        """Take over what the settings files of this machine say by now. Raises ConfigError; then all is as it was."""
        self._box.follow()

    def seen_by(self, label: str) -> RemoteBrain:
        """A view up to a privacy label, never beyond this one's own. Raises UsageError for an unknown label."""
        view = copy.copy(self)
        labels = [name for name in (self.clearance, label.lower()) if name]
        view.clearance = min(labels, key=lambda name: len(self.settings.labels_up_to(name)), default="")
        return view

    def must_see_all(self, deed: str) -> None:
        """Raise UsageError in a view that does not show everything: it may not do this (``deed``: a verb)."""
        if self.clearance:
            raise UsageError(
                f"who sees documents up to '{self.clearance}' only may not {deed}", hint="leave out --privacy"
            )

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
        collections: Sequence[str] = (),
    ) -> SearchResult:
        """The passages that answer best, see ``Brain.search``. Where the box does not answer, its notices say who does.

        Raises:
            UsageError, NotFound: what the box says of the question.
            Unreachable, NotAllowed, GenerationMismatch: the box gives no answer, and nothing kept here would do.
        """
        if limit < 1:
            raise UsageError(f"the number of hits must be at least 1, not {limit}")
        request = wire.SearchRequest(
            query=text,
            mode=mode,
            limit=limit,
            filter=self._there(filter),
            now=now or datetime.now().astimezone(),
            per_document=per_document,
            condensed=condensed,
            strict=strict,
            cursor=cursor,
            collections=tuple(collections),
        )
        question = self._question(request, timeless=now is None)
        try:
            answer = self._answer(request, question, timeless=now is None)
        except BrainError as error:
            if not _is_away(error):
                raise
            return self._without_box(request, question, error)
        return self._shown(request, answer)

    def short_ids(self, ids: Iterable[str]) -> dict[str, str]:
        """For each passage's id the beginning that the box gave for it; the id itself where it gave none."""
        return {id: self._box.short.get(id, id) for id in dict.fromkeys(ids)}

    def get(self, name: str, *, filter: Filter = Filter()) -> Note:
        """A document by whatever names it at the box, or by its path here, see ``Brain.get``.

        Its text is that of the file here if that is, byte for byte, what the box indexed; ``notes`` says which it is.
        """
        wanted = self._name_there(name)
        if not wanted.strip():
            raise NotFound("nothing in the index answers to an empty name", hint="give a title, a path or an id")
        asked = {"filter": _filter_as_text(self._there(filter))}
        path = f"/documents/{quote(wanted, safe='')}"
        rules = self._box.rules
        try:
            if not rules:
                return self._note_shown(self._ask("GET", asking(path, asked), Note))
            note = self._ask("GET", asking(path, {**asked, "text": "no"}), Note)
            file = rules.file(note.document.path) if is_text(note.document.path) else None
            local = with_local_text(note, file, masked=self.settings.redact) if file else None
            if local is not None and file is not None:
                said = f"read from {file} on this machine, which is what the box indexed"
                return self._note_shown(replace(local, notes=(*local.notes, said)))
            note = self._ask("GET", asking(path, asked), Note) if not note.text else note
        except BrainError as error:
            if not _is_away(error):
                raise
            return self._note_without_box(name, error, filter)
        if file is not None:
            differs = f"read from the box: {file} on this machine differs from what it indexed"
            note = replace(note, notes=(*note.notes, differs))
        return self._note_shown(note)

    def recent(self, *, limit: int = 20, filter: Filter = Filter()) -> list[StoredDocument]:
        """Documents by date, newest first."""
        if limit < 1:
            raise UsageError(f"the number of notes must be at least 1, not {limit}")
        asked = {"limit": str(min(limit, 1_000)), "filter": _filter_as_text(self._there(filter))}
        found = self._or_local(
            lambda: list(self._ask("GET", asking("/documents", asked), tuple[StoredDocument, ...])),
            lambda brain: brain.recent(limit=limit, filter=self._locally(brain, filter)),
        )
        return [replace(document, path=self._box.here(document.path)) for document in found]

    def facets(self, text: str = "", *, filter: Filter = Filter(), now: datetime | None = None) -> Facets:
        """How documents spread, see ``Brain.facets``; words of time are read by the box's clock."""
        asked = {"text": text, "filter": _filter_as_text(self._there(filter))}
        return self._or_local(
            lambda: self._ask("GET", asking("/facets", asked), Facets),
            lambda brain: brain.facets(text, filter=self._locally(brain, filter), now=now),
        )

    def collections(self) -> tuple[CollectionState, ...]:
        """The collections of the box. Raises as ``search`` does."""
        return self._ask("GET", "/collections", tuple[CollectionState, ...])

    def sources(self) -> tuple[SourceSettings, ...]:
        """The sources of the box, with the folders in which they lie here. The last that was heard while it is away."""
        shared = self._box
        try:
            shared.sources = self._ask("GET", "/sources", tuple[wire.RemoteSource, ...])
        except BrainError as error:
            if not _is_away(error) or shared.sources is None:
                if _is_away(error):
                    return self.settings.sources
                raise
        return tuple(
            SourceSettings(
                source.name, source.kind, Path(shared.rules.here(source.path) or source.path), source.privacy
            )
            for source in shared.sources
        )

    def status(self) -> Status:
        """What the box holds; where it does not answer, what this machine's own index holds, and why."""

        def local(brain: Brain) -> Status:
            return brain.status()

        return self._or_local(lambda: self._ask("GET", "/status", Status), local, told=_told_in_status)

    # -- changes -----------------------------------------------------------------------------------------

    def sync(
        self,
        targets: Sequence[str | os.PathLike[str]] = (),
        *,
        rebuild: bool = False,
        prune: bool = False,
        progress: Callable[[str, int, int | None], None] = lambda stage, done, total: None,
    ) -> SyncReport:
        """Send what changed in the sources of this machine, and have the box index it. Raises as ``sending`` does."""
        from .sending import send

        self.must_see_all("index")
        return send(self, targets, prune=prune, progress=progress).report

    def embed(self, *, limit: int | None = None, progress: object = None) -> EmbedReport:
        """Nothing to do here: the box makes vectors of what it received. ``waiting`` is its own count."""
        return EmbedReport(0, self.status().waiting, 0.0)

    def add(self, path: str | os.PathLike[str] | None = None, **options: object) -> SourceSettings:
        """The source of this machine that a path lies in. Raises UsageError: others are added by hand."""
        for source in self.settings.sources:
            if path is not None and config.as_named(path).is_relative_to(source.path):
                return source
        raise UsageError(
            f"{path} is no source of this machine yet", hint=f"brain add '{path}', then brain index --remote"
        )

    def remove(self, name: str) -> NoReturn:
        """Only the box itself forgets sources. Raises UsageError."""
        raise UsageError(f"'{name}' is a source of the box", hint=f"brain remove '{name}', typed on the box")

    @property
    def line(self) -> Line:
        """The line to the box, for whoever sends."""
        return self._box.line

    @property
    def consumer(self) -> str:
        """How we call ourselves there."""
        return self._box.consumer

    @property
    def folder(self) -> Path:
        """Where is kept what belongs to this box and token."""
        return self._box.folder

    def learn(self, rules: Mapping[str, str]) -> None:
        """Where folders of the box lie here, as sending them showed; rules of the settings go before."""
        self._box.learn(rules)

    # -- the box's answers -------------------------------------------------------------------------------

    def _ask(self, method: str, path: str, type: type[T], content: bytes | None = None) -> T:
        answer = self._box.line.ask(method, path, type, content=content, headers=self._headers())
        self._box.remember_seen()
        return answer

    def _headers(self) -> dict[str, str]:
        return {wire.PRIVACY: self.clearance} if self.clearance else {}

    def _answer(self, request: wire.SearchRequest, question: bytes, *, timeless: bool) -> wire.SearchAnswer:
        """The box's answer, or the one before where it says that nothing changed."""
        shared = self._box
        if request.limit > MOST_HITS and not request.cursor:
            return self._streamed(request)
        kept = shared.answers.get(question)
        headers = self._headers()
        if kept is not None and kept.mark and _still_holds(kept.when, request.now or kept.when, timeless):
            headers["If-None-Match"] = kept.mark
        reply = shared.line.reply("POST", "/search", content=wire.encode(request), headers=headers)
        shared.remember_seen()
        if reply.status == 304 and kept is not None:
            return kept.answer
        answer = shared.line.value(reply, wire.SearchAnswer)
        seen = shared.line.seen
        if seen is not None:
            mark = reply.headers.get("etag", "")
            shared.answers.put(question, Kept(seen.generation, mark, datetime.now().astimezone(), answer))
        return answer

    def _streamed(self, request: wire.SearchRequest) -> wire.SearchAnswer:
        """The answer to who wants more hits than one answer holds; it is not kept."""
        line = self._box.line
        reply = line.reply("POST", "/search/stream", content=wire.encode(request), headers=self._headers())
        hits: list[Hit] = []
        short: dict[str, str] = {}
        for data in reply.data.splitlines():
            said = wire.decode(data, wire.StreamLine)
            if said.error is not None:
                raise wire.heard(said.error)
            if said.hit is not None:
                hits.append(said.hit)
                short[said.hit.id] = said.short_id
            if said.result is not None:
                return replace(said.result, hits=tuple(hits), short_ids={**short, **said.result.short_ids})
        raise Unreachable(f"{line.url} ended its answer before the last line", hint="ask again, or for fewer hits")

    def _question(self, request: wire.SearchRequest, *, timeless: bool) -> bytes:
        """What an answer is kept under: all that it depends on but the index, and the moment where none was given."""
        return wire.encode((self.clearance, replace(request, now=None) if timeless else request))

    def _shown(self, request: wire.SearchRequest, answer: wire.SearchAnswer) -> SearchResult:
        """The result as it is shown here."""
        shared = self._box
        shared.remember(answer, self.clearance)
        result = answer.result
        more: tuple[Hit, ...] = ()
        with contextlib.suppress(OSError):
            more = shared.hubs.added(request, result, note=self._note_alone, search=self._plain_answer)
        return self._with_paths(replace(result, rolled_up=(*result.rolled_up, *more)))

    def _note_alone(self, uri: str) -> Note:
        return self._ask("GET", asking(f"/documents/{quote(uri, safe='')}", {"text": "no"}), Note)

    def _plain_answer(self, request: wire.SearchRequest) -> wire.SearchAnswer:
        answer = self._ask("POST", "/search", wire.SearchAnswer, wire.encode(request))
        self._box.remember(answer, self.clearance)
        return answer

    def _with_paths(self, result: SearchResult) -> SearchResult:
        def shown(hit: Hit) -> Hit:
            return replace(hit, path=self._box.here(hit.path))

        return replace(result, hits=tuple(map(shown, result.hits)), rolled_up=tuple(map(shown, result.rolled_up)))

    def _note_shown(self, note: Note) -> Note:
        return replace(note, document=replace(note.document, path=self._box.here(note.document.path)))

    def _there(self, filter: Filter) -> Filter:
        """The filter as the box reads it, its path one of the box's."""
        if self.clearance:
            allowed = self.settings.labels_up_to(self.clearance)
            asked = allowed if filter.privacy is None else filter.privacy
            filter = replace(filter, privacy=tuple(label for label in asked if label in allowed))
        there = self._box.rules.there(filter.path_prefix) if filter.path_prefix else None
        return replace(filter, path_prefix=there) if there is not None else filter

    def _name_there(self, name: str) -> str:
        """A name with a path of this machine in it as the box knows the path."""
        line = _LINE.search(name)
        path = name[: line.start()] if line else name
        there = self._box.rules.there(path) if path.startswith(("/", "~", "\\")) or path[1:2] == ":" else None
        return name if there is None else there + (line[0] if line else "")

    # -- without the box ---------------------------------------------------------------------------------

    def _without_box(self, request: wire.SearchRequest, question: bytes, error: BrainError) -> SearchResult:
        kept = None if isinstance(error, NotAllowed) else self._box.answers.get(question)
        if kept is not None and kept.generation == self._box.last_generation():
            self._box.remember(kept.answer, self.clearance)
            result = self._with_paths(kept.answer.result)
            return replace(
                result, notices=(f"answered from the cache of {_clock(kept.when)}, {_why(error)}", *result.notices)
            )
        brain = self._local()
        if brain is None:
            raise self._with_advice(error) from error
        try:
            result = brain.search(
                request.query,
                limit=request.limit,
                mode="lexical",
                filter=self._locally(brain, request.filter),
                now=request.now,
                per_document=request.per_document,
                condensed=request.condensed,
                strict=request.strict,
            )
        except BrainError as second:
            raise self._with_advice(error) from second
        said = f"answered by this machine's own index, by word only, {_why(error)}"
        return replace(result, cursor="", cursors=(), notices=(said, *result.notices))

    def _note_without_box(self, name: str, error: BrainError, filter: Filter) -> Note:
        """The note as this machine has it: in its own index, else the file of a hit that this view was shown before."""
        brain = self._local()
        if brain is not None:
            try:
                note = brain.get(name, filter=self._locally(brain, filter))
            except BrainError:
                note = None
            if note is not None:
                return replace(note, notes=(f"from this machine's own index, {_why(error)}", *note.notes))
        wanted = _LINE.sub("", name)
        place = self._box.place(wanted, self.clearance) or self._box.place(self._name_there(wanted), self.clearance)
        file = self._box.rules.file(place[1]) if place and not isinstance(error, NotAllowed) else None
        data = bytes_of(file) if file is not None and is_text(file) else None
        if place is None or file is None or data is None:
            raise self._with_advice(error) from error
        said = f"the file {file} as it is on this machine now, {_why(error)}"
        return local_note(file, data, place[0], masked=self.settings.redact, notes=[said])

    def _or_local(
        self, ask: Callable[[], T], local: Callable[[Brain], T], *, told: Callable[[T, str], T] | None = None
    ) -> T:
        try:
            return ask()
        except BrainError as error:
            if not _is_away(error):
                raise
            brain = self._local()
            if brain is None:
                raise self._with_advice(error) from error
            try:
                found = local(brain)
            except BrainError as second:
                raise self._with_advice(error) from second
            said = f"of this machine's own index, {_why(error)}"
            return told(found, said) if told else found

    def _local(self) -> Brain | None:
        brain = self._box.local_brain()
        return brain.seen_by(self.clearance) if brain is not None and self.clearance else brain

    @staticmethod
    def _locally(brain: Brain, filter: Filter) -> Filter:
        """The filter without sources that this machine does not have."""
        known = {source.name for source in brain.sources()}
        named = tuple(name for name in filter.sources if name in known)
        return replace(filter, sources=named) if named or not filter.sources else replace(filter, privacy=())

    def _with_advice(self, error: BrainError) -> BrainError:
        """The error, saying that nothing here could answer in the box's place."""
        said = copy.copy(error)
        said.hint = "; ".join(
            part
            for part in (error.hint, "nothing here answers instead: `brain index` makes an index of this machine")
            if part
        )
        return said


def _is_away(error: BrainError) -> bool:
    """Whether the box gives no answer, in contrast to one that says what is wrong with the question."""
    return not isinstance(error, UsageError) or isinstance(error, (NotAllowed, GenerationMismatch))


def _why(error: BrainError) -> str:
    """The state of the box in half a sentence."""
    state: dict[type[BrainError], str] = {
        NotAllowed: "the box refuses the token",
        GenerationMismatch: "the box serves another generation",
    }
    said = state.get(type(error), "the box cannot be reached")
    return f"{said}: {error}" + (f"; {error.hint}" if error.hint else "")


def _told_in_status(status: Status, said: str) -> Status:
    return replace(status, notices=(said, *status.notices))


def _still_holds(when: datetime, now: datetime, timeless: bool) -> bool:
    """Whether an answer of then is one of now, if the index is the same."""
    if not timeless:
        return True  # the moment is part of the question
    return when.astimezone(now.tzinfo).date() == now.date() and timedelta() <= now - when <= STILL_HOLDS


def _clock(when: datetime) -> str:
    """``14:05``, with the day where that is another than today's."""
    local = when.astimezone()
    return f"{local:%H:%M}" if local.date() == datetime.now().astimezone().date() else f"{local:%Y-%m-%d %H:%M}"


def _filter_as_text(filter: Filter) -> str:
    return "" if filter == Filter() else wire.encode(filter).decode("utf-8")
