"""Keeps one document from filling the list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def cap(ordered: Iterable[tuple[T, Hashable]], per_group: int | None) -> Iterator[T]:
    """Yield candidates in order, at most ``per_group`` of each group; None lifts the cap."""
    seen: Counter[Hashable] = Counter()
    for candidate, group in ordered:
        seen[group] += 1
        if per_group is None or seen[group] <= per_group:
            yield candidate
