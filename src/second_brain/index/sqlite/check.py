"""Finds what is wrong with an index file, and mends it without losing a note: the files are the truth.

``PRAGMA integrity_check`` says ok for a damaged term table, so the term table is checked by FTS5 and its rows are
counted against the chunks. A file that cannot be mended is kept aside; its vectors, the one part that is
dear to make again, are carried over as far as they can be read.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import apsw

from ...errors import BrainError, IndexDamaged
from . import schema
from .connection import (
    WAL_LIMIT_BYTES,
    Database,
    file_system_of,
    has_wal_reset_bug,
    sqlite_version,
    unsafe_for_wal,
)
from .store import SqliteIndex

Severity = Literal["ok", "note", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. ``remedy`` is what to do; ``fixable``: ``repair`` can do it safely."""

    name: str
    severity: Severity
    message: str
    remedy: str = ""
    fixable: bool = False


def examine(path: Path) -> list[Finding]:
    """Look at the index file and where it lies; nothing is changed."""
    findings = list(_surroundings(path))
    if not path.exists():
        return [*findings, Finding("index", "note", f"{path}: there is no index yet", "run `brain index`")]
    database = Database(path)
    try:
        findings.extend(_contents(database))
    except IndexDamaged as error:
        findings.append(_unsound(path, str(error)))
    except BrainError as error:  # busy, full, not ours to write: no damage
        findings.append(Finding("index", "error", str(error), error.hint))
    finally:
        database.close()
    return findings


def _unsound(path: Path, message: str) -> Finding:
    return Finding(
        "index",
        "error",
        f"{path}: {message}",
        "run `brain doctor --fix`: the file is kept aside and a new index is made; then `brain index`",
        fixable=True,
    )


def _surroundings(path: Path) -> Iterator[Finding]:
    version = sqlite_version()
    if has_wal_reset_bug(version):
        yield Finding(
            "sqlite",
            "warning",
            f"SQLite {version} can damage a file that several processes write (WAL-reset bug, mended in 3.51.3)",
            "pip install -U apsw",
        )
    else:
        yield Finding("sqlite", "ok", f"SQLite {version}")
    folder = next(parent for parent in (path.parent, *path.parents) if parent.exists())
    reason = unsafe_for_wal(path, file_system_of(folder))
    if reason:
        yield Finding(
            "place",
            "warning",
            f"{path}: {reason}; the index is used in a slower mode that such places allow",
            "set $BRAIN_INDEX to a file on a local disk",
        )
    free = shutil.disk_usage(folder).free
    size = path.stat().st_size if path.exists() else 0
    if free < max(200 << 20, size):
        yield Finding(
            "disk",
            "warning",
            f"{folder}: only {free >> 20} MB are free",
            "free some space before the next `brain index`",
        )
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size > 2 * WAL_LIMIT_BYTES:
        yield Finding(
            "log",
            "warning",
            f"{log}: {log.stat().st_size >> 20} MB; some process holds an old state open",
            "end other `brain` processes; the log is cut at the next write",
        )


def _contents(database: Database) -> Iterator[Finding]:
    problems = [message for (message,) in database.rows("PRAGMA integrity_check(5)") if message != "ok"]
    if problems:
        yield _unsound(database.path, "; ".join(problems))
        return
    version = database.value("PRAGMA user_version")
    if database.value("PRAGMA application_id") != schema.APPLICATION_ID or version != schema.FORMAT:
        if not database.value("SELECT count(*) FROM sqlite_schema"):
            yield Finding("index", "note", f"{database.path}: empty", "run `brain index`")
            return
        schema.prepare(database)  # raises IndexFormat, or migrates
    yield Finding("index", "ok", "the file is sound")
    terms = _terms_problem(database)
    if terms:
        yield Finding(
            "terms",
            "error",
            f"lexical search is damaged: {terms}",
            "run `brain doctor --fix`: it fills the term table again from the stored texts",
            fixable=True,
        )
    else:
        yield Finding("terms", "ok", "the term table agrees with the chunks")
    broken = _incomplete_items(database)
    if broken:
        yield Finding(
            "chunks",
            "error",
            f"{len(broken)} documents have lost chunks, for example {broken[0]}",
            "run `brain doctor --fix`, then `brain index`: they are read again from their files",
            fixable=True,
        )
    else:
        yield Finding("chunks", "ok", "every document has its chunks")
    dangling = database.value(
        "SELECT count(*) FROM chunk c WHERE c.vector IS NOT NULL"
        " AND NOT EXISTS (SELECT 1 FROM vector v WHERE v.key = c.vector)"
    )
    if dangling:
        yield Finding(
            "vectors",
            "error",
            f"{dangling} chunks name a vector that is gone",
            "run `brain doctor --fix`, then `brain embed`",
            fixable=True,
        )
    else:
        yield Finding("vectors", "ok", "vectors and chunks agree")


