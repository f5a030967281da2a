"""Files of other machines come in, and one run at a time indexes what came.

However many send at once, no file is brought twice and no run begun for what another one will see: who asks while one
is under way is served, together with all others who did, by the next. Each step may be repeated, and after any
interruption the sender says its manifest again.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ... import config, wiring
from ...config.settings import NAME
from ...errors import BrainError, NotAllowed, UsageError
from ...remote.receiving import ReceivedSource
from ...types import SourceReport
from ...wire import RunState, SyncAnswer, SyncEntry, SyncRequest
from .asking import Asked

if TYPE_CHECKING:
    from ...config import Settings, SourceSettings
    from ...library import Brain

LEASE_S = 60.0
"""How long a worker may take to bring the next files before others are asked for what it was to bring."""

MOST_LEASED = 2_000
"""Files that one worker is asked for at once."""

EMBEDDED_AT_ONCE = 512
"""Vectors made before it is looked whether more files came: those are to be found by word first."""

MOST_REMEMBERED = 200
"""Runs whose outcome can still be asked for."""

logger = logging.getLogger("second_brain.servers")


class Receiving:
    """What is under way of what other machines send. Safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sources: dict[str, ReceivedSource] = {}
        self._busy: dict[str, threading.Lock] = {}
        self._leases = _Leases()
        self._runs = _Runs()

    def sync(self, asked: Asked) -> SyncAnswer:
        """One step, see ``wire.SyncRequest``. Raises NotAllowed, UsageError, DiskFull, StorageError."""
        request: SyncRequest = asked.body
        if asked.desk.read_only:
            raise NotAllowed("this token may not send files", hint="brain token add NAME --changes, on the box")
        if not NAME.fullmatch(request.source) or request.source != request.source.strip(" ."):
            raise UsageError(
                f"'{request.source[:80]}' cannot name a source",
                hint="use letters, digits, '.', '-', '_' and inner spaces",
            )
        whole = asked.desk.brains.seen_by("")
        label = _label(whole.settings, request.privacy)
        _check_label(whole.settings, label, asked.desk.label)
        with self._lock:
            busy = self._busy.setdefault(request.source, threading.Lock())
        with busy:
            known = any(source.name == request.source for source in whole.sources())
            setting = _setting(whole, request, label, asked.desk.label)
            source = self._source(request, setting, known=known)
            answer = self._step(whole, request, source)
        if request.run:
            answer = self._runs.told(answer, request.run)
        return replace(answer, root=str(setting.path))

    def end(self) -> None:
        """Begin no further run, and leave the vectors of this one for another time."""
        self._runs.ending.set()

    def _source(self, request: SyncRequest, setting: SourceSettings, *, known: bool) -> ReceivedSource:
        with self._lock:
            if not known:
                self._sources.pop(request.source, None)
            source = self._sources.get(request.source)
            if source is None:
                source = self._sources[request.source] = ReceivedSource(setting.path)
        source.claim(request.origin)
        return source

    def _step(self, brain: Brain, request: SyncRequest, source: ReceivedSource) -> SyncAnswer:
        stored, refused = source.store(request.files) if request.files else (0, {})
        self._leases.brought(request)
        if not request.manifest and not request.complete:
            return SyncAnswer(stored=stored, refused=refused)
        missing = set(source.missing(request.manifest))
        wanted, elsewhere = self._leases.taken(request, [e for e in request.manifest if e.path in missing])
        answer = SyncAnswer(tuple(wanted), tuple(elsewhere), stored, refused)
        if wanted or elsewhere or not request.complete:
            return answer
        gone, kept, why = source.forget(
            (entry.path for entry in request.manifest), unlisted=request.unlisted, prune=request.prune
        )
        run = self._runs.wanted(brain, source, prune=request.prune) if source.waits else ""
        return replace(answer, gone=gone, kept=kept, problem=why, run=run, state="queued" if run else "")


def sync(asked: Asked) -> SyncAnswer:
    """One step of bringing a source up to date."""
    return asked.receiving.sync(asked)


# -- whose source it is --------------------------------------------------------------------------------------


def _label(settings: Settings, sent: str) -> str:
    """The label of what comes: as the sender names it, the strictest where we do not know that one."""
    return sent if sent in settings.privacy_labels else settings.privacy_labels[-1]


def _check_label(settings: Settings, label: str, shown: str) -> None:
    """Raise UsageError where the token could not see what it sends: such a source does not exist for it."""
    if shown and label not in settings.labels_up_to(shown):
        raise UsageError(
            f"the source has the label '{label}', and this token shows up to '{shown}'",
            hint=f"send it with a token for '{label}': brain token add NAME --privacy {label} --changes, on the box",
        )


def _setting(brain: Brain, request: SyncRequest, label: str, shown: str) -> SourceSettings:
    """The box's own entry for a source that is sent, made if need be. Its label only ever becomes stricter.

    Raises UsageError: the name is taken by something else, or the kind cannot be sent.
    """
    name = request.source
    settings = brain.settings
    if request.kind not in wiring.names("sources"):
        raise UsageError(f"kind '{request.kind[:80]}' is not known here; kinds: {', '.join(wiring.names('sources'))}")
    if request.kind == "repo" or wiring.takes_files(request.kind):
        raise UsageError(
            f"a source of kind '{request.kind}' cannot be sent file by file",
            hint="have it indexed where it is, or copy it to the box and `brain add` it there",
        )
    root = wiring.received_folder(name, settings)
    taken = next((source for source in settings.sources if source.name.casefold() == name.casefold()), None)
    if taken is None:
        ReceivedSource.clear(root)  # what is left of one that was forgotten
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        return brain.add(root, name=name, kind=request.kind, privacy=label)
    seen = not shown or taken.privacy in settings.labels_up_to(shown)
    if taken.name != name or taken.path != root or not seen:
        raise UsageError(f"the name '{name}' is taken on the box", hint="give the source another name here")
    if taken.kind != request.kind:
        raise UsageError(
            f"'{name}' is of kind '{taken.kind}' on the box, not '{request.kind}'", hint=f"brain remove {name}, there"
        )
    order = settings.privacy_labels
    if order.index(label) > order.index(taken.privacy):
        config.raise_privacy(settings, name, label)
        brain.follow()
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    return taken


