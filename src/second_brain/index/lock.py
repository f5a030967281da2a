"""Locks that hold across processes; whoever comes second waits its turn."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from ..errors import IndexLocked, StorageError
from ..protocols import Progress

WAIT_S = 3600.0
POLL_S = 0.1


def file_lock(
    path: Path, *, wait_s: float, waiting: Callable[[], None] = lambda: None
) -> AbstractContextManager[object]:
    """Take the lock that the file ``path`` stands for, until the end of the context that is returned.

    The system frees it when its process ends, however it ends. The file stays, empty, for its owner only.

    Args:
        path: made if need be, with its folder.
        wait_s: how long to wait for another one that holds it.
        waiting: called again and again while another one holds it; what it raises ends the waiting.

    Raises:
        TimeoutError: another one held it for ``wait_s`` seconds.
        OSError: the file cannot be made or locked.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    lock = FileLock(path, mode=0o600)
    ends = time.monotonic() + wait_s
    while True:
        try:
            return lock.acquire(timeout=0)
        except Timeout:
            waiting()
            if time.monotonic() >= ends:
                raise
            time.sleep(POLL_S)


def lock_elsewhere(path: Path) -> Path:
    """The lock of a user's own file or folder, kept with our caches: a project's folder gets no file of ours."""
    import platformdirs

    name = hashlib.blake2b(os.fsencode(path.resolve()), digest_size=12).hexdigest()
    return platformdirs.user_cache_path("second-brain", appauthor=False) / "locks" / f"{name}.lock"


@contextmanager
def sync_lock(index: Path, *, purpose: str = "index", progress: Progress, wait_s: float = WAIT_S) -> Iterator[None]:
    """One of a kind at a time on one index: hold the lock ``<index>.<purpose>.lock``.

    Raises:
        IndexLocked: another process held it for ``wait_s`` seconds.
    """
    path = index.with_name(f"{index.name}.{purpose}.lock")

    def waiting() -> None:
        progress("waiting for another brain that is working on this index", 0, None)

    try:
        lock = file_lock(path, wait_s=wait_s, waiting=waiting)
    except TimeoutError as error:
        raise IndexLocked(
            f"{index}: another process has been working on it for more than {wait_s:.0f} s",
            hint="wait for the other `brain`, or stop it, and try again",
        ) from error
    except OSError as error:
        raise StorageError(
            f"{path}: cannot be locked ({error.strerror})",
            hint="check the folder's permissions, or name another index with $BRAIN_INDEX",
        ) from error
    with lock:
        yield
