"""A ``Filter`` as Qdrant's conditions, over the fields that ``points`` writes.

What Qdrant cannot compare, parts of titles and beginnings of paths, the catalogue turns into the documents that they
mean. Every ranking passes the catalogue's own condition once more afterwards, so that a point which is behind the
catalogue (a label that has just become stricter) is never shown.
"""

from __future__ import annotations

from datetime import UTC
from typing import Any

from ...types import Filter
from ..sqlite.connection import Database
from ..sqlite.filters import DOCUMENTS, condition, fold_tag
from .points import ascii_lower

MOST_LISTED = 10_000
"""Documents that a condition names one by one; where a path or title means more of them, the catalogue ranks."""


class TooMany(Exception):
    """The filter means more documents than can be named."""


def conditions(filter: Filter, database: Database) -> dict[str, Any]:
    """The filter of a query; {} for no restriction. Raises TooMany."""
    must: list[dict[str, Any]] = []
    must_not: list[dict[str, Any]] = []

    def one_of(key: str, allowed: tuple[str, ...] | tuple[int, ...]) -> dict[str, Any]:
        return {"key": key, "match": {"any": list(allowed)}}

    if filter.sources:
        must.append(one_of("source", filter.sources))
    for key, allowed in (
        ("kind", filter.kinds),
        ("type", filter.types),
        ("project", filter.projects),
        ("language", filter.languages),
    ):
        if allowed:
            must.append(one_of(key, tuple(map(ascii_lower, allowed))))
    if filter.privacy is not None:
        must.append(one_of("privacy", filter.privacy))
    if filter.labels:
        must.append(one_of("privacy", filter.labels))
    if filter.uris:
        must.append(one_of("uri", filter.uris))
    if filter.without_status:
        must_not.append(one_of("status", tuple(map(ascii_lower, filter.without_status))))
    must += ({"key": "tags", "match": {"value": fold_tag(tag)}} for tag in filter.tags)
    for bound, moment in (("gte", filter.since), ("lt", filter.until)):
        if moment is not None:  # a bare day is compared with the clock on the reader's wall
            wall = {"key": "day", "range": {bound: moment.replace(tzinfo=UTC).timestamp()}}
            must.append({"should": [wall, {"key": "moment", "range": {bound: moment.timestamp()}}]})
    if filter.titles or filter.path_prefix:
        must.append(one_of("document", _documents(filter, database)))
    return {**({"must": must} if must else {}), **({"must_not": must_not} if must_not else {})}


def _documents(filter: Filter, database: Database) -> tuple[int, ...]:
    """The keys of the documents that the whole filter lets through."""
    where, values = condition(filter)
    rows = database.rows(f"SELECT d.key FROM {DOCUMENTS} WHERE {where} LIMIT ?", (*values, MOST_LISTED + 1))
    if len(rows) > MOST_LISTED:
        raise TooMany
    return tuple(key for (key,) in rows)
