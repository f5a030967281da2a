"""Answers of the box that are kept on this machine's disk, for the time when it cannot be reached.

One file an answer, of the user's own, in a folder for one box and one token; what was used longest ago goes when there
is too much. Many processes may use it at once. A file that cannot be read is no answer.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from pathlib import Path

from .. import wire
from ..errors import UsageError

LOOKED_AFTER = 32
"""After so many answers it is looked how much there is."""

FULL_TO = 0.8
"""Down to such a share of what may be there, old answers go."""


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer: of which generation, when, by which mark the box knows whether it would still say the same."""

    generation: str
    mark: str
    when: datetime
    answer: wire.SearchAnswer


class Answers:
    """The answers of one box to one token.

    Args:
        folder: made when there is something to keep.
        most_bytes: about so much is kept; 0 for nothing.
    """

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self._folder = folder
        self._most = most_bytes
        self._since_looked = LOOKED_AFTER

    def get(self, question: bytes) -> Kept | None:
        """What was answered last to this question."""
        if not self._most:
            return None
        place = self._place(question)
        try:
            kept = wire.decode(zlib.decompress(place.read_bytes()), Kept)
            os.utime(place)
        except (OSError, zlib.error, UsageError):
            return None
        return kept

    def put(self, question: bytes, kept: Kept) -> None:
        """Keep an answer in place of the one before. A disk that is full or may not be written keeps nothing."""
        if not self._most:
            return
        data = zlib.compress(wire.encode(kept), 1)
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, temporary = tempfile.mkstemp(dir=self._folder, prefix=".coming-")
            try:
                with os.fdopen(handle, "wb") as stream:
                    stream.write(data)
                Path(temporary).replace(self._place(question))
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise
            self._since_looked += 1
            if self._since_looked > LOOKED_AFTER:
                self._since_looked = 0
                self._forget_old()

    def _place(self, question: bytes) -> Path:
        return self._folder / f"{blake2b(question, digest_size=16).hexdigest()}.z"

    def _forget_old(self) -> None:
        entries = sorted(self._entries())
        held = sum(size for _, size, _ in entries)
        if held <= self._most:
            return
        for _, size, place in entries:
            if held <= self._most * FULL_TO:
                break
            place.unlink(missing_ok=True)
            held -= size

    def _entries(self) -> Iterator[tuple[int, int, Path]]:
        for place in self._folder.iterdir():
            with contextlib.suppress(OSError):
                found = place.stat()
                yield found.st_mtime_ns, found.st_size, place
