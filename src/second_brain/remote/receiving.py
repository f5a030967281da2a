"""The box's side of what other machines send: files in a folder of its own, one a source, whatever they are called.

- ``received/<source>/...``: the files, as they lie below the sender's root: a source like any other.
- ``received/.state/<source>.jsonl``: hash, size and time of each, a line a change; the last line of a path holds.
- ``received/.state/<source>.json``: who sends it, and whether all that came is indexed.

A file is written beside the folder and moved into its place whole. What was noted of a file counts only while size and
time on disk are the same: after any interruption what is not surely there is asked for again.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import shutil
import tempfile
import time
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ..config import write_atomically
from ..errors import DiskFull, StorageError, UsageError
from ..sources.paths import disk_bytes
from ..wire import SyncEntry, SyncFile

STATE = ".state"
_COMING = "coming-"
OVER_AFTER_S = 3_600.0
"""Nobody is still writing a file that was begun so long ago."""

LONGEST_NAME = 255
"""Bytes of a name that common disks take."""

LONGEST_PATH = 3_500
"""Bytes of a path below a source's root; systems take some 4,000 for all of it."""

MASS_REMOVAL = 50
"""If more files than this and more than half of a source are gone at once, they are kept until asked, as in
``ingest``."""

_DIGEST = re.compile(r"[0-9a-f]{32}")
_NOT_ON_WINDOWS = re.compile(r'[<>:"|?*\x01-\x1f]|[. ]$|^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)', re.IGNORECASE)


class NotTaken(Exception):
    """A file is not taken; the message says why."""


@dataclass(frozen=True, slots=True)
class _Noted:
    """A file as it was when it was written."""

    hash: str
    size: int
    modified_ns: int