def _terms_problem(database: Database) -> str:
    """What is wrong with the term table, or ''."""
    try:
        database.rows("INSERT INTO terms(terms, rank) VALUES ('integrity-check', 0)")
        missing = database.value(
            "SELECT count(*) FROM chunk WHERE key NOT IN (SELECT id FROM terms_docsize)"
        ) + database.value("SELECT count(*) FROM terms_docsize WHERE id NOT IN (SELECT key FROM chunk)")
        database.rows("SELECT doc FROM vocabulary LIMIT 1")
    except IndexDamaged as error:
        return str(error)
    return f"{missing} entries do not belong to a chunk, or are missing" if missing else ""


def _incomplete_items(database: Database) -> list[str]:
    return [
        uri
        for (uri,) in database.rows(
            "SELECT uri FROM document d WHERE chunks != (SELECT count(*) FROM chunk c WHERE c.document = d.key)"
            " ORDER BY uri"
        )
    ]


def repair(path: Path, findings: list[Finding]) -> list[Finding]:
    """Mend what ``examine`` found fixable; returns what a new examination finds, and what was done."""
    broken = {finding.name for finding in findings if finding.fixable}
    try:
        done = [_replace(path)] if "index" in broken else list(_mend(path, broken))
    except IndexDamaged:
        done = [_replace(path)]  # worse than it looked
    return [*done, *examine(path)]


def _replace(path: Path) -> Finding:
    aside = set_aside(path)
    carried = _carry_vectors(aside, path)
    return Finding(
        "index",
        "note",
        f"the damaged file is kept as {aside}; a new index holds {carried} of its vectors",
        "run `brain index` to fill it from your files",
    )


def _mend(path: Path, broken: set[str]) -> Iterator[Finding]:
    database = Database(path)
    try:
        if "vectors" in broken:
            database.rows("UPDATE chunk SET vector = NULL WHERE vector NOT IN (SELECT key FROM vector)")
        if "chunks" in broken:
            uris = _incomplete_items(database)
            with database.transaction() as connection:
                connection.executemany(
                    "UPDATE item SET hash = '', fingerprint = '' WHERE key = (SELECT item FROM document WHERE uri = ?)",
                    [(uri,) for uri in uris],
                )
            yield Finding("chunks", "note", f"{len(uris)} documents will be read again", "run `brain index`")
    finally:
        database.close()
    if "terms" in broken:
        index = SqliteIndex(path)
        try:
            index.rebuild_terms()
        finally:
            index.close()
        yield Finding("terms", "note", "the term table was filled again from the stored texts")


def set_aside(path: Path) -> Path:
    """Rename the file and its log, so that nothing of it is lost; the new name."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    aside = path.with_name(f"{path.name}.damaged-{stamp}")
    number = 1
    while aside.exists():
        number += 1
        aside = path.with_name(f"{path.name}.damaged-{stamp}-{number}")
    for suffix in ("", "-wal", "-shm"):
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.rename(aside.with_name(aside.name + suffix))
    path.with_name(path.name + ".vectors").unlink(missing_ok=True)
    return aside


def _carry_vectors(damaged: Path, path: Path) -> int:
    """Copy what can be read of the vectors into a new index; returns how many."""
    index = SqliteIndex(path)
    source = apsw.Connection(str(damaged), flags=apsw.SQLITE_OPEN_READONLY)
    carried = 0
    try:
        embedder = source.execute("SELECT value FROM meta WHERE key = 'embedder'").fetchall()
        with index.database.transaction() as connection:
            if embedder:
                schema.set_meta(index.database, "embedder", str(embedder[0][0]))
                for hash, data in _readable_rows(source):
                    connection.execute(
                        "INSERT OR IGNORE INTO vector(hash, data, orphaned) VALUES (?, ?, unixepoch())", (hash, data)
                    )
                    carried += 1
    except apsw.Error:
        pass  # not even the name of the embedder can be read
    finally:
        source.close()
        index.close()
    return carried


def _readable_rows(source: apsw.Connection) -> Iterator[tuple[bytes, bytes]]:
    """The vectors that can be read: beyond a damaged page the search goes on behind it, step by step wider."""
    last, step = 0, 1
    newest = source.execute("SELECT seq FROM sqlite_sequence WHERE name = 'vector'").fetchall()
    end = int(str(newest[0][0])) if newest else 0
    while last < end:
        try:
            for key, hash, data in source.execute(
                "SELECT key, hash, data FROM vector WHERE key > ? ORDER BY key", (last,)
            ):
                yield hash, data
                last, step = key, 1
            return
        except apsw.Error:
            last, step = last + step, step * 2
