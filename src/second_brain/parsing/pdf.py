"""PDF files, page by page."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from ..errors import ParseError
from ..types import Blob, Document
from .pages import MAX_TEXT, PageWriter, check_installed

TIMEOUT_S = 60.0
MAX_MEMORY = 2 * 2**30

_CHILD = Path(__file__).with_name("pdf_pages.py")
_HYPHEN = re.compile(r"[\ufffe\u00ad]\r?\n?")
"""What PDFium writes for a hyphen at the end of a line: the word goes on."""


class PdfParser:
    """Reads the text of a PDF, a section ``Page 3`` for each page that has some.

    Refused, with the reason: what is encrypted, damaged, without text (pictures of pages), or takes more than a
    minute or 2 GB to unpack. PDFium works in a process of its own: some 50 ms a file, and 1 ms a page.
    """

    def parse(self, blob: Blob) -> Iterator[Document]:
        """Yield the document. Raises ParseError."""
        check_installed("pypdfium2", blob)
        pages, count = _pages(blob)
        writer = PageWriter()
        for number, text in enumerate(pages, start=1):
            text = _HYPHEN.sub("", text)
            if text.strip():
                writer.heading(1, f"Page {number}")
                writer.block("paragraph", text)
        if not writer.length:
            raise ParseError(
                f"{blob.item.path}: none of its {count} pages holds text, only pictures",
                hint="let a program for text recognition (OCR) put the text into it",
            )
        if len(pages) < count:
            writer.warnings.append(
                f"only the first {len(pages):,} of {count:,} pages are read: {MAX_TEXT:,} characters"
            )
        yield writer.document(blob, "pdf", metadata={"pages": count})


def _pages(blob: Blob) -> tuple[list[str], int]:
    """The text of each page up to ``MAX_TEXT``, and how many pages there are. Raises ParseError."""
    command = [sys.executable, "-P", str(_CHILD), str(MAX_TEXT), str(MAX_MEMORY)]
    try:
        done = subprocess.run(command, input=blob.data, capture_output=True, timeout=TIMEOUT_S, check=False)
        answer = json.loads(done.stdout)
    except subprocess.TimeoutExpired as error:
        raise ParseError(f"{blob.item.path}: it takes more than {TIMEOUT_S:.0f} s to read") from error
    except ValueError as error:
        problem = f"PDFium ended with status {done.returncode}: it needs too much memory, or is damaged"
        raise ParseError(f"{blob.item.path}: {problem}") from error
    if "error" in answer:
        raise ParseError(f"{blob.item.path}: {answer['error']}")
    return answer["pages"], answer["count"]
