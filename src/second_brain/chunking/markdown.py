"""Passages of a Markdown note: a section each, where it fits."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from ..types import Chunk, Document, Section, chunk_id
from .cutting import cut, fits, reach

SLACK = 1.125
"""A rest that is over the budget by less than an eighth is not cut, so that no small tail is left behind."""

_CONTEXT_LIMIT = 200
"""Characters of the title and of the description in a context."""

HEADING_LIMIT = 80
"""Characters of each heading in a context."""

Passage: TypeAlias = "tuple[tuple[str, ...], int, int]"
"""Heading path, start, end."""


class MarkdownChunker:
    """Cuts at headings first, within a section only what is too long.

    A section that fits is one chunk, its heading line included. Small ones that stand beside one another are one
    chunk as long as they weigh no more than ``together``: a line or two by themselves say too little to be found by
    meaning, and each chunk has its price. A longer one is cut between blocks, else between lines (so a giant table
    or fence), else behind a sentence, else at a blank, else between characters. A heading with nothing below it
    goes with the next section. No chunk weighs more than ``max_chars * SLACK`` (see ``cutting`` for weights), and
    chunks never overlap.

    The heading path of joined sections is what their paths have in common.

    The context of a chunk is the title, the headings above it, the note's own date, and on the first chunk
    the description. Neither path nor file times are in it, so that moving a note embeds nothing again.

    A note without text is one empty chunk at ``body_start``, so that its title can be found.
    """

    together = 500.0
    """The weight up to which sections are joined; chosen by measurement, see docs/evaluation.md."""

    def __init__(self, max_chars: int = 1200) -> None:
        self._budget = max_chars

    def chunk(self, document: Document) -> Sequence[Chunk]:
        """The chunks in order. Cost: linear; some 0.03 ms for 2 kB."""
        text = document.text
        chunks: list[Chunk] = []
        seen: dict[str, int] = {}
        context = self._contexts(document)
        nothing = [((), document.body_start, document.body_start)]
        for path, start, end in list(self._passages(document)) or nothing:
            quote = text[start:end]
            occurrence = seen.get(quote, 0)
            seen[quote] = occurrence + 1
            chunks.append(
                Chunk(
                    id=chunk_id(document.uri, quote, occurrence),
                    document=document.uri,
                    ordinal=len(chunks),
                    start=start,
                    end=end,
                    text=quote,
                    heading_path=path,
                    context=context((path, start, end), not chunks),
                )
            )
        return chunks

    def _contexts(self, document: Document) -> Callable[[Passage, bool], str]:
        """Says the context of each passage, and of the first."""
        return lambda passage, first: context_of(document, passage[0], first=first)

    def _passages(self, document: Document) -> Iterator[Passage]:
        borders = [block.start for block in document.blocks]
        text = document.text
        for path, start, end in self._groups(document, borders):
            start, end = _trimmed(text, start, end)
            while not fits(text, start, end, self._budget * SLACK):
                stop = cut(text, start, reach(text, start, end, self._budget), borders)
                if text[start:stop].strip():
                    yield path, *_trimmed(text, start, stop)
                start = stop
            if text[start:end].strip():
                yield path, *_trimmed(text, start, end)

    def _groups(self, document: Document, borders: list[int]) -> Iterator[Passage]:
        """Sections, small ones joined."""
        text = document.text
        waiting: Passage | None = None
        for path, start, end in self._sections(document, borders):
            if waiting:
                if fits(text, waiting[1], end, min(self.together, self._budget)):
                    waiting = (tuple(_common(waiting[0], path)), waiting[1], end)
                    continue
                yield waiting
            waiting = (path, start, end)
        if waiting:
            yield waiting

    def _sections(self, document: Document, borders: list[int]) -> Iterator[Passage]:
        """Sections; headings with nothing below them together with what follows."""
        text = document.text
        waiting: Passage | None = None
        for section in document.sections or (Section(0, (), document.body_start, len(text)),):
            start = section.start
            if waiting:
                alone = fits(text, start, section.end, self._budget * SLACK)
                if alone and not fits(text, waiting[1], section.end, self._budget * SLACK):
                    yield waiting
                else:
                    start = waiting[1]
            waiting = (section.path, start, section.end)
            if not _is_bare(document, section, borders) or not fits(text, start, section.end, self._budget / 2):
                yield waiting
                waiting = None
        if waiting:
            yield waiting


def _is_bare(document: Document, section: Section, borders: list[int]) -> bool:
    """Whether a section is a heading and nothing else."""
    first, behind = bisect_left(borders, section.start), bisect_left(borders, section.end)
    return behind - first == 1 and document.blocks[first].kind == "heading"


def _common(one: Sequence[str], other: Sequence[str]) -> Iterator[str]:
    """The beginning that two paths share."""
    for first, second in zip(one, other, strict=False):
        if first != second:
            return
        yield first


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without blank lines at its beginning and blanks at its end; the first line's indent stays."""
    quote = text[start:end]
    content = quote.rstrip()
    lead = content[: len(content) - len(content.lstrip())]
    return start + lead.rfind("\n") + 1, start + len(content)


def context_of(
    document: Document, path: tuple[str, ...], *, first: bool = False, heading_limit: int = HEADING_LIMIT
) -> str:
    """The lines that tell what a passage below these headings is about."""
    title = document.title[:_CONTEXT_LIMIT]
    above = path[1:] if path and path[0] == document.title else path
    day = document.date.date().isoformat() if document.date else ""
    lines = [
        title,
        " > ".join(heading[:heading_limit] for heading in above if heading),
        day if day not in title else "",
        document.description[:_CONTEXT_LIMIT] if first else "",
    ]
    return "\n".join(line for line in lines if line)
