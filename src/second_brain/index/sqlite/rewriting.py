"""Rewrites documents in place after the rules for what may be kept have changed: no file is needed for it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from ...types import Document, Link, Section, chunk_id, embedding_hash, embedding_text
from . import schema
from .connection import Connection
from .filters import fold_name, fold_tag
from .rows import from_epoch
from .store import SqliteIndex
from .terms import DocumentTerms
from .writing import as_json

BATCH = 64
"""Documents that are read, and written if they changed, in one transaction."""

SHORTEST_CUT = 40
"""No chunker cuts the names in a context to fewer characters."""


@dataclass(frozen=True, slots=True)
class _Stored:
    """A document of the index: its chunks stand in for its sections, which the index does not hold."""

    key: int
    document: Document
    chunks: tuple[tuple[int, int, int, str], ...]
    """Key, start, end, context."""


def rewrite(
    index: SqliteIndex, kept: Callable[[Document], Document], progress: Callable[[int, int], None] = lambda *_: None
) -> int:
    """Give every document to ``kept`` and write what it returns where that differs; returns how many did.

    ``kept`` must leave offsets as they are. Chunks get new ids, terms and hashes with their new text. Nothing of the
    old text stays in the file: see ``_purge``.
    """
    keys = [key for (key,) in index.database.rows("SELECT key FROM document ORDER BY key")]
    changed = 0
    for first in range(0, len(keys), BATCH):
        with index.database.transaction() as connection:
            for stored in _read(index, keys[first : first + BATCH]):
                new = kept(stored.document)
                if new != stored.document:
                    _write(index, connection, stored, new)
                    changed += 1
        progress(min(first + BATCH, len(keys)), len(keys))
    if changed:
        _purge(index)
    return changed


def _read(index: SqliteIndex, keys: Sequence[int]) -> Iterator[_Stored]:
    rows = index.database.rows
    for row in rows(
        "SELECT d.key, d.uri, s.name, d.kind, d.type, d.title, d.text, d.modified, d.body_start, d.description,"
        " d.status, d.project, d.tags, d.aliases, d.metadata, d.warnings FROM document d"
        " JOIN source s ON s.key = d.source WHERE d.key IN (SELECT value FROM json_each(?))",
        (as_json(list(keys)),),
    ):
        key, uri, source, kind, type, title, text, modified, body_start, description, status, project, *lists = row
        tags, aliases, metadata, warnings = map(json.loads, lists)
        links = rows("SELECT target, anchor, text, kind, start FROM link WHERE document = ? ORDER BY ordinal", (key,))
        chunks = rows(
            "SELECT key, start, end, context, heading_path FROM chunk WHERE document = ? ORDER BY ordinal", (key,)
        )
        document = Document(
            uri=uri,
            source=source,
            kind=kind,
            type=type,
            title=title,
            text=schema.unpack_text(text),
            modified=from_epoch(modified),
            body_start=body_start,
            sections=tuple(Section(0, tuple(json.loads(path)), start, end) for _, start, end, _, path in chunks),
            description=description,
            status=status,
            project=project,
            tags=tuple(tags),
            aliases=tuple(aliases),
            links=tuple(Link(*link) for link in links),
            metadata=metadata,
            warnings=tuple(warnings),
        )
        yield _Stored(key, document, tuple((chunk, start, end, context) for chunk, start, end, context, _ in chunks))


def _write(index: SqliteIndex, connection: Connection, stored: _Stored, new: Document) -> None:
    old = stored.document
    connection.execute(
        "UPDATE document SET type = ?, title = ?, name = ?, text = ?, text_bytes = ?, description = ?, status = ?,"
        " project = ?, tags = ?, aliases = ?, metadata = ?, warnings = ? WHERE key = ?",
        (
            new.type,
            new.title,
            fold_name(new.title),
            schema.pack_text(new.text),
            len(new.text.encode("utf-8")),
            new.description,
            new.status,
            new.project,
            as_json(new.tags),
            as_json(new.aliases),
            as_json(dict(new.metadata)),
            as_json(new.warnings),
            stored.key,
        ),
    )
    _write_names(connection, stored.key, new)
    connection.executemany(
        "UPDATE link SET target = ?, anchor = ?, text = ? WHERE document = ? AND ordinal = ?",
        [(link.target, link.anchor, link.text, stored.key, ordinal) for ordinal, link in enumerate(new.links)],
    )
    connection.execute("UPDATE source SET relink = 1 WHERE name = ?", (old.source,))
    _write_chunks(index, connection, stored, new)


def _write_names(connection: Connection, key: int, new: Document) -> None:
    names = {fold_name(name) for name in (*new.aliases, PurePosixPath(new.uri).stem)}
    tags = {fold_tag(tag) for tag in new.tags}
    for table, values in (("alias", names), ("tag", tags)):
        connection.execute(f"DELETE FROM {table} WHERE document = ?", (key,))
        connection.executemany(
            f"INSERT INTO {table} VALUES (?, ?)", [(key, value) for value in sorted(values) if value]
        )


def _write_chunks(index: SqliteIndex, connection: Connection, stored: _Stored, new: Document) -> None:
    """Texts, contexts, ids, hashes and terms of the chunks; the vectors of old texts lose their last use."""
    old = stored.document
    stem = PurePosixPath(new.uri).stem
    fields = DocumentTerms(new.title, new.tags, new.aliases, stem, new.description)
    seen: dict[str, int] = {}
    released: list[int] = []
    for (key, start, end, context), before, after in zip(stored.chunks, old.sections, new.sections, strict=True):
        text = new.text[start:end]
        occurrence = seen[text] = seen.get(text, -1) + 1
        context = _context(
            context, (*before.path, old.title, old.description), (*after.path, new.title, new.description)
        )
        if text != old.text[start:end]:
            id = chunk_id(new.uri, text, occurrence)
            while index.database.value("SELECT 1 FROM chunk WHERE id = ? AND key != ?", (id, key)):
                occurrence += 1
                id = chunk_id(new.uri, text, occurrence)
            connection.execute("UPDATE chunk SET id = ? WHERE key = ?", (id, key))
        hash = embedding_hash(embedding_text(context, text))
        ((vector, embedding),) = index.database.rows("SELECT vector, embedding FROM chunk WHERE key = ?", (key,))
        if hash != embedding:
            released += [] if vector is None else [vector]
            vector = index.vectors.adopt(hash)
        connection.execute(
            "UPDATE chunk SET heading_path = ?, context = ?, embedding = ?, vector = ? WHERE key = ?",
            (as_json(after.path), context, hash, vector, key),
        )
        connection.execute("DELETE FROM terms WHERE rowid = ?", (key,))
        connection.execute(
            "INSERT INTO terms(rowid, title, heading, body, tags, names) VALUES (?,?,?,?,?,?)",
            (key, *fields.of(after.path, text)),
        )
    index.vectors.release(released)


def _context(context: str, old: Sequence[str], new: Sequence[str]) -> str:
    """The context with the old names replaced by the new, also where the chunker cut them short."""
    for before, after in zip(old, new, strict=True):
        if before != after:
            lengths = (len(before), *range(len(before) - 1, SHORTEST_CUT - 1, -1))
            held = next((length for length in lengths if before[:length] in context), 0)
            context = context.replace(before[:held], after[:held]) if held else context
    return context


def _purge(index: SqliteIndex) -> None:
    """Leave nothing of what was replaced or deleted in the file, its log, the term table, or the vectors.

    FTS5 keeps deleted terms until its segments are merged, SQLite the bytes of free pages until the file is made anew.
    Vectors of texts that nobody has any more go too: which of them held a secret cannot be told.
    """
    index.vectors.prune(every=True)
    index.compact()
    with contextlib.suppress(OSError):
        index.vectors.matrix_path.unlink(missing_ok=True)
    index.vectors.refresh()
