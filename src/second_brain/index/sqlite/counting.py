"""Counts of the whole index, or of what somebody may see of it: then as if there were nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...records import SourceState, Stats
from ...types import Filter
from .connection import Database
from .filters import DOCUMENTS, chunk_condition, condition
from .rows import from_epoch
from .terms import TermIndex
from .vectors import UNCODED, VectorIndex

ATTACHMENTS = frozenset(
    f".{ending}"
    for ending in re.findall(
        r"\w+",
        "avif bmp gif jpeg jpg png svg webp flac m4a mp3 ogg wav webm 3gp mkv mov mp4 ogv pdf base canvas"
        " csv docx html json pptx txt xlsx zip",
    )
)
"""Endings of files that a note may link to and that are no notes (most are those that Obsidian knows)."""

_SEEN = (
    "EXISTS (SELECT 1 FROM document d WHERE d.item = i.key)"
    " AND NOT EXISTS (SELECT 1 FROM document d WHERE d.item = i.key AND d.key NOT IN ({}))"
)
"""Of an item ``i``: all of its documents are let through, and there is one. Of others nobody knows the label."""


def count_sources(database: Database, filter: Filter = Filter()) -> list[SourceState]:
    """What is known of each source and how much it holds, by name; counts its rows.

    With a filter by privacy only its sources, and of them what it lets through; why a source was not available is
    then left out, for it names files and numbers.
    """
    where, values = condition(filter)
    documents = f"FROM {DOCUMENTS} WHERE s.key = o.key" + (f" AND {where}" if where else "")
    items, seen = _seen_items(where, values)
    chunks = f"FROM chunk c WHERE c.document IN (SELECT d.key {documents})"
    rows = database.rows(
        "SELECT o.name, o.kind, o.path, o.synced, o.unavailable,"
        f" (SELECT count(*) {items}), (SELECT count(*) {documents}), (SELECT count(*) {chunks}),"
        f" (SELECT count(*) {chunks} AND c.vector IS NULL), (SELECT count(*) {items} AND i.failure != '')"
        " FROM source o ORDER BY o.name",
        (*seen, *values, *values, *values, *seen),
    )
    return [
        SourceState(
            name,
            kind,
            path,
            from_epoch(synced) if synced is not None else None,
            unavailable if not where else "not available" if unavailable else "",
            *counts,
        )
        for name, kind, path, synced, unavailable, *counts in rows
        if not where or name in filter.sources
    ]


def _seen_items(where: str, values: list[Any]) -> tuple[str, list[Any]]:
    if not where:
        return "FROM item i WHERE i.source = o.key", []
    visible = f"SELECT d.key FROM {DOCUMENTS} WHERE {where}"
    return f"FROM item i WHERE i.source = o.key AND {_SEEN.format(visible)}", values


def count_all(
    database: Database,
    terms: TermIndex,
    vectors: VectorIndex,
    sources: Sequence[SourceState],
    filter: Filter = Filter(),
) -> Stats:
    """Counts and sizes of the whole index, or of what the filter lets through, and of what its ``sources`` hold.

    Sizes of files are then 0, for they are those of everything.
    """
    where, values = condition(filter)
    documents = f"FROM {DOCUMENTS}" + (f" WHERE {where}" if where else "")
    own = f" WHERE l.document IN (SELECT d.key {documents})" if where else ""
    log = database.path.with_name(f"{database.path.name}-wal")
    with database.snapshot():
        count, total = database.rows(f"SELECT count(*), coalesce(sum(d.text_bytes), 0) {documents}", values)[0]
        return Stats(
            sources=len(sources),
            items=sum(source.items for source in sources),
            documents=count,
            chunks=terms.count(filter),
            waiting=vectors.waiting_count(filter),
            links=database.value(f"SELECT count(*) FROM link l{own}", values),
            unresolved_links=count_unresolved(database, filter),
            failures=sum(source.failures for source in sources),
            embedder=vectors.embedder,
            text_bytes=total,
            file_bytes=0 if where else _size(database.path) + _size(log),
            matrix_bytes=0 if where else _size(vectors.matrix_path),
        )


def count_unresolved(database: Database, filter: Filter = Filter()) -> int:
    """Links to notes that lead nowhere: not those to pictures and other files, nor those still to be looked up."""
    where, values = condition(filter)
    rows = database.rows(
        f"SELECT l.target FROM {DOCUMENTS} JOIN link l ON l.document = d.key"
        " WHERE l.resolved IS NULL AND NOT s.relink" + (f" AND {where}" if where else ""),
        values,
    )
    return sum(leads_to_a_note(target) for (target,) in rows)


def leads_to_a_note(target: str) -> bool:
    """Whether a link is meant for a note, not for a picture or another file."""
    stem, _, ending = target.rstrip("/").rpartition("/")[2].rpartition(".")
    return not stem or f".{ending.lower()}" not in ATTACHMENTS


def count_uncoded(database: Database, filter: Filter = Filter()) -> int:
    """How many chunks have a vector without token codes; looks at all of them."""
    where, values = chunk_condition(filter)
    extra = f" AND {where}" if where else ""
    return int(database.value(f"SELECT count(*) FROM chunk c WHERE c.vector IS NOT NULL AND {UNCODED}{extra}", values))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
