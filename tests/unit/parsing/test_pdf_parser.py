"""PDF files are read page by page, and what cannot be read is refused in plain words and in bounded time."""

from __future__ import annotations

import sys
import zlib

import pytest
from making_documents import blob, pdf

from second_brain.errors import ParseError
from second_brain.parsing import pdf as module
from second_brain.parsing.pages import MAX_TEXT
from second_brain.parsing.pdf import PdfParser
from second_brain.testing.parser_contract import check_document
from second_brain.types import Document


def read(data: bytes) -> Document:
    file = blob(data, "2031-04-05 pump manual.pdf")
    (document,) = PdfParser().parse(file)
    check_document(document, file)
    return document


def test_each_page_with_text_is_a_section_named_by_its_number():
    """A page without text has none, and does not shift the numbers behind it."""
    document = read(pdf(["Valve torque is 42 Nm.\nCheck weekly.", "", "Spare parts"]))
    assert [section.path for section in document.sections] == [("Page 1",), ("Page 3",)]
    assert document.text == "# Page 1\n\nValve torque is 42 Nm.\nCheck weekly.\n\n# Page 3\n\nSpare parts"
    assert (document.kind, document.type, document.title) == ("page", "pdf", "2031-04-05 pump manual")
    assert document.metadata == {"pages": 3}
    assert document.date is not None
    assert document.date.isoformat() == "2031-04-05T00:00:00+00:00"


def test_a_word_that_is_divided_at_the_end_of_a_line_is_one_word(monkeypatch: pytest.MonkeyPatch):
    """PDFium marks the hyphen with a character of its own."""
    monkeypatch.setattr(module, "_pages", lambda blob: (["the bilge pu\ufffe\r\nmp runs"], 1))
    assert "bilge pump runs" in read(b"").text


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "damaged or no PDF"),
        (b"%PDF-1.4\nrubbish", "damaged or no PDF"),
        (pdf(["text"] * 40)[:2000], "damaged or no PDF"),
        (pdf(["", ""]), "none of its 2 pages holds text"),
        (
            pdf(
                ["secret"],
                trailer=b"/ID [<00><00>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4"
                b" /O <%s> /U <%s> >>" % (b"11" * 32, b"22" * 32),
            ),
            "needs a password",
        ),
    ],
    ids=["empty", "rubbish", "cut", "pictures", "encrypted"],
)
def test_what_has_no_text_to_give_is_refused_with_the_reason(data: bytes, reason: str):
    """The message names the file and says why."""
    with pytest.raises(ParseError, match=reason) as refused:
        read(data)
    assert "2031-04-05 pump manual.pdf" in str(refused.value)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
def test_a_page_that_unpacks_to_far_more_than_a_text_is_refused(monkeypatch: pytest.MonkeyPatch):
    """The process that unpacks it ends at its limit of memory, this one does not notice."""
    monkeypatch.setattr(module, "MAX_MEMORY", 400 * 2**20)
    content = b"BT /F1 12 Tf " + b"(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa) Tj " * 1_000_000 + b"ET"
    with pytest.raises(ParseError, match="too much memory"):
        read(pdf(["x"], stream=zlib.compress(content, 1)))


def test_a_page_that_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch):
    """The process is stopped, and nothing is left of it."""
    monkeypatch.setattr(module, "TIMEOUT_S", 0.01)
    with pytest.raises(ParseError, match="takes more than"):
        read(pdf(["x"]))


def test_of_a_giant_only_the_beginning_is_kept_and_a_warning_says_so(monkeypatch: pytest.MonkeyPatch):
    """The limit is in characters: 5,000 dense pages do not fit."""
    monkeypatch.setattr(module, "MAX_TEXT", 2_000)
    document = read(pdf(["word " * 100] * 50))
    assert 2_000 < len(document.text) < 3_000
    (warning,) = document.warnings
    assert warning == "only the first 5 of 50 pages are read: 2,000 characters"
    assert MAX_TEXT > 2_000
