"""The loop that keeps an index in step with its files until it is told to stop.

Everything that happens is a reason to compare a whole source, never the news itself: so nothing is lost when the system
tells too little, too late or in the wrong order. First the folders are listened to, then they are compared.
"""

from __future__ import annotations

import os
import queue
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from .. import wiring
from ..config import Settings, SourceSettings
from ..errors import BrainError, IndexLocked, ModelError, NotFound, SourceError
from ..generations import first_index
from ..library import Brain
from ..sources.paths import disk_bytes
from ..sources.walking import Reach
from ..types import Json, SourceReport
from .drives import network_drive
from .listening import CannotListen, Happening, Listener, library
from .pacing import Pace, Pacing
from .presence import announce

AT_ONCE = 128
"""Passages that get vectors before the loop looks up again: some two seconds."""

FLOOD = 2_000
"""So many things at once, and the system may have lost some: the folders are listened to anew."""

SETTLING = 10
"""Rounds in which folders appear while those before them begin to be listened to."""

EMBED_AGAIN_S = 60.0
"""Another process makes vectors: so long until we look whether it left some."""

Name = Literal[
    "watching", "polling", "listening", "compared", "embedded", "unavailable", "settings", "trouble", "stopped"
]


class Event(NamedTuple):
    """What the watcher did or found: ``words`` for a person, ``data`` for a program. ``quiet``: nothing came of it."""

    name: Name
    words: str
    data: Mapping[str, Json]
    quiet: bool = False


class Stopped(Exception):
    """Raised out of a run that is in its midst; what it did stays done."""


@dataclass(slots=True)
class _Watched:
    """A source that is watched. ``root`` is device and inode of its folder, None while it is away."""

    setting: SourceSettings
    root: tuple[int, int] | None = None
    reach: Reach | None = None
    listener: Listener | None = None
    polling: str = ""
    unavailable: str = ""
    next_poll: float = 0.0
    next_check: float = 0.0


@dataclass(slots=True)
class _Embedding:
    """What is left to embed since the last comparison that found something."""

    wanted: bool = True
    not_before: float = 0.0
    made: int = 0
    began: float = field(default_factory=time.monotonic)
    told: str = ""


