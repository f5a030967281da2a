"""Small files of the formats that the extra ``documents`` reads, made by hand."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping, Sequence

from second_brain.testing.parser_contract import make_blob
from second_brain.types import Blob

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
SLIDES = "http://schemas.openxmlformats.org/presentationml/2006/main"
SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def blob(data: bytes | str, name: str) -> Blob:
    """The file as its source would hand it out."""
    return make_blob(data, f"files/{name}")


def pdf(pages: Sequence[str], *, trailer: bytes = b"", stream: bytes | None = None) -> bytes:
    """A PDF with these pages, a line each; ``stream`` instead is the compressed content of each page."""
    objects = {1: b"<< /Type /Catalog /Pages 2 0 R >>", 3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"}
    kids = []
    for text in pages:
        number = len(objects) + 2
        lines = " ".join(f"({line}) Tj T*" for line in text.split("\n"))
        content = f"BT /F1 12 Tf 72 720 Td 14 TL {lines} ET".encode() if text else b""
        data = zlib.compress(content) if stream is None else stream
        objects[number] = b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(data), data)
        objects[number + 1] = (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R"
            b" /Resources << /Font << /F1 3 0 R >> >> >>" % number
        )
        kids.append(number + 1)
    objects[2] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), b" ".join(b"%d 0 R" % kid for kid in kids))
    written = b"%PDF-1.4\n"
    places = {}
    for number, body in sorted(objects.items()):
        places[number] = len(written)
        written += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for _, place in sorted(places.items()))
    size = len(objects) + 1
    end = b"trailer << /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF" % (size, trailer, len(written))
    return written + b"xref\n0 %d\n0000000000 65535 f \n" % size + table + end


def archive(parts: Mapping[str, str | bytes]) -> bytes:
    """A zip file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, content in parts.items():
            zipped.writestr(name, content)
    return file.getvalue()


def relations(*targets: tuple[str, str]) -> str:
    """The parts that a part refers to: (kind, target), with the ids r1, r2, ..."""
    lines = "".join(
        f'<Relationship Id="r{number}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets, start=1)
    )
    return f'<Relationships xmlns="{PACKAGE}/relationships">{lines}</Relationships>'


def docx(body: str) -> bytes:
    """A Word document with this content of ``w:body``."""
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{name.replace(" ", "")}"><w:name w:val="{name}"/></w:style>'
        for name in ("Title", "heading 1", "heading 2")
    )
    return archive(
        {
            "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
            '<Default Extension="xml" ContentType="application/xml"/></Types>',
            "_rels/.rels": relations(("officeDocument", "word/document.xml")),
            "word/_rels/document.xml.rels": relations(("styles", "styles.xml")),
            "word/styles.xml": f'<w:styles xmlns:w="{WORD}">{styles}</w:styles>',
            "word/document.xml": f'<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>',
        }
    )


def word(text: str, style: str = "") -> str:
    """A paragraph of a Word document."""
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{properties}<w:r><w:t>{text}</w:t></w:r></w:p>"


def shape(text: str, role: str = "") -> str:
    """A shape of a slide, each line a paragraph."""
    paragraphs = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.split("\n"))
    holder = f'<p:ph type="{role}"/>' if role else ""
    return f"<p:sp><p:nvSpPr><p:nvPr>{holder}</p:nvPr></p:nvSpPr><p:txBody>{paragraphs}</p:txBody></p:sp>"


def slide(*shapes: str) -> str:
    """A slide, or the notes of one."""
    tree = "".join(shapes)
    return f'<p:sld xmlns:p="{SLIDES}" xmlns:a="{DRAWING}"><p:cSld><p:spTree>{tree}</p:spTree></p:cSld></p:sld>'


def pptx(slides: Sequence[str], notes: Mapping[int, str] | None = None) -> bytes:
    """Slides, shown in this order but numbered the other way round in the file; notes by place."""
    count = len(slides)
    files = [f"slides/slide{count - place}.xml" for place in range(count)]
    ids = "".join(f'<p:sldId id="{256 + place}" r:id="r{place + 1}"/>' for place in range(count))
    parts: dict[str, str | bytes] = {
        "ppt/presentation.xml": f'<p:presentation xmlns:p="{SLIDES}" xmlns:r="{OFFICE}">'
        f"<p:sldIdLst>{ids}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(*(("slide", file) for file in files)),
    }
    for place, (file, text) in enumerate(zip(files, slides, strict=True)):
        parts[f"ppt/{file}"] = text
        if notes and place in notes:
            name = file.rpartition("/")[2]
            parts[f"ppt/slides/_rels/{name}.rels"] = relations(("notesSlide", f"../notesSlides/notesSlide{place}.xml"))
            parts[f"ppt/notesSlides/notesSlide{place}.xml"] = notes[place]
    return archive(parts)


def epub(pages: Mapping[str, str], title: str = "A Book", extra: Mapping[str, str] | None = None) -> bytes:
    """A book whose pages are read in this order."""
    items = "".join(
        f'<item id="i{number}" href="text/{name}" media-type="application/xhtml+xml"/>'
        for number, name in enumerate(pages)
    )
    spine = "".join(f'<itemref idref="i{number}"/>' for number in range(len(pages)))
    metadata = f"<dc:title>{title}</dc:title><dc:creator>Mika Ono</dc:creator>"
    return archive(
        {
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OPS/book.opf"/></rootfiles></container>',
            "OPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
            f"<metadata>{metadata}</metadata><manifest>{items}</manifest><spine>{spine}</spine></package>",
            **{f"OPS/text/{name}": page for name, page in pages.items()},
            **(extra or {}),
        }
    )


def xlsx(sheets: Mapping[str, Sequence[Sequence[str | int]]]) -> bytes:
    """A workbook with these rows by sheet."""
    names = "".join(
        f'<sheet name="{name}" sheetId="{number}" r:id="r{number}"/>' for number, name in enumerate(sheets, start=1)
    )
    files = [f"worksheets/sheet{number}.xml" for number in range(1, len(sheets) + 1)]
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"/>',
        "_rels/.rels": relations(("officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'<workbook xmlns="{SHEETS}" xmlns:r="{OFFICE}"><sheets>{names}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relations(*(("worksheet", file) for file in files)),
    }
    for file, rows in zip(files, sheets.values(), strict=True):
        lines = []
        for at, row in enumerate(rows, start=1):
            cells = "".join(
                f'<c r="{chr(65 + column)}{at}"><v>{cell}</v></c>'
                if isinstance(cell, int)
                else f'<c r="{chr(65 + column)}{at}" t="inlineStr"><is><t>{cell}</t></is></c>'
                for column, cell in enumerate(row)
            )
            lines.append(f'<row r="{at}">{cells}</row>')
        parts[f"xl/{file}"] = f'<worksheet xmlns="{SHEETS}"><sheetData>{"".join(lines)}</sheetData></worksheet>'
    return archive(parts)
