"""Whether a file may have changed since it was last listed, without reading it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import UTC, datetime

from ..types import Item
from .paths import disk_bytes

_COARSE_NS = 2_000_000_000  # FAT keeps every second second
_EPOCH = datetime.fromtimestamp(0, UTC)


def fingerprint(status: os.stat_result, now_ns: int) -> str:
    """What differs when the file may: times of content (mtime) and entry (ctime) in nanoseconds, and size.

    ctime is there for edits of equal size whose mtime was put back (``cp -p``, ``touch -r``, sync tools): no
    program can put ctime back. It also changes with permissions, which costs one needless read.

    A disk that keeps whole seconds only (FAT, old network shares) cannot show a second edit in the same two
    seconds. There, and only there, the fingerprint of a file changed less than two seconds ago ends in ``~``:
    the next scan gives another, and the file is read once more. Other disks tick every few milliseconds,
    less than lies between listing a file and reading it.
    """
    stamp = f"{status.st_mtime_ns}:{status.st_size}:{status.st_ctime_ns}"
    newest = max(status.st_mtime_ns, status.st_ctime_ns)
    coarse = status.st_mtime_ns % 1_000_000_000 == 0 and status.st_ctime_ns % 1_000_000_000 == 0
    return stamp + "~" if coarse and newest > now_ns - _COARSE_NS else stamp


def modified(status: os.stat_result) -> datetime:
    """The time of the last change, in UTC; 1970 where the entry says a year that datetime does not have."""
    try:
        return datetime.fromtimestamp(status.st_mtime, UTC)
    except (OverflowError, ValueError, OSError):
        return _EPOCH


def folder_state(folder: str) -> int:
    """When an entry of the folder was last added, renamed or removed, in nanoseconds; -1 when it is not there."""
    try:
        return os.stat(disk_bytes(folder)).st_mtime_ns
    except OSError:
        return -1


def folder_states(items: Iterable[Item]) -> dict[str, int]:
    """The state of each folder in which items lie, by its path on disk."""
    folders = {os.path.dirname(item.path) for item in items}
    return {folder: folder_state(folder) for folder in sorted(folders)}
