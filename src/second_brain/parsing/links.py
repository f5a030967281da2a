"""Links as people write them: ``[[Note#Part|text]]``, ``[text](Note.md#Part)``, and in properties.

Where a link leads is not decided here (``graph.links``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from ..types import Json, Link, LinkKind

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_IMAGE_SIZE = re.compile(r"(?:^|\|)\d+(?:x\d+)?$")
_IN_PROPERTY = re.compile(r"\[\[([^\[\]|\n]+)(?:\|([^\[\]\n]*))?\]\]")


def wikilink(address: str, text: str, start: int, *, embed: bool = False, kind: LinkKind | None = None) -> Link | None:
    """The link of ``[[address|text]]``; None when it leads nowhere else (``[[#Part]]``, a line break within).

    In a table a backslash stands before the bar: it belongs to neither side.
    """
    target, _, anchor = address.removesuffix("\\").partition("#")
    target = target.strip()
    if not target or "\n" in address:
        return None
    if embed:
        text = _IMAGE_SIZE.sub("", text)
    return Link(target, anchor.strip(), text.strip(), kind or ("embed" if embed else "wikilink"), start)


def markdown_link(address: str, text: str, start: int, *, embed: bool = False) -> Link | None:
    """The link of ``[text](address)``; None when it leads out of the vault or nowhere else.

    The address is split at its first ``#`` and then percent-decoded, so that ``%23`` stays in the name.
    """
    if _SCHEME.match(address):
        return None
    target, _, anchor = address.partition("#")
    if not target.strip():
        return None
    if embed:
        text = _IMAGE_SIZE.sub("", text)
    return Link(unquote(target).strip(), unquote(anchor), text.strip(), "embed" if embed else "markdown", start)


def property_links(values: Mapping[str, Json]) -> Iterator[Link]:
    """The wikilinks in property values, at any depth, in order."""
    for value in values.values():
        yield from _within(value)


def _within(value: Json) -> Iterator[Link]:
    if isinstance(value, str):
        if "[[" in value:
            for found in _IN_PROPERTY.finditer(value):
                if link := wikilink(found[1], found[2] or found[1], -1, kind="frontmatter"):
                    yield link
    elif isinstance(value, dict):
        yield from property_links(value)
    elif isinstance(value, list):
        for item in value:
            yield from _within(item)
