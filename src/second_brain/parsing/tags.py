"""Tags, in properties and in the text, by Obsidian's rules.

A tag in the text is ``#`` and a name, behind a blank or at the beginning of a line; the name holds letters of
any script, digits, emoji, ``_``, ``-`` and ``/`` (for nesting), and not digits only: ``#1984`` is none.
Letter case does not tell tags apart; the first spelling stays.

One rule is ours: full-width punctuation ends a tag too, so that ``#会議、`` is ``会議``.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from ..types import Json

TAG = re.compile(
    r"#(?<!\S#)("  # the # first, so that the search can skip to it
    r"[^\s!-,.:-@\[-^`{-~"  # ASCII but letters, digits, - / _
    r"\u2000-\u206f\u2e00-\u2e7f"  # punctuation of all scripts
    r"\u3001-\u3003\u3008-\u3011\u3014-\u301f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"  # full-width
    r"]+)"
)
"""A tag where it stands; its name is the group. One of digits only is none."""


def inline_tags(text: str, start: int, opaque: Sequence[tuple[int, int]]) -> Iterator[str]:
    """The tags in ``text[start:]``, without ``#``, in order; none within the ``opaque`` spans."""
    if "#" not in text:
        return
    begins = [begin for begin, _ in opaque]
    for found in TAG.finditer(text, start):
        name = found[1].rstrip("/")
        span = bisect_right(begins, found.start()) - 1
        if not name or name.isdecimal() or (span >= 0 and found.start() < opaque[span][1]):
            continue
        yield name


def property_tags(value: Json) -> Iterator[str]:
    """The tags of a property: a list, or one text with commas or blanks between; a leading ``#`` is taken off."""
    if isinstance(value, str):
        yield from (name.lstrip("#") for name in re.split(r"[,\s]+", value))
    elif isinstance(value, list):
        yield from (item.strip().lstrip("#") for item in value if isinstance(item, str))


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """The names that are not empty, in NFC, each once whatever its letter case; the first spelling stays."""
    first: dict[str, str] = {}
    for name in names:
        name = unicodedata.normalize("NFC", name.strip())
        if name:
            first.setdefault(name.casefold(), name)
    return tuple(first.values())