class Watcher:
    """Follows the sources of a brain, see the module.

    Args:
        brain: whose sources; it may be in use elsewhere at the same time.
        tell: called with each event, from the thread that runs.
        pace: how patiently.

    Raises:
        MissingExtra: what tells of changes is not installed.
    """

    def __init__(self, brain: Brain, tell: Callable[[Event], None], pace: Pace | None = None) -> None:
        library()
        self._brain = brain
        self._tell = tell
        self._pace = pace or Pace()
        self._pacing = Pacing(self._pace)
        self._sources: dict[str, _Watched] = {}
        self._news: queue.SimpleQueue[tuple[str, list[Happening] | str] | None] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._embedding = _Embedding()
        self._next_look = 0.0
        self._since = datetime.now(UTC)
        self._trouble: dict[str, str] = {}
        self._index = first_index(brain.settings)
        self._generation = ""

    def stop(self) -> None:
        """End soon, also in the midst of a run. May be called from any thread and from a signal's handler."""
        self._stop.set()
        self._news.put(None)

    def run(self) -> None:
        """Watch until ``stop``; whatever goes wrong with index or sources is told and retried."""
        try:
            self._look()
            polled: Json = [name for name, watched in self._sources.items() if watched.polling]
            self._say("watching", f"watching {self._names(self._sources)}", sources=list(self._sources), polled=polled)
            while not self._stop.is_set():
                self._round()
        except Stopped:
            pass
        finally:
            for watched in self._sources.values():
                self._silence(watched)
        self._say("stopped", "stopped")

    def _round(self) -> None:
        now = time.monotonic()
        if now >= self._next_look:
            self._look()
        due = self._pacing.due(now)
        if due:
            self._compare(due)
        elif self._embedding.wanted and now >= self._embedding.not_before:
            self._embed()
        self._hear(0.0 if due else self._idle_s())

    def _idle_s(self) -> float:
        now = time.monotonic()
        wait = min(self._pacing.wait_s(now), self._next_look - now)
        if self._embedding.wanted:
            wait = min(wait, self._embedding.not_before - now)
        return max(0.0, wait)

    # -- what happens --------------------------------------------------------------------------------------

    def _hear(self, wait_s: float) -> None:
        """Take in what was told meanwhile; wait for it so long at most."""
        while True:
            try:
                news = self._news.get(timeout=wait_s) if wait_s > 0 else self._news.get_nowait()
            except queue.Empty:
                return
            wait_s = 0.0
            if news is None:
                continue
            name, happenings = news
            watched = self._sources.get(name)
            if watched is None or watched.reach is None:
                continue
            if isinstance(happenings, str):
                self._silence(watched)
                self._poll(watched, happenings)
                continue
            if len(happenings) > FLOOD:
                self._silence(watched)  # the next comparison listens anew
            if any(self._counts(watched, happening) for happening in happenings):
                self._pacing.touch(name, time.monotonic())

    def _counts(self, watched: _Watched, happening: Happening) -> bool:
        assert watched.reach is not None
        if own_file(self._index, happening.path):
            return False
        return watched.reach.concerns(happening.path, modified=happening.modified)

    # -- sources that come and go ----------------------------------------------------------------------------

    def _look(self) -> None:
        """Look at settings and disks: which sources there are, whether their folders are there."""
        now = time.monotonic()
        self._next_look = now + self._pace.look_s
        try:
            self._brain.follow()
            settings = self._brain.settings
        except BrainError as error:
            self._complain("settings", error)
        else:
            self._trouble.pop("settings", None)
            self._adopt(settings)
        for name, watched in self._sources.items():
            if watched.polling:
                if now >= watched.next_poll:
                    self._pacing.due_at_once(name)
            elif _identity(watched.setting.path) != watched.root or now >= watched.next_check:
                self._pacing.due_at_once(name)

    def _adopt(self, settings: Settings) -> None:
        if settings.generation != self._generation:  # another index answers now, which was compared when it was made
            self._generation = settings.generation
            for name in self._sources:
                self._pacing.due_at_once(name)
            self._embedding.wanted = True
        wanted = {setting.name: setting for setting in settings.sources}
        known = {name: watched.setting for name, watched in self._sources.items()}
        if wanted == known:
            return
        for name in [name for name, setting in known.items() if wanted.get(name) != setting]:
            self._silence(self._sources.pop(name))
            self._pacing.forget(name)
        for name in [name for name in wanted if name not in self._sources]:
            watched = self._sources[name] = _Watched(wanted[name])
            drive = network_drive(wanted[name].path)
            if drive:
                self._poll(watched, f"on a network drive ({drive})")
            self._pacing.due_at_once(name)
        if known:
            for name in self._sources:  # one that came or went inside of another one changes what that one holds
                self._pacing.due_at_once(name)
            said = f"the settings changed: watching {self._names(wanted)}"
            self._say("settings", said, sources=list(wanted))
        self._announce()

    # -- listening -------------------------------------------------------------------------------------------

    def _listen(self, watched: _Watched) -> None:
        """Listen to the folders that the source has now, or know why that cannot be."""
        if watched.polling:
            return
        name = watched.setting.name
        for _ in range(SETTLING):
            watched.root = _identity(watched.setting.path)
            try:
                watched.reach = self._reach(watched.setting)
            except SourceError:
                self._silence(watched)  # comparing says why
                return
            if watched.reach is None:
                self._poll(watched, "its kind does not say which files it is made of")
                return
            folders = watched.reach.folders
            if watched.listener is not None and watched.listener.folders == folders:
                return
            older = watched.listener
            put = partial(self._put, name)
            try:
                watched.listener = Listener(folders, told=put, ended=put)
            except CannotListen as error:
                if error.trouble == "gone":
                    continue  # deleted since it was listed
                self._silence(watched)
                self._poll(watched, str(error))
                return
            if older is not None:
                older.stop()
        self._pacing.touch(name, time.monotonic())  # the folders do not come to rest: again soon

    def _reach(self, setting: SourceSettings) -> Reach | None:
        find = getattr(wiring.source(setting, self._brain.settings), "reach", None)
        return find() if find else None

    def _put(self, name: str, news: list[Happening] | str) -> None:
        """What happened, or why nothing will be told any more: for the thread that runs."""
        self._news.put((name, news))

    def _silence(self, watched: _Watched) -> None:
        if watched.listener is not None:
            watched.listener.stop()
            watched.listener = None

    def _poll(self, watched: _Watched, reason: str) -> None:
        watched.polling = reason
        name, period = watched.setting.name, f"{self._pace.poll_s:g} s"
        words = f"polling '{name}' every {period}: {reason}"
        self._say("polling", words, source=name, reason=reason, period_s=self._pace.poll_s)
        self._announce()

    def _announce(self) -> None:
        polling = {name: watched.polling for name, watched in self._sources.items() if watched.polling}
        announce(self._index, self._since, polling)

    # -- work ------------------------------------------------------------------------------------------------

    def _compare(self, names: list[str]) -> None:
        began = time.monotonic()
        for name in names:
            self._pacing.begin(name)
            self._listen(self._sources[name])
        found: dict[str, bool] = {}
        failed = False
        try:
            report = self._brain.sync(names, progress=self._check)
            found = {source.source: self._report(source) for source in report.sources}
            self._trouble.pop("index", None)
        except NotFound:
            pass  # removed meanwhile: the settings say so at the next look
        except BrainError as error:
            self._complain("index", error)
            failed = True
        ended = time.monotonic()
        for name in names:
            watched = self._sources[name]
            watched.next_poll = ended + max(self._pace.poll_s, self._pace.rest * (ended - began))
            watched.next_check = ended + self._pace.recheck_s
            self._pacing.end(name, began=began, ended=ended, found=found.get(name, False))
            if failed:
                self._pacing.touch(name, ended)
        if any(found.values()):
            self._embedding.wanted, self._embedding.told = True, ""
            self._embedding.not_before = 0.0

    def _report(self, report: SourceReport) -> bool:
        """Tell what became of one source; whether anything did."""
        watched = self._sources.get(report.source)
        before = watched.unavailable if watched else ""
        if watched:
            watched.unavailable = report.unavailable
        if report.unavailable:
            if report.unavailable != before:
                words = f"{report.unavailable}; what was indexed is kept"
                self._say("unavailable", words, source=report.source, reason=report.unavailable)
            return False
        if before:
            self._say("listening", f"source '{report.source}' is there again", source=report.source)
        counts = {name: getattr(report, name) for name in ("added", "changed", "moved", "deleted")}
        found = any(counts.values())
        said = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count) or "nothing changed"
        self._say(
            "compared", f"{report.source}: {said}", quiet=not found,
            source=report.source, failures=len(report.failures), **counts,
        )  # fmt: skip
        return found

    def _embed(self) -> None:
        """Give some of the passages that wait their vectors."""
        state = self._embedding
        if not state.made:
            state.began = time.monotonic()
        try:
            report = self._brain.embed(limit=AT_ONCE, progress=self._check, wait_s=0)
        except IndexLocked:
            state.not_before = time.monotonic() + EMBED_AGAIN_S
            return
        except BrainError as error:
            state.wanted = False
            kind = "no vectors are made" if isinstance(error, ModelError) else "vectors cannot be written"
            if state.told != str(error):
                state.told = str(error)
                self._say("trouble", f"{kind}: {error}", message=str(error), hint=error.hint)
            return
        state.made += report.embedded
        if report.waiting and report.embedded:
            return
        state.wanted = False
        if state.made:
            seconds = time.monotonic() - state.began
            words = f"{state.made:,} vectors made, {seconds:.1f} s"
            self._say("embedded", words, made=state.made, waiting=report.waiting, seconds=round(seconds, 3))
        state.made = 0

    def _check(self, stage: str, done: int, total: int | None) -> None:
        if self._stop.is_set():
            raise Stopped

    # -- telling -----------------------------------------------------------------------------------------------

    def _complain(self, about: str, error: BrainError) -> None:
        """Tell of an error once; it will be tried again."""
        if self._trouble.get(about) != str(error):
            self._trouble[about] = str(error)
            self._say("trouble", f"{error}", message=str(error), hint=error.hint)

    def _say(self, name: Name, words: str, *, quiet: bool = False, **data: Json) -> None:
        self._tell(Event(name, words, data, quiet))

    @staticmethod
    def _names(names: Iterable[str]) -> str:
        listed = sorted(names)
        return ", ".join(listed[:5]) + (f" and {len(listed) - 5} more" if len(listed) > 5 else "") or "no source yet"


def own_file(index: Path, path: bytes) -> bool:
    """Whether a path is one of the files of an index or of its later generations: their changes are our own doing.

    ``index`` is the file of the first one.
    """
    folder, name = os.path.split(path)
    stem, suffix = (re.escape(disk_bytes(part)) for part in (index.stem, index.suffix))
    if not re.match(stem + rb"(\.g\d+)?" + suffix + rb"|" + stem + rb"\.generations\.", name):
        return False
    return os.path.realpath(folder) == os.path.realpath(disk_bytes(index.parent))


def _identity(folder: Path) -> tuple[int, int] | None:
    """Device and inode of what a source's path leads to, None while nothing is there."""
    try:
        status = os.stat(disk_bytes(folder))  # noqa: PTH116  # bytes, as everywhere where a disk is asked
    except OSError:
        return None
    return status.st_dev, status.st_ino
