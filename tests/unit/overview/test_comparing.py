"""Two texts side by side."""

from __future__ import annotations

import random

from second_brain.overview.comparing import CONTEXT, LINES, Row, compared


def test_changed_characters_are_told_in_their_lines() -> None:
    """A changed line stands beside its former self, and only what differs is marked."""
    (row,) = compared("the pump is red", "the pump is blue").rows
    assert row.kind == "changed"
    assert [text for text, differs in row.left[1] if differs] == ["r", "d"]
    assert "".join(text for text, _ in row.right[1]) == "the pump is blue"


def test_every_line_is_there_once_with_its_number() -> None:
    """Removed, added and equal lines; rows have the lines of both texts in order."""
    comparison = compared("a\nb\nc\nd", "a\nc\nd\ne")
    assert [(row.kind, row.left and row.left[0], row.right and row.right[0]) for row in comparison.rows] == [
        ("same", 1, 1),
        ("removed", 2, None),
        ("same", 3, 2),
        ("same", 4, 3),
        ("added", None, 4),
    ]


def test_equal_stretches_are_left_out_and_counted() -> None:
    """Around what differs some lines stay; of equal texts the beginning."""
    lines = [f"line {n}" for n in range(50)]
    changed = [*lines[:25], "something else", *lines[26:]]
    rows = compared("\n".join(lines), "\n".join(changed)).rows
    assert rows[0] == Row("gap", left_out=25 - CONTEXT)
    assert [row.kind for row in rows].count("same") == 2 * CONTEXT
    same = compared("\n".join(lines), "\n".join(lines))
    assert same.same
    assert same.rows[-1] == Row("gap", left_out=50 - 2 * CONTEXT)


def test_long_texts_are_cut_and_say_so() -> None:
    """Many lines, a line of millions of characters, lines that are all alike: bounded in size and time."""
    dice = random.Random(1)
    left = "\n".join("".join(dice.choices("ab ", k=40)) for _ in range(3 * LINES))
    right = "\n".join("".join(dice.choices("ab ", k=40)) for _ in range(3 * LINES))
    comparison = compared(left, right)
    assert comparison.cut
    assert len(comparison.rows) <= 2 * LINES
    assert not compared("x" * 5_000_000, "y" * 5_000_000).cut
    assert compared("", "").same
