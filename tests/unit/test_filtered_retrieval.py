"""A filtered search is never short because others filled the pool: 10,000 better passages stand before three."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from second_brain import ingest
from second_brain.index.sqlite.store import SqliteIndex
from second_brain.models.hashing import HashingEmbedder
from second_brain.records import Replacement
from second_brain.retrieval import Retriever
from second_brain.types import RETRIEVED, Chunk, Document, Filter, Item, Query, chunk_id

NOW = datetime(2031, 5, 2, tzinfo=UTC)
OLD = datetime(2011, 5, 2, tzinfo=UTC)
MANY, PASSAGES = 100, 100
ASKED = "heron at the weir"


class Tokens(HashingEmbedder):
    """Each word is a token of 64 bits; vectors are short, for there are many."""

    def __init__(self) -> None:
        super().__init__(dimensions=32)

    def encode_documents(self, texts: Sequence[str]) -> tuple[np.ndarray, list[np.ndarray]]:
        return self.embed_documents(texts), [self._bits(text) for text in texts]

    def encode_query(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        bits = np.unpackbits(self._bits(text), axis=1).astype(np.float32)
        return self.embed_queries([text])[0], (2 * bits - 1) / 8

    @staticmethod
    def _bits(text: str) -> np.ndarray:
        words = [word.encode() for word in text.split()]
        numbers = [zlib.crc32(word) << 32 | zlib.crc32(word + b"!") for word in words]
        return np.array(numbers, dtype=">u8").view(np.uint8).reshape(-1, 8)


def written(uri: str, passages: Sequence[str], **fields: Any) -> Replacement:
    text = "\n".join(passages)
    source = uri.partition("/")[0]
    plain = {"kind": "markdown", "type": "note", "title": "Many", "modified": NOW, "privacy": "public"}
    document = Document(uri=uri, source=source, text=text, **{**plain, **fields})
    chunks, start = [], 0
    for ordinal, passage in enumerate(passages):
        end = start + len(passage)
        chunks.append(Chunk(chunk_id(uri, passage, ordinal), uri, ordinal, start, end, passage, (), document.title))
        start = end + 1
    item = Item(uri, source, f"/{uri}", "text/markdown", "1", document.modified, len(text))
    return Replacement(item, text, ((document, tuple(chunks)),))


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> Iterator[SqliteIndex]:
    """Ten thousand passages that hold every word of the question often, and three notes that hold one of them once."""
    made = SqliteIndex(tmp_path_factory.mktemp("filtered") / "index.db")
    for source in ("many", "few"):
        made.put_source(source, "markdown", f"/{source}")
    made.write(
        "many",
        [
            written(f"many/{note}.md", [f"{ASKED} {ASKED} {ASKED} {note} {place}" for place in range(PASSAGES)])
            for note in range(MANY)
        ],
    )
    apart = {
        "kind": "session",
        "type": "meeting",
        "project": "kotori",
        "language": "ja",
        "title": "Apart",
        "tags": ("ops/water",),
        "date": OLD,
        "privacy": "work",
    }
    texts = ["a weir and many other things of which nobody asked", "weir, barely", "the last weir of all, far away"]
    made.write("few", [written(f"few/{number}.md", [text], **apart) for number, text in enumerate(texts)])
    ingest.embed(made, Tokens(), progress=lambda *report: None)
    assert made.chunk_count() == MANY * PASSAGES + 3
    yield made
    made.close()


FILTERS = {
    "source": Filter(sources=("few",)),
    "kind": Filter(kinds=("session",)),
    "type": Filter(types=("Meeting",)),
    "project": Filter(projects=("kotori",)),
    "language": Filter(languages=("ja",)),
    "title": Filter(titles=("apart",)),
    "tag": Filter(tags=("ops",)),
    "since": Filter(until=NOW - timedelta(days=1)),
    "path": Filter(path_prefix="few/"),
    "privacy": Filter(privacy=("work",)),
    "uris": Filter(uris=("few/0.md", "few/1.md", "few/2.md")),
    "several": Filter(tags=("ops",), types=("meeting",), privacy=("work", "public"), until=NOW),
}


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("mode", RETRIEVED)
def test_a_filtered_search_finds_all_that_the_filter_lets_through(index, mode, name):
    """The three notes, in every mode, and in a hybrid search each was compared token by token."""
    retriever = Retriever(index, Tokens)
    result = retriever.search(Query(ASKED, NOW, limit=10, mode=mode, filter=FILTERS[name]))
    assert sorted(hit.uri for hit in result.hits) == ["few/0.md", "few/1.md", "few/2.md"]
    assert result.mode == mode
    if mode == "hybrid":
        assert all("late" in {signal.name for signal in hit.explanation.signals} for hit in result.hits)


@pytest.mark.parametrize("mode", RETRIEVED)
def test_without_the_filter_they_do_stand_behind_the_many(index, mode):
    """The test above can fail: nothing of the three is among the first hundred."""
    hits = Retriever(index, Tokens).search(Query(ASKED, NOW, limit=100, mode=mode)).hits
    assert len(hits) == 100
    assert {hit.source for hit in hits} == {"many"}
