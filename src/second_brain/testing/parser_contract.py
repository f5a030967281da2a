"""What every parser keeps to, as tests to inherit.

class TestMyParser(ParserContract):
    def parser(self) -> Parser:
        return MyParser()

    def samples(self) -> list[bytes]:
        return [b"..."]
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import UTC, datetime

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ..errors import ParseError
from ..protocols import Parser
from ..types import Blob, Document, Item


def make_blob(data: bytes | str, uri: str = "notes/Sample.md", media_type: str = "text/markdown") -> Blob:
    """A blob as a source would hand it out; text is encoded as UTF-8."""
    data = data.encode() if isinstance(data, str) else data
    modified = datetime(2031, 4, 5, 6, 7, 8, tzinfo=UTC)
    source = uri.partition("/")[0]
    return Blob(Item(uri, source, f"/somewhere/{uri}", media_type, "1", modified, len(data)), data)


def check_document(document: Document, blob: Blob) -> None:
    """Assert what the docstrings of ``Document``, ``Section``, ``Block`` and ``Link`` promise."""
    text, item = document.text, blob.item
    assert document.uri.startswith(item.uri)
    assert (document.source, document.modified) == (item.source, item.modified)
    assert document.title
    assert document.type
    assert document.kind
    assert not text.startswith("\ufeff")
    assert "\r" not in text
    assert text.encode().decode() == text, "a lone surrogate cannot be stored"
    for moment in (document.date, document.created):
        assert moment is None or moment.tzinfo is UTC
    assert 0 <= document.body_start <= len(text)
    _check_spans(document)
    for link in document.links:
        assert link.target
        assert -1 <= link.start < len(text)
        assert (link.start == -1) == (link.kind == "frontmatter")


def _check_spans(document: Document) -> None:
    text, last = document.text, document.body_start
    for section in document.sections:
        assert 0 <= section.level <= 6
        assert last <= section.start < section.end <= len(text)
        assert not text[last : section.start].strip(), "sections leave out blanks only"
        assert section.level == 0 or section.path
        assert section.start == 0 or section.level == 0 or text[section.start - 1] == "\n"
        last = section.end
    assert not text[last:].strip()
    borders = {section.start for section in document.sections}
    last = document.body_start
    for block in document.blocks:
        assert last <= block.start < block.end <= len(text)
        assert not text[last : block.start].strip(), "blocks leave out blanks only"
        assert not any(block.start < border < block.end for border in borders), "a block lies in one section"
        last = block.end
    assert not document.blocks or not text[last:].strip()


class ParserContract(ABC):
    """The suite for parsers."""

    @abstractmethod
    def parser(self) -> Parser:
        """The parser under test."""

    @abstractmethod
    def samples(self) -> Sequence[bytes]:
        """Files that it reads, of every shape that matters."""

    def test_is_a_parser(self) -> None:
        """It has the one method of the seam."""
        assert isinstance(self.parser(), Parser)

    def test_every_sample_yields_sound_documents(self) -> None:
        """Spans lie within the text, in order, and cover it; times are aware; links have a target."""
        for sample in self.samples():
            blob = make_blob(sample)
            documents = list(self.parser().parse(blob))
            assert documents
            for document in documents:
                check_document(document, blob)

    def test_reading_twice_is_reading_once(self) -> None:
        """The same bytes give equal documents, from one parser or from two."""
        parser = self.parser()
        for sample in self.samples():
            first, again, other = (list(reader.parse(make_blob(sample))) for reader in (parser, parser, self.parser()))
            assert first == again == other

    @settings(suppress_health_check=[HealthCheck.differing_executors], deadline=None)
    @given(data=st.binary(max_size=300))
    def test_random_bytes_are_read_or_refused(self, data: bytes) -> None:
        """Any bytes give sound documents or ParseError, never another exception."""
        blob = make_blob(data)
        try:
            documents = list(self.parser().parse(blob))
        except ParseError:
            return
        for document in documents:
            check_document(document, blob)
