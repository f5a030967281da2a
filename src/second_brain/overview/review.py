"""Pairs of notes that are nearly the same, for whoever looks: found once for a state of the index, then remembered."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..clearance import VisibleLinks
from ..index.sqlite import outlines
from ..index.sqlite.outlines import Outline
from ..types import Filter
from .likenesses import Shingles, likenesses, shingles, sketch

DAILY = "daily"

READ_AT_ONCE = 500
"""Documents whose texts are read together."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two notes that are nearly the same; ``alike`` and ``within`` as in ``Likeness``."""

    first: Outline
    second: Outline
    alike: float
    within: float


class Sketches:
    """The sketches of all Markdown notes of an index, by key; a changed note has a new key and is read anew.

    Safe to use from many threads; one at a time reads. Memory: half a kilobyte a note.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[int, Shingles] = {}

    def pairs(
        self, visible: VisibleLinks, *, progress: Callable[[int, int], None] = lambda done, total: None
    ) -> list[Pair]:
        """Notes that are alike, the most alike first. Notes of one day are left out: a template makes them alike.

        ``progress`` is told how many of how many notes were read. Cost: 4 s for the first 39,000 notes (73 MB of text),
        then what is new, and 1.5 s to compare.
        """
        with self._lock:
            found = outlines.outlines(
                visible.index.database, visible.filter, "d.kind = 'markdown' AND d.type != ?", (DAILY,)
            )
            wanted = [outline.key for outline in found]
            self._read(visible, [key for key in wanted if key not in self._kept], len(wanted), progress)
            if visible.filter == Filter():  # all notes there are: whatever else is kept is of notes that are gone
                self._kept = {key: self._kept[key] for key in wanted if key in self._kept}
            by_key = {outline.key: outline for outline in found}
            sketches = {key: self._kept[key] for key in wanted if key in self._kept}
        alike = likenesses(sketches, lambda key: _shingles(visible, [key]).get(key, np.empty(0, np.uint64)))
        return [Pair(by_key[each.first], by_key[each.second], each.alike, each.within) for each in alike]

    def _read(self, visible: VisibleLinks, keys: list[int], total: int, progress: Callable[[int, int], None]) -> None:
        progress(total - len(keys), total)
        for start in range(0, len(keys), READ_AT_ONCE):
            some = keys[start : start + READ_AT_ONCE]
            for key, found in _shingles(visible, some).items():
                self._kept[key] = sketch(found)
            progress(total - len(keys) + start + len(some), total)


def _shingles(visible: VisibleLinks, keys: list[int]) -> dict[int, Shingles]:
    return {key: shingles(body) for key, body in outlines.bodies(visible.index.database, keys)}
