"""What is in the file, and how an older file becomes a current one.

``FORMAT`` counts layouts. A file of an older format is migrated step by step in one transaction when it
is opened; one of a newer format is refused. The terms also depend on the analyzer: when its version
differs from the one recorded, the term table is filled again from the stored texts.
"""

from __future__ import annotations

import os
import uuid
import zlib
from collections.abc import Callable
from pathlib import Path

from ...analysis import ANALYZER_VERSION, FTS5_TOKENIZE
from ...errors import IndexFormat, StorageError
from .connection import Connection, Database

APPLICATION_ID = 0x5342_7261  # "SBra"
FORMAT = 4

TERM_COLUMNS = ("title", "heading", "body", "tags", "names")
"""The fields of a chunk that lexical search knows: names are aliases, file stem and description."""

TERMS_TABLE = f"""
CREATE VIRTUAL TABLE terms USING fts5(
  {", ".join(TERM_COLUMNS)}, content='', contentless_delete=1, tokenize={FTS5_TOKENIZE}
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(terms, row);
"""

TABLES = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;

CREATE TABLE source(
  key INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  path TEXT NOT NULL,
  synced REAL,                  -- seconds since the epoch of the last complete comparison
  unavailable TEXT NOT NULL DEFAULT '',
  folders TEXT NOT NULL DEFAULT '{}', -- JSON: where its items lay then, and the state of each folder
  relink INTEGER NOT NULL DEFAULT 0   -- documents changed since its links were last resolved
);

CREATE TABLE item(
  key INTEGER PRIMARY KEY,
  source INTEGER NOT NULL REFERENCES source(key) ON DELETE CASCADE,
  uri TEXT NOT NULL UNIQUE,
  path TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  hash TEXT NOT NULL,           -- '' while the bytes could not be turned into documents
  modified REAL NOT NULL,
  size INTEGER NOT NULL,
  failure TEXT NOT NULL DEFAULT ''
);
CREATE INDEX item_source ON item(source);
CREATE INDEX item_path ON item(path);

CREATE TABLE document(
  key INTEGER PRIMARY KEY AUTOINCREMENT,  -- never used again: a search that began before a change finds none
  item INTEGER NOT NULL REFERENCES item(key) ON DELETE CASCADE,
  source INTEGER NOT NULL REFERENCES source(key) ON DELETE CASCADE,
  uri TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  type TEXT NOT NULL,
  title TEXT NOT NULL,
  name TEXT NOT NULL,           -- title, folded, for look-up by name
  text BLOB NOT NULL,           -- deflated UTF-8
  text_bytes INTEGER NOT NULL,
  body_start INTEGER NOT NULL,
  own_date REAL,
  date REAL NOT NULL,           -- own_date, else the file's
  created REAL,
  modified REAL NOT NULL,
  description TEXT NOT NULL,
  status TEXT NOT NULL,
  privacy TEXT NOT NULL,
  language TEXT NOT NULL DEFAULT '',
  project TEXT NOT NULL DEFAULT '',
  tags TEXT NOT NULL,           -- JSON
  aliases TEXT NOT NULL,        -- JSON
  metadata TEXT NOT NULL,       -- JSON
  warnings TEXT NOT NULL,       -- JSON
  chunks INTEGER NOT NULL
);
CREATE INDEX document_item ON document(item);
CREATE INDEX document_source ON document(source, privacy);
CREATE INDEX document_date ON document(date);
CREATE INDEX document_name ON document(name);

CREATE TABLE alias(
  document INTEGER NOT NULL REFERENCES document(key) ON DELETE CASCADE,
  name TEXT NOT NULL,
  PRIMARY KEY(name, document)
) WITHOUT ROWID;
CREATE INDEX alias_document ON alias(document);

CREATE TABLE tag(
  document INTEGER NOT NULL REFERENCES document(key) ON DELETE CASCADE,
  tag TEXT NOT NULL,            -- folded
  PRIMARY KEY(tag, document)
) WITHOUT ROWID;
CREATE INDEX tag_document ON tag(document);

CREATE TABLE link(
  document INTEGER NOT NULL REFERENCES document(key) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  target TEXT NOT NULL,
  anchor TEXT NOT NULL,
  text TEXT NOT NULL,
  kind TEXT NOT NULL,
  start INTEGER NOT NULL,
  resolved TEXT,                -- uri, or NULL while nothing answers to the target
  by_alias INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY(document, ordinal)
) WITHOUT ROWID;
CREATE INDEX link_resolved ON link(resolved);
CREATE INDEX link_text ON link(lower(text)) WHERE text != target;  -- what others call a document

CREATE TABLE vector(
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  hash BLOB NOT NULL UNIQUE,    -- of the text that was embedded
  data BLOB NOT NULL,           -- one signed byte a dimension, see vectors
  orphaned REAL                 -- when the last chunk with this text went away, else NULL
);
CREATE INDEX vector_orphaned ON vector(orphaned);

CREATE TABLE token(
  vector INTEGER PRIMARY KEY REFERENCES vector(key) ON DELETE CASCADE,
  codes BLOB NOT NULL           -- of the same text's tokens, one after the other; no rows with late interaction off
);

CREATE TABLE chunk(
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  document INTEGER NOT NULL REFERENCES document(key) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  start INTEGER NOT NULL,
  end INTEGER NOT NULL,
  heading_path TEXT NOT NULL,   -- JSON
  context TEXT NOT NULL,
  embedding BLOB NOT NULL,      -- hash of context and text
  vector INTEGER REFERENCES vector(key),
  origin TEXT NOT NULL DEFAULT '', -- the same for the same passage in other documents of the source
  script INTEGER NOT NULL DEFAULT 0 -- that most of it is written in, see analysis.scripts
);
CREATE UNIQUE INDEX chunk_document ON chunk(document, ordinal);
CREATE INDEX chunk_vector ON chunk(vector) WHERE vector IS NOT NULL;
CREATE INDEX chunk_waiting ON chunk(embedding) WHERE vector IS NULL;
CREATE INDEX chunk_origin ON chunk(origin) WHERE origin != '';

