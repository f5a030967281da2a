"""What was paid for is kept, and what is spent a day is counted, across runs and processes.

An answer is kept under the hash of all that made it, so that a run that was cut off, or a session that only grew at its
end, pays for nothing again. Tokens are counted before a request is sent: a crash can count too many, never too few.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

from ..config import write_atomically
from ..errors import BrainError
from ..index.lock import file_lock
from ..protocols import Completion

WAIT_S = 30.0


class CapReached(BrainError):
    """The day's tokens are spent."""


class Ledger:
    """A folder with the answers and today's count. ``tokens_per_day`` 0: no cap."""

    def __init__(self, folder: Path, *, tokens_per_day: int, today: date) -> None:
        self._folder = folder
        self._cap = tokens_per_day
        self._today = today.isoformat()

    def kept(self, key: str) -> Completion | None:
        """The answer that was given to the same before."""
        try:
            found = json.loads(self._answer(key).read_text(encoding="utf-8"))
            return Completion(found["text"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, key: str, completion: Completion) -> None:
        """Keep an answer."""
        write_atomically(self._answer(key), json.dumps({"text": completion.text}, ensure_ascii=False))

    def reserve(self, tokens: int) -> None:
        """Count tokens before they are spent. Raises CapReached when the day's would not suffice."""
        with self._count() as spent:
            if self._cap and spent[0] + tokens > self._cap:
                raise CapReached(
                    f"the cap of {self._cap:,} tokens a day would be passed: {spent[0]:,} are spent today, the next"
                    f" request needs up to {tokens:,}",
                    hint="go on tomorrow, or raise `tokens_per_day` in models.yaml",
                )
            spent[0] += tokens

    def settle(self, reserved: int, spent: int) -> None:
        """Replace what was reserved by what was spent."""
        with self._count() as count:
            count[0] = max(0, count[0] + spent - reserved)

    def spent_today(self) -> int:
        """The tokens counted today."""
        return self._read()

    def _answer(self, key: str) -> Path:
        return self._folder / "answers" / f"{key}.json"

    def _read(self) -> int:
        try:
            found = json.loads((self._folder / "spent.json").read_text(encoding="utf-8"))
            return int(found["tokens"]) if found["day"] == self._today else 0
        except (OSError, ValueError, KeyError, TypeError):
            return 0

    @contextmanager
    def _count(self) -> Iterator[list[int]]:
        """Today's count, alone with it; what it is at the end is written."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with file_lock(self._folder / ".spent.lock", wait_s=WAIT_S):
            count = [self._read()]
            yield count
            write_atomically(self._folder / "spent.json", json.dumps({"day": self._today, "tokens": count[0]}))


def key_of(*parts: str) -> str:
    """The hash of all that makes an answer: model, prompt, text."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(part.encode("utf-8"))
        digest.update(b"\x00")
    return digest.hexdigest()
