"""Two texts side by side: which lines are the same, which changed, and where in them. Bounded for any texts."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

LINES = 1_500
"""Lines of each text that are compared."""

LONGEST_LINE = 2_000
"""Characters of a line that are shown; places in longer ones are not compared."""

MARKED = 300
"""Pairs of changed lines in which the change itself is looked for."""

CONTEXT = 3
"""Lines that are kept around what differs."""

Piece: TypeAlias = tuple[str, bool]
"""Some characters of a line, and whether they differ."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of each text: its number from 1 and its pieces; None where one text has no line there.

    Where changed lines have little in common, or are too long, no piece of them is told to differ.

    A gap stands for ``left_out`` equal lines that are not shown.
    """

    kind: Literal["same", "changed", "removed", "added", "gap"]
    left: tuple[int, tuple[Piece, ...]] | None = None
    right: tuple[int, tuple[Piece, ...]] | None = None
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """The rows, and whether one of the texts was too long to be compared to its end."""

    rows: tuple[Row, ...]
    cut: bool

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return all(row.kind in ("same", "gap") for row in self.rows)


def compared(left: str, right: str) -> Comparison:
    """The texts line by line; long stretches of equal lines are left out."""
    one, other = left.split("\n"), right.split("\n")
    cut = len(one) > LINES or len(other) > LINES
    one, other = ([line[:LONGEST_LINE] for line in lines[:LINES]] for lines in (one, other))
    return Comparison(tuple(_shortened(list(_rows(one, other)))), cut)


def _rows(left: Sequence[str], right: Sequence[str]) -> Iterator[Row]:
    marked = 0
    for operation, i, j, k, m in difflib.SequenceMatcher(None, left, right).get_opcodes():
        if operation == "equal":
            for n in range(j - i):
                yield Row("same", (i + n + 1, ((left[i + n], False),)), (k + n + 1, ((right[k + n], False),)))
            continue
        both = min(j - i, m - k)
        for n in range(both):
            marked += 1
            pieces = _pieces(left[i + n], right[k + n]) if marked <= MARKED else None
            first, second = pieces or (((left[i + n], False),), ((right[k + n], False),))
            yield Row("changed", (i + n + 1, first), (k + n + 1, second))
        for n in range(i + both, j):
            yield Row("removed", (n + 1, ((left[n], True),)), None)
        for n in range(k + both, m):
            yield Row("added", None, (n + 1, ((right[n], True),)))


def _pieces(left: str, right: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]] | None:
    """Where two lines differ; None where they have too little in common for that to say something."""
    if max(len(left), len(right)) >= LONGEST_LINE:
        return None
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=len(left) + len(right) > 800)
    if matcher.quick_ratio() < 0.4:
        return None
    first: list[Piece] = []
    second: list[Piece] = []
    for operation, i, j, k, m in matcher.get_opcodes():
        for pieces, text in ((first, left[i:j]), (second, right[k:m])):
            if text:
                pieces.append((text, operation != "equal"))
    return tuple(first), tuple(second)


def _shortened(rows: list[Row]) -> Iterator[Row]:
    kept = [False] * len(rows)
    for n, row in enumerate(rows):
        if row.kind != "same":
            for near in range(max(0, n - CONTEXT), min(len(rows), n + CONTEXT + 1)):
                kept[near] = True
    if not any(kept):  # nothing differs: the beginning says what it is
        kept[: 2 * CONTEXT] = [True] * min(len(rows), 2 * CONTEXT)
    left_out = 0
    for row, keep in zip(rows, kept, strict=True):
        if keep and left_out:
            yield Row("gap", left_out=left_out)
            left_out = 0
        if keep:
            yield row
        else:
            left_out += 1
    if left_out:
        yield Row("gap", left_out=left_out)
