"""What a generation's file holds, looked at without changing it: not even to bring it to the layout of now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ..errors import IndexLocked, StorageError
from ..index.sqlite.connection import Database
from ..index.sqlite.rows import from_epoch

BESIDE = ("-wal", "-shm", ".vectors")
"""What belongs to an index file and takes room."""


@dataclass(frozen=True, slots=True)
class Contents:
    """Counts of what is there, ``bytes`` with log and matrix. ``problem`` is why nothing could be counted, or ''.

    ``embedder`` is '' before the first vector. ``synced`` is the last comparison with the files.
    """

    documents: int = 0
    passages: int = 0
    waiting: int = 0
    failures: int = 0
    embedder: str = ""
    analyzer: str = ""
    chunker: int = 0
    synced: datetime | None = None
    bytes: int = 0
    problem: str = ""


def contents(path: Path) -> Contents:
    """What the file holds. Cost: counts of its tables."""
    if not path.exists():
        return Contents(problem="there is no file")
    size = sum(part.stat().st_size for part in parts(path) if part.exists())
    database = Database(path)
    try:
        with database.snapshot():
            value = database.value
            if not value("SELECT count(*) FROM sqlite_schema WHERE name = 'meta'"):
                return Contents(bytes=size)  # made, and not begun
            facts: dict[str, str | int] = dict(database.rows("SELECT key, value FROM meta"))
            synced = value("SELECT max(synced) FROM source")
            return Contents(
                documents=int(value("SELECT count(*) FROM document")),
                passages=int(value("SELECT count(*) FROM chunk")),
                waiting=int(value("SELECT count(*) FROM chunk WHERE vector IS NULL")),
                failures=int(value("SELECT count(*) FROM item WHERE failure != ''")),
                embedder=str(facts.get("embedder", "")),
                analyzer=str(facts.get("analyzer", "")),
                chunker=int(facts.get("chunker", 0)),
                synced=None if synced is None else from_epoch(synced),
                bytes=size,
            )
    except StorageError as error:
        return Contents(bytes=size, problem=str(error))
    finally:
        database.close()


def parts(path: Path) -> list[Path]:
    """The index file, its log and its matrix, which may be missing."""
    return [path, *(path.with_name(path.name + suffix) for suffix in BESIDE)]


def is_open(path: Path) -> bool:
    """Whether some process has the index open, as far as it can be told; the log is written back by the way.

    A connection in WAL mode holds a lock for as long as it lives, so that nobody can leave that mode beside it.
    """
    if not path.exists():
        return False
    database = Database(path)
    try:
        database.rows("PRAGMA busy_timeout=0")
        database.rows("PRAGMA journal_mode=delete")
    except IndexLocked:
        return True
    except StorageError:
        return False  # it is no index any more
    finally:
        database.close()
    return False
