"""The rows of the document table as values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from ...records import StoredDocument

DOCUMENT_COLUMNS = (
    "d.key, d.uri, s.name, i.path, i.fingerprint, i.failure, d.kind, d.type, d.title, d.date, d.modified,"
    " d.status, d.privacy, d.language, d.project, d.description, d.tags, d.aliases, d.metadata, d.warnings, i.hash"
)
"""The columns that ``stored_document`` reads, over document d, item i and source s."""


def stored_document(row: Sequence[Any]) -> StoredDocument:
    """The document of a row of ``DOCUMENT_COLUMNS``."""
    *head, date, modified, status, privacy, language, project, description, tags, aliases, metadata, warnings, hash = (
        row
    )
    values: tuple[Any, ...] = (
        *head,
        from_epoch(date),
        from_epoch(modified),
        status,
        privacy,
        language,
        project,
        description,
        tuple(json.loads(tags)),
        tuple(json.loads(aliases)),
        json.loads(metadata),
        tuple(json.loads(warnings)),
        hash,
    )
    return StoredDocument(*values)


def from_epoch(seconds: float) -> datetime:
    """An aware time in UTC."""
    return datetime.fromtimestamp(seconds, UTC)
