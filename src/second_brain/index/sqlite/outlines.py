"""Documents where there are many: the little that a list, a map or a calendar shows of each. Reads only.

Every question takes a filter, and tells nothing of what it does not let through.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...types import Filter
from .connection import Database
from .facets import DAY
from .filters import DOCUMENTS, condition, fold_name
from .schema import unpack_text

_COLUMNS = (
    "d.key, d.uri, s.name, d.kind, d.type, d.title, d.project, d.status, d.language, d.privacy, d.text_bytes,"
    f" strftime('%Y-%m-%d', {DAY}), iif(d.own_date % 86400 = 0, '', strftime('%H:%M', {DAY}))"
)


@dataclass(frozen=True, slots=True)
class Outline:
    """A document in a list. ``day`` and ``time`` are by the clock on the reader's wall; ``time`` is '' for a bare day.

    ``size`` counts the bytes of its text.
    """

    key: int
    uri: str
    source: str
    kind: str
    type: str
    title: str
    project: str
    status: str
    language: str
    privacy: str
    size: int
    day: str
    time: str


def outlines(
    database: Database, filter: Filter = Filter(), where: str = "", values: Sequence[Any] = ()
) -> list[Outline]:
    """The documents that the filter lets through, by uri; ``where`` is a further condition over d, i and s.

    Cost: some 4 microseconds a document, and a walk over the table.
    """
    allowed, more = condition(filter)
    conditions = " AND ".join(part for part in (where, allowed) if part)
    rows = database.rows(
        f"SELECT {_COLUMNS} FROM {DOCUMENTS}" + (f" WHERE {conditions}" if conditions else "") + " ORDER BY d.uri",
        (*values, *more),
    )
    return [Outline(*row) for row in rows]


def of_keys(database: Database, keys: Iterable[int], filter: Filter = Filter()) -> dict[int, Outline]:
    """The outlines of documents given by their keys, those that the filter lets through."""
    found = outlines(database, filter, "d.key IN (SELECT value FROM json_each(?))", (json.dumps(list(keys)),))
    return {outline.key: outline for outline in found}


def bodies(database: Database, keys: Iterable[int]) -> Iterator[tuple[int, str]]:
    """Key and text below the properties of documents given by their keys; of any label."""
    rows = database.rows(
        "SELECT key, text, body_start FROM document WHERE key IN (SELECT value FROM json_each(?))",
        (json.dumps(list(keys)),),
    )
    for key, packed, start in rows:
        yield key, unpack_text(packed)[start:]


def joined(database: Database) -> list[tuple[int, int]]:
    """Every pair of documents of which the first links to the second, by key, none to itself; of any label."""
    return [
        (source, target)
        for source, target in database.rows(
            "SELECT DISTINCT l.document, d.key FROM link l JOIN document d ON d.uri = l.resolved"
            " WHERE d.key != l.document ORDER BY 1, 2"
        )
    ]


def loose_links(database: Database, filter: Filter = Filter()) -> list[tuple[str, str, str, int]]:
    """Links that lead nowhere: (uri and title of the document, target as written, offset), by uri; also to pictures."""
    where, values = condition(filter)
    return [
        (uri, title, target, start)
        for uri, title, target, start in database.rows(
            f"SELECT d.uri, d.title, l.target, l.start FROM {DOCUMENTS} JOIN link l ON l.document = d.key"
            " WHERE l.resolved IS NULL AND NOT s.relink"
            + (f" AND {where}" if where else "")
            + " ORDER BY d.uri, l.ordinal",
            values,
        )
    ]


def days(database: Database, filter: Filter = Filter()) -> dict[str, dict[str, int]]:
    """How many documents each day has, by day as ``2031-05-02`` and kind."""
    where, values = condition(filter)
    found: dict[str, dict[str, int]] = {}
    for day, kind, count in database.rows(
        f"SELECT strftime('%Y-%m-%d', {DAY}), d.kind, count(*) FROM {DOCUMENTS}"
        + (f" WHERE {where}" if where else "")
        + " GROUP BY 1, 2 ORDER BY 1, 2",
        values,
    ):
        found.setdefault(day, {})[kind] = count
    return found


def spread(database: Database, filter: Filter = Filter()) -> list[tuple[str, str, str, int]]:
    """How many documents there are of each (source, project, type), by these."""
    where, values = condition(filter)
    return [
        (source, project, type, count)
        for source, project, type, count in database.rows(
            f"SELECT s.name, d.project, d.type, count(*) FROM {DOCUMENTS}"
            + (f" WHERE {where}" if where else "")
            + " GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
            values,
        )
    ]


def told_sessions(database: Database, documents: Iterable[int]) -> dict[int, str]:
    """The session that each of these documents says it is about (its property ``session``), by key."""
    return dict(
        database.rows(
            "SELECT key, metadata ->> 'session' FROM document WHERE key IN (SELECT value FROM json_each(?))"
            " AND json_type(metadata, '$.session') = 'text'",
            (json.dumps(list(documents)),),
        )
    )


def shared_names(database: Database, filter: Filter = Filter()) -> list[tuple[str, list[int], int]]:
    """Folded titles, aliases and file names that several notes of one source have, those most linked to first.

    Yields (name, keys of the notes, links that are written so). Only Markdown notes; not the names of the index of a
    folder.
    """
    where, values = condition(filter)
    extra = f" AND {where}" if where else ""
    rows = database.rows(
        f"SELECT s.name, n.name, json_group_array(DISTINCT d.key) FROM {DOCUMENTS} JOIN ("
        " SELECT name, key AS document FROM document UNION SELECT name, document FROM alias"
        f") n ON n.document = d.key WHERE d.kind = 'markdown' AND n.name NOT IN ('index', 'readme', ''){extra}"
        " GROUP BY 1, 2 HAVING count(DISTINCT d.key) > 1",
        values,
    )
    names = {(source, name): 0 for source, name, _ in rows}
    if names:
        for source, target, count in database.rows(
            f"SELECT s.name, l.target, count(*) FROM {DOCUMENTS} JOIN link l ON l.document = d.key WHERE 1{extra}"
            " GROUP BY 1, 2",
            values,
        ):
            called = source, fold_name(target)
            if called in names:
                names[called] += count
    found = [(name, sorted(json.loads(keys)), names[source, name]) for source, name, keys in rows]
    return sorted(found, key=lambda entry: (-entry[2], -len(entry[1]), entry[0], entry[1]))
