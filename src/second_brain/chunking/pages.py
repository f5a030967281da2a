"""Passages of documents that were no text: pages, slides, sheets."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..types import Document
from .markdown import MarkdownChunker, Passage, context_of

HEADING_LIMIT = 300
"""Characters of a heading in a context. That of a table is the row with the names of its columns."""

CITED = frozenset(("pdf", "pptx", "table"))
"""Types whose sections are what is cited: a page, a slide, a sheet. However small, they are not joined."""


class PageChunker(MarkdownChunker):
    """Cuts as in Markdown; every chunk of a table is told the names of its columns."""

    def _groups(self, document: Document, borders: list[int]) -> Iterator[Passage]:
        joined = document.type not in CITED
        return super()._groups(document, borders) if joined else self._sections(document, borders)

    def _contexts(self, document: Document) -> Callable[[Passage, bool], str]:
        return lambda passage, first: context_of(document, passage[0], first=first, heading_limit=HEADING_LIMIT)
