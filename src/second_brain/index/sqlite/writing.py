"""Writes what was read: an item's documents, chunks, terms and links with its hash, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

import msgspec

from ...analysis.scripts import script_of
from ...errors import SourceRemoved
from ...records import Change, Removal, Replacement, Touch, Unread
from ...types import Chunk, Document, embedding_hash
from . import schema
from .connection import Connection, Database
from .filters import fold_name, fold_tag
from .terms import DocumentTerms
from .vectors import VectorIndex


class DocumentWriter:
    """Applies changes to the tables of one index file."""

    def __init__(self, database: Database, vectors: VectorIndex) -> None:
        self.database = database
        self.vectors = vectors

    def write(self, source: str, changes: Sequence[Change]) -> None:
        """Apply changes to items of one source, all or none. Raises SourceRemoved if it was taken away meanwhile."""
        with self.database.transaction() as connection:
            key = self.database.value("SELECT key FROM source WHERE name = ?", (source,))
            if key is None:
                raise SourceRemoved(
                    f"source '{source}' was removed while it was being indexed",
                    hint="nothing of it is left in the index; `brain add` brings it back",
                )
            if any(isinstance(change, (Replacement, Removal)) for change in changes):
                connection.execute("UPDATE source SET relink = 1 WHERE key = ?", (key,))
            for change in changes:
                if isinstance(change, Replacement):
                    self._replace(connection, key, change)
                elif isinstance(change, Touch):
                    connection.execute(
                        "UPDATE item SET path = ?, fingerprint = ?, modified = ?, size = ?, failure = '' WHERE uri = ?",
                        (
                            change.item.path,
                            change.item.fingerprint,
                            change.item.modified.timestamp(),
                            change.item.size,
                            change.item.uri,
                        ),
                    )
                elif isinstance(change, Unread):
                    item = change.item
                    connection.execute(
                        "INSERT INTO item(source, uri, path, fingerprint, hash, modified, size, failure)"
                        " VALUES (?, ?, ?, ?, '', ?, ?, ?) ON CONFLICT(uri) DO UPDATE SET"
                        " path = excluded.path, fingerprint = excluded.fingerprint, failure = excluded.failure",
                        (
                            key,
                            item.uri,
                            item.path,
                            "" if change.retry else item.fingerprint,
                            item.modified.timestamp(),
                            item.size,
                            change.reason,
                        ),
                    )
                else:
                    self._remove(connection, change.uri)

    def _remove(self, connection: Connection, uri: str) -> None:
        for (key,) in self.database.rows("SELECT key FROM item WHERE uri = ?", (uri,)):
            self.delete_documents(connection, self._documents(key))
            connection.execute("DELETE FROM item WHERE key = ?", (key,))

    def delete_documents(self, connection: Connection, documents: Sequence[int]) -> None:
        """Remove documents, and have items read again that hold what only these had in the index."""
        self._forget_echoes(connection, self._origins(documents))
        self._delete(connection, documents)

    def _delete(self, connection: Connection, documents: Sequence[int]) -> None:
        vectors: list[int] = []
        for document in documents:
            chunks = self.database.rows("SELECT key, vector FROM chunk WHERE document = ?", (document,))
            connection.executemany("DELETE FROM terms WHERE rowid = ?", [(key,) for key, _ in chunks])
            vectors.extend(vector for _, vector in chunks if vector is not None)
            connection.execute("DELETE FROM document WHERE key = ?", (document,))
        self.vectors.release(vectors)

    def _replace(self, connection: Connection, source: int, change: Replacement) -> None:
        item = change.item
        rows = self.database.rows("SELECT key FROM item WHERE uri = ?", (item.uri,))
        values = (item.path, item.fingerprint, change.hash, item.modified.timestamp(), item.size)
        origins: set[str] = set()
        if rows:
            (key,) = rows[0]
            connection.execute(
                "UPDATE item SET path = ?, fingerprint = ?, hash = ?, modified = ?, size = ?, failure = ''"
                " WHERE key = ?",
                (*values, key),
            )
            connection.execute("DELETE FROM echo WHERE item = ?", (key,))
            documents = self._documents(key)
            origins = self._origins(documents)
            self._delete(connection, documents)
        else:
            connection.execute(
                "INSERT INTO item(path, fingerprint, hash, modified, size, source, uri) VALUES (?,?,?,?,?,?,?)",
                (*values, source, item.uri),
            )
            key = connection.last_insert_rowid()
        for document, chunks in change.documents:
            self._insert(connection, source, key, document, chunks)
        if origins:
            self._forget_echoes(connection, origins - self._origins(self._documents(key)))

    def _documents(self, item: int) -> list[int]:
        return [key for (key,) in self.database.rows("SELECT key FROM document WHERE item = ?", (item,))]

    # -- passages that several documents repeat ----------------------------------------------------------

    def _origins(self, documents: Sequence[int]) -> set[str]:
        rows = self.database.rows(
            "SELECT DISTINCT origin FROM chunk WHERE origin != '' AND document IN (SELECT value FROM json_each(?))",
            (as_json(list(documents)),),
        )
        return {origin for (origin,) in rows}

    def _held(self, source: int, origin: str) -> bool:
        """Whether a document of the source has the passage already."""
        return bool(
            self.database.value(
                "SELECT 1 FROM chunk c JOIN document d ON d.key = c.document"
                " WHERE c.origin = ? AND d.source = ? LIMIT 1",
                (origin, source),
            )
        )

    def _forget_echoes(self, connection: Connection, lost: set[str]) -> None:
        """Have the items read again that left these passages to a document which no longer has them."""
        connection.execute(
            "UPDATE item SET hash = '', fingerprint = '' WHERE key IN"
            " (SELECT item FROM echo WHERE origin IN (SELECT value FROM json_each(?)))",
            (as_json(sorted(lost)),),
        )

    def _insert(
        self, connection: Connection, source: int, item: int, document: Document, chunks: Sequence[Chunk]
    ) -> None:
        kept = [chunk for chunk in chunks if not (chunk.origin and self._held(source, chunk.origin))]
        own_date = document.date.timestamp() if document.date else None
        modified = document.modified.timestamp()
        connection.execute(
            "INSERT INTO document(item, source, uri, kind, type, title, name, text, text_bytes, body_start, own_date,"
            " date, created, modified, description, status, privacy, language, project, tags, aliases, metadata,"
            " warnings, chunks) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                item,
                source,
                document.uri,
                document.kind,
                document.type,
                document.title,
                fold_name(document.title),
                schema.pack_text(document.text),
                len(document.text.encode("utf-8")),
                document.body_start,
                own_date,
                modified if own_date is None else own_date,
                document.created.timestamp() if document.created else None,
                modified,
                document.description,
                document.status,
                document.privacy,
                document.language,
                document.project,
                as_json(document.tags),
                as_json(document.aliases),
                as_json(dict(document.metadata)),
                as_json(document.warnings),
                len(kept),
            ),
        )
        key = connection.last_insert_rowid()
        stem = PurePosixPath(document.uri).stem
        names = {fold_name(name) for name in (*document.aliases, stem)}
        connection.executemany("INSERT INTO alias VALUES (?, ?)", [(key, name) for name in sorted(names) if name])
        tags = {fold_tag(tag) for tag in document.tags}
        connection.executemany("INSERT INTO tag VALUES (?, ?)", [(key, tag) for tag in sorted(tags) if tag])
        connection.executemany(
            "INSERT INTO link(document, ordinal, target, anchor, text, kind, start) VALUES (?,?,?,?,?,?,?)",
            [
                (key, ordinal, link.target, link.anchor, link.text, link.kind, link.start)
                for ordinal, link in enumerate(document.links)
            ],
        )
        fields = DocumentTerms(document.title, document.tags, document.aliases, stem, document.description)
        echoes = {chunk.origin for chunk in chunks} - {chunk.origin for chunk in kept}
        connection.executemany(
            "INSERT OR IGNORE INTO echo VALUES (?, ?)", [(origin, item) for origin in sorted(echoes)]
        )
        for ordinal, chunk in enumerate(kept):
            embedding = embedding_hash(chunk.embedding_text)
            connection.execute(
                "INSERT INTO chunk(id, document, ordinal, start, end, heading_path, context, embedding, vector, origin,"
                " script) VALUES (?,?,?,?,?,?,?,?,?,?,?)",
                (
                    chunk.id,
                    key,
                    ordinal,
                    chunk.start,
                    chunk.end,
                    as_json(chunk.heading_path),
                    chunk.context,
                    embedding,
                    self.vectors.adopt(embedding),
                    chunk.origin,
                    script_of(chunk.text),
                ),
            )
            connection.execute(
                "INSERT INTO terms(rowid, title, heading, body, tags, names) VALUES (?,?,?,?,?,?)",
                (connection.last_insert_rowid(), *fields.of(chunk.heading_path, chunk.text)),
            )


def as_json(value: object) -> str:
    """A value as it is stored in a JSON column."""
    return msgspec.json.encode(value).decode("utf-8")
