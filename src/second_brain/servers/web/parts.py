"""A long note in parts, so that none is slow to make or to show. Most notes are one part."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

LENGTH = 60_000
"""Characters of a part."""

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
_BLANK = re.compile(r"\n[ \t]*\n")


def beginnings(text: str, start: int, borders: Sequence[int] = ()) -> list[int]:
    """Where the parts of ``text[start:]`` begin: at blank lines outside of code where there are any, else at lines.

    With ``borders``, ascending, only there, and a part is as long as it takes. Cost: linear.
    """
    if len(text) - start <= LENGTH:
        return [start]
    if borders:
        kept = [start]
        for border, following in zip(borders, [*borders[1:], len(text)], strict=True):
            if following - kept[-1] > LENGTH and border > kept[-1]:
                kept.append(border)
        return kept
    fences = [found.start() for found in _FENCE.finditer(text, start)]
    found = [start]
    while len(text) - found[-1] > LENGTH:
        found.append(_end(text, found[-1], fences))
    return found


def part_at(begins: list[int], offset: int) -> int:
    """The number of the part, from 0, in which an offset lies."""
    return max(0, bisect_right(begins, offset) - 1)


def _end(text: str, start: int, fences: list[int]) -> int:
    limit = start + LENGTH
    blanks = [found.end() for found in _BLANK.finditer(text, start + LENGTH // 2, limit)]
    for place in reversed(blanks):
        if bisect_right(fences, place) % 2 == 0:  # an odd number of fences before it: within code
            return place
    line = text.rfind("\n", start + LENGTH // 2, limit)
    return blanks[-1] if blanks else line + 1 if line > 0 else limit
