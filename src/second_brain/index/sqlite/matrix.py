"""The file beside the index that a dense scan reads: vectors as one mapped float32 matrix, see docs/adr/0003.

    header | keys, int64 each | scripts, one byte each | rows, float32, from the next page on

It names the index, the embedder and a counter of changes, so that one which does not belong to the index, or is not
whole, is told and made anew.
"""

from __future__ import annotations

import os
import struct
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, TypeAlias

import numpy as np
import numpy.typing as npt

MAGIC = b"SBMATRX2"
HEADER = struct.Struct("<8s32s16sqqqq")  # magic, index, embedder digest, changes, last key, rows, dimensions
PAGE = 4096

Header: TypeAlias = tuple[str, bytes, int, int, int, int]
"""Index, digest of the embedder, changes, last key, rows, dimensions."""

State: TypeAlias = tuple[str, str, int]
"""Index, embedder, changes."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """Vectors in order of key, each with the number of the script of its text."""

    keys: npt.NDArray[np.int64]
    rows: npt.NDArray[np.float32]
    scripts: npt.NDArray[np.uint8]


NOTHING = Matrix(np.empty(0, np.int64), np.empty((0, 1), np.float32), np.empty(0, np.uint8))


def digest(embedder: str) -> bytes:
    """How a header names an embedder."""
    return blake2b(embedder.encode("utf-8"), digest_size=16).digest()


def read_header(file: BinaryIO) -> Header | None:
    """What a matrix file says of itself, or None if it is no whole matrix."""
    try:
        magic, index, embedder, changes, last, count, dimensions = HEADER.unpack(file.read(HEADER.size))
    except struct.error:
        return None
    if magic != MAGIC or os.fstat(file.fileno()).st_size != _rows_offset(count) + count * dimensions * 4:
        return None
    return index.decode("ascii", "replace"), embedder, changes, last, count, dimensions


def header_of(path: Path) -> Header | None:
    """The header of a matrix file; None if there is none or it is not whole."""
    try:
        with path.open("rb") as file:
            return read_header(file)
    except OSError:
        return None


def map_matrix(file: BinaryIO, header: Header) -> Matrix:
    """The matrix of an open file whose header was read; its rows are read as they are used."""
    *_, count, dimensions = header
    file.seek(PAGE)
    keys = np.fromfile(file, dtype="<i8", count=count)
    scripts = np.fromfile(file, dtype=np.uint8, count=count)
    rows = np.memmap(file, dtype="<f4", mode="r", offset=_rows_offset(count), shape=(count, dimensions))
    return Matrix(keys, rows, scripts)


def write_matrix(path: Path, state: State, matrix: Matrix) -> None:
    """Write beside the old file and rename over it: a reader sees the one or the other."""
    index, embedder, changes = state
    count, dimensions = matrix.rows.shape
    handle, name = tempfile.mkstemp(prefix=path.name + ".", suffix=".new", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            last = int(matrix.keys[-1])
            header = HEADER.pack(MAGIC, index.encode("ascii"), digest(embedder), changes, last, count, dimensions)
            file.write(header.ljust(PAGE, b"\0"))
            file.write(matrix.keys.astype("<i8").tobytes())
            file.write(matrix.scripts.tobytes())
            file.write(b"\0" * (_rows_offset(count) - PAGE - count * 9))
            matrix.rows.astype("<f4").tofile(file)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _rows_offset(count: int) -> int:
    return PAGE + (count * 9 + PAGE - 1) // PAGE * PAGE


def top(scores: npt.NDArray[np.float32], limit: int) -> npt.NDArray[np.intp]:
    """Indices of the ``limit`` highest finite scores and of every score that may be equal to the last one."""
    live = np.flatnonzero(np.isfinite(scores))
    if live.size > limit:
        threshold = np.partition(scores[live], live.size - limit)[live.size - limit]
        live = live[scores[live] >= threshold - 1e-6]
    return live


def rows_of(parts: Sequence[Matrix], indices: npt.NDArray[np.intp]) -> npt.NDArray[np.float32]:
    """Rows of several matrices, as if they were one; ``indices`` ascend."""
    found, first = [], 0
    for part in parts:
        own = indices[(indices >= first) & (indices < first + len(part.keys))] - first
        found.append(part.rows[own])
        first += len(part.keys)
    return np.concatenate(found)