# -- who brings what -----------------------------------------------------------------------------------------


class _Leases:
    """Which worker is bringing which file."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[tuple[str, str, str], tuple[str, float]] = {}

    def taken(self, request: SyncRequest, missing: Iterable[SyncEntry]) -> tuple[list[str], list[str]]:
        """What this worker is to bring now, and what others are bringing, or what it is to ask for later."""
        now = time.monotonic()
        wanted: list[str] = []
        elsewhere: list[str] = []
        with self._lock:
            for key in [key for key, (_, until) in self._held.items() if until <= now]:
                del self._held[key]
            for entry in missing:
                key = (request.source, entry.path, entry.hash)
                worker, _ = self._held.get(key, (request.worker, now))
                if worker != request.worker or len(wanted) >= MOST_LEASED:
                    elsewhere.append(entry.path)
                    continue
                wanted.append(entry.path)
                if request.worker:
                    self._held[key] = (worker, now + LEASE_S)
        return wanted, elsewhere

    def brought(self, request: SyncRequest) -> None:
        """These files came, whether they were taken or not; whoever brings some is at work on its others too."""
        until = time.monotonic() + LEASE_S
        with self._lock:
            for file in request.files:
                self._held.pop((request.source, file.path, file.hash), None)
            if request.files and request.worker:
                for key, (worker, _) in self._held.items():
                    if worker == request.worker:
                        self._held[key] = worker, until


# -- runs ----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Run:
    """One run of indexing: for which sources, and how it ended."""

    sources: dict[str, ReceivedSource] = field(default_factory=dict)
    changes: dict[str, int] = field(default_factory=dict)
    prune: set[str] = field(default_factory=set)
    state: RunState = "queued"
    reports: dict[str, SourceReport] = field(default_factory=dict)
    waiting: int = 0
    problem: str = ""


class _Runs:
    """Indexing runs, one at a time, in a thread that lives while there is something to do."""

    def __init__(self) -> None:
        self.ending = threading.Event()
        self._lock = threading.Lock()
        self._born = secrets.token_hex(4)
        self._runs: OrderedDict[int, _Run] = OrderedDict()
        self._next: _Run | None = None
        self._now: _Run | None = None
        self._thread: threading.Thread | None = None

    def wanted(self, brain: Brain, source: ReceivedSource, *, prune: bool) -> str:
        """The run that will index all that has come for a source by now: that which is under way, if it began later."""
        name = source.root.name
        with self._lock:
            if self._now is not None and self._now.changes.get(name) == source.changes and not prune:
                return self._ticket(self._now, name)
            if self._next is None:
                self._next = _Run()
                self._runs[max(self._runs, default=0) + 1] = self._next
                while len(self._runs) > MOST_REMEMBERED:
                    self._runs.popitem(last=False)
            self._next.sources[name] = source
            if prune:
                self._next.prune.add(name)
            ticket = self._ticket(self._next, name)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, args=(brain,), name="received", daemon=True)
                self._thread.start()
            return ticket

    def told(self, answer: SyncAnswer, ticket: str) -> SyncAnswer:
        """The answer with how a run stands, for one source."""
        born, _, rest = ticket.partition(":")
        number, _, name = rest.partition(":")
        with self._lock:
            run = self._runs.get(int(number)) if born == self._born and number.isdecimal() else None
        if run is None:
            return replace(answer, run=ticket, state="unknown")
        return replace(
            answer,
            run=ticket,
            state=run.state,
            report=run.reports.get(name),
            waiting=run.waiting,
            problem=run.problem,
        )

    def _ticket(self, run: _Run, name: str) -> str:
        number = next(number for number, known in self._runs.items() if known is run)
        return f"{self._born}:{number}:{name}"

    def _work(self, brain: Brain) -> None:
        while True:
            with self._lock:
                self._now, self._next = self._next, None
                if self._now is None or self.ending.is_set():
                    self._now = self._thread = None
                    return
                run = self._now
                run.state = "running"
                run.changes = {name: source.changes for name, source in run.sources.items()}
            try:
                self._index(brain, run)
                run.state = "done"
            except BrainError as error:
                run.state, run.problem = "failed", f"{error}; {error.hint}" if error.hint else str(error)
                logger.warning("what was received could not be indexed: %s", run.problem)
            except Exception as error:
                run.state, run.problem = "failed", f"unexpected {type(error).__name__}: {error}"
                logger.exception("what was received could not be indexed")

    def _index(self, brain: Brain, run: _Run) -> None:
        brain.follow()
        known = {source.name for source in brain.sources()}
        for prune in (False, True):
            names = [name for name in run.sources if name in known and (name in run.prune) == prune]
            for report in brain.sync(names, prune=prune).sources if names else ():
                run.reports[report.source] = report
                if not report.unavailable:
                    run.sources[report.source].indexed(run.changes[report.source])
        try:
            while True:
                made = brain.embed(limit=EMBEDDED_AT_ONCE)
                run.waiting = made.waiting
                if not made.embedded or not made.waiting or self._next is not None or self.ending.is_set():
                    return
        except BrainError as error:  # found by word all the same
            run.problem = f"no vectors: {error}"
            logger.warning("what was received waits for its vectors: %s; %s", error, error.hint)
