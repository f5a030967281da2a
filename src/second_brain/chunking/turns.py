"""Passages of a session: an exchange each, where it fits."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence

from ..types import Chunk, Document, Section, chunk_id
from .cutting import cut, fits, reach
from .markdown import SLACK

_TITLE = 200
"""Characters of the title in a context."""

_HEADING = re.compile(r"\d+(?: · (?P<day>\d{4}-\d\d-\d\d)(?: \d\d:\d\d)?)?(?: · (?P<question>.*))?", re.DOTALL)


class TurnChunker:
    """Cuts a session between exchanges, within one only what is too long, and there first between what was said.

    The context of a chunk is the title, the project and the day; in later pieces of a long exchange also the question
    that it is about. ``origin`` names what the exchange is and what the piece says, without its heading, whose
    number differs between copies: a piece that a resumed session repeats has the same, one that goes on has not.
    """

    def __init__(self, max_chars: int = 1200) -> None:
        self._budget = max_chars

    def chunk(self, document: Document) -> Sequence[Chunk]:
        """The chunks in order. Cost: linear."""
        chunks: list[Chunk] = []
        seen: dict[str, int] = {}
        for section, origin, start, end, first in self._pieces(document):
            quote = document.text[start:end]
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
                    heading_path=section.path,
                    context=_context(document, section, first=first),
                    origin=_origin(origin, quote, first=first),
                )
            )
        return chunks

    def _pieces(self, document: Document) -> Iterator[tuple[Section, str, int, int, bool]]:
        text = document.text
        borders = [block.start for block in document.blocks]
        whole = Section(0, (), document.body_start, len(text))
        origins = document.origins or ("",) * len(document.sections)
        found = False
        for section, origin in zip(document.sections, origins, strict=True):
            start, first = section.start, True
            while start < section.end:
                stop = section.end
                if not fits(text, start, _content_end(text, start, stop), self._budget * SLACK):
                    stop = cut(text, start, reach(text, start, stop, self._budget), borders)
                begin, end = _trimmed(text, start, stop)
                if begin < end:
                    yield section, origin, begin, end, first
                    found, first = True, False
                start = stop
        if not found:
            start, end = _trimmed(text, whole.start, whole.end)
            yield whole, "", start, max(start, end), True


def _content_end(text: str, start: int, end: int) -> int:
    return start + len(text[start:end].rstrip())


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without blank lines at its beginning and blanks at its end; the first line's indent stays."""
    content = text[start:end].rstrip()
    lead = content[: len(content) - len(content.lstrip())]
    return start + lead.rfind("\n") + 1, start + len(content)


def _context(document: Document, section: Section, *, first: bool) -> str:
    told = _HEADING.fullmatch(section.path[0]) if section.path else None
    title = document.title[:_TITLE]
    own = document.date.date().isoformat() if document.date else ""
    day = (told["day"] if told else "") or own
    question = (told["question"] if told else "") or ""
    lines = [title, document.project, day, "" if first or question == title else question]
    return "\n".join(line for line in lines if line)


def _origin(origin: str, quote: str, *, first: bool) -> str:
    if not origin:
        return ""
    said = quote.partition("\n")[2] if first else quote
    return f"{origin}:{hashlib.blake2b(said.encode(), digest_size=6).hexdigest()}"