class ReceivedSource:
    """The files of one source that other machines send. Not for use from several threads at once.

    Args:
        root: its folder, called as the source is.
    """

    def __init__(self, root: Path) -> None:
        name = root.name
        self.root = root
        self._state = root.parent / STATE
        self._log = self._state / f"{name}.jsonl"
        self._about = self._state / f"{name}.json"
        self._files = self._noted()
        self._same_when_folded = {_folded(path): path for path in self._files}
        about = self._read_about()
        self._origin = str(about.get("origin", ""))
        self._changes = int(about.get("changes", 0))
        self._indexed = int(about.get("indexed", 0))

    @staticmethod
    def clear(root: Path) -> None:
        """Forget what was received for a source that is none any more: its files, and what was noted of them."""
        shutil.rmtree(root, ignore_errors=True)
        for ending in ("jsonl", "json"):
            (root.parent / STATE / f"{root.name}.{ending}").unlink(missing_ok=True)

    # -- what is here ------------------------------------------------------------------------------------

    def missing(self, entries: Iterable[SyncEntry]) -> list[str]:
        """The paths whose bytes are not here as they are at the sender. A file that only has another time gets it."""
        found = []
        for entry in entries:
            noted = self._files.get(entry.path)
            if noted is None or noted.hash != entry.hash or not self._is_on_disk(entry.path, noted):
                found.append(entry.path)
            elif entry.modified_ns and entry.modified_ns != noted.modified_ns:
                self._touch(entry.path, noted, entry.modified_ns)
        return found

    def _is_on_disk(self, path: str, noted: _Noted) -> bool:
        try:
            found = os.stat(disk_bytes(self._place(path)), follow_symlinks=False)  # noqa: PTH116
        except (OSError, NotTaken):
            return False
        return (found.st_size, found.st_mtime_ns) == (noted.size, noted.modified_ns)

    @property
    def waits(self) -> bool:
        """Whether something came, or went, that no run has indexed to its end."""
        return self._changes != self._indexed

    @property
    def changes(self) -> int:
        """How many changes there have been; a run remembers at its beginning how far it will have come."""
        return self._changes

    # -- changes -----------------------------------------------------------------------------------------

    def claim(self, origin: str) -> None:
        """From now on the source is what comes from there. Raises UsageError if it is another folder's already."""
        if self._origin and origin and origin != self._origin:
            raise UsageError(
                f"the source '{self.root.name}' comes from another folder or machine",
                hint=f"give yours another name, or have `brain remove {self.root.name}` typed on the box first",
            )
        self._state.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        for left in self._state.glob(f"{_COMING}*"):  # of a server that was killed
            with contextlib.suppress(OSError):
                if time.time() - left.stat().st_mtime > OVER_AFTER_S:
                    left.unlink()
        if origin and origin != self._origin:
            self._origin = origin
            self._write_about()

    def store(self, files: Sequence[SyncFile]) -> tuple[int, dict[str, str]]:
        """Write files; how many, and which were not taken, with the reason. Raises DiskFull, StorageError."""
        stored, refused = 0, {}
        self._changed()  # before the first: a crash must not leave files that nobody indexes
        for file in files:
            try:
                self._store(file)
                stored += 1
            except NotTaken as error:
                refused[file.path] = str(error)
        return stored, refused

    def forget(
        self, listed: Iterable[str], *, unlisted: Sequence[str] = (), prune: bool = False
    ) -> tuple[int, int, str]:
        """Remove what is not listed: how many files went, how many were kept, and why those were.

        Kept is what lies below a path of ``unlisted``, which the sender could not look into, and everything if that
        would be most of the source, unless ``prune``.
        """
        held = set(listed)
        below = tuple(unlisted)
        missing = [path for path in self._files if path not in held]
        gone = [path for path in missing if not (below and path.startswith(below))]
        kept = len(missing) - len(gone)
        if gone and not prune:
            left = len(self._files) - len(gone)
            if not held:
                return 0, len(missing), f"the sender lists no files, but {len(self._files)} are here: they are kept"
            if len(gone) > MASS_REMOVAL and len(gone) > len(self._files) // 2:
                why = f"the sender lists only {left} of {len(self._files)} files that are here: the others are kept"
                return 0, len(missing), why
        if gone:
            self._changed()
        for path in gone:
            with contextlib.suppress(NotTaken):
                self._remove(self._place(path))
            self._forget_note(path)
        return len(gone), kept, ""

    def indexed(self, changes: int) -> None:
        """All changes up to this one are in the index."""
        if changes > self._indexed:
            self._indexed = changes
            self._write_about()

    def _changed(self) -> None:
        self._changes += 1
        self._write_about()

    # -- files -------------------------------------------------------------------------------------------

    def _place(self, path: str) -> Path:
        """Where a file of this path lies. Raises NotTaken for one that would lie anywhere else than below the root."""
        if not path or "\0" in path:
            raise NotTaken("its path is empty or holds a NUL")
        try:
            data = path.encode("utf-8")
        except UnicodeEncodeError:
            raise NotTaken("its path is no Unicode text") from None
        names = path.split("/")
        if path.startswith("/") or any(name in ("", ".", "..") for name in names):
            raise NotTaken("its path is not one below the source's root: no '..', no empty name, no '/' in front")
        if os.name == "nt" and any("\\" in name or _NOT_ON_WINDOWS.search(name) for name in names):
            raise NotTaken("the box's system has no such names")
        if len(data) > LONGEST_PATH or any(len(name.encode("utf-8")) > LONGEST_NAME for name in names):
            raise NotTaken(f"its path is too long: at most {LONGEST_NAME} bytes a name, {LONGEST_PATH} in all")
        return self.root.joinpath(*names)

    def _store(self, file: SyncFile) -> None:
        place = self._place(file.path)
        if not _DIGEST.fullmatch(file.hash) or blake2b(file.data, digest_size=16).hexdigest() != file.hash:
            raise NotTaken("its bytes are not those of its hash: it changed while it was sent; send it again")
        twin = self._same_when_folded.get(_folded(file.path), file.path)
        try:
            if twin != file.path and _same_file(self._place(twin), place):
                raise NotTaken(f"on the box's disk it would be the same file as '{twin}'")
            self._make_folders(place)
            handle, temporary = tempfile.mkstemp(dir=self._state, prefix=_COMING)
            try:
                with os.fdopen(handle, "wb") as stream:
                    stream.write(file.data)
                os.utime(temporary, ns=(file.modified_ns, file.modified_ns))
                written = os.stat(temporary)  # noqa: PTH116
                os.replace(disk_bytes(temporary), disk_bytes(place))  # noqa: PTH105
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise
        except OSError as error:
            raise _told(error, place) from error
        except OverflowError:
            raise NotTaken(f"its time of change, {file.modified_ns}, is beyond what the disk can hold") from None
        self._note(file.path, _Noted(file.hash, len(file.data), written.st_mtime_ns))

    def _make_folders(self, place: Path) -> None:
        """The folders above a file. A file that stands where one must be is gone at the sender; links are not ours."""
        for folder in reversed(place.parents):
            if folder == self.root or not folder.is_relative_to(self.root):
                continue
            if folder.is_symlink() or folder.is_file():
                folder.unlink()
            folder.mkdir(exist_ok=True, mode=0o700)
        if place.is_dir() and not place.is_symlink():
            with contextlib.suppress(OSError):
                place.rmdir()
            if place.is_dir():
                raise NotTaken("there is a folder of this name with files in it; it is taken when they are gone")

    def _touch(self, path: str, noted: _Noted, modified_ns: int) -> None:
        place = disk_bytes(self._place(path))
        with contextlib.suppress(OSError, OverflowError):
            os.utime(place, ns=(modified_ns, modified_ns), follow_symlinks=False)
            written = os.stat(place, follow_symlinks=False).st_mtime_ns  # noqa: PTH116
            if written != noted.modified_ns:
                self._changed()
                self._note(path, _Noted(noted.hash, noted.size, written))

    def _remove(self, place: Path) -> None:
        """Remove a file and the folders that it leaves empty."""
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            os.unlink(disk_bytes(place))  # noqa: PTH108
        for folder in place.parents:
            if folder == self.root:
                break
            try:
                os.rmdir(disk_bytes(folder))  # noqa: PTH106
            except OSError:
                break

    # -- notes -------------------------------------------------------------------------------------------

    def _noted(self) -> dict[str, _Noted]:
        """What was noted of each file. A line that was cut off is no line."""
        found: dict[str, _Noted] = {}
        lines = 0
        with contextlib.suppress(FileNotFoundError):
            for line in self._log.read_bytes().split(b"\n"):
                lines += 1
                try:
                    path, hash, size, modified_ns = json.loads(line)
                    found[path] = _Noted(hash, size, modified_ns)
                except (ValueError, TypeError):
                    continue
                if not hash:
                    del found[path]
        if lines > 2 * len(found) + 1_000:
            text = "".join(_line(path, noted) for path, noted in found.items())
            write_atomically(self._log, text)
        return found

    def _note(self, path: str, noted: _Noted) -> None:
        self._append(_line(path, noted))
        self._files[path] = noted
        self._same_when_folded[_folded(path)] = path

    def _forget_note(self, path: str) -> None:
        self._append(_line(path, _Noted("", 0, 0)))
        del self._files[path]
        self._same_when_folded.pop(_folded(path), None)

    def _append(self, line: str) -> None:
        # A line of its own even behind one that was cut off.
        try:
            with self._log.open("ab") as stream:
                stream.write(b"\n" + line.encode("utf-8"))
        except OSError as error:
            raise _told(error, self._log) from error

    def _read_about(self) -> dict[str, Any]:
        try:
            found = json.loads(self._about.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {"changes": 1} if self._files else {}
        return found if isinstance(found, dict) else {}

    def _write_about(self) -> None:
        about = {"origin": self._origin, "changes": self._changes, "indexed": self._indexed}
        try:
            write_atomically(self._about, json.dumps(about) + "\n")
        except OSError as error:
            raise _told(error, self._about) from error


def _line(path: str, noted: _Noted) -> str:
    return json.dumps([path, noted.hash, noted.size, noted.modified_ns]) + "\n"


def _folded(path: str) -> str:
    """What two paths have in common that some disks take for one."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", path).casefold())


def _same_file(one: Path, other: Path) -> bool:
    try:
        return os.path.samestat(os.lstat(disk_bytes(one)), os.lstat(disk_bytes(other)))
    except OSError:
        return False


def _told(error: OSError, place: Path) -> Exception:
    """What a failure of the disk means for the file, or for all of them."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull(
            f"{place.parent}: there is no room for what is sent", hint="make room on the box, then send again"
        )
    if error.errno in (errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL):
        return NotTaken(f"the box's disk does not take its name ({error.strerror})")
    return StorageError(f"{place}: cannot be written ({error.strerror})", hint="check the folder on the box")
