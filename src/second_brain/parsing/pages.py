"""The text of a document that was no text: written as Markdown, with its sections, while it is read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.util import find_spec

from ..errors import ParseError
from ..types import Blob, Block, Document, Json, Link, Section
from .dates import day_of_name
from .titles import stem_of

MAX_TEXT = 8_000_000
"""Characters kept of one document: some 3,000 pages. What follows is left out, with a warning."""

_UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufeff]")
_NEWLINES = re.compile(r"\r\n?|[\u2028\u2029]")
_TRAILING = re.compile(r"[ \t]+$", re.MULTILINE)
_GAPS = re.compile(r"\n{3,}")


def check_installed(package: str, blob: Blob) -> None:
    """Raise ParseError unless the package that reads the file is there; its source lists such files only then."""
    if find_spec(package) is None:
        raise ParseError(
            f"{blob.item.path}: to read it needs the package {package}, which is not installed",
            hint="pip install 'second-brain[documents]'",
        )


class PageWriter:
    """Collects headings and blocks in reading order. What does not fit into ``MAX_TEXT`` is counted, not kept."""

    def __init__(self) -> None:
        self.links: list[Link] = []
        self.warnings: list[str] = []
        self._parts: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []
        self._headings: list[tuple[int, int, str]] = []
        self._left_out = 0

    @property
    def is_full(self) -> bool:
        """Whether nothing more is kept."""
        return self._left_out > 0

    @property
    def length(self) -> int:
        """Characters so far: where the next line begins, but for a blank line."""
        return self._length

    def heading(self, level: int, title: str) -> None:
        """Begin a section."""
        title = " ".join(cleaned(title).split())
        if title and self._add("heading", f"{'#' * level} {title}", 2):
            self._headings.append((self._blocks[-1].start, level, title))

    def block(self, kind: str, text: str, *, apart: bool = True) -> int:
        """Add a paragraph, list item, row or the like; returns its offset, -1 for what is not kept.

        ``apart``: a blank line stands before it.
        """
        text = cleaned(text)
        return self._blocks[-1].start if text.strip() and self._add(kind, text, 2 if apart else 1) else -1

    def document(
        self, blob: Blob, type: str, *, title: str = "", metadata: Mapping[str, Json] | None = None
    ) -> Document:
        """The document; its title is that of its file unless it has one."""
        if self._left_out:
            self.warnings.append(f"only the first {MAX_TEXT:,} characters are kept; {self._left_out:,} follow")
        stem = stem_of(blob.item.uri)
        return Document(
            uri=blob.item.uri,
            source=blob.item.source,
            kind="page",
            type=type,
            title=" ".join(cleaned(title).split()) or stem,
            text="".join(self._parts),
            modified=blob.item.modified,
            sections=tuple(self._sections()),
            blocks=tuple(self._blocks),
            date=day_of_name(stem),
            links=tuple(self.links),
            metadata=metadata or {},
            warnings=tuple(self.warnings),
        )

    def _add(self, kind: str, text: str, gap: int) -> bool:
        if self._left_out or self._length + len(text) > MAX_TEXT:
            self._left_out += len(text)
            return False
        lead = "\n" * gap if self._parts else ""
        start = self._length + len(lead)
        self._parts.append(lead + text)
        self._length = start + len(text)
        self._blocks.append(Block(kind, start, self._length))
        return True

    def _sections(self) -> list[Section]:
        ends = [*(start for start, _, _ in self._headings), self._length]
        sections = [Section(0, (), 0, ends[0])] if ends[0] else []
        above: list[tuple[int, str]] = []
        for (start, level, title), end in zip(self._headings, ends[1:], strict=True):
            while above and above[-1][0] >= level:
                above.pop()
            above.append((level, title))
            sections.append(Section(level, tuple(name for _, name in above), start, end))
        return sections


def cleaned(text: str) -> str:
    """The text as a block keeps it: no control characters, one kind of line break, never two blank lines."""
    text = _TRAILING.sub("", _UNWANTED.sub("", _NEWLINES.sub("\n", text)))
    return _GAPS.sub("\n\n", text).strip("\n")
