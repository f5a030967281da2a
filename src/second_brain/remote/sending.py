"""Sends the files of this machine's sources to the box, which keeps and indexes them.

    manifest (path, hash) ──► which are wanted ──► their bytes, some at a time ──► manifest again: nothing wanted
                                                                                     └► one indexing run on the box

Every step may be repeated: what was cut off is said again, and the box asks for what it lacks. Several processes may
send the same source at once: the box asks each for other files.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from .. import config, wire, wiring
from ..config import SourceSettings
from ..errors import BrainError, Busy, SourceError, Unreachable
from ..index.lock import file_lock
from ..sources.paths import disk_bytes
from ..targets import chosen_sources
from ..types import Failure, Item, SourceReport, SyncReport
from .connection import LONGEST_REST_S

if TYPE_CHECKING:
    from .brain import RemoteBrain

MOST_FILES = 256
MOST_BYTES = 8 << 20
"""Of one request, before base64."""

LARGEST_FILE = 40 << 20
"""What fits into a request that a box takes."""

MOST_ENTRIES = 5_000
"""Paths that are asked for again at once."""

PATIENCE_S = 3 * LONGEST_REST_S
"""How long it is tried to go on after the box was reached last."""

ELSEWHERE_S = 0.2
"""After so long it is asked again for what another process is bringing; twice as long each time, up to 3 s."""

ASKED_EVERY_S = 0.05
"""After so long it is asked whether the box has indexed what came; half as long again each time, up to 2 s."""

MOST_ROUNDS = 20
"""So often a whole manifest is said before we give up; twice is the rule, more where files change meanwhile."""

STEP_S = 120.0
"""How long the box may take for one step: it writes what came."""

AS_SENDER = {wire.EXPECTS: "", wire.CONSUMER: ""}
"""Who only sends asks nothing: whichever generation answers, files are taken."""

Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True, slots=True)
class Sent:
    """What sending did: the report is the box's own. ``waiting`` passages of the box have no vector yet."""

    report: SyncReport
    files: int
    bytes: int
    waiting: int
    problems: tuple[str, ...] = ()


def send(
    brain: RemoteBrain,
    targets: Sequence[str | os.PathLike[str]] = (),
    *,
    prune: bool = False,
    progress: Progress = lambda stage, done, total: None,
    patience_s: float = PATIENCE_S,
) -> Sent:
    """Bring the box up to date with sources of this machine; returns when the box has indexed what came.

    Args:
        brain: the box.
        targets: names of sources, or paths in them, each for its whole source; empty means all.
        prune: believe it when most of a source is gone.
        progress: ``(stage, done, total)``.
        patience_s: how long it is tried again after the box was reached last.

    Raises:
        UsageError, NotAllowed: the box does not take what is sent; NotFound: a target is no source.
        Unreachable: the box was away for longer than ``patience_s``; what came over stays there.
    """
    began = time.perf_counter()
    chosen = chosen_sources(brain.settings, targets, lambda name: ())
    sendings = [_Sending(brain, setting, prune, progress, patience_s) for setting in chosen]
    reports = []
    for sending in sendings:
        with sending.worker():
            reports.append(sending.run())
    return Sent(
        SyncReport(tuple(reports), time.perf_counter() - began),
        sum(sending.files for sending in sendings),
        sum(sending.bytes for sending in sendings),
        max((sending.waiting for sending in sendings), default=0),
        tuple(dict.fromkeys(sending.problem for sending in sendings if sending.problem)),
    )


@dataclass(slots=True)
class _Listed:
    """The files of a source as they are here, by path below its root; ``unseen`` prefixes could not be looked into."""

    files: dict[str, Item] = field(default_factory=dict)
    unseen: list[str] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    skipped: Mapping[str, int] = field(default_factory=dict)


