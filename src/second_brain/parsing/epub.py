"""Books in EPUB: web pages in an order, in a zip file."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from ..types import Blob, Document, Json
from .archives import Archive, beside
from .html import html_text, write_html
from .pages import PageWriter, check_installed

_OPF = "{http://www.idpf.org/2007/opf}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_PAGES = ("application/xhtml+xml", "text/html")


class EpubParser:
    """Reads a book, its chapters in reading order; headings are those of its pages.

    Books with digital rights management are refused: their pages are encrypted.
    """

    def parse(self, blob: Blob) -> Iterator[Document]:
        """Yield the document. Raises ParseError."""
        check_installed("selectolax", blob)
        archive = Archive(blob)
        package = _package(archive)
        book = archive.xml(package)
        pages = {
            item.get("id", ""): beside(package, item.get("href", ""))
            for item in book.iter(f"{_OPF}item")
            if item.get("media-type") in _PAGES
        }
        writer = PageWriter()
        for reference in book.iter(f"{_OPF}itemref"):
            page = pages.get(reference.get("idref", ""))
            if page in archive.names and page is not None and not writer.is_full:
                try:
                    write_html(html_text(archive.read(page)), writer)
                except ValueError as error:
                    raise archive.error(f"{page}: {error}") from error
        if not writer.length:
            raise archive.error("none of its pages holds text, or they are encrypted")
        authors: list[Json] = [name for name in _said(book, "creator") if name]
        yield writer.document(
            blob, "epub", title=next(_said(book, "title"), ""), metadata={"authors": authors} if authors else {}
        )


def _package(archive: Archive) -> str:
    """The part that lists the others."""
    if "META-INF/encryption.xml" in archive.names and "META-INF/rights.xml" in archive.names:
        raise archive.error("it is protected by digital rights management")
    for element in archive.xml("META-INF/container.xml").iter():
        if element.tag.endswith("}rootfile") and element.get("full-path"):
            return element.get("full-path", "")
    raise archive.error("it names no package")


def _said(book: Element, name: str) -> Iterator[str]:
    return (" ".join((element.text or "").split()) for element in book.iter(f"{_DC}{name}"))