CREATE TABLE echo(              -- passages that an item left to another document, which has them already
  origin TEXT NOT NULL,
  item INTEGER NOT NULL REFERENCES item(key) ON DELETE CASCADE,
  PRIMARY KEY(origin, item)
) WITHOUT ROWID;
CREATE INDEX echo_item ON echo(item);
"""

OUTBOX = """
CREATE TABLE outbox(            -- ids of passages that a copy elsewhere has not been told of, see index.qdrant.replica
  seq INTEGER PRIMARY KEY AUTOINCREMENT,  -- never used again: what changes while it is sent stays
  id TEXT NOT NULL UNIQUE
);
"""


def _learn_languages_and_repeats(connection: Connection) -> None:
    """Format 2: documents have a language and a project, chunks an origin and a script: read again."""
    connection.execute(
        """
        ALTER TABLE document ADD COLUMN language TEXT NOT NULL DEFAULT '';
        ALTER TABLE document ADD COLUMN project TEXT NOT NULL DEFAULT '';
        ALTER TABLE chunk ADD COLUMN origin TEXT NOT NULL DEFAULT '';
        ALTER TABLE chunk ADD COLUMN script INTEGER NOT NULL DEFAULT 0;
        DROP INDEX document_source;
        CREATE INDEX document_source ON document(source, privacy);
        CREATE INDEX chunk_origin ON chunk(origin) WHERE origin != '';
        CREATE INDEX link_text ON link(lower(text)) WHERE text != target;
        CREATE TABLE echo(
          origin TEXT NOT NULL,
          item INTEGER NOT NULL REFERENCES item(key) ON DELETE CASCADE,
          PRIMARY KEY(origin, item)
        ) WITHOUT ROWID;
        CREATE INDEX echo_item ON echo(item);
        UPDATE item SET fingerprint = '', hash = '' WHERE hash != '';
        """
    ).fetchall()


def _learn_what_to_send(connection: Connection) -> None:
    """Format 3: what a copy of the passages elsewhere has not been told yet is written down."""
    connection.execute(OUTBOX).fetchall()


def _write_down_for_copies_only(connection: Connection) -> None:
    """Format 4: the triggers that fill the outbox are there only while there is a copy."""
    if connection.execute("SELECT 1 FROM meta WHERE key = 'replica'").fetchall():
        return
    for name in ("added", "removed", "changed", "document", "moved"):
        connection.execute(f"DROP TRIGGER IF EXISTS outbox_{name}").fetchall()


MIGRATIONS: dict[int, Callable[[Connection], None]] = {
    1: _learn_languages_and_repeats,
    2: _learn_what_to_send,
    3: _write_down_for_copies_only,
}
"""From format n to n + 1. A step sees the file as format n left it."""


def prepare(database: Database) -> None:
    """Create or migrate the file. Safe when many processes do it at once."""
    path = database.path
    connection = database.connection
    if _format(database) == FORMAT:
        return
    with database.transaction():
        found = _format(database)
        if found == 0:
            if database.value("SELECT count(*) FROM sqlite_schema"):
                raise IndexFormat(
                    f"{path}: an SQLite file, but not a second-brain index",
                    hint="move it away, or name another with $BRAIN_INDEX; then run `brain index`",
                )
            for statements in (TABLES, TERMS_TABLE, OUTBOX):
                connection.execute(statements).fetchall()
            set_meta(database, "index", uuid.uuid4().hex)
            set_meta(database, "analyzer", ANALYZER_VERSION)
            connection.execute(f"PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={FORMAT}").fetchall()
            return
        while found < FORMAT:
            MIGRATIONS[found](connection)
            found += 1
        connection.execute(f"PRAGMA user_version={FORMAT}").fetchall()


def _format(database: Database) -> int:
    with database.snapshot():  # both facts of one moment
        application, version = database.value("PRAGMA application_id"), database.value("PRAGMA user_version")
    if application not in (0, APPLICATION_ID) or (application == 0 and version != 0):
        raise IndexFormat(
            f"{database.path}: an SQLite file, but not a second-brain index",
            hint="move it away, or name another with $BRAIN_INDEX; then run `brain index`",
        )
    if version > FORMAT:
        raise IndexFormat(
            f"{database.path}: format {version}, written by a newer second-brain (this one knows up to {FORMAT})",
            hint="upgrade with `pip install -U second-brain`, or name another index with $BRAIN_INDEX",
        )
    return int(version)


def meta(database: Database, key: str) -> str | int | None:
    """A recorded fact about the index."""
    value: str | int | None = database.value("SELECT value FROM meta WHERE key = ?", (key,))
    return value


def set_meta(database: Database, key: str, value: str | int) -> None:
    """Record a fact about the index (inside the caller's transaction, if there is one)."""
    database.rows("INSERT INTO meta VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value", (key, value))


def pack_text(text: str) -> bytes:
    """A text as it is stored: deflated, half its size or less."""
    return zlib.compress(text.encode("utf-8"), 6)


def unpack_text(data: bytes) -> str:
    """The text that ``pack_text`` stored."""
    return zlib.decompress(data).decode("utf-8")


def create_private(path: Path) -> None:
    """Create the file for its owner only: it holds the text of private notes."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise StorageError(
            f"{path}: cannot be made ({error.strerror})",
            hint="check the folder's permissions and free space, or name another file with $BRAIN_INDEX",
        ) from error
