"""Who asks this brain from elsewhere, and does each look at the generation that answers?

A consumer names itself, its version, and the generation that it expects, if it pins one. What was seen of it is kept in
``fleet.json`` beside the settings: no address, no token, no question.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias

import msgspec

from ..config import Settings, write_atomically
from ..errors import NotFound, StorageError, UsageError
from ..generations.pointer import NAME as GENERATION_NAME
from ..index.lock import file_lock

FILE = "fleet.json"
MOST_CONSUMERS = 500
"""The one that was silent for longest is forgotten first."""

EVERY_S = 3.0
"""How often a server writes down whom it saw."""

SILENT_AFTER = timedelta(days=7)

NAME = re.compile(r"[^\W_][\w.\-@ ]{0,63}")

State: TypeAlias = Literal["current", "stale", "ahead", "silent"]
"""Against the current generation: the same or none pinned, an older one, a newer one; ``silent``: not seen for days."""


@dataclass(frozen=True, slots=True)
class Consumer:
    """What was seen of one. ``expects`` is the generation that it pins, '' for any."""

    name: str
    version: str
    expects: str
    seen: datetime

    def state(self, generation: str, now: datetime) -> State:
        """How it stands to the generation that answers."""
        if now - self.seen > SILENT_AFTER:
            return "silent"
        if self.expects in ("", generation):
            return "current"
        return "ahead" if _number(self.expects) > _number(generation) else "stale"


def _number(generation: str) -> int:
    return int(generation[1:]) if GENERATION_NAME.fullmatch(generation) else 0


def named(name: str, version: str, expects: str, *, now: datetime) -> Consumer:
    """A consumer as it names itself. Raises UsageError for what cannot be a name, a version or a generation."""
    if not NAME.fullmatch(name):
        raise UsageError(f"a consumer calls itself '{name[:80]}'", hint="up to 64 letters, digits, '.', '-', '_', '@'")
    if not re.fullmatch(r"[\w.+\-]{0,40}", version):
        raise UsageError(f"a consumer's version is '{version[:80]}', expected something like 0.1.0")
    if expects and not GENERATION_NAME.fullmatch(expects):
        raise UsageError(f"a generation is like g3, not '{expects[:80]}'")
    return Consumer(name, version, expects, now)


class Fleet:
    """Whom one server saw. Safe to use from many threads; ``save`` writes what is new."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._fresh: dict[str, Consumer] = {}

    def met(self, consumer: Consumer) -> None:
        """It asked just now."""
        with self._lock:
            self._fresh[consumer.name] = consumer
            while len(self._fresh) > MOST_CONSUMERS:
                del self._fresh[min(self._fresh, key=lambda name: self._fresh[name].seen)]

    def save(self, settings: Settings) -> None:
        """Write down whom it saw since the last time; several servers of one home may do so. Raises StorageError."""
        with self._lock:
            fresh, self._fresh = self._fresh, {}
        if not fresh:
            return
        try:
            with _changing(settings):
                known = {consumer.name: consumer for consumer in consumers(settings)}
                for name, consumer in fresh.items():
                    if name not in known or known[name].seen <= consumer.seen:
                        known[name] = consumer
                _write(settings, sorted(known.values(), key=lambda c: c.seen)[-MOST_CONSUMERS:])
        except StorageError:
            with self._lock:
                self._fresh = {**fresh, **self._fresh}
            raise


def consumers(settings: Settings) -> list[Consumer]:
    """All that were seen, by name; none where the file cannot be understood: it is written anew as they come.

    Raises StorageError when it is there and cannot be read.
    """
    try:
        found = msgspec.json.decode((settings.home / FILE).read_bytes(), type=list[Consumer])
    except (FileNotFoundError, msgspec.MsgspecError, RecursionError):
        return []
    except OSError as error:
        raise StorageError(f"{settings.home / FILE} cannot be read: {error.strerror}") from error
    return sorted(
        (c if c.seen.tzinfo else replace(c, seen=c.seen.replace(tzinfo=UTC)) for c in found), key=lambda c: c.name
    )


def forget(settings: Settings, name: str) -> None:
    """Take one out of the list, until it asks again. Raises NotFound."""
    with _changing(settings):
        known = consumers(settings)
        if all(consumer.name != name for consumer in known):
            names = ", ".join(consumer.name for consumer in known) or "none"
            raise NotFound(f"no consumer is named '{name[:80]}'; consumers: {names[:300]}")
        _write(settings, [consumer for consumer in known if consumer.name != name])


def stale(settings: Settings, generation: str, *, now: datetime | None = None) -> list[Consumer]:
    """Those still asking who would be refused if this generation answered: they pin another one."""
    moment = now or datetime.now(UTC)
    return [c for c in consumers(settings) if c.state(generation, moment) in ("stale", "ahead")]


@contextlib.contextmanager
def _changing(settings: Settings) -> Iterator[None]:
    try:
        with file_lock(settings.home / ".fleet.lock", wait_s=5):
            yield
    except TimeoutError as error:
        raise StorageError(f"{settings.home / FILE} is being written by another process") from error
    except OSError as error:
        raise StorageError(f"{settings.home / FILE} cannot be written: {error.strerror}") from error


def _write(settings: Settings, known: Sequence[Consumer]) -> None:
    data = msgspec.json.format(msgspec.json.encode(known), indent=1)
    write_atomically(settings.home / FILE, data.decode("utf-8") + "\n")
