"""What a note says of itself, as rows of name and value: bounded, whatever stands there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...records import StoredDocument

MOST = 60
LONGEST = 600
DEEPEST = 6


@dataclass(frozen=True, slots=True)
class Property:
    """A row. ``name`` is as in the note, or one of ours (``ours``: the name of its words)."""

    name: str
    value: str
    ours: bool = False


def properties(document: StoredDocument) -> list[Property]:
    """The properties of a document, ours first; at most ``MOST``."""
    ours = (
        ("type", document.type),
        ("status", document.status),
        ("project", document.project),
        ("language", document.language),
        ("privacy", document.privacy),
        ("aliases", ", ".join(document.aliases)),
    )
    rows = [Property(name, value[:LONGEST], ours=True) for name, value in ours if value]
    for name, value in document.metadata.items():
        if len(rows) >= MOST:
            break
        text = _text(value)
        if text:
            rows.append(Property(str(name)[:LONGEST], text))
    return rows


def _text(value: Any) -> str:
    """One line for a value, cut where it is long."""
    parts: list[str] = []
    room = LONGEST
    for piece in _pieces(value, 0):
        if room <= 0:
            parts.append("…")
            break
        parts.append(piece[:room])
        room -= len(piece)
    return "".join(parts)


def _pieces(value: Any, depth: int) -> Iterator[str]:
    if depth > DEEPEST:
        yield "…"
    elif isinstance(value, dict):
        for position, (name, inner) in enumerate(value.items()):
            yield (", " if position else "") + f"{name}: "
            yield from _pieces(inner, depth + 1)
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            if position:
                yield "; " if isinstance(inner, (dict, list)) else ", "
            yield from _pieces(inner, depth + 1)
    elif value is not None:
        yield str(value)
