"""Tables: CSV and TSV files as they are written, workbooks sheet by sheet."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator

from ..errors import ParseError
from ..types import Blob, Block, Document, Section
from .archives import Archive
from .dates import day_of_name
from .pages import MAX_TEXT, PageWriter, check_installed
from .text import decode
from .titles import stem_of

MAX_ROWS = 20_000
"""Rows kept of a table: 20,000 are some 2,000 passages. What follows is data for a database."""
MAX_COLUMNS = 200
_SEPARATORS = (",", ";", "\t", "|")


class CsvParser:
    """Reads a table of text, each row a block. The names of the columns, if there are any, head the one section.

    A first row counts as names if none of its cells is empty, a number or said twice. The separator is the one of
    comma, semicolon, tab and bar that is most frequent in the first line.
    """

    def parse(self, blob: Blob) -> Iterator[Document]:
        """Yield the document. Raises ParseError."""
        text, warnings = decode(blob.data)
        blocks: list[Block] = []
        names: list[str] = []
        problems = list(warnings)
        if len(text) > MAX_TEXT:
            text = text[: text.rfind("\n", 0, MAX_TEXT) + 1]
            problems.append(f"only the first {MAX_TEXT:,} characters are kept")
        try:
            for start, end, cells in _rows(text):
                if len(blocks) == MAX_ROWS:
                    problems.append(f"only the first {MAX_ROWS:,} rows are kept")
                    text = text[: blocks[-1].end]
                    break
                if not blocks and _are_names(cells):
                    names = cells
                blocks.append(Block("row", start, end))
        except csv.Error as error:
            raise ParseError(f"{blob.item.path}: it is no table: {error}") from error
        section = Section(1 if names else 0, _headed(names), 0, len(text))
        stem = stem_of(blob.item.uri)
        yield Document(
            uri=blob.item.uri,
            source=blob.item.source,
            kind="page",
            type="table",
            title=stem,
            text=text,
            modified=blob.item.modified,
            sections=(section,) if blocks else (),
            blocks=tuple(blocks),
            date=day_of_name(stem),
            warnings=tuple(problems),
        )


class XlsxParser:
    """Reads a workbook: a section for each sheet, headed by its name and those of its columns; a line a row."""

    def parse(self, blob: Blob) -> Iterator[Document]:
        """Yield the document. Raises ParseError."""
        check_installed("python_calamine", blob)
        Archive(blob).check_sizes((".xml",))
        import python_calamine

        writer = PageWriter()
        try:
            book = python_calamine.load_workbook(io.BytesIO(blob.data))
            for name in book.sheet_names:
                _write_sheet(name, book.get_sheet_by_name(name).iter_rows(), writer)
        except python_calamine.CalamineError as error:
            raise ParseError(f"{blob.item.path}: it is no sound workbook: {error}") from error
        yield writer.document(blob, "table")


def _write_sheet(name: str, rows: Iterable[Iterable[object]], writer: PageWriter) -> None:
    writer.heading(1, name)
    written, below_heading = 0, True
    for row in rows:
        cells = [_shown(cell) for cell in row][:MAX_COLUMNS]
        if not any(cells):
            continue
        if written == MAX_ROWS:
            writer.warnings.append(f"of sheet {name[:80]!r} only the first {MAX_ROWS:,} rows are kept")
            return
        if not written and _are_names(cells):
            writer.heading(2, " | ".join(cells))
        else:
            writer.block("row", " | ".join(cells).rstrip(" |"), apart=below_heading)
            below_heading = False
        written += 1


def _shown(cell: object) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return " ".join(str(cell).split())


def _rows(text: str) -> Iterator[tuple[int, int, list[str]]]:
    """Begin, end and cells of each row that is not blank; a quoted cell may hold line breaks."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    first = lines[0] if lines else ""
    separator = max(_SEPARATORS, key=first.count)
    reader = csv.reader(lines, delimiter=separator)
    start = before = 0
    for cells in reader:
        end = start + sum(len(line) for line in lines[before : reader.line_num])
        before = reader.line_num
        if written := text[start:end].rstrip():
            lead = len(written) - len(written.lstrip("\n"))
            yield start + lead, start + len(written), [cell.strip() for cell in cells]
        start = end


def _are_names(cells: list[str]) -> bool:
    return len(set(cells)) == len(cells) > 1 and all(cell and not _is_number(cell) for cell in cells)


def _is_number(cell: str) -> bool:
    return cell.lstrip("+-").replace(".", "", 1).replace(",", "").isdigit()


def _headed(names: list[str]) -> tuple[str, ...]:
    return (" | ".join(" ".join(name.split()) for name in names[:MAX_COLUMNS]),) if names else ()
