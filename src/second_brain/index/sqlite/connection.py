"""Opens the SQLite file so that many processes can use it at once, and translates SQLite's errors.

The only importer of ``apsw``, which brings its own SQLite: the interpreter's may be old, built without
FTS5, or carry the WAL-reset bug of 3.7.0 to 3.51.2.
"""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

import apsw

from ...errors import DiskFull, IndexDamaged, IndexFormat, IndexLocked, StorageError

Connection: TypeAlias = apsw.Connection
Row: TypeAlias = tuple[Any, ...]

BUSY_TIMEOUT_S = 30.0
"""How long a writer waits for another one. Every transaction of ours is far shorter."""

WAL_LIMIT_BYTES = 64 << 20
"""The write-ahead log is cut back to this size after a checkpoint."""

WAL_RESET_FIXED = (3, 51, 3)
"""First SQLite without the WAL-reset bug (sqlite.org/wal.html#walresetbug)."""

MISSING_PARTS = ("no such table", "no such column", "fts5:", "vtable constructor failed", "malformed")
"""What SQLite says when a table of ours is gone or is not what it was."""

NETWORK_FILE_SYSTEMS = frozenset(
    {"nfs", "nfs4", "cifs", "smb", "smbfs", "smb3", "9p", "afpfs", "webdav", "davfs", "ncpfs", "afs"}
)
SYNCED_FOLDERS = ("Dropbox", "OneDrive", "Google Drive", "GoogleDrive", "iCloud Drive", "Mobile Documents")


def sqlite_version() -> str:
    """The version of the SQLite that runs, as ``3.51.3``."""
    return apsw.sqlite_lib_version()


def has_wal_reset_bug(version: str) -> bool:
    """Whether this SQLite can corrupt a file that several connections checkpoint."""
    parts = tuple(int(part) for part in version.split(".")[:3])
    return (3, 7, 0) <= parts < WAL_RESET_FIXED


def file_system_of(path: Path, mounts: Path = Path("/proc/self/mounts")) -> str:
    """The type of the file system that holds ``path`` (``ext4``, ``nfs4``), or '' where it cannot be told."""
    if not sys.platform.startswith("linux"):
        return ""
    try:
        table = mounts.read_bytes()
        resolved = path.resolve()
    except OSError:
        return ""
    best, kind = -1, ""
    for line in table.splitlines():
        fields = line.split(b" ")
        if len(fields) < 3:
            continue
        mount = os.fsdecode(re.sub(rb"\\([0-7]{3})", lambda octal: bytes([int(octal[1], 8)]), fields[1]))
        if len(mount) > best and resolved.is_relative_to(mount):
            best, kind = len(mount), fields[2].decode("ascii", "replace")
    return kind


def unsafe_for_wal(path: Path, file_system: str) -> str:
    """Why shared memory and locks cannot be trusted at ``path``, or ''."""
    if file_system in NETWORK_FILE_SYSTEMS or (file_system.startswith("fuse.") and file_system != "fuse.ext2"):
        return f"it lies on a network file system ({file_system})"
    for part in path.parts:
        if part.startswith(SYNCED_FOLDERS):
            return f"it lies in a folder that is synchronized ({part})"
    return ""


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn SQLite's exceptions into ours, naming the file and what to do."""
    try:
        yield
    except apsw.Error as error:
        raise translate(error, path) from error


def translate(error: apsw.Error, path: Path) -> StorageError:
    """The error of ours that stands for one of SQLite's."""
    if isinstance(error, (apsw.BusyError, apsw.LockedError, apsw.ProtocolError)):
        return IndexLocked(
            f"{path}: another process has been writing for more than {BUSY_TIMEOUT_S:.0f} s",
            hint="wait for the other `brain` to finish, or stop it, and try again",
        )
    if isinstance(error, apsw.FullError) or _has_no_room_to_share(error):
        return DiskFull(
            f"{path}: no room to write ({error})",
            hint="free some space and run the command again: nothing that was indexed is lost",
        )
    if isinstance(error, apsw.NotADBError):
        return IndexFormat(
            f"{path}: the file is not a second-brain index",
            hint="move it away, or name another with $BRAIN_INDEX; then run `brain index`",
        )
    if isinstance(error, apsw.CorruptError):
        return IndexDamaged(
            f"{path}: the index is damaged ({error})",
            hint="run `brain doctor --fix`, which keeps the damaged file aside, then `brain index`",
        )
    if isinstance(error, (apsw.ReadOnlyError, apsw.PermissionsError, apsw.CantOpenError, apsw.IOError)):
        return StorageError(
            f"{path}: cannot be opened or written ({error})",
            hint="check the folder's permissions and free space, or name another file with $BRAIN_INDEX",
        )
    if isinstance(error, apsw.SQLError) and any(words in str(error) for words in MISSING_PARTS):
        return IndexDamaged(
            f"{path}: a part of the index is missing ({error})",
            hint="run `brain doctor --fix`, then `brain index`",
        )
    return StorageError(f"{path}: {error}", hint="run `brain doctor` to see what is wrong with the index")


