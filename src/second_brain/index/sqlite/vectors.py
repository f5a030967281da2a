"""Dense search: the vectors' home is the SQLite file, a mapped matrix beside it makes the scan fast.

A scan of one float32 matrix is 6 to 10 times faster than sqlite-vec at 200,000 rows (docs/adr/0003).
The matrix file can be deleted at any time: it is made again from the rows. It names the index, the embedder
and a counter of changes; rows newer than it are read from SQLite and kept in memory, until they are many
enough to write it anew.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import EmbedderMismatch
from ...protocols import Codes, Vectors
from ...types import Filter, Ranking, embedding_text
from .connection import Database
from .filters import TABLES, chunk_condition, condition
from .matrix import (
    NOTHING,
    Matrix,
    State,
    digest,
    header_of,
    map_matrix,
    read_header,
    rows_of,
    top,
    write_matrix,
)
from .remembering import Remembered
from .schema import meta, set_meta, unpack_text

REWRITE_ROWS = 2_000
"""The matrix is written anew when this many rows (or a tenth of it) are newer than it, or gone from it."""

ABANDONED_AFTER_S = 3600.0
"""A half-written matrix that is older was left by a process that was killed."""

ORPHANS_KEPT = 1_000
"""Vectors of deleted texts that are kept for their return (a move, a disk that comes back): at least this
many, and up to a quarter of the live ones; the oldest go first."""


UNCODED = "NOT EXISTS (SELECT 1 FROM token t WHERE t.vector = c.vector)"
"""Of a chunk ``c``: it has no token codes, for want of a vector or besides one."""

FEWEST = 8
"""Passages in a script before their mean cosine says something about the script."""

ALIGNED = 0.85
"""How much of the difference between the mean cosines of two scripts is made up for. Chosen on the tune halves
(docs/evaluation.md): from 0.7 on passages in another script are found, at 1 they begin to crowd out others."""


class VectorIndex:
    """Vectors by the hash of the text that was embedded, and nearest-neighbour search over them."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.matrix_path = database.path.with_name(database.path.name + ".vectors")
        self._remembered = Remembered(database, most=32)
        self._lock = threading.Lock()
        self._mapped: tuple[State, int, Matrix] | None = None
        self._tail: tuple[tuple[object, ...], Matrix] | None = None
        self._live: tuple[object, npt.NDArray[np.int64]] | None = None

    # -- what is there -----------------------------------------------------------------------------------

    @property
    def embedder(self) -> str:
        """The identity of the embedder whose vectors these are, or '' before the first one."""
        return str(meta(self.database, "embedder") or "")

    def waiting_count(self, filter: Filter = Filter()) -> int:
        """How many chunks have no vector, of those that the filter lets through; fast when they are few."""
        where, values = chunk_condition(filter)
        sql = "SELECT count(*) FROM chunk c WHERE c.vector IS NULL" + (f" AND {where}" if where else "")
        return self._remembered.take((sql, *values), lambda: int(self.database.value(sql, values)))

    def uncoded_count(self) -> int:
        """How many chunks have a vector without token codes; looks at all of them."""
        return int(self.database.value(f"SELECT count(*) FROM chunk c WHERE c.vector IS NOT NULL AND {UNCODED}"))

    def waiting(self, limit: int, skip: Sequence[bytes] = (), *, codes: bool = False) -> list[tuple[bytes, str]]:
        """Up to ``limit`` distinct texts without a vector, of the newest documents first: (hash, text).

        With ``codes`` also, after those, texts whose vector has no token codes.
        """
        texts: dict[bytes, str] = {}
        document, whole = -1, ""
        with self.database.snapshot():  # a text is never read from what has replaced its document
            rows = self.database.rows(
                "SELECT c.embedding, c.context, c.document, c.start, c.end FROM chunk c"
                f" JOIN document d ON d.key = c.document WHERE {UNCODED if codes else 'c.vector IS NULL'}"
                " AND c.embedding NOT IN (SELECT unhex(value) FROM json_each(?))"
                " ORDER BY c.vector IS NOT NULL, d.date DESC, d.uri, c.ordinal LIMIT ?",
                (json.dumps([hash.hex() for hash in skip]), limit),
            )
            for hash, context, owner, start, end in rows:
                if hash in texts:
                    continue
                if owner != document:
                    packed = self.database.value("SELECT text FROM document WHERE key = ?", (owner,))
                    document, whole = owner, unpack_text(packed)
                texts[hash] = embedding_text(context, whole[start:end])
        return list(texts.items())

    # -- writing -----------------------------------------------------------------------------------------

    def begin(self, embedder: str, *, codes: bool = False) -> int:
        """Say whose vectors will be added. Vectors of another embedder are dropped; returns how many.

        Token codes that nobody wants any more (``codes`` False) are dropped too.
        """
        if not codes:
            self.database.rows("DELETE FROM token")
        if self.embedder == embedder:
            return 0
        with self.database.transaction() as connection:
            dropped = int(self.database.value("SELECT count(*) FROM vector"))
            connection.execute("UPDATE chunk SET vector = NULL WHERE vector IS NOT NULL")
            connection.execute("DELETE FROM vector")
            set_meta(self.database, "embedder", embedder)
            self._changed()
        return dropped

    def add(
        self, embedder: str, hashes: Sequence[bytes], vectors: Vectors, codes: Sequence[Codes] | None = None
    ) -> int:
        """Store vectors and join them to the chunks that wait for them; returns how many chunks have them now.

        ``codes`` are those of the tokens of each text, kept with its vector.
        The same hash again replaces both. Raises EmbedderMismatch if another process began with another
        embedder meanwhile: these would never be compared.
        """
        joined = 0
        with self.database.transaction() as connection:
            if self.embedder != embedder:
                raise EmbedderMismatch(
                    f"the index now takes vectors of '{self.embedder}', these are of '{embedder}'",
                    hint="let the other `brain embed` finish, or give both the same embedder in models.yaml",
                )
            for place, (hash, data) in enumerate(zip(hashes, _quantized(vectors), strict=True)):
                old = self.database.value("SELECT key FROM vector WHERE hash = ?", (hash,))
                if old is None:
                    connection.execute("INSERT INTO vector(hash, data) VALUES (?, ?)", (hash, data))
                    key = connection.last_insert_rowid()
                else:
                    key = self._renewed(old, hash, data)
                    connection.execute("DELETE FROM token WHERE vector = ?", (key,))
                if codes is not None:
                    connection.execute("INSERT INTO token VALUES (?, ?)", (key, codes[place].tobytes()))
                connection.execute("UPDATE chunk SET vector = ? WHERE vector IS NULL AND embedding = ?", (key, hash))
                joined += self.database.value("SELECT count(*) FROM chunk WHERE vector = ?", (key,))
                self.release([key])  # the text may have gone away while it was embedded
        return joined

    def adopt(self, hash: bytes) -> int | None:
        """The key of a vector for this text, brought back if it was orphaned (inside a transaction)."""
        rows = self.database.rows("SELECT key, data, orphaned FROM vector WHERE hash = ?", (hash,))
        if not rows:
            return None
        key, data, orphaned = rows[0]
        if orphaned is not None:
            return self._renewed(key, hash, data)  # the matrix may have been written without it
        return int(key)

    def _renewed(self, old: int, hash: bytes, data: bytes) -> int:
        """A new key with this value for a vector, so that readers of the matrix see it; its codes and chunks follow."""
        rows = self.database.rows
        rows("UPDATE vector SET hash = zeroblob(16) WHERE key = ?", (old,))
        rows("INSERT INTO vector(hash, data) VALUES (?, ?)", (hash, data))
        key = int(self.database.connection.last_insert_rowid())
        rows("UPDATE token SET vector = ? WHERE vector = ?", (key, old))
        rows("UPDATE chunk SET vector = ? WHERE vector = ?", (key, old))
        rows("DELETE FROM vector WHERE key = ?", (old,))
        self._changed()
        return key

    def release(self, keys: Sequence[int]) -> None:
        """Mark those of the vectors that no chunk uses any more (inside a transaction)."""
        changed = False
        for key in dict.fromkeys(keys):
            if self.database.value("SELECT 1 FROM chunk WHERE vector = ? LIMIT 1", (key,)) is None:
                self.database.rows("UPDATE vector SET orphaned = unixepoch('subsec') WHERE key = ?", (key,))
                changed = True
        if changed:
            self._changed()

    def prune(self, *, every: bool = False) -> int:
        """Delete the oldest orphaned vectors beyond what is kept for their return, or all; returns how many."""
        orphans = self.database.value("SELECT count(*) FROM vector WHERE orphaned IS NOT NULL")
        live = self.database.value("SELECT count(*) FROM vector") - orphans
        surplus = orphans if every else orphans - max(ORPHANS_KEPT, live // 4)
        if surplus <= 0:
            return 0
        with self.database.transaction() as connection:
            connection.execute(
                "DELETE FROM vector WHERE key IN (SELECT key FROM vector WHERE orphaned IS NOT NULL"
                " ORDER BY orphaned, key LIMIT ?)",
                (surplus,),
            )
            self._changed()
        return int(surplus)

    def _changed(self) -> None:
        set_meta(self.database, "vector_changes", int(meta(self.database, "vector_changes") or 0) + 1)

    # -- searching ---------------------------------------------------------------------------------------

    def search(
        self,
        vector: npt.NDArray[np.float32],
        filter: Filter,
        limit: int,
        *,
        script: int = 0,
        also: Sequence[int] = (),
    ) -> Ranking:
        """The ``limit`` chunks nearest to a unit vector among those that the filter lets through, best first.

        The scan only chooses the candidates; their scores are computed anew by ``_cosines``, so that neither the
        layout of the matrix nor the kernel of the linear algebra can change an order.

        Args:
            vector: of the query.
            filter: what may be found.
            limit: how many; the ranking may be longer by what ``also`` adds.
            script: the number of the query's script. An encoder puts texts of one script near each other whatever
                they say; so the scores of passages in another one are raised by ``ALIGNED`` of the difference between
                the mean cosines of both, over what the filter lets through. 0: scores stay as they are.
            also: chunks that were found otherwise; those that are not among the nearest stand behind them with
                their scores, in the order of these, unless they wait for their vector.
        """
        if limit <= 0:
            return Ranking("dense", ())
        with self.database.snapshot():
            parts, live = self._parts()
            if not parts:
                return Ranking("dense", ())
            keys = np.concatenate([part.keys for part in parts])
            scores = np.concatenate([part.rows @ vector for part in parts])
            scripts = np.concatenate([part.scripts for part in parts])
            if live is not None:
                scores[~np.isin(keys, live)] = -np.inf
            where, values = condition(filter)
            if where:
                allowed = self._remembered.take((where, *values), lambda: self._allowed(where, values))
                scores[~np.isin(keys, allowed)] = -np.inf
            shifts = _shifts(scores, scripts, script)
            for other, shift in shifts.items():
                scores[scripts == other] += shift
            best = top(scores, limit)
            cosines = dict(zip(keys[best].tolist(), _cosines(rows_of(parts, best), vector).tolist(), strict=True))
            nearest = self._nearest(cosines, shifts, filter, limit)
            return self._followed(nearest, vector, shifts, also)

    def _allowed(self, where: str, values: Sequence[Any]) -> npt.NDArray[np.int64]:
        """The keys of the vectors of what a condition lets through; looks at every chunk."""
        rows = self.database.rows(
            f"SELECT DISTINCT c.vector FROM chunk c {TABLES} WHERE c.vector IS NOT NULL AND {where}", values
        )
        return np.array([key for (key,) in rows], dtype=np.int64)

    def ordered(
        self,
        found: Mapping[int, str],
        vector: npt.NDArray[np.float32],
        limit: int,
        *,
        shifts: Mapping[int, float],
        also: Sequence[int] = (),
    ) -> Ranking:
        """The ranking of chunks (id by key) that something else found to be near: scores and order of ``search``."""
        with self.database.snapshot():
            entries = sorted(
                (-round(score + shifts.get(script, 0.0), 6), found[key], key)
                for key, (script, score) in self._known(list(found), vector)
            )
            return self._followed([(key, -score) for score, _, key in entries[:limit]], vector, shifts, also)

    def _followed(
        self,
        nearest: Sequence[tuple[int, float]],
        vector: npt.NDArray[np.float32],
        shifts: Mapping[int, float],
        also: Sequence[int],
    ) -> Ranking:
        """The ranking of the nearest, and behind them those of ``also`` that are not among them."""
        listed = {key for key, _ in nearest}
        missing = [key for key in dict.fromkeys(also) if key not in listed]
        extra = [(key, score + shifts.get(script, 0.0)) for key, (script, score) in self._known(missing, vector)]
        extra.sort(key=lambda entry: -entry[1])  # equal ones stay in the order in which they were given
        entries = (*nearest, *extra)
        return Ranking("dense", tuple((key, round(score, 6)) for key, score in entries), shifts=dict(shifts))

    def _nearest(
        self, cosines: Mapping[int, float], shifts: Mapping[int, float], filter: Filter, limit: int
    ) -> list[tuple[int, float]]:
        """The chunks of these vectors that the filter lets through, with their shifted scores, best first."""
        where, values = condition(filter)
        rows = self.database.rows(
            f"SELECT c.key, c.id, c.vector, c.script FROM chunk c {TABLES if where else ''}"
            " WHERE c.vector IN (SELECT value FROM json_each(?))" + (f" AND {where}" if where else ""),
            (json.dumps(list(cosines)), *values),
        )
        entries = sorted(
            (-round(cosines[vector] + shifts.get(script, 0.0), 6), id, key) for key, id, vector, script in rows
        )
        return [(key, -score) for score, _, key in entries[:limit]]

    def _known(self, keys: Sequence[int], vector: npt.NDArray[np.float32]) -> list[tuple[int, tuple[int, float]]]:
        """The script and cosine of each chunk that has a vector, in the order given."""
        rows: list[Any] = self.database.rows(
            "SELECT c.key, c.script, v.data FROM chunk c JOIN vector v ON v.key = c.vector"
            " WHERE c.key IN (SELECT value FROM json_each(?))",
            (json.dumps(list(keys)),),
        )
        if not rows:
            return []
        scores = _cosines(restored([data for _, _, data in rows]), vector).tolist()
        found = {key: (script, score) for (key, script, _), score in zip(rows, scores, strict=True)}
        return [(key, found[key]) for key in keys if key in found]

    def similarities(self, keys: Sequence[int], vector: npt.NDArray[np.float32]) -> dict[int, float]:
        """The cosine of each chunk with a unit vector, by chunk key; a chunk that waits for its vector is left out."""
        return {key: score for key, (_, score) in self._known(keys, vector)}

    def codes(self, keys: Sequence[int], width: int) -> dict[int, Codes]:
        """The token codes of these chunks, by chunk key, ``width`` bytes a token; a chunk without any is left out."""
        rows = self.database.rows(
            "SELECT c.key, t.codes FROM chunk c JOIN token t ON t.vector = c.vector"
            " WHERE c.key IN (SELECT value FROM json_each(?))",
            (json.dumps(list(keys)),),
        )
        return {key: np.frombuffer(codes, dtype=np.uint8).reshape(-1, width) for key, codes in rows}

    # -- the matrix --------------------------------------------------------------------------------------

    def _state(self) -> tuple[str, str, int]:
        facts: dict[str, str | int] = dict(
            self.database.rows("SELECT key, value FROM meta WHERE key IN ('index', 'embedder', 'vector_changes')")
        )
        return str(facts["index"]), str(facts.get("embedder", "")), int(facts.get("vector_changes", 0))

    def _parts(self) -> tuple[list[Matrix], npt.NDArray[np.int64] | None]:
        """The mapped matrix (if it belongs to this index) with the rows newer than it, and the keys that chunks use.

        The latter is None when there are no others. Other threads may read another state at the same time.
        """
        with self._lock:
            index, embedder, changes = self._state()
            mapped = self._map(index, embedder)
            last = mapped[1] if mapped else 0
            newest = int(self.database.value("SELECT max(key) FROM vector") or 0)
            state = (index, embedder, changes, last, newest)
            if self._tail is None or self._tail[0] != state:
                self._tail = (state, self._read_rows(after=last))
            parts = [mapped[2], self._tail[1]] if mapped else [self._tail[1]]
            stale = mapped is not None and mapped[0] != (index, embedder, changes)
            return [part for part in parts if part.keys.size], self._live_keys(state) if stale else None

    def _read_rows(self, after: int) -> Matrix:
        rows = self.database.rows(
            "SELECT key, data, (SELECT c.script FROM chunk c WHERE c.vector = vector.key LIMIT 1) FROM vector"
            " WHERE key > ? AND orphaned IS NULL ORDER BY key",
            (after,),
        )
        if not rows:
            return NOTHING
        keys = np.array([key for key, _, _ in rows], dtype=np.int64)
        scripts = np.array([script or 0 for _, _, script in rows], dtype=np.uint8)
        return Matrix(keys, restored([data for _, data, _ in rows]), scripts)

    def _live_keys(self, state: tuple[object, ...]) -> npt.NDArray[np.int64]:
        if self._live is None or self._live[0] != state:
            rows = self.database.rows("SELECT key FROM vector WHERE orphaned IS NULL")
            self._live = (state, np.array([key for (key,) in rows], dtype=np.int64))
        return self._live[1]

    def _map(self, index: str, embedder: str) -> tuple[State, int, Matrix] | None:
        """The matrix file, mapped, if it is there, whole, and of this index and embedder."""
        try:
            with self.matrix_path.open("rb") as file:  # another may be renamed over it at any moment
                header = read_header(file)
                if header is None or header[0] != index or header[1] != digest(embedder):
                    self._mapped = None
                    return None
                _, _, changes, last, _, _ = header
                state = (index, embedder, changes)
                if self._mapped is None or self._mapped[:2] != (state, last):
                    self._mapped = (state, last, map_matrix(file, header))
        except (OSError, ValueError):
            self._mapped = None
        return self._mapped

    def refresh(self) -> bool:
        """Write the matrix anew if too much has changed since; returns whether it did. Never fails a search."""
        with self.database.snapshot():
            index, embedder, changes = self._state()
            header = header_of(self.matrix_path)
            last = header[3] if header and header[0] == index and header[1] == digest(embedder) else 0
            count = header[4] if last and header else 0
            live = int(self.database.value("SELECT count(*) FROM vector WHERE orphaned IS NULL"))
            kept = int(self.database.value("SELECT count(*) FROM vector WHERE orphaned IS NULL AND key <= ?", (last,)))
            stale = (live - kept) + (count - kept)
            if stale < max(1, min(REWRITE_ROWS, count // 10)):
                return False
            matrix = self._read_rows(after=0)
        if not matrix.keys.size:
            with contextlib.suppress(OSError):
                self.matrix_path.unlink(missing_ok=True)
            return False
        for left in self.matrix_path.parent.glob(f"{self.matrix_path.name}.*.new"):
            with contextlib.suppress(OSError):
                if left.stat().st_mtime < time.time() - ABANDONED_AFTER_S:
                    left.unlink()
        try:
            write_matrix(self.matrix_path, (index, embedder, changes), matrix)
        except OSError:
            return False  # no room: the rows in SQLite answer, more slowly
        return True


def shifts_of(sums: npt.NDArray[Any], counts: npt.NDArray[np.int64], own: int) -> dict[int, float]:
    """What is to be added to the scores of each other script, from the sum of scores and the passages of each script.

    Nothing where either has too few passages. Rounded, so that a last bit of a scan's sum changes no score.
    """
    if not own or len(counts) <= own or counts[own] < FEWEST:
        return {}
    others = (int(other) for other in np.flatnonzero(counts >= FEWEST) if other not in (0, own))
    mean = sums[own] / counts[own]
    return {other: round(ALIGNED * float(mean - sums[other] / counts[other]), 4) for other in others}


def _shifts(scores: npt.NDArray[np.float32], scripts: npt.NDArray[np.uint8], own: int) -> dict[int, float]:
    """The same from all scores; those that are infinite do not count."""
    counted = np.isfinite(scores)
    return shifts_of(np.bincount(scripts[counted], weights=scores[counted]), np.bincount(scripts[counted]), own)


def _cosines(rows: npt.NDArray[np.float32], vector: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Products of each row with a vector, in float64 and one order of summation, rounded to six decimals."""
    products = rows.astype(np.float64) * vector.astype(np.float64)
    return np.asarray(products.sum(axis=1)).round(6)


def _quantized(vectors: Vectors) -> list[bytes]:
    """Each vector as one signed byte a dimension, scaled so that its largest value is 127: cosine >= 0.9999."""
    peaks = np.abs(vectors).max(axis=1, keepdims=True)
    return [row.tobytes() for row in np.rint(vectors / np.maximum(peaks, 1e-12) * 127).astype(np.int8)]


def restored(rows: Sequence[bytes]) -> npt.NDArray[np.float32]:
    """The vectors of ``_quantized``, of unit norm again."""
    matrix = np.frombuffer(b"".join(rows), dtype=np.int8).reshape(len(rows), -1).astype(np.float32)
    matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12)
    return matrix
