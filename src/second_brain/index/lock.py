"""One sync at a time on one index, across processes; whoever comes second waits its turn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from ..errors import IndexLocked, StorageError
from ..protocols import Progress

WAIT_S = 3600.0


@contextmanager
def sync_lock(index: Path, *, purpose: str = "index", progress: Progress, wait_s: float = WAIT_S) -> Iterator[None]:
    """Hold the lock ``<index>.<purpose>.lock``. The system frees it when its process ends, however it ends.

    Raises:
        IndexLocked: another process held it for ``wait_s`` seconds.
    """
    path = index.with_name(f"{index.name}.{purpose}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = FileLock(path, mode=0o600)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            progress("waiting for another brain that is working on this index", 0, None)
            lock.acquire(timeout=wait_s, poll_interval=0.1)
    except Timeout as error:
        raise IndexLocked(
            f"{index}: another process has been working on it for more than {wait_s:.0f} s",
            hint="wait for the other `brain`, or stop it, and try again",
        ) from error
    except OSError as error:
        raise StorageError(
            f"{path}: cannot be locked ({error.strerror})",
            hint="check the folder's permissions, or name another index with $BRAIN_INDEX",
        ) from error
    try:
        yield
    finally:
        lock.release()
