"""Where do documents come from? PDF, office files, web pages, books and tables in a folder.

What reads them comes with the extra ``documents``. Without it a file is left out of the list and counted, and what an
index holds of it from better days is kept.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from typing import Final

from ..protocols import Scan
from ..types import Item
from .folder import FolderSource
from .reading import read_file

MAX_BYTES: Final = 128 * 2**20
"""A PDF or office file above is refused: most of it is pictures, and all of it would be in memory."""

_OFFICE = "application/vnd.openxmlformats-officedocument"
DOCUMENTS: Final = {
    ".canvas": "application/x-canvas",
    ".base": "application/x-base",
    ".pdf": "application/pdf",
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "text/html",
    ".docx": f"{_OFFICE}.wordprocessingml.document",
    ".pptx": f"{_OFFICE}.presentationml.presentation",
    ".epub": "application/epub+zip",
}
TABLES: Final = {
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".xlsx": f"{_OFFICE}.spreadsheetml.sheet",
}
_READERS: Final = {
    DOCUMENTS[".pdf"]: "pypdfium2",
    DOCUMENTS[".html"]: "selectolax",
    DOCUMENTS[".docx"]: "mammoth",
    DOCUMENTS[".epub"]: "selectolax",
    TABLES[".xlsx"]: "python_calamine",
}
"""The package that a media type needs; the others need none."""
_BINARY: Final = frozenset(DOCUMENTS[suffix] for suffix in (".pdf", ".docx", ".pptx", ".epub")) | {TABLES[".xlsx"]}

WAITING: Final = "wait for: pip install 'second-brain[documents]'"
"""The reason under which documents without a reader are counted."""


class DocumentSource(FolderSource):
    """PDF, HTML, DOCX, PPTX, EPUB, CSV, TSV and XLSX files below a folder, and Markdown files that lie between them.

    For what is left out and the arguments see `FolderSource`.
    """

    kind = "documents"

    def media_type(self, name: str) -> str | None:
        """What a file of this name holds; None when such files are not wanted."""
        if name.lower().endswith((".md", ".markdown")):
            return "text/markdown"
        return document_type(name, tables=True)

    def scan(self) -> Scan:
        """List the files. Raises SourceError when the root cannot be listed."""
        return without_unreadable(super().scan())

    def _bytes(self, item: Item) -> bytes:
        return document_bytes(item, self._max_bytes)


def document_type(name: str, *, tables: bool = False) -> str | None:
    """The media type of a document, by its suffix in any letter case; None when it is none."""
    suffix = name[name.rfind(".") :].lower()
    return DOCUMENTS.get(suffix) or (TABLES.get(suffix) if tables else None)


def document_bytes(item: Item, max_bytes: int) -> bytes:
    """The bytes of a listed file; those of formats that are no text may be binary and large. See `read_file`."""
    if item.media_type in _BINARY:
        return read_file(item, max(max_bytes, MAX_BYTES), binary=True)
    return read_file(item, max_bytes)


def without_unreadable(scan: Scan) -> Scan:
    """The scan without the documents whose reader is not installed: counted, and not taken for deleted."""
    waiting = [item for item in scan.items if not _readable(item.media_type)]
    if not waiting:
        return scan
    skipped = Counter(scan.skipped or {})
    for item in waiting:
        suffix = item.uri[item.uri.rfind(".") + 1 :].upper()
        skipped[f"{suffix} {WAITING}"] += 1
    return replace(
        scan,
        items=tuple(item for item in scan.items if _readable(item.media_type)),
        unlisted=tuple(sorted((*scan.unlisted, *(item.uri for item in waiting)))),
        skipped=dict(skipped),
    )


@cache
def _readable(media_type: str) -> bool:
    package = _READERS.get(media_type)
    return package is None or find_spec(package) is not None
