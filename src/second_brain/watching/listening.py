"""A thread that is told by the system what happens in folders."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Literal, NamedTuple

from ..errors import MissingExtra

GROUP_MS = 200
"""Events so near to each other are told together; as seldom does the thread wake."""

READY_S = 60.0
RECURSIVE = sys.platform != "linux"
"""On Linux each folder is watched by itself, and none behind a link; elsewhere the system watches a whole tree."""

_LIMIT = re.compile(r"limit reached|os error (23|24|28)\b|MaxFilesWatch", re.IGNORECASE)


class Happening(NamedTuple):
    """What happened at a path. ``modified``: it was there before, and still is."""

    path: bytes
    modified: bool


Trouble = Literal["limit", "gone", "other"]


class CannotListen(Exception):
    """The system tells nothing of these folders: its limit is reached, one is not there any more or may not be read,
    or something else is wrong.
    """

    def __init__(self, trouble: Trouble, words: str) -> None:
        super().__init__(words)
        self.trouble = trouble


def library() -> ModuleType:
    """The package watchfiles. Raises MissingExtra."""
    try:
        import watchfiles
    except ImportError as error:
        raise MissingExtra("watching files", "watch") from error
    return watchfiles


class Listener:
    """Listens to folders until it is stopped; links in them are not followed.

    Args:
        folders: absolute, the root first.
        told: called from the listener's thread with what happened.
        ended: called from it, with the reason, should it end by itself.

    Raises:
        CannotListen: see there.
    """

    def __init__(
        self,
        folders: Sequence[bytes],
        *,
        told: Callable[[list[Happening]], None],
        ended: Callable[[str], None],
    ) -> None:
        watchfiles = library()
        self._watch = watchfiles.watch
        self._modified = watchfiles.Change.modified
        self.folders = tuple(folders)
        self._told = told
        self._ended = ended
        self._stop = threading.Event()
        self._ready = threading.Event()
        self._problem: Exception | None = None
        self._thread = threading.Thread(target=self._listen, name="listening", daemon=True)
        self._thread.start()
        if not self._ready.wait(READY_S):
            self.stop()
            raise CannotListen("other", f"the system did not answer within {READY_S:.0f} s")
        if self._problem is not None:
            raise _translated(self._problem)

    def stop(self) -> None:
        """End listening; nothing is told afterwards, but for what is being told now."""
        self._stop.set()

    def _listen(self) -> None:
        watched = self.folders[:1] if RECURSIVE else self.folders
        paths = [folder.decode("utf-8") for folder in watched]
        real = os.path.realpath(self.folders[0])
        try:
            for changes in self._watch(
                *paths,
                watch_filter=None,
                debounce=GROUP_MS,
                step=GROUP_MS,
                stop_event=self._stop,
                rust_timeout=GROUP_MS,
                yield_on_timeout=True,
                raise_interrupt=False,
                force_polling=False,
                recursive=RECURSIVE,
                ignore_permission_denied=False,  # it would swallow every error, a reached limit too
            ):
                self._ready.set()  # the first round, told or not, says that the folders are being watched
                if changes and not self._stop.is_set():
                    self._told(
                        [
                            Happening(
                                as_named(path.encode("utf-8", "surrogateescape"), real, self.folders[0]),
                                change == self._modified,
                            )
                            for change, path in changes
                        ]
                    )
        except Exception as error:
            if self._ready.is_set():
                if not self._stop.is_set():
                    self._ended(str(_translated(error)))
            else:
                self._problem = error
        finally:
            self._ready.set()


def as_named(path: bytes, real: bytes, root: bytes) -> bytes:
    """The path below ``root`` as the root is named: macOS tells of its ``real`` path, links resolved."""
    if real != root and (path == real or path.startswith(real + os.sep.encode())):
        return root + path[len(real) :]
    return path


def _translated(error: Exception) -> CannotListen:
    words = str(error)
    if isinstance(error, (FileNotFoundError, PermissionError)):
        return CannotListen("gone", words)
    if _LIMIT.search(words):
        limits = "fs.inotify.max_user_watches or fs.inotify.max_user_instances"
        return CannotListen("limit", f"the system's limit of watched folders is reached (sysctl {limits} raises it)")
    return CannotListen("other", words)
