"""A summary as values: statements, each with the turns that it came from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..types import Document

PARTS = ("happened", "decided", "solved", "open", "commands", "files")
"""The parts of a summary, in the order in which they are read."""

_WORDS = re.compile(r"\w+")
_NUMBER = re.compile(r"\s*#*\s*(\d+)\b")


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that is said of a session, and the numbers of the turns where it stands."""

    text: str
    turns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """What came of a session. ``by`` tells who wrote it: ``extractive``, or the chat model's identity."""

    by: str
    happened: tuple[Statement, ...] = ()
    decided: tuple[Statement, ...] = ()
    solved: tuple[Statement, ...] = ()
    open: tuple[Statement, ...] = ()
    commands: tuple[Statement, ...] = ()
    files: tuple[Statement, ...] = ()

    def part(self, name: str) -> tuple[Statement, ...]:
        """The statements of one of ``PARTS``."""
        found: tuple[Statement, ...] = getattr(self, name)
        return found

    def with_part(self, name: str, statements: tuple[Statement, ...]) -> Summary:
        """The summary with one part replaced."""
        changes: dict[str, tuple[Statement, ...]] = {name: statements}
        return replace(self, **changes)  # type: ignore[arg-type]  # the names are those of PARTS


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a turn: who or what says it (``user``, ``assistant``, ``command``, ``edit``, ``error``)."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Turn:
    """An exchange: a question and all that followed until the next."""

    number: int
    blocks: tuple[Block, ...]


def turns(document: Document) -> Iterator[Turn]:
    """The exchanges of a session's document: its sections, numbered as their headings are."""
    blocks = sorted(document.blocks, key=lambda block: block.start)
    position = 0
    for index, section in enumerate(document.sections, start=1):
        own: list[Block] = []
        while position < len(blocks) and blocks[position].start < section.end:
            block = blocks[position]
            if block.kind != "heading":
                own.append(Block(block.kind, document.text[block.start : block.end].strip()))
            position += 1
        heading = _NUMBER.match(document.text, section.start)
        yield Turn(int(heading.group(1)) if heading else index, tuple(own))


def signature(text: str) -> frozenset[str]:
    """Words, and of unspaced scripts pairs of characters: enough to tell whether two statements say the same."""
    found: set[str] = set()
    for word in _WORDS.findall(text.casefold()):
        found.update([word] if word.isascii() else (word[i : i + 2] for i in range(max(len(word) - 1, 1))))
    return frozenset(found)
