"""An index without files: documents are made of passages, vectors are given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from second_brain.index.sqlite.store import SqliteIndex
from second_brain.records import Replacement
from second_brain.types import Chunk, Document, Item, chunk_id

NOON = datetime(2031, 5, 2, 12, tzinfo=UTC)

Put = Callable[..., Replacement]


def replacement(uri: str, *passages: str, modified: datetime = NOON, **fields: Any) -> Replacement:
    """One item with one document; each passage is a chunk."""
    source = uri.partition("/")[0]
    text = "\n".join(passages)
    fields.setdefault("title", PurePosixPath(uri).stem)
    document = Document(
        uri=uri, source=source, kind="markdown", type=fields.pop("type", "note"), text=text, modified=modified, **fields
    )
    chunks, start, seen = [], 0, dict[str, int]()
    for ordinal, passage in enumerate(passages):
        end = start + len(passage)
        id = chunk_id(uri, passage, seen.get(passage, 0))
        seen[passage] = seen.get(passage, 0) + 1
        chunks.append(Chunk(id, uri, ordinal, start, end, passage, (document.title,), document.title))
        start = end + 1
    item = Item(uri, source, f"/{uri}", "text/markdown", "1", modified, len(text))
    return Replacement(item, f"hash of {text}", ((document, tuple(chunks)),))


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SqliteIndex]:
    """An empty index that knows the source ``n``."""
    made = SqliteIndex(tmp_path / "index.db")
    made.put_source("n", "markdown", "/n")
    yield made
    made.close()


@pytest.fixture
def put(index: SqliteIndex) -> Put:
    """Write one document of these passages: ``put('n/a.md', 'first', 'second', tags=('x',))``."""

    def put(uri: str, *passages: str, into: SqliteIndex | None = None, **fields: Any) -> Replacement:
        change = replacement(uri, *passages, **fields)
        (into or index).write(change.item.source, [change])
        return change

    return put
