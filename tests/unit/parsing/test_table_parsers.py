"""Tables of text keep their rows as written; the names of the columns head them."""

from __future__ import annotations

import pytest
from making_documents import blob

from second_brain.chunking.pages import PageChunker
from second_brain.errors import ParseError
from second_brain.parsing import tables
from second_brain.parsing.tables import CsvParser
from second_brain.testing.chunker_contract import check_chunks
from second_brain.testing.parser_contract import ParserContract, check_document
from second_brain.types import Document


def read(text: str) -> Document:
    file = blob(text, "valves.csv")
    (document,) = CsvParser().parse(file)
    check_document(document, file)
    return document


def rows(document: Document) -> list[str]:
    return [document.text[block.start : block.end] for block in document.blocks]


class TestCsvParser(ParserContract):
    def parser(self) -> CsvParser:
        return CsvParser()

    def samples(self) -> list[bytes]:
        return [b"", b"a,b\r\n1,2\r\n\r\n3,4", '"会議\n室";x\n\u2028;y\n'.encode(), b"\xff\xfea\x00"]


def test_each_row_is_a_block_and_the_first_one_the_heading():
    """A quoted cell may hold separators and line breaks."""
    document = read('part,note\nvalve,"42 Nm,\nnot 40"\n\nlid,\n')
    assert rows(document) == ["part,note", 'valve,"42 Nm,\nnot 40"', "lid,"]
    assert [section.path for section in document.sections] == [("part | note",)]
    assert (document.kind, document.type, document.title) == ("page", "table", "valves")


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found(separator: str):
    """The most frequent one of the first line."""
    assert read(f"part{separator}torque\nvalve{separator}42\n").sections[0].path == ("part | torque",)


@pytest.mark.parametrize("first", ["1,2", "a,a", "a,", "one column"])
def test_a_first_row_that_cannot_be_names_is_a_row(first: str):
    """Numbers, a name said twice or left out, a single cell."""
    document = read(f"{first}\nx,y\n")
    assert [(section.level, section.path) for section in document.sections] == [(0, ())]


def test_every_passage_of_a_long_table_is_told_the_names_of_the_columns():
    """Also of wide ones, and passages end between rows."""
    names = [f"measured quantity {number}" for number in range(12)]
    document = read(",".join(names) + "\n" + "".join(f"{row}{',' * 11}\n" for row in range(500)))
    chunks = PageChunker().chunk(document)
    check_chunks(document, chunks)
    assert len(chunks) > 3
    for chunk in chunks:
        assert "measured quantity 0 | measured quantity 1" in chunk.context
        assert "measured quantity 11" in chunk.context
        assert chunk.text.endswith(",,,,,,,,,,,") or chunk.ordinal == 0


def test_of_data_only_the_first_rows_are_kept(monkeypatch: pytest.MonkeyPatch):
    """With a warning."""
    monkeypatch.setattr(tables, "MAX_ROWS", 3)
    document = read("a,b\n1,2\n3,4\n5,6\n")
    assert document.text == "a,b\n1,2\n3,4"
    assert document.warnings == ("only the first 3 rows are kept",)


def test_a_cell_without_end_is_refused():
    """A quotation mark that is never closed swallows the file."""
    with pytest.raises(ParseError, match="no table"):
        read('a,"' + "x\n" * 200_000)
