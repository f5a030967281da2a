"""A ``Filter`` as SQL, so that what the asker may not see is never even ranked."""

from __future__ import annotations

import json
import unicodedata
from datetime import UTC
from typing import Any

from ...types import Filter

TABLES = "JOIN document d ON d.key = c.document JOIN item i ON i.key = d.item JOIN source s ON s.key = d.source"
"""Joins that the condition needs, from a chunk ``c``."""

DOCUMENTS = "document d JOIN item i ON i.key = d.item JOIN source s ON s.key = d.source"
"""The tables that the condition needs, from the document."""


def fold_name(name: str) -> str:
    """A title, alias or file stem as it is compared: NFKC, letter case ignored, spaces collapsed."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def fold_tag(tag: str) -> str:
    """A tag as it is compared: NFC, letter case ignored, no leading '#', no trailing '/'."""
    return unicodedata.normalize("NFC", tag).casefold().lstrip("#").rstrip("/")


def status_word(status: str) -> str:
    """What a status says in one word, whatever follows it: that of ``superseded by 0007`` is ``superseded``."""
    return status.partition(" ")[0].rstrip(",:;")


def condition(filter: Filter) -> tuple[str, list[Any]]:
    """A WHERE expression over d (document), i (item) and s (source), and its parameters; '' for no restriction."""
    parts: list[str] = []
    values: list[Any] = []

    def one_of(column: str, allowed: tuple[str, ...]) -> None:
        parts.append(f"{column} IN ({','.join('?' * len(allowed))})")
        values.extend(allowed)

    if filter.sources:
        one_of("s.name", filter.sources)
    for column, allowed in (
        ("d.kind", filter.kinds),
        ("d.type", filter.types),
        ("d.project", filter.projects),
        ("d.language", filter.languages),
    ):
        if allowed:
            # Folded by SQLite on both sides: its lower() knows ASCII only.
            parts.append(f"lower({column}) IN ({','.join(['lower(?)'] * len(allowed))})")
            values.extend(allowed)
    for part in filter.titles:
        parts.append("instr(d.name, ?) > 0")
        values.append(fold_name(part))
    if filter.privacy is not None:
        one_of("d.privacy", filter.privacy)
    if filter.labels:
        one_of("d.privacy", filter.labels)
    if filter.uris:
        parts.append("d.uri IN (SELECT value FROM json_each(?))")
        values.append(json.dumps(filter.uris))
    if filter.without_status:
        first = "rtrim(substr(d.status, 1, instr(d.status || ' ', ' ') - 1), ',:;')"  # as ``status_word`` does
        parts.append(f"lower({first}) NOT IN ({','.join(['lower(?)'] * len(filter.without_status))})")
        values.extend(filter.without_status)
    for tag in filter.tags:
        folded = fold_tag(tag)
        # '0' follows '/': the range holds exactly the descendants.
        parts.append(
            "EXISTS (SELECT 1 FROM tag t WHERE t.document = d.key AND (t.tag = ? OR (t.tag >= ? AND t.tag < ?)))"
        )
        values.extend((folded, folded + "/", folded + "0"))
    for operator, moment in ((">=", filter.since), ("<", filter.until)):
        if moment is not None:
            # A note that names a bare day means that day of the reader's, whatever the zone: it is stored as the
            # day's midnight in UTC, and compared with the clock on the reader's wall.
            parts.append(f"iif(d.own_date % 86400 = 0, d.own_date {operator} ?, d.date {operator} ?)")
            values.extend((moment.replace(tzinfo=UTC).timestamp(), moment.timestamp()))
    if filter.path_prefix:
        # A uri is composed; a path is as the disk spells it, which may be in either form or in both.
        given, composed = filter.path_prefix, unicodedata.normalize("NFC", filter.path_prefix)
        places = {
            ("substr(d.uri, instr(d.uri, '/') + 1, length(?))", composed),
            ("substr(d.uri, 1, length(?))", composed),
        }
        places |= {
            ("substr(i.path, 1, length(?))", form) for form in (given, composed, unicodedata.normalize("NFD", given))
        }
        parts.append("(" + " OR ".join(f"{place} = ?" for place, _ in sorted(places)) + ")")
        values.extend(form for _, form in sorted(places) for _ in range(2))
    return " AND ".join(parts), values


def chunk_condition(filter: Filter) -> tuple[str, list[Any]]:
    """The same over a chunk c alone, for counting: each document is looked at once, however many chunks it has."""
    where, values = condition(filter)
    tables = DOCUMENTS if filter.path_prefix else "document d JOIN source s ON s.key = d.source"
    return (f"c.document IN (SELECT d.key FROM {tables} WHERE {where})" if where else ""), values
