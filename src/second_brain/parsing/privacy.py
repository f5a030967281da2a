"""The privacy label of a note, which is never lost and never read laxer than it is written.

Labels are looked for twice: in the properties as YAML reads them, and in the lines of the block as they stand,
for YAML keeps only the last of two equal keys, and a block with one bad line may be no YAML at all. Which label
is the stricter one is a setting that a parser does not know. So labels that differ, and anything that is not one
plain text, become a label that no setting knows, and an unknown label counts as the strictest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ..types import Json
from ..yaml_nodes import YamlError, load_yaml

LONGEST = 200
"""Characters kept of a label: what is longer is somebody's text, and unknown anyway."""

_KEY = r"""["']?privacy["']?\s*[:\uff1a]"""
_KEY_LINE = re.compile(rf"(?P<indent>\s*)(?:[-?>]\s+)*{_KEY}\s*(?P<value>.*)", re.IGNORECASE)
"""Also without a blank behind the colon, with a full-width colon, as an item of a list."""
_KEY_IN_FLOW = re.compile(rf"[{{,]\s*{_KEY}\s*(?P<value>[^,}}]*)", re.IGNORECASE)
_NAME = re.compile(r"\s*privacy\s*(?:[:\uff1a](?P<value>.*))?", re.IGNORECASE | re.DOTALL)
_ITEM = re.compile(r"\s*-(?:\s|$)")
_COMMENT = re.compile(r"\s#.*")


def labels_in_values(value: Json) -> Iterator[str]:
    """Every label below a key ``privacy``, at any depth, letter case ignored."""
    if isinstance(value, dict):
        for key, inner in value.items():
            name = _NAME.fullmatch(key)
            if name:
                yield from _texts([name["value"], inner])
            else:
                yield from labels_in_values(inner)
    elif isinstance(value, list):
        for item in value:
            yield from labels_in_values(item)


def labels_in_lines(block: str, first_line: int) -> Iterator[tuple[int, str]]:
    """Every label that the text of a block names, with its line in the file; the block need not be YAML."""
    if block.lstrip().startswith("{"):
        for match in _KEY_IN_FLOW.finditer(block):
            number = first_line + block.count("\n", 0, match.start("value"))
            yield from ((number, label) for label in _texts(_read(match["value"], [])))
        return
    lines = block.split("\n")
    for at, line in enumerate(lines):
        if key := _KEY_LINE.match(line):
            open_end = key["value"][:1] in ("", "#")
            below = list(_below(lines[at + 1 :], len(key["indent"]), items=open_end))
            yield from ((first_line + at, label) for label in _texts(_read(key["value"], below)))


def joined(labels: Sequence[str]) -> str:
    """One label: itself; several: all of them in one, which no setting knows; none: ''."""
    return "+".join(dict.fromkeys(" ".join(label.split()).lower() for label in labels if label.strip()))[:LONGEST]


def _below(lines: list[str], indent: int, *, items: bool) -> Iterator[str]:
    """The lines that go on with the value of a key: those that are indented more, and its items."""
    for line in lines:
        deeper = len(line) - len(line.lstrip()) > indent
        if line.strip() and not deeper and not (items and _ITEM.match(line)):
            return
        yield f" {line}"


def _read(value: str, below: list[str]) -> Json:
    """The value as YAML reads it, alone; what is no YAML is the bare text of its lines."""
    try:
        read = load_yaml("\n".join([f"privacy: {value.rstrip(' ,')}", *below])).value
    except YamlError:
        read = None
    if isinstance(read, Mapping):
        return read["privacy"]
    bare = (_COMMENT.sub("", line).strip().removeprefix("-").strip(" \t'\",") for line in (value, *below))
    return [*bare]


def _texts(value: Json) -> Iterator[str]:
    """Every text in a value, keys too: ``{secret: true}`` says something, though not as one plain text."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _texts(inner)
