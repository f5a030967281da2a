"""Passages of the catalogue as Qdrant's points.

A point has the passage's id, its vector (once there is one), its terms, and a payload: what filters compare, the bits
of its tokens, and its text and place for whoever reads Qdrant without us.
"""

from __future__ import annotations

import base64
import json
import math
import uuid
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any, TypeAlias

import numpy as np

from ...protocols import Codes
from ..sqlite.connection import Database
from ..sqlite.filters import status_word
from ..sqlite.rows import from_epoch
from ..sqlite.schema import unpack_text
from ..sqlite.terms import DocumentTerms
from ..sqlite.vectors import restored
from .collections import DENSE, TERMS
from .sparse import passage_vector

Point: TypeAlias = "dict[str, Any]"
"""``id``, ``vector`` and ``payload`` as in Qdrant's REST API."""


def point_id(chunk: str) -> str:
    """A passage's id as a UUID, which Qdrant wants: the same 16 digits behind zeros."""
    return str(uuid.UUID(int=int(chunk, 16)))


def chunk_of(point: str) -> str:
    """The passage's id of a point."""
    return uuid.UUID(point).hex[16:]


def read_points(
    database: Database, ids: Sequence[str], field_weights: Sequence[float], average: float
) -> list[tuple[str, Point]]:
    """The source and the point of each passage that is there still, of one state of the catalogue.

    Args:
        database: the catalogue.
        ids: of passages.
        field_weights: of the columns of the term table.
        average: the length that weights of terms are made with.
    """
    found: list[tuple[str, Point]] = []
    document, text, names = -1, "", DocumentTerms("", (), (), "", "")
    with database.snapshot():
        for row in database.rows(
            "SELECT c.id, c.start, c.end, c.heading_path, c.script, v.data, t.codes, d.key, d.uri, s.name, i.path,"
            " d.kind, d.type, d.title, d.status, d.privacy, d.language, d.project, d.tags, d.aliases, d.description,"
            " d.date, d.own_date, d.modified FROM chunk c JOIN document d ON d.key = c.document"
            " JOIN item i ON i.key = d.item JOIN source s ON s.key = d.source LEFT JOIN vector v ON v.key = c.vector"
            " LEFT JOIN token t ON t.vector = c.vector WHERE c.id IN (SELECT value FROM json_each(?)) ORDER BY d.key",
            (json.dumps(list(ids)),),
        ):
            id, start, end, headings, script, vector, codes, key, uri, source, path, *described = row
            kind, type, title, status, privacy, language, project, tags, aliases, description, *times = described
            if key != document:
                document = key
                text = unpack_text(database.value("SELECT text FROM document WHERE key = ?", (key,)))
                names = DocumentTerms(
                    title, json.loads(tags), json.loads(aliases), PurePosixPath(uri).stem, description
                )
            quote, heading_path = text[start:end], json.loads(headings)
            vectors: dict[str, Any] = {}
            indices, values = passage_vector(names.of(heading_path, quote), field_weights, average)
            if indices:
                vectors[TERMS] = {"indices": indices, "values": values}
            if vector is not None:
                vectors[DENSE] = restored([vector])[0].tolist()
            folded = database.rows("SELECT tag FROM tag WHERE document = ?", (key,))
            payload = {
                "path": path,
                "uri": uri,
                "document": key,
                "text": quote,
                "start": start,
                "end": end,
                "heading": heading_path,
                "title": title,
                "source": source,
                "kind": ascii_lower(kind),
                "type": ascii_lower(type),
                "project": ascii_lower(project),
                "language": ascii_lower(language),
                "status": ascii_lower(status_word(status)),
                "privacy": privacy,
                "tags": sorted({above for (tag,) in folded for above in with_ancestors(tag)}),
                "script": script,
                **_times(*times),
            }
            if codes is not None:
                payload["codes"] = base64.b64encode(codes).decode("ascii")
            found.append((source, {"id": point_id(id), "vector": vectors, "payload": payload}))
    return found


def codes_of(packed: str, width: int) -> Codes:
    """The bits of a payload's tokens, ``width`` bytes a token."""
    return np.frombuffer(base64.b64decode(packed), dtype=np.uint8).reshape(-1, width)


def ascii_lower(text: str) -> str:
    """Letter case ignored as SQLite's ``lower()`` does, which knows ASCII only."""
    return "".join(char.lower() if char.isascii() else char for char in text)


def with_ancestors(tag: str) -> list[str]:
    """A folded tag and those above it: ``a/b/c`` is found as ``a``, ``a/b`` and ``a/b/c``."""
    return [tag[:end] for end, char in enumerate(tag) if char == "/"] + [tag]


def _times(date: float, own: float | None, modified: float) -> dict[str, Any]:
    """Dates to read, and what filters compare: a bare day of a note is ``day``, everything else ``moment``."""
    bare = own is not None and math.fmod(int(own), 86400) == 0
    return {
        "date": from_epoch(date).isoformat(),
        "modified": from_epoch(modified).isoformat(),
        **({"day": own} if bare else {"moment": date}),
    }