def _has_no_room_to_share(error: apsw.Error) -> bool:
    """Whether the disk is too full for the memory that the processes of a log share: 32 kB."""
    return getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHMSIZE


class Database:
    """One file, one connection a thread, transactions that wait for their turn.

    Nothing stays open between calls but the connections themselves: no statement and no read
    transaction pins an old state, so that the write-ahead log can always be cut.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.wal_refused = unsafe_for_wal(path, file_system_of(path.parent))
        self._local = threading.local()
        self._all: list[tuple[threading.Thread, Connection]] = []
        self._lock = threading.Lock()

    @property
    def connection(self) -> Connection:
        """This thread's connection, opened on first use."""
        connection: Connection | None = getattr(self._local, "connection", None)
        alone = connection is not None and self._local.alone and not connection.in_transaction
        if alone and (self._is_written() or self._local.alone != self._stamp()):
            connection = None  # there is room again, and somebody writes
        if connection is None:
            with translated(self.path):
                connection = self._open()
            self._local.connection = connection
            with self._lock:
                for thread, stale in self._all:
                    if not thread.is_alive():
                        stale.close()
                self._all = [(thread, kept) for thread, kept in self._all if thread.is_alive()]
                self._all.append((threading.current_thread(), connection))
        return connection

    def _open(self) -> Connection:
        self._local.alone = None
        if self.path.exists() and not (os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)):
            return self._open_read_only()
        try:
            return self._open_shared()
        except apsw.IOError as error:
            if not _has_no_room_to_share(error) or self._is_written():
                raise
            self._local.alone = self._stamp()  # the disk is full to the last byte, and nobody writes
            return self._open_read_only()

    def _is_written(self) -> bool:
        """Whether the log holds something: then the file alone is not the whole truth."""
        try:
            return self.path.with_name(self.path.name + "-wal").stat().st_size > 0
        except FileNotFoundError:
            return False

    def _stamp(self) -> tuple[int, int]:
        found = self.path.stat()
        return found.st_mtime_ns, found.st_size

    def _open_shared(self) -> Connection:
        connection = apsw.Connection(str(self.path))
        # The timeout comes first: switching to WAL needs the lock that another opener may hold.
        connection.set_busy_timeout(int(BUSY_TIMEOUT_S * 1000))
        connection.execute("PRAGMA page_size=8192").fetchall()  # of a new file: longer rows fit in one page
        mode = "delete" if self.wal_refused else "wal"
        deadline = time.monotonic() + BUSY_TIMEOUT_S
        while True:
            try:
                (current,) = next(iter(connection.execute("PRAGMA journal_mode")))
                if current != mode:
                    connection.execute(f"PRAGMA journal_mode={mode}").fetchall()
                break
            except (apsw.BusyError, apsw.LockedError):
                # SQLite does not call the busy handler for every step of this switch.
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
        connection.execute(
            f"PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON; PRAGMA journal_size_limit={WAL_LIMIT_BYTES};"
            "PRAGMA cache_size=-65536; PRAGMA temp_store=MEMORY;"
            "PRAGMA trusted_schema=OFF"
        ).fetchall()
        return connection

    def _open_read_only(self) -> Connection:
        """A file that cannot be written (a backup, a mounted image) can still be searched.

        ``immutable`` spares the shared memory that WAL needs; a log that was not written back would be
        overlooked, so then SQLite's own error is the answer.
        """
        immutable = "?mode=ro" if self._is_written() else "?immutable=1"
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        return apsw.Connection(f"file:{quote(str(self.path))}{immutable}", flags=flags)

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """All rows of one statement."""
        connection = self.connection
        with translated(self.path):
            return connection.execute(sql, parameters).fetchall()

    def value(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """The first column of the first row, or None."""
        rows = self.rows(sql, parameters)
        return rows[0][0] if rows else None

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """A write transaction: it waits for its turn, and is undone whole if anything fails."""
        connection = self.connection
        with translated(self.path):
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A read transaction: all reads inside see one state."""
        connection = self.connection
        outermost = not connection.in_transaction
        with translated(self.path):
            if outermost:
                connection.execute("BEGIN")
            try:
                yield connection
            finally:
                if outermost:
                    connection.execute("COMMIT")

    def close(self) -> None:
        """Close every thread's connection. The object can be used again: it reopens."""
        with self._lock:
            for _, connection in self._all:
                connection.close()
            self._all = []
        self._local = threading.local()
