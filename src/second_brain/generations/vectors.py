"""Takes vectors of equal texts over from another generation: computing them takes hours, copying them seconds."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from ..config import Settings
from ..index.sqlite.connection import Database
from ..index.sqlite.schema import meta
from ..index.sqlite.store import SqliteIndex
from ..protocols import Progress
from .pointer import listed

BATCH = 500
"""Vectors that are written in one transaction."""


IN_PLACE_BELOW = 2_000
"""Fewer passages get other vectors in a few minutes: so few are embedded anew in place."""


def keeps_embedder(settings: Settings, index: SqliteIndex, wanted: str) -> bool:
    """Whether the index keeps the embedder that its vectors are of, though ``wanted`` is another one.

    So does one of many passages, and any beside others: who has built, promoted or rolled back has chosen it. Vectors
    of an older version of the wanted one are not kept: it is not there any more, and nobody can ask with it.
    """
    held = index.vectors.embedder
    if not held or held.partition("/")[0] == wanted.partition("/")[0]:
        return False
    return len(listed(settings)) > 1 or index.chunk_count() >= IN_PLACE_BELOW


def embedder_notice(settings: Settings, index: SqliteIndex, wanted: str) -> str:
    """What there is to tell when the index holds vectors of another embedder than the settings name, else ''."""
    held = index.vectors.embedder
    if held in ("", wanted):
        return ""
    remedy = (
        "these answer until `brain index --new-generation` has made others beside them"
        if keeps_embedder(settings, index, wanted)
        else "run `brain embed`"
    )
    return f"the index holds vectors of '{held}', the settings ask for '{wanted}'; {remedy}"


def take_over(index: SqliteIndex, other: Path, embedder: str, *, codes: bool, progress: Progress) -> int:
    """Give chunks that wait the vectors that ``other`` has of the same texts; returns how many have one now.

    Only of the same embedder; with ``codes`` also the texts' token codes. Can be stopped and gone on with anywhere.
    Nothing is written to ``other``.
    """
    if not other.exists():
        return 0
    database = Database(other)
    try:
        if meta(database, "embedder") != embedder:
            return 0
        index.vectors.begin(embedder, codes=codes)
        waiting = [h for (h,) in index.database.rows("SELECT DISTINCT embedding FROM chunk WHERE vector IS NULL")]
        joined = 0
        for first in range(0, len(waiting), BATCH):
            batch = waiting[first : first + BATCH]
            rows = database.rows(
                "SELECT v.hash, v.data, t.codes FROM vector v LEFT JOIN token t ON t.vector = v.key"
                " WHERE v.hash IN (SELECT unhex(value) FROM json_each(?))",
                (json.dumps([hash.hex() for hash in batch]),),
            )
            coded = [row for row in rows if codes and row[2] is not None]
            plain = [row for row in rows if not (codes and row[2] is not None)]
            for part in (coded, plain):
                if part:
                    own = [np.frombuffer(row[2], np.uint8) for row in part] if part is coded else None
                    joined += index.vectors.add(
                        embedder, [row[0] for row in part], _unit([row[1] for row in part]), own
                    )
            progress("vectors taken over", first + len(batch), len(waiting))
    finally:
        database.close()
    if joined:
        index.vectors.refresh()
    return joined


def _unit(rows: list[bytes]) -> np.ndarray:
    """Vectors as an index keeps them (one signed byte a dimension, the largest being 127), of unit norm.

    To keep these gives the same bytes again.
    """
    matrix = np.frombuffer(b"".join(rows), dtype=np.int8).reshape(len(rows), -1).astype(np.float32)
    matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12)
    return matrix