class _Sending:
    """One source being sent."""

    def __init__(
        self, brain: RemoteBrain, setting: SourceSettings, prune: bool, progress: Progress, patience_s: float
    ) -> None:
        self.files = self.bytes = self.waiting = 0
        self.problem = ""
        self._brain = brain
        self._setting = setting
        self._progress = progress
        self._patience_s = patience_s
        self._hashes = _Hashes(brain.folder / "sent" / f"{setting.name}.json")
        who = f"{brain.consumer}\0{setting.path}"
        self._base = wire.SyncRequest(
            source=setting.name,
            kind=setting.kind,
            origin=blake2b(who.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest(),
            privacy=setting.privacy,
            prune=prune,
        )

    @contextmanager
    def worker(self) -> Iterator[None]:
        """Have a name to work under: the first process that sends the source always has the same.

        So the box at once asks again for what an earlier one was cut off with; others get names of their own.
        """
        name = f"{self._brain.consumer}-{self._base.origin}"
        with ExitStack() as stack:
            try:
                stack.enter_context(file_lock(self._hashes.file.with_suffix(".lock"), wait_s=0))
            except (TimeoutError, OSError):
                name += f"-{os.getpid()}-{secrets.token_hex(4)}"
            self._base = replace(self._base, worker=name)
            yield

    def run(self) -> SourceReport:
        """The box's report, with what could not be read here."""
        name = self._setting.name
        if self._setting.kind == "repo" or wiring.takes_files(self._setting.kind):
            why = f"a source of kind '{self._setting.kind}' is not sent; index it on the box, or here"
            return SourceReport(name, failures=(Failure(f"{name}/", "walk", why),))
        try:
            listed = self._list()
        except SourceError as error:
            return SourceReport(name, unavailable=str(error))
        refused: dict[str, str] = {}
        while True:
            answer = self._bring(listed, refused)
            report = self._indexed(answer)
            if report is not None:
                break
        self._hashes.write()
        failures = [
            *listed.failures,
            *(
                Failure(f"{name}/{path}", "unreadable", f"the box does not take it: {why}")
                for path, why in refused.items()
            ),
        ]
        return replace(
            report,
            kept=report.kept + answer.kept,
            unavailable=answer.problem or report.unavailable,
            failures=(*failures, *report.failures),
            skipped=listed.skipped,
        )

    # -- what is here ------------------------------------------------------------------------------------

    def _list(self) -> _Listed:
        # Without our archive: the box keeps one of what it receives.
        source = wiring.source(replace(self._setting, archive=False), self._brain.settings)
        scan = source.scan()
        name = f"{self._setting.name}/"
        listed = _Listed(failures=list(scan.failures), skipped=scan.skipped or {})
        listed.unseen = [uri.removeprefix(name) for uri in (*scan.unlisted, *(f.uri for f in scan.failures))]
        if not source.exhaustive:
            listed.unseen = [""]
        root = os.path.join(str(self._setting.path), "")  # noqa: PTH118
        for number, item in enumerate(scan.items):
            if number % 1_000 == 0:
                self._progress(f"{self._setting.name}: looking", number, len(scan.items))
            path = item.path.removeprefix(root).replace(os.sep, "/")
            if item.path.startswith(root) and path not in listed.files and self._hash(path, item, listed):
                listed.files[path] = item
        return listed

    def _hash(self, path: str, item: Item, listed: _Listed) -> str:
        """The file's hash, '' where it cannot be read; then it is kept on the box as it is."""
        known = self._hashes.get(path, item.fingerprint)
        if known:
            return known
        data = self._read(path, item, listed)
        return "" if data is None else self._hashes.put(path, item.fingerprint, data)

    def _read(self, path: str, item: Item, listed: _Listed) -> bytes | None:
        try:
            if item.size > LARGEST_FILE:
                raise OSError(0, f"larger than {LARGEST_FILE >> 20} MB, which is more than is sent")
            return Path(os.fsdecode(disk_bytes(item.path))).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            listed.failures.append(Failure(item.uri, "unreadable", f"{item.path}: {error.strerror or error}"))
            listed.unseen.append(path)
            return None

    # -- what is sent ------------------------------------------------------------------------------------

    def _bring(self, listed: _Listed, refused: dict[str, str]) -> wire.SyncAnswer:
        """Send until the box has all; its last answer, which names the run that indexes it."""
        pause = ELSEWHERE_S
        for _ in range(MOST_ROUNDS):
            answer = self._post(
                replace(
                    self._base,
                    manifest=tuple(self._entries(path for path in listed.files if path not in refused)),
                    complete=True,
                    unlisted=(*listed.unseen, *refused),
                )
            )
            self._brain.learn({answer.root: str(self._setting.path)} if answer.root else {})
            if not answer.wanted and not answer.elsewhere:
                return answer
            total = len(answer.wanted) + len(answer.elsewhere)
            while answer.wanted or answer.elsewhere:
                self._send(answer.wanted, listed, refused, total)
                pause = ELSEWHERE_S if answer.wanted else min(2 * pause, 3.0)
                if not answer.wanted:
                    time.sleep(pause)
                again = [path for path in answer.elsewhere if path in listed.files and path not in refused]
                if not again:
                    break
                part = tuple(self._entries(again[:MOST_ENTRIES]))
                answer = self._post(replace(self._base, manifest=part))
                answer = replace(answer, elsewhere=(*answer.elsewhere, *again[MOST_ENTRIES:]))
        raise Unreachable(
            f"{self._brain.line.url} asks for the same files again and again",
            hint="files that change all the time cannot be sent; else look at the box's disk",
        )

    def _entries(self, paths: Iterable[str]) -> Iterator[wire.SyncEntry]:
        for path in paths:
            yield wire.SyncEntry(path, self._hashes.hash(path), self._hashes.modified_ns(path))

    def _send(self, paths: Sequence[str], listed: _Listed, refused: dict[str, str], total: int) -> None:
        batch: list[wire.SyncFile] = []
        size = 0
        for path in paths:
            item = listed.files.get(path)
            data = None if item is None else self._read(path, item, listed)
            if item is None or data is None:
                listed.files.pop(path, None)
                continue
            if batch and (len(batch) >= MOST_FILES or size + len(data) > MOST_BYTES):
                self._send_batch(batch, refused, total)
                batch, size = [], 0
            hash = self._hashes.put(path, item.fingerprint, data)  # as it is now, which may be newer
            batch.append(wire.SyncFile(path, hash, self._hashes.modified_ns(path), data))
            size += len(data)
        if batch:
            self._send_batch(batch, refused, total)

    def _send_batch(self, batch: Sequence[wire.SyncFile], refused: dict[str, str], total: int) -> None:
        answer = self._post(replace(self._base, files=tuple(batch)))
        refused.update(answer.refused)
        self.files += answer.stored
        self.bytes += sum(len(file.data) for file in batch)
        self._progress(f"{self._setting.name}: sending", self.files, max(total, self.files))

    def _indexed(self, answer: wire.SyncAnswer) -> SourceReport | None:
        """What the run did that the box named; None where the box forgot it, and the manifest must be said again."""
        name = self._setting.name
        if not answer.run:
            return SourceReport(name, unchanged=len(self._hashes), deleted=answer.gone)
        pause = ASKED_EVERY_S
        while True:
            stands = self._post(replace(self._base, run=answer.run))
            self._progress(f"{name}: the box is indexing", 0, None)
            if stands.state == "unknown":
                return None
            if stands.state == "failed":
                self.problem = f"the box could not index what came: {stands.problem}"
                return SourceReport(name)
            if stands.state == "done":
                self.waiting = stands.waiting
                self.problem = stands.problem
                return stands.report or SourceReport(name)
            time.sleep(pause)
            pause = min(1.5 * pause, 2.0)

    def _post(self, request: wire.SyncRequest) -> wire.SyncAnswer:
        """The box's answer to one step, tried again while it is away."""
        content = wire.encode(request)
        reached = time.monotonic()
        while True:
            try:
                return self._brain.line.ask(
                    "POST", "/documents/sync", wire.SyncAnswer, content=content, headers=AS_SENDER, deadline_s=STEP_S
                )
            except (Unreachable, Busy) as error:
                if time.monotonic() - reached > self._patience_s:
                    raise _unfinished(error) from error
                self._progress(f"{self._setting.name}: waiting for the box", 0, None)
                time.sleep(min(1.0, self._patience_s / 10) if isinstance(error, Unreachable) else error.retry_after_s)


def _unfinished(error: BrainError) -> BrainError:
    hint = "what came over stays on the box; `brain index --remote` goes on from there"
    return Unreachable(str(error), hint=f"{error.hint}; {hint}" if error.hint else hint)


class _Hashes:
    """The hash of each file of a source, remembered with the fingerprint that it had when it was read."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._known = self._read()
        self._now: dict[str, tuple[str, str]] = {}

    def __len__(self) -> int:
        return len(self._now)

    def get(self, path: str, fingerprint: str) -> str:
        """The hash, '' where the file may have changed since."""
        known, hash = self._known.get(path, ("", ""))
        if known != fingerprint or fingerprint.endswith("~"):
            return ""
        self._now[path] = known, hash
        return hash

    def put(self, path: str, fingerprint: str, data: bytes) -> str:
        """The hash of a file's bytes, remembered."""
        hash = blake2b(data, digest_size=16).hexdigest()
        self._now[path] = fingerprint, hash
        return hash

    def hash(self, path: str) -> str:
        """The hash that was found in this run."""
        return self._now[path][1]

    def modified_ns(self, path: str) -> int:
        """When the file was changed last: the first part of its fingerprint."""
        first = self._now[path][0].partition(":")[0]
        return int(first) if first.lstrip("-").isdecimal() else 0

    def write(self) -> None:
        """Remember what was found for the next run."""
        try:
            config.write_atomically(self.file, json.dumps(self._now))
        except OSError:
            return  # the next run reads the files again

    def _read(self) -> dict[str, tuple[str, str]]:
        try:
            found = json.loads(self.file.read_text(encoding="utf-8"))
            return {path: (str(fingerprint), str(hash)) for path, (fingerprint, hash) in found.items()}
        except (OSError, ValueError, AttributeError, TypeError):
            return {}
