"""What an answer needs to know besides rankings: names, links, first passages, and whether the index is still the same.

Reads only. Every question takes a filter where what it tells could be about a document that the asker may not see.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from hashlib import blake2b

from ...records import Linking
from ...types import Filter
from .connection import Database
from .filters import DOCUMENTS, chunk_condition, condition, fold_name
from .rows import from_epoch
from .schema import unpack_text


def state(database: Database, filter: Filter = Filter()) -> str:
    """16 hex digits that change whenever an order of documents could: by writing, removing, embedding, relabelling.

    With a filter also when another number of chunks passes it. Cost: a few counts.
    """
    where, values = chunk_condition(filter)
    facts: list[object] = [
        database.rows("SELECT key, value FROM meta WHERE key IN ('index', 'analyzer', 'embedder', 'vector_changes')"),
        database.rows("SELECT name, seq FROM sqlite_sequence ORDER BY name"),
        database.value("SELECT count(*) FROM document"),
        database.value("SELECT count(*) FROM chunk WHERE vector IS NULL"),
        database.value(f"SELECT count(*) FROM chunk c WHERE {where}", values) if where else None,
    ]
    return blake2b(repr(facts).encode("utf-8"), digest_size=8).hexdigest()


def oldest_date(database: Database, filter: Filter = Filter()) -> datetime | None:
    """The date of the oldest document that the filter lets through, None where there is none."""
    where, values = condition(filter)
    seconds = database.value(f"SELECT min(d.date) FROM {DOCUMENTS}" + (f" WHERE {where}" if where else ""), values)
    return None if seconds is None else from_epoch(seconds)


def chunk_keys(database: Database, ids: Sequence[str]) -> dict[str, int]:
    """The key of each chunk by its id, in the order of ``ids``; one that was removed is left out."""
    rows = database.rows("SELECT id, key FROM chunk WHERE id IN (SELECT value FROM json_each(?))", (_json(ids),))
    found: dict[str, int] = dict(rows)
    return {id: found[id] for id in ids if id in found}


def first_chunks(database: Database, documents: Sequence[int]) -> list[int]:
    """The first chunk's key of each document, in the order of their keys given."""
    rows = database.rows(
        "SELECT document, key FROM chunk WHERE ordinal = 0 AND document IN (SELECT value FROM json_each(?))",
        (_json(documents),),
    )
    found: dict[int, int] = dict(rows)
    return [found[document] for document in documents if document in found]


def called(database: Database, names: Sequence[str], filter: Filter = Filter()) -> dict[str, tuple[str, ...]]:
    """The documents that each name stands for, by name: as title, alias, file stem or text of links to them.

    Cost: the texts of all links are looked through, some 20 ms for 100,000.
    """
    folded = {name: fold_name(name) for name in names}
    spelled = [*dict.fromkeys((*folded.values(), *names))]
    where, values = condition(filter)
    rows = database.rows(
        f"SELECT n.name, d.uri FROM {DOCUMENTS} JOIN ("
        " SELECT name, key AS document, '' AS uri FROM document WHERE name IN (SELECT value FROM json_each(?1))"
        " UNION SELECT name, document, '' FROM alias WHERE name IN (SELECT value FROM json_each(?1))"
        " UNION SELECT text, NULL, resolved FROM link"
        "   WHERE resolved IS NOT NULL AND text IN (SELECT value FROM json_each(?2))"
        ") n ON d.key = n.document OR d.uri = n.uri" + (f" WHERE {where}" if where else "") + " ORDER BY d.uri",
        (_json(list(folded.values())), _json(spelled), *values),
    )
    found: dict[str, dict[str, None]] = {}
    for name, uri in rows:
        found.setdefault(fold_name(name), {})[uri] = None
    return {name: tuple(found[key]) for name, key in folded.items() if key in found}


def names_of(database: Database, uris: Sequence[str], filter: Filter = Filter()) -> list[str]:
    """Titles and aliases of documents that the filter lets through, those of the first one first."""
    where, values = condition(filter)
    rows = database.rows(
        f"SELECT d.uri, d.title, d.aliases FROM {DOCUMENTS} WHERE d.uri IN (SELECT value FROM json_each(?))"
        + (f" AND {where}" if where else ""),
        (_json(uris), *values),
    )
    found = {uri: [title, *json.loads(aliases)] for uri, title, aliases in rows}
    return [name for uri in uris for name in found.get(uri, ())]


def passage(database: Database, uri: str, start: int, end: int) -> str:
    """The characters of a document from ``start`` up to ``end``; '' if it was removed meanwhile."""
    packed = database.value("SELECT text FROM document WHERE uri = ?", (uri,))
    return "" if packed is None else unpack_text(packed)[start:end]


def linking(database: Database, uris: Sequence[str], filter: Filter = Filter()) -> list[Linking]:
    """These documents as something that links, in the order given; those that the filter hides are left out."""
    where, values = condition(filter)
    extra = f" AND {where}" if where else ""
    documents = database.rows(
        f"SELECT d.uri, d.key, d.name, d.type, d.tags, d.text_bytes - d.body_start FROM {DOCUMENTS}"
        f" WHERE d.uri IN (SELECT value FROM json_each(?)){extra}",
        (_json(uris), *values),
    )
    targets: dict[int, dict[str, int]] = {}
    for document, uri, characters in database.rows(
        "SELECT l.document, d.uri, octet_length(l.target) + iif(l.text = l.target, 0, octet_length(l.text)) FROM link l"
        " JOIN document d ON d.uri = l.resolved JOIN item i ON i.key = d.item JOIN source s ON s.key = d.source"
        f" WHERE l.document IN (SELECT value FROM json_each(?)) AND d.key != l.document{extra}"
        " ORDER BY l.document, l.ordinal",
        (_json([key for _, key, *_ in documents]), *values),
    ):
        own = targets.setdefault(document, {})
        own[uri] = own.get(uri, 0) + characters
    known = {
        uri: Linking(uri, name, type, tuple(json.loads(tags)), size, tuple(targets.get(key, {}).items()))
        for uri, key, name, type, tags, size in documents
    }
    return [known[uri] for uri in uris if uri in known]


def _json(values: Sequence[object]) -> str:
    return json.dumps(list(values))
