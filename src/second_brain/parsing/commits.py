"""Commit messages as documents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from ..errors import ParseError
from ..types import Blob, Block, Document, Section
from .dates import parse_time
from .text import decode

_HEAD = re.compile(r"commit (?P<sha>\w+)\nauthor (?P<author>.*)\ndate (?P<date>.*)\n\n")
_PARAGRAPH = re.compile(r"(?:^[^\S\n]*\S.*\n?)+", re.MULTILINE)


class CommitParser:
    """Reads what ``sources.repo`` makes of a commit: title is its subject, date its own, text the whole of it.

    ``metadata`` holds ``commit`` and ``author``; ``project`` is the name of the repository's folder.
    """

    def parse(self, blob: Blob) -> Iterator[Document]:
        """Yield the document. Raises ParseError for what the source did not write."""
        text, warnings = decode(blob.data)
        head = _HEAD.match(text)
        if not head or head.end() == len(text.rstrip()):
            raise ParseError(f"{blob.item.uri}: this is no commit message")
        subject = text[head.end() :].partition("\n")[0].strip() or head["sha"][:12]
        when = parse_time(head["date"])
        yield Document(
            uri=blob.item.uri,
            source=blob.item.source,
            kind="commit",
            type="commit",
            title=subject,
            text=text,
            modified=blob.item.modified,
            sections=(Section(0, (), 0, len(text)),),
            blocks=tuple(
                Block("paragraph", found.start(), found.start() + len(found[0].rstrip()))
                for found in _PARAGRAPH.finditer(text)
            ),
            date=when,
            created=when,
            project=PurePath(blob.item.path).parent.name,
            metadata={"commit": head["sha"], "author": head["author"]},
            warnings=warnings,
        )
