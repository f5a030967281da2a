"""The index as a whole: what was read, when, and what it holds. One object a process and file.

Everything that must be true together is written in one transaction: an item's documents, chunks, terms and
links with its hash. A failed write leaves no hash behind, so the next run reads the item again.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from ...analysis import ANALYZER_VERSION
from ...protocols import Index, Progress
from ...records import Candidate, Change, ItemState, SourceState, Stats, StoredChunk, StoredDocument, StoredLink
from ...types import Filter, Ranking
from ..lock import sync_lock
from . import schema
from .connection import Database
from .counting import count_all, count_sources
from .filters import TABLES, condition, fold_name
from .lookups import state
from .remembering import Remembered
from .rows import DOCUMENT_COLUMNS, from_epoch, stored_document
from .searching import SqliteSearch
from .terms import FIELD_WEIGHTS, DocumentTerms, TermIndex
from .vectors import VectorIndex
from .writing import DocumentWriter, as_json

CALLED_BY_MOST = 3
"""Words like "here" and "this" are the text of links to many documents."""

_OWN_PRIVACY = "coalesce(d.metadata ->> 'privacy', '')"
_DOCUMENT_TABLES = "document d JOIN item i ON i.key = d.item JOIN source s ON s.key = d.source"


class SqliteIndex:
    """Documents, chunks, terms and vectors in one file. Safe to use from many threads and processes."""

    def __init__(self, path: Path, *, field_weights: Mapping[str, float] = FIELD_WEIGHTS) -> None:
        self.path = path
        schema.create_private(path)
        self.database = Database(path)
        schema.prepare(self.database)
        self.terms = TermIndex(self.database, field_weights)
        self.vectors = VectorIndex(self.database)
        self._remembered = Remembered(self.database, most=32)
        if schema.meta(self.database, "analyzer") != ANALYZER_VERSION:
            with sync_lock(path, purpose="terms", progress=lambda *report: None):  # one process does it for all
                if schema.meta(self.database, "analyzer") != ANALYZER_VERSION:
                    self.rebuild_terms()

    def close(self) -> None:
        """Close the file and unmap the matrix. The object reopens them if it is used again."""
        self.database.close()
        self.vectors = VectorIndex(self.database)

    # -- sources -----------------------------------------------------------------------------------------

    def put_source(self, name: str, kind: str, path: str) -> None:
        """Make the source known, or correct its kind and path."""
        self.database.rows(
            "INSERT INTO source(name, kind, path) VALUES (?, ?, ?)"
            " ON CONFLICT(name) DO UPDATE SET kind = excluded.kind, path = excluded.path",
            (name, kind, path),
        )

    def relabel(self, name: str, label: Callable[[str], str]) -> None:
        """Give the source's documents the privacy label that holds now, from the one that each names itself."""
        rows = self.database.rows(
            f"SELECT DISTINCT s.key, {_OWN_PRIVACY}, d.privacy FROM document d JOIN source s ON s.key = d.source"
            " WHERE s.name = ?",
            (name,),
        )
        for source, own, old in rows:
            if label(own) != old:
                self.database.rows(
                    f"UPDATE document AS d SET privacy = ? WHERE source = ? AND {_OWN_PRIVACY} = ? AND privacy = ?",
                    (label(own), source, own, old),
                )

    def mark_synced(
        self, name: str, when: datetime, unavailable: str = "", *, folders: Mapping[str, int] | None = None
    ) -> None:
        """Record that the source was compared with the disk as of ``when``, or why it could not be.

        ``folders`` are those in which its items lie, each with its state: another state means that something was
        added or went.
        """
        if unavailable:
            self.database.rows("UPDATE source SET unavailable = ? WHERE name = ?", (unavailable, name))
        else:
            self.database.rows(
                "UPDATE source SET synced = ?, unavailable = '', folders = ? WHERE name = ?",
                (when.timestamp(), as_json(folders or {}), name),
            )

    def remove_source(self, name: str) -> int:
        """Forget a source and all that was read from it (never a file); returns how many documents went."""
        with self.database.transaction() as connection:
            key = self.database.value("SELECT key FROM source WHERE name = ?", (name,))
            if key is None:
                return 0
            documents = self.database.rows("SELECT key FROM document WHERE source = ?", (key,))
            DocumentWriter(self.database, self.vectors).delete_documents(
                connection, [document for (document,) in documents]
            )
            connection.execute("DELETE FROM item WHERE source = ?", (key,))
            connection.execute("DELETE FROM source WHERE key = ?", (key,))
        return len(documents)

    def freshness(self) -> list[tuple[str, datetime | None, str]]:
        """Name, time of the last comparison with the disk, and why the last one could not be made, by name."""
        rows = self.database.rows("SELECT name, synced, unavailable FROM source ORDER BY name")
        return [(name, None if synced is None else from_epoch(synced), why) for name, synced, why in rows]

    def folders(self, name: str) -> dict[str, int]:
        """The folders in which the source's items lay when it was last compared, each with its state then."""
        found: dict[str, int] = json.loads(
            self.database.value("SELECT folders FROM source WHERE name = ?", (name,)) or "{}"
        )
        return found

    def sources(self, filter: Filter = Filter()) -> list[SourceState]:
        """What is known of each source and how much it holds, by name; counts its rows, once a state."""
        return self._remembered.take(("sources", filter), lambda: count_sources(self.database, filter))

    # -- items -------------------------------------------------------------------------------------------

    def items(self, source: str) -> dict[str, ItemState]:
        """Every item of the source that the index knows, by uri."""
        rows = self.database.rows(
            "SELECT i.uri, i.path, i.fingerprint, i.hash, i.failure FROM item i JOIN source s ON s.key = i.source"
            " WHERE s.name = ?",
            (source,),
        )
        return {uri: ItemState(*state) for uri, *state in rows}

    def write(self, source: str, changes: Sequence[Change]) -> None:
        """Apply changes to items of one source, all or none. Raises SourceRemoved if it was taken away meanwhile."""
        DocumentWriter(self.database, self.vectors).write(source, changes)

    # -- links -------------------------------------------------------------------------------------------

    def link_targets(self, source: str, filter: Filter = Filter()) -> list[tuple[str, tuple[str, ...]]]:
        """What a link of this source may point to: (uri, aliases)."""
        where, values = condition(filter)
        rows = self.database.rows(
            f"SELECT d.uri, d.aliases FROM {_DOCUMENT_TABLES} WHERE s.name = ?" + (f" AND {where}" if where else ""),
            (source, *values),
        )
        return [(uri, tuple(json.loads(aliases))) for uri, aliases in rows]

    def links_of(self, source: str) -> list[tuple[int, int, str, str, str | None]]:
        """Every link that stands in this source: (document key, ordinal, uri of the document, target, resolved)."""
        return [
            (document, ordinal, uri, target, resolved)
            for document, ordinal, uri, target, resolved in self.database.rows(
                "SELECT l.document, l.ordinal, d.uri, l.target, l.resolved FROM link l"
                " JOIN document d ON d.key = l.document JOIN source s ON s.key = d.source WHERE s.name = ?",
                (source,),
            )
        ]

    def needs_relinking(self, source: str) -> bool:
        """Whether documents of the source changed since its links were last resolved."""
        return bool(self.database.value("SELECT relink FROM source WHERE name = ?", (source,)))

    def resolve_links(self, source: str, resolved: Iterable[tuple[str | None, bool, int, int]]) -> None:
        """Set (uri, by alias) of links given by (document key, ordinal); the source's links are then resolved."""
        with self.database.transaction() as connection:
            connection.execute("UPDATE source SET relink = 0 WHERE name = ?", (source,))
            connection.executemany(
                "UPDATE link SET resolved = ?, by_alias = ? WHERE document = ? AND ordinal = ?",
                [(uri, int(by_alias), document, ordinal) for uri, by_alias, document, ordinal in resolved],
            )

    def outgoing(self, document: int, filter: Filter = Filter()) -> list[StoredLink]:
        """The links that stand in a document, in order; one to what the filter does not let through leads nowhere."""
        links = self._links("l.document = ?", (document,))
        where, values = condition(filter)
        if not where:
            return links
        targets = as_json([link.target for link in links if link.target])
        seen = {
            uri
            for (uri,) in self.database.rows(
                f"SELECT d.uri FROM {_DOCUMENT_TABLES} WHERE d.uri IN (SELECT value FROM json_each(?)) AND {where}",
                (targets, *values),
            )
        }
        return [link if link.target in seen else replace(link, target=None, by_alias=0) for link in links]

    def backlinks(self, uri: str, filter: Filter = Filter()) -> list[StoredLink]:
        """The links that lead to a document from documents that the filter lets through."""
        where, values = condition(filter)
        return self._links("l.resolved = ?" + (f" AND {where}" if where else ""), (uri, *values))

    def links_to_hidden(self, source: str, filter: Filter) -> list[StoredLink]:
        """The links in documents of a source that the filter lets through which lead to one that it does not."""
        where, values = condition(filter)
        return self._links(
            f"s.name = ? AND {where} AND l.resolved NOT IN (SELECT d.uri FROM {_DOCUMENT_TABLES} WHERE {where})",
            (source, *values, *values),
        )

    def _links(self, where: str, values: Sequence[Any]) -> list[StoredLink]:
        rows = self.database.rows(
            "SELECT d.uri, l.resolved, l.target, l.anchor, l.text, l.kind, l.start, l.by_alias != 0 FROM link l"
            " JOIN document d ON d.key = l.document JOIN item i ON i.key = d.item JOIN source s ON s.key = d.source"
            f" WHERE {where} ORDER BY d.uri, l.ordinal",
            values,
        )
        return [StoredLink(*row) for row in rows]

    # -- searching ---------------------------------------------------------------------------------------

    def searching(self) -> Index:
        """What ranks the passages for one search: here the file itself."""
        return SqliteSearch(self)

    def notices(self, filter: Filter = Filter()) -> tuple[str, ...]:
        """What is to be told of the copy that another backend has of what the filter lets through: here is none."""
        return ()

    def replicate(self, progress: Progress) -> tuple[str, ...]:
        """Bring the copy of another backend in step, if there is one; what could not be done, in words."""
        return ()

    def adopt(self) -> None:
        """Make the copy of another backend, if there is one, that of this file, whosever it was."""

    def check(self, dimensions: int | None = None) -> None:
        """Raise BackendMismatch if another backend holds something else under our names, or other widths than these."""

    def lexical(self, match: str, filter: Filter, limit: int) -> Ranking:
        """The best chunks for an FTS5 MATCH expression."""
        return self.terms.search(match, filter, limit)

    def dense(self, vector: Any, filter: Filter, limit: int, *, script: int = 0, also: Sequence[int] = ()) -> Ranking:
        """The chunks nearest to a unit vector, see ``VectorIndex.search``."""
        return self.vectors.search(vector, filter, limit, script=script, also=also)

    def chunk_count(self) -> int:
        """How many chunks there are."""
        return self.terms.count()

    def state(self, filter: Filter = Filter()) -> str:
        """What changes whenever an order could, see ``lookups.state``."""
        return self._remembered.take(repr(filter), lambda: state(self.database, filter))

    def candidates(self, keys: Sequence[int]) -> dict[int, Candidate]:
        """What the ranking needs to know of these chunks, by key."""
        rows = self.database.rows(
            "SELECT c.key, c.id, c.script, d.key, d.uri, s.name, d.kind, d.type, d.title, d.date, d.status,"
            " iif(instr(d.metadata, 'stale_after'), coalesce(d.metadata ->> 'stale_after', ''), '')"
            " FROM chunk c JOIN document d ON d.key = c.document JOIN source s ON s.key = d.source"
            " WHERE c.key IN (SELECT value FROM json_each(?))",
            (as_json(list(keys)),),
        )
        return {row[0]: Candidate(*row) for row in rows}

    def chunks(self, keys: Sequence[int]) -> dict[int, StoredChunk]:
        """Chunks with their text and document, by key."""
        found: dict[int, StoredChunk] = {}
        document, text = -1, ""
        with self.database.snapshot():  # a quote is never cut from what has replaced its document
            rows = self.database.rows(
                f"SELECT c.key, c.id, c.start, c.end, c.heading_path, {DOCUMENT_COLUMNS}"
                f" FROM chunk c {TABLES} WHERE c.key IN (SELECT value FROM json_each(?)) ORDER BY d.key",
                (as_json(list(keys)),),
            )
            for key, id, start, end, headings, *columns in rows:
                stored = stored_document(columns)
                if stored.key != document:
                    document, text = stored.key, self.text(stored.key)
                line, quote = 1 + text.count("\n", 0, start), text[start:end]
                found[key] = StoredChunk(key, id, start, end, line, quote, tuple(json.loads(headings)), stored)
        return found

    def chunk_keys(self, prefix: str, filter: Filter = Filter()) -> list[tuple[int, str]]:
        """(key, id) of at most ten chunks whose id begins with ``prefix``."""
        where, values = condition(filter)
        return [
            (key, id)
            for key, id in self.database.rows(
                f"SELECT c.key, c.id FROM chunk c {TABLES} WHERE c.id >= ? AND c.id < ?"
                + (f" AND {where}" if where else "")
                + " ORDER BY c.id LIMIT 10",
                (prefix, prefix + "g", *values),
            )
        ]

    # -- documents ---------------------------------------------------------------------------------------

    def documents(self, where: str, values: Sequence[Any], filter: Filter, limit: int = 50) -> list[StoredDocument]:
        """Documents for a condition over d, i and s, those that the filter lets through, by uri."""
        extra, more = condition(filter)
        rows = self.database.rows(
            f"SELECT {DOCUMENT_COLUMNS} FROM {_DOCUMENT_TABLES} WHERE {where}"
            + (f" AND {extra}" if extra else "")
            + " ORDER BY d.uri LIMIT ?",
            (*values, *more, limit),
        )
        return [stored_document(row) for row in rows]

    def lies_in(self, folder: str, filter: Filter) -> bool:
        """Whether a document that the filter lets through lies in a folder on disk, or below it."""
        return bool(self.documents("i.path >= ? AND i.path < ?", (f"{folder}/", f"{folder}0"), filter, 1))

    def find(self, name: str, filter: Filter = Filter()) -> list[StoredDocument]:
        """Documents that answer to a name, by the first rule that finds any.

        Rules: uri; path on disk; path below a source; title; alias or file stem; end of the path.
        Letter case counts for uris and paths, except in the last rule.
        """
        composed = unicodedata.normalize("NFC", name)
        folded = fold_name(name)
        suffix = "/" + composed.replace("\\", "/").lstrip("/")
        rules: tuple[tuple[str, tuple[Any, ...]], ...] = (
            ("d.uri = ?", (composed,)),
            ("i.path IN (?, ?, ?)", (name, composed, unicodedata.normalize("NFD", name))),
            ("substr(d.uri, instr(d.uri, '/') + 1) IN (?, ?)", (composed, composed + ".md")),
            ("d.name = ?", (folded,)),
            ("EXISTS (SELECT 1 FROM alias a WHERE a.document = d.key AND a.name = ?)", (folded,)),
            (
                "(lower(substr(d.uri, -length(?))) = lower(?) OR lower(substr(d.uri, -length(?))) = lower(?))",
                (suffix, suffix, suffix + ".md", suffix + ".md"),
            ),
        )
        for where, values in rules:
            found = self.documents(where, values, filter)
            if found:
                return found
        return []

    def named(self, name: str, filter: Filter = Filter()) -> dict[int, int]:
        """The first chunk of each document with this folded title, alias or file stem, by document; at most 20."""
        where, values = condition(filter)
        rows = self.database.rows(
            f"SELECT d.key, c.key FROM chunk c {TABLES} WHERE c.ordinal = 0 AND d.key IN"
            " (SELECT key FROM document WHERE name = ? UNION SELECT document FROM alias WHERE name = ?)"
            + (f" AND {where}" if where else "")
            + " ORDER BY d.uri LIMIT 20",
            (name, name, *values),
        )
        return dict(rows)

    def linked_as(self, words: str, filter: Filter = Filter()) -> dict[int, int]:
        """The first chunk of each document that links in other documents call so, by document.

        Both documents pass the filter. Words that lead to more than ``CALLED_BY_MOST`` documents name none.
        Letter case is ignored in ASCII only.
        """
        where, values = condition(filter)
        documents = self.database.rows(
            "SELECT DISTINCT l.resolved FROM link l JOIN document d ON d.key = l.document"
            " JOIN item i ON i.key = d.item JOIN source s ON s.key = d.source"
            " WHERE lower(l.text) IN (lower(?), ?) AND l.text != l.target AND l.resolved != d.uri"
            + (f" AND {where}" if where else "")
            + f" LIMIT {CALLED_BY_MOST + 1}",
            (words, fold_name(words), *values),
        )
        if not 0 < len(documents) <= CALLED_BY_MOST:
            return {}
        rows = self.database.rows(
            f"SELECT d.key, c.key FROM chunk c {TABLES} WHERE c.ordinal = 0"
            " AND d.uri IN (SELECT value FROM json_each(?))" + (f" AND {where}" if where else "") + " ORDER BY d.uri",
            (as_json([uri for (uri,) in documents]), *values),
        )
        return dict(rows)

    def recent(self, filter: Filter, limit: int) -> list[StoredDocument]:
        """Documents by date, newest first, equal dates by uri."""
        where, values = condition(filter)
        rows = self.database.rows(
            f"SELECT {DOCUMENT_COLUMNS} FROM {_DOCUMENT_TABLES}"
            + (f" WHERE {where}" if where else "")
            + " ORDER BY d.date DESC, d.uri LIMIT ?",
            (*values, limit),
        )
        return [stored_document(row) for row in rows]

    def with_secrets(self, filter: Filter = Filter()) -> list[tuple[str, dict[str, int]]]:
        """Documents in which secrets were masked, and how many by rule, by uri."""
        where, values = condition(filter)
        rows = self.database.rows(
            f"SELECT d.uri, d.metadata -> '$.secrets' FROM {_DOCUMENT_TABLES}"
            " WHERE json_type(d.metadata, '$.secrets') = 'object'"
            + (f" AND {where}" if where else "")
            + " ORDER BY d.uri",
            values,
        )
        counts = ((uri, json.loads(found)) for uri, found in rows)
        return [(uri, found) for uri, found in counts if found and all(isinstance(n, int) for n in found.values())]

    def fingerprint(self, uri: str) -> str:
        """The fingerprint of the item that a document was read from, '' if there is none."""
        return str(
            self.database.value(
                "SELECT i.fingerprint FROM document d JOIN item i ON i.key = d.item WHERE d.uri = ?", (uri,)
            )
            or ""
        )

    def text(self, document: int) -> str:
        """A document's whole text, '' if it was removed meanwhile."""
        packed = self.database.value("SELECT text FROM document WHERE key = ?", (document,))
        return "" if packed is None else schema.unpack_text(packed)

    def text_bytes(self, uris: Sequence[str]) -> dict[str, int]:
        """The size of each document's text in UTF-8, by uri; of unknown ones nothing. Ask for a page of them."""
        marks = ",".join("?" * len(uris))
        return dict(self.database.rows(f"SELECT uri, text_bytes FROM document WHERE uri IN ({marks})", tuple(uris)))

    @property
    def id(self) -> str:
        """The name that the index got when it was made; no other has it."""
        return str(schema.meta(self.database, "index") or "")

    # -- whole -------------------------------------------------------------------------------------------

    def stats(self, filter: Filter = Filter()) -> Stats:
        """Counts and sizes of the whole index, or counts of what the filter lets through."""
        with self.database.snapshot():
            return count_all(self.database, self.terms, self.vectors, self.sources(filter), filter)

    def rebuild_terms(self) -> None:
        """Fill the term table again from the stored texts: after a new analyzer, or damage. Reads no file."""
        with self.database.transaction() as connection:
            for table in ("vocabulary", "terms", "terms_data", "terms_idx", "terms_docsize", "terms_config"):
                connection.execute(f"DROP TABLE IF EXISTS {table}")
            connection.execute(schema.TERMS_TABLE).fetchall()
            documents = self.database.rows("SELECT key, uri, title, tags, aliases, description FROM document")
            for key, uri, title, tags, aliases, description in documents:
                fields = DocumentTerms(
                    title, json.loads(tags), json.loads(aliases), PurePosixPath(uri).stem, description
                )
                text = self.text(key)
                for chunk, start, end, headings in self.database.rows(
                    "SELECT key, start, end, heading_path FROM chunk WHERE document = ?", (key,)
                ):
                    connection.execute(
                        "INSERT INTO terms(rowid, title, heading, body, tags, names) VALUES (?,?,?,?,?,?)",
                        (chunk, *fields.of(json.loads(headings), text[start:end])),
                    )
            schema.set_meta(self.database, "analyzer", ANALYZER_VERSION)

    def expect_chunks(self, version: int) -> None:
        """Make the next sync read every item again if chunkers of another version cut what is here."""
        if schema.meta(self.database, "chunker") != version:
            with self.database.transaction():
                self.forget_hashes()
                schema.set_meta(self.database, "chunker", version)

    def forget_hashes(self, source: str | None = None) -> None:
        """Make the next sync read every item again (of one source, or of all)."""
        where = "" if source is None else " WHERE source = (SELECT key FROM source WHERE name = ?)"
        self.database.rows(f"UPDATE item SET hash = '', fingerprint = ''{where}", () if source is None else (source,))

    def compact(self) -> None:
        """Give free pages back to the disk and merge the segments of the term table."""
        self.vectors.prune()
        self.database.rows("INSERT INTO terms(terms) VALUES ('optimize')")
        self.database.rows("VACUUM")
        self.database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
