"""reStructuredText: where its headings are. Its other markup is read as it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from ..types import Blob, Block, Document, Section
from .dates import day_of_name
from .text import decode
from .titles import stem_of

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*")
_PARAGRAPH = re.compile(r"(?:^[^\S\n]*\S.*\n?)+", re.MULTILINE)
MAX_TITLE = 300


class _Heading(NamedTuple):
    start: int
    level: int
    title: str


class RstParser:
    """Reads a file of reStructuredText, as documentation of Python programs is written.

    A heading is a line with a line of one punctuation mark below it, at least as long, and perhaps above it too. The
    levels are the styles of such lines in the order in which they first occur, as in docutils.
    """

    def parse(self, blob: Blob) -> Iterator[Document]:
        """Yield the document. Any bytes can be read."""
        text, warnings = decode(blob.data)
        headings = list(_headings(text))
        stem = stem_of(blob.item.uri)
        alone = sum(heading.level == 1 for heading in headings) == 1
        yield Document(
            uri=blob.item.uri,
            source=blob.item.source,
            kind="page",
            type="doc",
            title=headings[0].title if alone else stem,
            text=text,
            modified=blob.item.modified,
            sections=tuple(_sections(text, headings)),
            blocks=tuple(_blocks(text, headings)),
            date=day_of_name(stem),
            warnings=warnings,
        )


def _headings(text: str) -> Iterator[_Heading]:
    styles: list[tuple[str, bool]] = []
    lines = text.split("\n")
    at = 0
    starts = []
    for line in lines:
        starts.append(at)
        at += len(line) + 1
    for number in range(1, len(lines)):
        below = _ADORNMENT.fullmatch(lines[number])
        title = lines[number - 1].strip()
        if not below or not title or len(lines[number].rstrip()) < len(title) or _ADORNMENT.fullmatch(title):
            continue
        above = lines[number - 2] if number > 1 else ""
        overlined = above.rstrip() == lines[number].rstrip()
        if not overlined and (above.strip() or lines[number - 1][:1].isspace()):
            continue  # the last line of a paragraph or table, or an indented block
        style = (below[1], overlined)
        if style not in styles:
            styles.append(style)
        level = min(styles.index(style) + 1, 6)
        yield _Heading(starts[number - 2 if overlined else number - 1], level, title[:MAX_TITLE])


def _sections(text: str, headings: list[_Heading]) -> Iterator[Section]:
    ends = [*(heading.start for heading in headings), len(text)]
    if text[: ends[0]].strip():
        yield Section(0, (), 0, ends[0])
    above: list[_Heading] = []
    for heading, end in zip(headings, ends[1:], strict=True):
        while above and above[-1].level >= heading.level:
            above.pop()
        above.append(heading)
        yield Section(heading.level, tuple(each.title for each in above), heading.start, end)


def _blocks(text: str, headings: list[_Heading]) -> Iterator[Block]:
    """Lines without a blank one between, of one section each."""
    borders = [0, *(heading.start for heading in headings), len(text)]
    for start, end in pairwise(borders):
        for found in _PARAGRAPH.finditer(text, start, end):
            yield Block("paragraph", found.start(), found.start() + len(found[0].rstrip()))
