from __future__ import annotations

import pytest

from second_brain.cli.excerpt import of_lines, of_section
from second_brain.cli.options import WrongUsage
from second_brain.errors import NotFound, UsageError

TEXT = """---
title: Pump
# no heading: frontmatter
---
# Pump room
intro
## Valves ##
torque
```sh
# no heading: code
```
### Small valves
a
## 停電 手順
b
# Log
## Valves
old
"""


@pytest.mark.parametrize(
    ("wanted", "text", "line"),
    [
        ("5", "# Pump room\n", 5),
        ("5-6", "# Pump room\nintro\n", 5),
        ("17-", "## Valves\nold\n", 17),
        ("-1", "---\n", 1),
    ],
)
def test_lines_are_counted_from_1_and_inclusive(wanted: str, text: str, line: int) -> None:
    """As editors count, and as ``path:line`` in a search."""
    assert of_lines(TEXT, wanted) == (text, line)


def test_a_range_beyond_the_end_stops_at_the_end() -> None:
    """The last lines of a note can be asked for without counting them."""
    assert of_lines("a\nb", "2-99") == ("b", 2)


@pytest.mark.parametrize("wanted", ["", "-", "x", "3-1", "1-2-3", "1,2"])
def test_other_forms_of_a_range_are_wrong_usage(wanted: str) -> None:
    """The error names the forms, or which end is wrong."""
    with pytest.raises(WrongUsage, match=r"no range of lines|the first line \(3\) lies after the last \(1\)"):
        of_lines(TEXT, wanted)


@pytest.mark.parametrize("wanted", ["0", "0-2", "99"])
def test_lines_that_the_note_lacks_are_refused(wanted: str) -> None:
    """The error says how many there are."""
    with pytest.raises(UsageError, match="the note has 18 lines"):
        of_lines(TEXT, wanted)


def test_only_a_newline_ends_a_line() -> None:
    """U+2028 and form feeds stand inside lines, as in the index."""
    assert of_lines("a\u2028b\x0cc\nd", "1") == ("a\u2028b\x0cc\n", 1)


def test_a_section_holds_its_subsections() -> None:
    """It ends before the next heading of its level or above; hashes in code are no headings."""
    text, line = of_section(TEXT, "pump ROOM")
    assert line == 5
    assert text.startswith("# Pump room\n")
    assert text.endswith("b\n")


def test_every_section_of_that_name_is_given() -> None:
    """Two sections may have one name; none is chosen by chance."""
    text, line = of_section(TEXT, "## valves")
    assert text == TEXT[TEXT.index("## Valves ##") : TEXT.index("## 停電")] + "## Valves\nold\n"
    assert line == 7


def test_part_of_a_heading_is_enough() -> None:
    """When no heading is equal; full width and half width are the same."""
    assert of_section(TEXT, "停電　手順") == of_section(TEXT, "停電") == ("## 停電 手順\nb\n", 14)


@pytest.mark.parametrize("wanted", ["no heading", "gone", "", "#"])
def test_a_missing_section_names_those_that_exist(wanted: str) -> None:
    """The hint lists the headings."""
    with pytest.raises(NotFound) as caught:
        of_section(TEXT, wanted)
    assert "'Small valves'" in caught.value.hint
