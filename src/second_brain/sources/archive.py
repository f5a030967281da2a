"""Copies of logs that their agents delete, so that what was found once can be found and read later.

A copy is the transcript of a log, deflated, with secrets masked, below one folder as the log lies below its root. It
is made whenever the log is read, and listed in the log's place when that is gone. To forget a copy delete its file, to
forget all delete the folder: the next read makes copies anew, of what is then there. Over the limit the oldest go.
"""

from __future__ import annotations

import os
import re
import time
import zlib
from contextlib import suppress
from pathlib import Path

import msgspec

from ..errors import ParseError, SourceError
from ..protocols import Scan
from ..secrets import RULES_VERSION, redact
from ..transcripts import MEDIA_TYPE, Fact, Transcript, decode, encode
from ..types import Blob, Failure, Item
from .fingerprints import fingerprint, modified
from .paths import absolute, disk_bytes, joined
from .reading import read_regular
from .sessions import SessionFolder
from .walking import Reach

SUFFIX = ".z"
_MAX_BYTES = 1 << 30
_LEVEL = 6
_MARK = f"second-brain archive 1, secrets {RULES_VERSION}\n".encode()
"""A copy's first line. Of one that begins otherwise the secrets are masked again when it is read."""

_UNIQUE = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|agent-[0-9a-f]{6}")


class Archived:
    """A source of sessions together with the copies of its logs.

    Args:
        live: the source.
        folder: where the copies are; it need not exist.
        limit_bytes: what they may take together.
    """

    def __init__(self, live: SessionFolder, folder: Path, limit_bytes: int) -> None:
        self.name = live.name
        self.kind = live.kind
        self.exhaustive = live.exhaustive
        self._live = live
        self._folder = absolute(folder)
        self._limit = limit_bytes
        self._size: int | None = None

    def scan(self) -> Scan:
        """List the logs, and the copies of those that are gone. Raises SourceError when there is neither."""
        copies = self._copies()
        self._size = sum(copy.size for copy in copies)
        try:
            scan = self._live.scan()
        except SourceError as error:
            if not copies:
                raise
            scan = Scan((), (Failure(f"{self.name}/", "walk", str(error)),))
        here = {item.uri for item in scan.items}
        # A log that was moved (to another project, or by the agent into a folder for old ones) keeps its name.
        names = {_name(item) for item in scan.items}
        newest = {_name(copy): copy for copy in sorted(copies, key=lambda copy: copy.modified)}
        gone = [
            copy
            for name, copy in newest.items()
            if copy.uri not in here
            and name not in names
            and not copy.uri.startswith(scan.unlisted)
            and not self._live.left_out(copy.relative)
        ]
        items = tuple(sorted((*scan.items, *gone), key=lambda item: item.uri))
        return Scan(items, scan.failures, scan.unlisted, scan.skipped)

    def reach(self) -> Reach:
        """Where the logs can lie; nobody but us changes copies. Raises SourceError when the root cannot be listed."""
        return self._live.reach()

    def read(self, item: Item) -> Blob:
        """The transcript of a log, of which a copy is made, or the one that a copy holds.

        Raises as the live source does. That a copy cannot be written stops nobody.
        """
        if not self._is_copy(item):
            blob = self._live.read(item)
            with suppress(OSError):
                self._save(item, masked(decode(blob.data)))
            return blob
        return Blob(item, encode(self._load(item)))

    def _is_copy(self, item: Item) -> bool:
        return item.path.encode("utf-8").startswith(self._folder + os.sep.encode())

    def _load(self, item: Item) -> Transcript:
        data = read_regular(disk_bytes(item.path), _MAX_BYTES)
        mark, _, body = data.partition(b"\n")
        try:
            transcript = decode(zlib.decompress(body))
        except (zlib.error, ValueError) as error:
            raise ParseError(f"{item.path} is a damaged copy: {error}", hint="delete it") from error
        if mark + b"\n" != _MARK:
            transcript = masked(transcript)
            with suppress(OSError):
                self._save(item, transcript)
        head = msgspec.structs.replace(transcript.head, archived=True)
        return Transcript(head, transcript.lines)

    def _save(self, item: Item, transcript: Transcript) -> None:
        """Write the copy of an item at once, with the item's time. Raises OSError."""
        if not transcript.lines:
            return
        path = joined(self._folder, item.relative.encode("utf-8") + SUFFIX.encode())
        data = _MARK + zlib.compress(encode(transcript), _LEVEL)
        if len(data) > self._limit:
            return
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        draft = joined(os.path.dirname(path), b".%d.tmp" % os.getpid())
        try:
            with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(data)
            stamp = int(item.modified.timestamp() * 1e9)
            os.utime(draft, ns=(stamp, stamp))
            os.replace(draft, path)
        except OSError:
            with suppress(OSError):
                os.unlink(draft)
            raise
        if self._size is None:
            self._size = sum(copy.size for copy in self._copies())
        else:
            self._size += len(data)  # of a copy that was replaced too much is counted: the next scan counts anew
        if self._size > self._limit:
            self._size = self._shrink()

    def _shrink(self) -> int:
        """Delete the oldest copies until a tenth of the limit is free; the bytes that are left."""
        copies = sorted(self._copies(), key=lambda copy: (copy.modified, copy.uri))
        size = sum(copy.size for copy in copies)
        for copy in copies:
            if size <= self._limit * 0.9:
                break
            with suppress(OSError):
                os.unlink(disk_bytes(copy.path))
                size -= copy.size
        return size

    def _copies(self) -> list[Item]:
        """Every copy, as the item that it stands for."""
        found: list[Item] = []
        now = time.time_ns()
        for folder, _, names in os.walk(self._folder):
            for name in names:
                path = joined(folder, name)
                with suppress(OSError, UnicodeDecodeError):
                    if name.endswith(SUFFIX.encode()):
                        inside = os.path.relpath(path, self._folder).decode("utf-8").removesuffix(SUFFIX)
                        status = os.lstat(path)
                        found.append(
                            Item(
                                uri=f"{self.name}/{inside.replace(os.sep, '/')}",
                                source=self.name,
                                path=path.decode("utf-8"),
                                media_type=MEDIA_TYPE,
                                fingerprint=fingerprint(status, now),
                                modified=modified(status),
                                size=status.st_size,
                            )
                        )
        return found


def masked(transcript: Transcript) -> Transcript:
    """The transcript with its secrets masked. What one line gives away is masked in every other too."""
    texts = [line.value if isinstance(line, Fact) else line.text for line in transcript.lines]
    together = "\n\n".join(texts)
    clean, found = redact(together)
    if not found:
        return transcript
    lines, at = [], 0
    for line, text in zip(transcript.lines, texts, strict=True):
        shown = clean[at : at + len(text)]  # a mask is as long as what it hides
        at += len(text) + 2
        changes = {"value": shown} if isinstance(line, Fact) else {"text": shown}
        lines.append(msgspec.structs.replace(line, **changes))
    return Transcript(transcript.head, tuple(lines))


def _name(item: Item) -> str:
    """What stays the same of a log's path when the log is moved: the name if it is unique, else all of it."""
    name = item.relative.rpartition("/")[2]
    return name if _UNIQUE.search(name) else item.relative
