"""Which parts of a question are to be searched as they stand: quotes, code, addresses, options, error messages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, TypeAlias

Span: TypeAlias = tuple[int, int]

_QUOTED: Final = re.compile(r'"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|『[^』]*』|`[^`]*`')
_TYPED_AS_CODE: Final = re.compile(
    r"""
      https?://\S+
    | (?<!\S)--?[A-Za-z][\w-]*(?:[ =][^\s-]\S*)?     # an option and its value
    | \(most[ ]recent[ ]call[ ]last\):?
    """,
    re.VERBOSE,
)
_LABEL: Final = re.compile(r"(?<![\w.])[\w.]{1,80}(?::(?=\s)|：)")
_FAULT: Final = re.compile(r"error|exception|fatal|warning|panic|critical|failed|fault|エラー|例外|警告", re.IGNORECASE)


def quoted(text: str) -> list[Span]:
    """Phrases in quotation marks, with the marks."""
    return [found.span() for found in _QUOTED.finditer(text)]


def verbatim(text: str) -> list[Span]:
    """Quotes, and what a program may have written.

    An error message reaches from its label (``TypeError: ``) to the end of the line.
    """
    spans = [*quoted(text), *(found.span() for found in _TYPED_AS_CODE.finditer(text))]
    for label in _LABEL.finditer(text):
        if _FAULT.search(label[0]):
            end = text.find("\n", label.end())
            spans.append((label.start(), len(text) if end < 0 else end))
    return spans


def touches(start: int, end: int, spans: Iterable[Span]) -> bool:
    """Whether ``start:end`` shares a character with one of the spans."""
    return any(first < end and start < last for first, last in spans)
