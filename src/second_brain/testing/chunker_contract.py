"""What every chunker keeps to, as tests to inherit.

class TestMyChunker(ChunkerContract):
    def chunker(self) -> Chunker:
        return MyChunker()

    def documents(self) -> list[Document]:
        return [...]
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace

from ..protocols import Chunker
from ..types import Chunk, Document, chunk_id


def check_chunks(document: Document, chunks: Sequence[Chunk]) -> None:
    """Assert what the docstrings of ``Chunk`` and ``Chunker`` promise."""
    assert chunks, "a document without text is found by its title"
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    seen: dict[str, int] = {}
    last = document.body_start
    for chunk in chunks:
        assert chunk.document == document.uri
        assert chunk.text == document.text[chunk.start : chunk.end]
        assert chunk.id == chunk_id(document.uri, chunk.text, seen.get(chunk.text, 0))
        seen[chunk.text] = seen.get(chunk.text, 0) + 1
        assert chunk.embedding_text.strip(), "an embedder takes no blank text"
        assert chunk.text.strip() or len(chunks) == 1, "only a document without text has a chunk without text"
        assert last <= chunk.start <= chunk.end, "chunks are in order and do not overlap"
        assert not document.text[last : chunk.start].strip(), "every character that is not blank is covered"
        last = chunk.end
    assert not document.text[last:].strip(), "every character that is not blank is covered"


class ChunkerContract(ABC):
    """The suite for chunkers."""

    @abstractmethod
    def chunker(self) -> Chunker:
        """The chunker under test."""

    @abstractmethod
    def documents(self) -> Sequence[Document]:
        """Documents of every shape that matters; one of them without text."""

    def test_is_a_chunker(self) -> None:
        """It has the one method of the seam."""
        assert isinstance(self.chunker(), Chunker)

    def test_chunks_quote_and_cover_the_document(self) -> None:
        """Chunks are exact quotes, in order, without overlap, and leave out blanks only."""
        for document in self.documents():
            check_chunks(document, self.chunker().chunk(document))

    def test_chunking_twice_is_chunking_once(self) -> None:
        """The same document gives equal chunks, from one chunker or from two."""
        chunker = self.chunker()
        for document in self.documents():
            first = chunker.chunk(document)
            assert list(first) == list(chunker.chunk(document)) == list(self.chunker().chunk(document))

    def test_a_move_leaves_what_is_embedded_alone(self) -> None:
        """Neither the path nor the file's time is in a context: another uri gives the same embedding texts."""
        for document in self.documents():
            moved = replace(document, uri="elsewhere/deep/down.md", modified=document.modified.replace(year=2040))
            here, there = self.chunker().chunk(document), self.chunker().chunk(moved)
            assert [c.embedding_text for c in here] == [c.embedding_text for c in there]
