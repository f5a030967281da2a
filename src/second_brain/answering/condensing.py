"""Makes a list of hits one to read: neighbours of a document become one quote, near-identical passages one hit.

Nothing is dropped silently: what is folded is named by the hit that stands for it. Only passages whose wording is the
same but for a few characters are folded, and never two that differ in a number: similarity does not tell a copy from
a revision.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile
from typing import Final

from ..analysis import normalize
from ..types import Hit

Quote = Callable[[str, int, int], str]
"""``quote(uri, start, end)``: what stands there, '' if the document has gone."""

ALIKE: Final = 0.85
"""Share of common shingles from which on two passages are near-identical."""

SHINGLE: Final = 8
"""Characters."""

LARGEST: Final = 3_600
"""Characters of a merged quote: three passages."""

GAP: Final = 4
"""Characters of white space between two neighbours."""

_NO_LETTERS: Final = re.compile(r"[\W_]+")
_NUMBER: Final = re.compile(r"[0-9]+(?:[.,:][0-9]+)*")


@dataclass(slots=True)
class Group:
    """A hit to be, and where in the list its members stood."""

    hit: Hit
    members: list[int]
    print: _Print

    @classmethod
    def alone(cls, hit: Hit, position: int) -> Group:
        """A group of one."""
        return cls(hit, [position], _Print(hit.text))


def condense(hits: Sequence[Hit], limit: int, quote: Quote) -> list[Group]:
    """The first ``limit`` hits to read, in order, each with the positions of what went into it.

    Every hit is taken in turn: it extends a hit of the same document that it touches, else it is folded into one that
    says the same, else it is a new one; the first that would be one too many ends the list. So a longer list begins
    with the same hits.

    Cost: some 10 ms for 30 passages of 1,000 characters.
    """
    groups: list[Group] = []
    for position, hit in enumerate(hits):
        touched = next(((group, hit_to_be) for group in groups if (hit_to_be := _joined(group.hit, hit, quote))), None)
        if touched:
            group, group_hit = touched
            group.hit = group_hit
            group.members.append(position)
            continue
        own = _Print(hit.text)
        twin = next((group for group in groups if group.print.alike(own)), None)
        if twin:
            twin.hit = _folding(twin.hit, hit)
            twin.members.append(position)
        elif len(groups) == limit:
            break
        else:
            groups.append(Group(hit, [position], own))
    return groups


def _joined(known: Hit, hit: Hit, quote: Quote) -> Hit | None:
    """The hit that a known one and a neighbour become, None where they do not touch."""
    first, second = (known, hit) if known.start <= hit.start else (hit, known)
    if known.uri != hit.uri or not 0 <= second.start - first.end <= GAP or second.end - first.start > LARGEST:
        return None
    text = quote(known.uri, first.start, second.end)
    between = text[first.end - first.start : second.start - first.start]
    if not (text.startswith(first.text) and text.endswith(second.text)) or between.strip():
        return None
    shared = takewhile(lambda pair: pair[0] == pair[1], zip(first.heading_path, second.heading_path, strict=False))
    return replace(
        known,
        text=text,
        start=first.start,
        end=second.end,
        line=first.line,
        heading_path=tuple(heading for heading, _ in shared),
        notes=tuple(dict.fromkeys((*known.notes, *hit.notes))),
    )


def _folding(best: Hit, other: Hit) -> Hit:
    return replace(best, folded=(*best.folded, other.id), also_in=(*best.also_in, other.uri))


class _Print:
    """What a passage says, for comparison: letters, numbers and signs of words only."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def words(self) -> str:
        """The text without signs."""
        return _NO_LETTERS.sub(" ", normalize(self._text)).strip()

    @cached_property
    def shingles(self) -> frozenset[str]:
        """Every run of ``SHINGLE`` characters."""
        return frozenset(self.words[start : start + SHINGLE] for start in range(max(1, len(self.words) - SHINGLE + 1)))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The numbers in it."""
        return frozenset(_NUMBER.findall(normalize(self._text)))

    def alike(self, other: _Print) -> bool:
        """Whether both say the same, Jaccard's coefficient of the shingles at least ``ALIKE``, with equal numbers."""
        if self.words == other.words:
            return bool(self.words)
        sizes = sorted((len(self.words), len(other.words)))
        if sizes[0] < ALIKE * sizes[1] or self.numbers != other.numbers:
            return False
        shared = len(self.shingles & other.shingles)
        return shared >= ALIKE * (len(self.shingles) + len(other.shingles) - shared)
