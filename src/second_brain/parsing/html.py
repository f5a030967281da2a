"""Web pages; the only place that knows selectolax. Books and office files become web pages on their way here."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..errors import ParseError
from ..types import Blob, Document
from .pages import PageWriter, check_installed
from .text import decode

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_CHARSET = re.compile(rb"""<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w.:-]{2,40})""", re.IGNORECASE)
_HEAD = 4096
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_HIDDEN = frozenset(
    (
        *("script", "style", "noscript", "template", "svg", "math", "head", "iframe", "object"),
        *("nav", "footer", "button", "select", "textarea"),
    )
)
_BLOCKS = {
    "li": "item",
    "pre": "code",
    "blockquote": "quote",
    **dict.fromkeys(("p", "div", "section", "article", "main", "header", "aside", "body", "form"), "paragraph"),
    **dict.fromkeys(("td", "th", "dt", "dd", "figcaption", "caption", "summary", "address"), "paragraph"),
}
_DEEP_FROM = 100_000
MAX_NESTING = 10_000
"""Elements within each other. For each that opens lexbor looks through all that are open: 200,000 take a minute."""
_NESTING = re.compile(
    r"<(/?)(?:div|section|article|main|aside|blockquote|ul|ol|dl|table|pre|form|figure)\b", re.IGNORECASE
)
_WHOLE = ("heading", "code", "row")
"""Within these no block begins: a paragraph in a cell is text of the cell."""


class _Place(NamedTuple):
    """The block that an element's text belongs to; ``row`` is the table row around it, 0 for none."""

    block: int
    kind: str
    level: int = 0
    row: int = 0


class HtmlParser:
    """Reads the text of a web page: headings, paragraphs, items, tables as rows, preformatted text.

    Navigation, footers, scripts and forms' controls are left out. The title is that of the page.
    Cost: some 20 ms for 100 kB.
    """

    def parse(self, blob: Blob) -> Iterator[Document]:
        """Yield the document. Raises ParseError."""
        check_installed("selectolax", blob)
        writer = PageWriter()
        try:
            title = write_html(html_text(blob.data), writer)
        except ValueError as error:
            raise ParseError(f"{blob.item.path}: {error}") from error
        yield writer.document(blob, "html", title=title)


def html_text(data: bytes) -> str:
    """The source of a page, in the encoding that it names: by its mark, its ``meta``, else UTF-8."""
    named = _CHARSET.search(data, 0, _HEAD)
    if named and not data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            return data.decode(named[1].decode("ascii"))
        except (LookupError, UnicodeDecodeError):
            pass  # it is not what it says
    return decode(data)[0]


def write_html(source: str, writer: PageWriter) -> str:
    """Write what a reader of the page sees; returns its title, or ''.

    Raises ValueError for a page that is nested deeper than ``MAX_NESTING``.
    """
    from selectolax.lexbor import LexborHTMLParser

    if len(source) > _DEEP_FROM and _nesting(source) > MAX_NESTING:
        raise ValueError(f"its elements are nested deeper than {MAX_NESTING:,} levels")
    tree = LexborHTMLParser(source)
    walk = _Walk(writer)
    if tree.root is not None:
        for node in tree.root.traverse(include_text=True):
            walk.see(node)
            if writer.is_full:
                break
    walk.flush()
    title = tree.css_first("title")
    return title.text() if title else ""


def _nesting(source: str) -> int:
    depth = deepest = 0
    for found in _NESTING.finditer(source):
        depth += -1 if found[1] else 1
        deepest = max(deepest, depth)
    return deepest


class _Walk:
    """One pass over the nodes, parents before their children."""

    def __init__(self, writer: PageWriter) -> None:
        self._writer = writer
        self._places: dict[int, _Place | None] = {}
        self._place: _Place | None = None
        self._words: list[str] = []
        self._begun: set[int] = set()
        self._last: _Place | None = None

    def see(self, node: LexborNode) -> None:
        """Note an element's place, or collect a text."""
        parent = node.parent
        around = self._places.get(parent.mem_id, _Place(0, "paragraph")) if parent else _Place(0, "paragraph")
        if node.tag == "-text":
            if around:
                self._collect(around, node.text_content or "")
            return
        place = self._places[node.mem_id] = around and self._inside(node, around)
        if node.tag == "br" and place and self._words:
            self._words.append("\n")

    def _inside(self, node: LexborNode, around: _Place) -> _Place | None:
        tag = node.tag or ""
        if tag in _HIDDEN or "hidden" in node.attributes:
            return None
        if around.kind in _WHOLE and tag not in ("tr", "td", "th"):
            return around
        if tag in _HEADINGS:
            return _Place(node.mem_id, "heading", _HEADINGS[tag])
        if tag == "tr":
            return _Place(node.mem_id, "row", row=node.mem_id)
        if tag in ("td", "th") and around.row:
            return _Place(node.mem_id, "row", row=around.row)
        if around.kind in ("item", "quote") and tag in _BLOCKS and tag != "li" and around.block not in self._begun:
            return around  # the first paragraph of an item is the item
        kind = _BLOCKS.get(tag)
        return _Place(node.mem_id, kind) if kind else around

    def _collect(self, place: _Place, text: str) -> None:
        if not text.strip() and (not self._words or place.kind == "row"):
            return
        if self._place and place.block != self._place.block:
            if place.row and place.row == self._place.row:
                self._words.append(" | ")
            else:
                self.flush()
        self._place = place
        self._begun.add(place.block)
        self._words.append(text if place.kind == "code" else re.sub(r"\s+", " ", text))

    def flush(self) -> None:
        """Write the block that was collected."""
        place, text = self._place, "".join(self._words)
        self._words = []
        if place is None or not text.strip():
            return
        apart = self._last is None or self._last.kind != place.kind
        self._last = place
        if place.kind != "code":
            text = "\n".join(" ".join(line.split()) for line in text.split("\n"))
        if place.kind == "heading":
            self._writer.heading(place.level, text)
        elif place.kind == "row":
            self._writer.block("row", text.replace("\n", " "), apart=apart)
        elif place.kind == "item":
            self._writer.block("item", f"- {text.strip()}", apart=apart)
        else:
            self._writer.block(place.kind, text)
