"""Program text as documents, and the prose that lies between it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath

from ..code_files import language_of, type_of
from ..types import Blob, Block, Document, Item, Section
from .markdown import MarkdownParser
from .rst import RstParser
from .syntax import MAX_DEPTH, outline
from .text import decode

LONG_LINE = 1000
"""Characters. A text that lies in longer lines by more than half was written by a program."""

_HEAD = 2000
"""Characters in which a generated file says that it is one."""
_GENERATED = re.compile(
    r"""^[ \t]*(?:\#|//|/\*+|\*|--|;|%|<!--|\"{3}).*  # a comment
        (?:@generated\b|\bdo\ not\ edit\b|\bcode\ generated\ by\b|\bauto-?generated\ (?:by|file)\b)""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_PARAGRAPH = re.compile(r"(?:^[^\S\n]*\S.*\n?)+", re.MULTILINE)
_OWN_TYPES = frozenset(("note", "daily", "map", "history", "doc"))
"""What prose is taken for when it does not say."""


class CodeParser:
    """Reads one file of code as one document of kind ``code``.

    - Title: the file's name behind that of its folder; deeper folders are left out, so that moving a tree embeds
      nothing again.
    - Type: ``code``, ``test`` or ``config``, by the file's path.
    - Sections: classes and functions as signatures (see ``syntax``), of level 1 and below; what stands outside of
      them is of level 0. Without a grammar the whole file is one section. Blocks: lines without a blank one between.
    - ``project`` is the name of the source's folder, ``metadata`` holds the ``language``.

    A file that says that a program wrote it, one of giant lines and one without text yield no document.
    Cost: some 0.5 ms for a kilobyte.
    """

    def parse(self, blob: Blob) -> Iterator[Document]:
        """Yield the document. Any bytes can be read."""
        text, warnings = decode(blob.data)
        if not text.strip() or is_generated(text):
            return
        item = blob.item
        language = language_of(item.relative)
        sections = tuple(_sections(text, outline(text, language) or [(0, ())]))
        yield Document(
            uri=item.uri,
            source=item.source,
            kind="code",
            type=type_of(item.relative),
            title="/".join(item.relative.split("/")[-2:]),
            text=text,
            modified=item.modified,
            sections=sections,
            blocks=tuple(_blocks(text, sections)),
            project=project_of(item),
            metadata={"language": language},
            warnings=warnings,
        )


class RepositoryNoteParser:
    """Reads Markdown and reStructuredText in a repository: its type says what it is for (see ``code_files``)."""

    def __init__(self) -> None:
        self._markdown = MarkdownParser()
        self._rst = RstParser()

    def parse(self, blob: Blob) -> Iterator[Document]:
        """Yield the document. Any bytes can be read."""
        parser = self._rst if blob.item.uri.lower().endswith(".rst") else self._markdown
        for document in parser.parse(blob):
            type = type_of(blob.item.relative) if document.type in _OWN_TYPES else document.type
            yield replace(document, type=type, project=project_of(blob.item))


def project_of(item: Item) -> str:
    """The name of the folder that is the item's source."""
    above = PurePath(item.path).parents
    depth = item.relative.count("/")
    return above[depth].name if depth < len(above) else ""


def is_generated(text: str) -> bool:
    """Whether a program wrote this, as its first lines or their length say."""
    if _GENERATED.search(text, 0, _HEAD):
        return True
    long = sum(len(line) for line in text.split("\n") if len(line) > LONG_LINE)
    return 2 * long > len(text)


def _sections(text: str, borders: list[tuple[int, tuple[str, ...]]]) -> Iterator[Section]:
    """A section for each stretch; one without a letter or digit (a closing brace) goes with what is before it."""
    begun: Section | None = None
    for (start, path), end in zip(borders, [at for at, _ in borders[1:]] + [len(text)], strict=True):
        if begun and not any(map(str.isalnum, text[start:end])):
            begun = replace(begun, end=end)
        elif text[start:end].strip():
            if begun:
                yield begun
            begun = Section(min(len(path), MAX_DEPTH), path, start, end)
    if begun:
        yield begun


def _blocks(text: str, sections: tuple[Section, ...]) -> Iterator[Block]:
    for section in sections:
        for found in _PARAGRAPH.finditer(text, section.start, section.end):
            yield Block("code", found.start(), found.start() + len(found[0].rstrip()))
