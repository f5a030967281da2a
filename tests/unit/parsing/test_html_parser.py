"""Web pages are read as a person would read them."""

from __future__ import annotations

import pytest
from making_documents import blob

from second_brain.errors import ParseError
from second_brain.parsing.html import HtmlParser
from second_brain.testing.parser_contract import ParserContract, check_document
from second_brain.types import Document

PAGE = """<!doctype html><html><head><title>Pump  room</title><style>p {}</style></head><body>
<nav><a href="/">Home</a></nav>
<p>Before <b>any</b>
heading<br>and a second line</p>
<h1>The <i>pump</i></h1><div>loose text <span>in a span</span><p>a paragraph</p>behind it</div>
<ul><li>first</li><li><p>second</p><p>goes on</p><ul><li>nested</li></ul></li></ul>
<h2>Parts</h2><table><tr><th>part</th><th>torque</th></tr><tr><td><p>valve</p></td><td>42<br>Nm</td></tr></table>
<pre>make pump
  --dry-run</pre><blockquote><p>quoted</p></blockquote>
<script>alert(1)</script><p hidden>unseen</p><footer>imprint</footer></body></html>"""


def read(data: bytes | str) -> Document:
    file = blob(data, "saved page.html")
    (document,) = HtmlParser().parse(file)
    check_document(document, file)
    return document


class TestHtmlParser(ParserContract):
    def parser(self) -> HtmlParser:
        return HtmlParser()

    def samples(self) -> list[bytes]:
        return [b"", b"just text", PAGE.encode(), b"<p>\xff\x00</p><h1></h1>", "<h3>会議</h3>議事録".encode()]


def test_a_page_becomes_headings_paragraphs_items_rows_and_preformatted_text():
    """Navigation, scripts, styles, footers and what is hidden are left out."""
    document = read(PAGE)
    assert document.text == (
        "Before any heading\nand a second line\n\n# The pump\n\nloose text in a span\n\na paragraph\n\nbehind it\n\n"
        "- first\n- second\n\ngoes on\n\n- nested\n\n## Parts\n\npart | torque\nvalve | 42 Nm\n\n"
        "make pump\n  --dry-run\n\nquoted"
    )
    assert [(section.level, section.path) for section in document.sections] == [
        (0, ()),
        (1, ("The pump",)),
        (2, ("The pump", "Parts")),
    ]
    assert (document.title, document.type, document.kind) == ("Pump room", "html", "page")


@pytest.mark.parametrize("encoding", ["shift_jis", "euc_jp", "utf-8", "utf-16"])
def test_a_page_is_read_in_the_encoding_that_it_names(encoding: str):
    """By its ``meta`` or its byte-order mark; without either it is UTF-8."""
    page = f'<html><head><meta charset="{encoding}"><title>議事録</title></head><body>排水ポンプ</body></html>'
    document = read(page.encode(encoding))
    assert (document.title, document.text) == ("議事録", "排水ポンプ")


@pytest.mark.parametrize("named", ["no-such-charset", "ascii"])
def test_a_page_in_another_encoding_than_it_names_is_read_as_utf_8(named: str):
    """The name of an encoding is only a claim."""
    assert read(f'<meta charset="{named}"><p>排水</p>'.encode()).text == "排水"


def test_a_page_without_a_title_is_called_by_its_file():
    """As is a title of blanks."""
    assert read("<title>  </title><p>x").title == "saved page"


def test_nesting_without_end_is_refused():
    """The parser would need minutes for it."""
    with pytest.raises(ParseError, match="nested deeper than 10,000 levels"):
        read("<div>" * 50_000)
    assert read("<b>" * 20_000 + "deep").text == "deep"
