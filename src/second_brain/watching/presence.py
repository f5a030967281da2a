"""One watcher a home: who it is, and which sources it has to look at by itself."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path

import msgspec

from ..config import write_atomically
from ..errors import StorageError
from ..index.lock import file_lock

STARTING_S = 1.0
"""Who asks whether somebody watches holds the lock for a moment; a watcher that starts just then waits."""


@dataclass(frozen=True, slots=True)
class Watching:
    """The watcher of a home. ``polling``: by source, why it is compared every now and then instead."""

    pid: int
    since: datetime
    polling: Mapping[str, str] = field(default_factory=dict)


def lock_path(index: Path) -> Path:
    """Held as long as somebody watches."""
    return index.with_name(f"{index.name}.watch.lock")


def _file(index: Path) -> Path:
    return index.with_name(f"{index.name}.watch.json")


@contextlib.contextmanager
def claimed(index: Path) -> Iterator[bool]:
    """Whether this process may watch; if so, it is known as the watcher until the block ends."""
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(file_lock(lock_path(index), wait_s=STARTING_S))
        except TimeoutError:
            yield False
            return
        except OSError as error:
            raise StorageError(f"{lock_path(index)}: cannot be locked ({error.strerror})") from error
        stack.callback(lambda: _file(index).unlink(missing_ok=True))
        yield True


def announce(index: Path, since: datetime, polling: Mapping[str, str]) -> None:
    """Write down who watches, for others to read. That the disk is full stops no watcher."""
    made = Watching(os.getpid(), since, dict(polling))
    with contextlib.suppress(OSError):
        write_atomically(_file(index), msgspec.json.encode(asdict(made)).decode())


def watching(index: Path) -> Watching | None:
    """Who watches, None when nobody does, whatever a watcher that was killed left behind."""
    if not lock_path(index).exists():
        return None
    try:
        with file_lock(lock_path(index), wait_s=0):
            return None
    except TimeoutError:
        pass
    except OSError:
        return None
    try:
        return msgspec.json.decode(_file(index).read_bytes(), type=Watching)
    except (OSError, msgspec.DecodeError):
        return None
