"""Word documents and slides. Word's are turned into a web page by mammoth, which is imported here only."""

from __future__ import annotations

import io
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from ..types import Blob, Document
from .archives import Archive, beside
from .html import write_html
from .pages import PageWriter, check_installed

_STYLES = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => p:fresh"

_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_SLIDES = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_REFERENCE = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_TITLES = ("title", "ctrTitle")
_FURNITURE = ("sldNum", "dt", "ftr", "hdr", "sldImg")
"""Placeholders that say the same on every slide."""


class DocxParser:
    """Reads a Word document: headings, paragraphs, lists, tables, notes. Word files have no pages until printed."""

    def parse(self, blob: Blob) -> Iterator[Document]:
        """Yield the document. Raises ParseError."""
        check_installed("mammoth", blob)
        check_installed("selectolax", blob)
        archive = Archive(blob)
        archive.check_sizes((".xml", ".rels"))
        import mammoth

        def no_picture(image: object) -> dict[str, str]:
            return {}

        try:
            page = mammoth.convert_to_html(
                io.BytesIO(blob.data), style_map=_STYLES, convert_image=mammoth.images.img_element(no_picture)
            ).value
        except Exception as error:  # of minidom, zipfile and mammoth itself: it says nothing of what it raises
            raise archive.error(f"it is no sound Word document: {type(error).__name__}: {error}") from error
        writer = PageWriter()
        write_html(page, writer)
        yield writer.document(blob, "docx")


class PptxParser:
    """Reads slides, a section ``Slide 4: its title`` each, with the speaker's notes. Needs no package."""

    def parse(self, blob: Blob) -> Iterator[Document]:
        """Yield the document. Raises ParseError."""
        archive = Archive(blob)
        main = "ppt/presentation.xml"
        targets = _relations(archive, main)
        writer = PageWriter()
        slides = [element.get(_REFERENCE, "") for element in archive.xml(main).iter(f"{_SLIDES}sldId")]
        for number, reference in enumerate(slides, start=1):
            if writer.is_full:
                break
            if reference in targets:
                _write_slide(archive, targets[reference], number, writer)
        yield writer.document(blob, "pptx", metadata={"slides": len(slides)})


def _write_slide(archive: Archive, part: str, number: int, writer: PageWriter) -> None:
    shapes = list(_shapes(archive.xml(part)))
    title = next((" ".join(lines) for role, lines in shapes if role in _TITLES and lines), "")
    writer.heading(1, f"Slide {number}: {title}" if title else f"Slide {number}")
    for role, lines in shapes:
        if role not in _TITLES and role not in _FURNITURE:
            writer.block("paragraph", "\n".join(lines))
    for notes in _relations(archive, part).values():
        if "notesSlide" in notes:
            for role, lines in _shapes(archive.xml(notes)):
                if role not in _FURNITURE and lines:
                    writer.block("paragraph", "Notes: " + "\n".join(lines))


def _shapes(slide: Element) -> Iterator[tuple[str, list[str]]]:
    """The role of each shape with text, and its lines; a table row is one line."""
    for shape in slide.iter():
        if shape.tag == f"{_SLIDES}sp":
            holder = shape.find(f"{_SLIDES}nvSpPr/{_SLIDES}nvPr/{_SLIDES}ph")
            yield ("" if holder is None else holder.get("type", "")), _lines(shape)
        elif shape.tag == f"{_DRAWING}tbl":
            rows = shape.iter(f"{_DRAWING}tr")
            yield "", [" | ".join(" ".join(_lines(cell)) for cell in row.iter(f"{_DRAWING}tc")) for row in rows]


def _lines(shape: Element) -> list[str]:
    paragraphs = ("".join(_runs(paragraph)) for paragraph in shape.iter(f"{_DRAWING}p"))
    return [line for line in paragraphs if line.strip()]


def _runs(paragraph: Element) -> Iterator[str]:
    for element in paragraph.iter():
        if element.tag == f"{_DRAWING}t":
            yield element.text or ""
        elif element.tag == f"{_DRAWING}br":
            yield "\n"


def _relations(archive: Archive, part: str) -> dict[str, str]:
    """The parts that a part refers to, by reference."""
    folder, _, name = part.rpartition("/")
    relations = f"{folder}/_rels/{name}.rels"
    if relations not in archive.names:
        return {}
    return {
        element.get("Id", ""): beside(part, element.get("Target", ""))
        for element in archive.xml(relations)
        if element.get("TargetMode") != "External"
    }
