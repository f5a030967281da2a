"""Word documents, slides, books and workbooks are read with the place that a citation needs."""

from __future__ import annotations

import pytest
from making_documents import archive, blob, docx, epub, pptx, shape, slide, word, xlsx

from second_brain.errors import ParseError
from second_brain.parsing import archives
from second_brain.parsing.epub import EpubParser
from second_brain.parsing.office import DocxParser, PptxParser
from second_brain.parsing.tables import XlsxParser
from second_brain.protocols import Parser
from second_brain.testing.parser_contract import ParserContract, check_document
from second_brain.types import Document

CELL = "<w:tc>{}</w:tc>"
DOCX = docx(
    word("Pump handbook", "Title")
    + word("Before.")
    + word("Care", "heading1")
    + word("Valve torque is 42 Nm.")
    + f"<w:tbl><w:tr>{CELL.format(word('part'))}{CELL.format(word('torque'))}</w:tr></w:tbl>"
)
TABLE = (
    "<p:graphicFrame><a:graphic><a:graphicData><a:tbl>"
    "<a:tr><a:tc><a:txBody><a:p><a:r><a:t>a</a:t></a:r></a:p></a:txBody></a:tc>"
    "<a:tc><a:txBody><a:p><a:r><a:t>b</a:t></a:r></a:p></a:txBody></a:tc></a:tr>"
    "</a:tbl></a:graphicData></a:graphic></p:graphicFrame>"
)
PPTX = pptx(
    [slide(shape("Budget", "title"), shape("Rose by 8 %\nin April"), shape("4", "sldNum")), slide(TABLE)],
    notes={0: slide(shape("Thank Mika.", "body"), shape("1", "sldNum"))},
)
EPUB = epub({"b.xhtml": "<h1>One</h1><p>It rained.</p>", "a.xhtml": "<p>It stopped.</p>"})
XLSX = xlsx({"Valves": [["part", "torque"], ["valve", 42], ["lid", 7]], "Empty": [], "Numbers": [[1, 2]]})


def read(parser: Parser, data: bytes, name: str) -> Document:
    file = blob(data, name)
    (document,) = parser.parse(file)
    check_document(document, file)
    return document


class TestDocxParser(ParserContract):
    def parser(self) -> DocxParser:
        return DocxParser()

    def samples(self) -> list[bytes]:
        return [DOCX, docx("")]


class TestPptxParser(ParserContract):
    def parser(self) -> PptxParser:
        return PptxParser()

    def samples(self) -> list[bytes]:
        return [PPTX, pptx([])]


class TestEpubParser(ParserContract):
    def parser(self) -> EpubParser:
        return EpubParser()

    def samples(self) -> list[bytes]:
        return [EPUB]


class TestXlsxParser(ParserContract):
    def parser(self) -> XlsxParser:
        return XlsxParser()

    def samples(self) -> list[bytes]:
        return [XLSX]


def test_a_word_document_keeps_its_headings_and_rows():
    """Its title is a heading of level 1 as its chapters are; the document is called by its file."""
    document = read(DocxParser(), DOCX, "handbook.docx")
    assert document.text == ("# Pump handbook\n\nBefore.\n\n# Care\n\nValve torque is 42 Nm.\n\npart | torque")
    assert [section.path for section in document.sections] == [("Pump handbook",), ("Care",)]
    assert (document.title, document.type) == ("handbook", "docx")


def test_slides_are_sections_in_the_order_in_which_they_are_shown():
    """With title, table rows and the speaker's notes, without numbers and dates that every slide repeats."""
    document = read(PptxParser(), PPTX, "talk.pptx")
    assert document.text == ("# Slide 1: Budget\n\nRose by 8 %\nin April\n\nNotes: Thank Mika.\n\n# Slide 2\n\na | b")
    assert [section.path for section in document.sections] == [("Slide 1: Budget",), ("Slide 2",)]
    assert document.metadata == {"slides": 2}


def test_a_book_is_read_in_its_own_order():
    """Not in that of its files."""
    document = read(EpubParser(), EPUB, "book.epub")
    assert document.text == "# One\n\nIt rained.\n\nIt stopped."
    assert (document.title, document.type) == ("A Book", "epub")
    assert document.metadata == {"authors": ["Mika Ono"]}


def test_a_sheet_is_a_section_and_the_names_of_its_columns_another_below_it():
    """A first row of numbers is no names."""
    document = read(XlsxParser(), XLSX, "parts.xlsx")
    assert document.text == "# Valves\n\n## part | torque\n\nvalve | 42\nlid | 7\n\n# Empty\n\n# Numbers\n\n1 | 2"
    assert ("Valves", "part | torque") in [section.path for section in document.sections]


@pytest.mark.parametrize(
    "parser", [DocxParser(), PptxParser(), EpubParser(), XlsxParser()], ids=lambda p: type(p).__name__
)
@pytest.mark.parametrize(
    "data", [b"", b"PK\x03\x04 cut", archive({"other.xml": "<a/>"}), EPUB[:200]], ids=["empty", "cut", "other", "half"]
)
def test_what_is_damaged_is_refused(parser: Parser, data: bytes):
    """With the file's name, and as an error that ends only this file."""
    with pytest.raises(ParseError, match=r"broken\.bin"):
        list(parser.parse(blob(data, "broken.bin")))


def test_parts_that_unpack_to_far_more_than_a_text_are_refused(monkeypatch: pytest.MonkeyPatch):
    """Before anything of them is unpacked."""
    monkeypatch.setattr(archives, "MAX_PART", 100_000)
    bomb = "<p>" + " " * 200_000 + "</p>"
    for parser, data in (
        (DocxParser(), docx(bomb)),
        (PptxParser(), pptx([bomb])),
        (EpubParser(), epub({"a.xhtml": bomb})),
        (XlsxParser(), xlsx({"a": [[bomb.replace("<", "&lt;")]]})),
    ):
        with pytest.raises(ParseError, match="unpacks to more than"):
            list(parser.parse(blob(data, "bomb.bin")))


def test_entities_that_multiply_are_refused():
    """A kilobyte that would be gigabytes."""
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    bomb = f'<!DOCTYPE p [<!ENTITY e0 "{"x" * 100}">{entities}]><p>&e11;</p>'
    with pytest.raises(ParseError, match="no XML"):
        list(PptxParser().parse(blob(pptx([bomb]), "bomb.pptx")))


def test_a_protected_book_is_refused():
    """Its pages are encrypted; fonts that are scrambled are not protection."""
    marks = {"META-INF/encryption.xml": "<e/>", "META-INF/rights.xml": "<r/>"}
    with pytest.raises(ParseError, match="digital rights"):
        list(EpubParser().parse(blob(epub({"a.xhtml": "<p>x</p>"}, extra=marks), "b.epub")))
    fonts = {"META-INF/encryption.xml": "<e/>"}
    assert read(EpubParser(), epub({"a.xhtml": "<p>x</p>"}, extra=fonts), "b.epub").text == "x"
