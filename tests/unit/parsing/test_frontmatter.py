"""The block between ``---`` lines."""

from __future__ import annotations

import pytest

from second_brain.parsing.frontmatter import SIZE_LIMIT, Frontmatter, read_frontmatter


def test_a_block_gives_values_lines_and_where_the_body_begins() -> None:
    """Lines count from the top of the file."""
    text = "---\ntitle: Pump\ntags: [ops, 海]\n---\nBody\n"
    assert read_frontmatter(text) == Frontmatter(
        {"title": "Pump", "tags": ["ops", "海"]}, {"title": 2, "tags": 3}, text.index("Body"), ()
    )


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: A\n---\nBody",
        "---  \ntitle: A\n---\t\nBody",
        "---\ntitle: A\n...\nBody",
        "---\ntitle: A\n---",
        '---\n{"title": "A"}\n---\nBody',
        '---\n{\n  "title": "A"\n}\n---\nBody',
        "---\n# a comment\n\ntitle: A\n\n---\nBody",
    ],
)
def test_every_usual_fence_is_seen(text: str) -> None:
    """Blanks behind a fence, ``...``, an end of file without newline, and JSON are all fine."""
    front = read_frontmatter(text)
    assert (front.values, text[front.body_start :], front.warnings) == ({"title": "A"}, text.partition("Body")[1], ())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Body\n---\ntitle: A\n---\n",
        " ---\ntitle: A\n---\n",
        "----\ntitle: A\n----\n",
        "---\n",
        "---\n\nProse below a rule.\n",
        "---\nProse between two rules.\n---\nmore",
        "---\nProse.\n\nNote: this: is no property.\n---\nmore",
        "---\n---x\n",
    ],
)
def test_what_is_no_frontmatter_is_body_without_a_word(text: str) -> None:
    """A rule on line 1 is a rule."""
    assert read_frontmatter(text) == Frontmatter()


def test_an_empty_block_is_no_body() -> None:
    """Two fences with nothing between hold no properties and are passed over."""
    assert read_frontmatter("---\n---\nBody") == Frontmatter(body_start=8)


def test_a_list_between_fences_is_body_with_a_warning() -> None:
    """What is no mapping is text, and the writer is told."""
    front = read_frontmatter("---\n- a\n- b\n---\n")
    assert (front.values, front.body_start) == ({}, 0)
    assert front.warnings == (
        "line 1: the block between the '---' lines is a list; expected 'key: value'. It is read as text",
    )


def test_prose_with_a_colon_on_top_is_not_eaten() -> None:
    """Two rules far apart with text between stay text, even when the first line looks like a property."""
    text = "---\nNote: this: is prose\nand goes on\nand on\nand on\n---\nmore"
    front = read_frontmatter(text)
    assert (front.values, front.body_start) == ({}, 0)
    assert front.warnings[0].startswith("line 2: ")
    assert "read as text" in front.warnings[0]


def test_an_unclosed_block_counts_but_stays_in_the_text() -> None:
    """A forgotten fence must not make a private note public, and must not hide any text."""
    front = read_frontmatter("---\nprivacy: private\ntags:\n- a\n\nBody: text\n")
    assert (front.values, front.body_start) == ({"privacy": "private", "tags": ["a"]}, 0)
    assert front.warnings == (
        "line 1: properties begin here but no '---' closes them; add it below the last one. They stay in the text",
    )


def test_a_block_beyond_the_size_limit_is_text() -> None:
    """Half a megabyte between two rules is somebody's text."""
    assert read_frontmatter("---\n" + "word " * SIZE_LIMIT + "\n---\n") == Frontmatter()


BROKEN = """---
title: Pump room: weekly check
by: @mika
up: [[Index]], [[Other]]
created: {{date}}
tags:
\t- ops
\t- "sea"
list: [a, @b, 'c']
empty:
text: |
  kept: as: it is
nested:
  a: 1
  b: [x, y]
"quoted key": 'quoted: value
---
Body
"""


def test_a_broken_block_is_saved_entry_by_entry() -> None:
    """What YAML can read alone is read by YAML; the rest is its bare text; one warning names the first trouble."""
    front = read_frontmatter(BROKEN)
    assert front.values == {
        "title": "Pump room: weekly check",
        "by": "@mika",
        "up": "[[Index]], [[Other]]",
        "created": "{{date}}",
        "tags": ["ops", "sea"],
        "list": ["a", "@b", "c"],
        "empty": None,
        "text": "kept: as: it is",
        "nested": {"a": "1", "b": ["x", "y"]},
        "quoted key": "'quoted: value",
    }
    assert front.lines["nested"] == 13
    assert BROKEN[front.body_start :] == "Body\n"
    (warning,) = front.warnings
    assert warning.startswith("line 2: the frontmatter is not YAML (a second ':' in a value")


@pytest.mark.parametrize(
    ("block", "values"),
    [
        ("# a comment\n\nby: @mika", {"by": "@mika"}),
        ("people:\n- @mika\n- 'jo: x\n-", {"people": ["@mika", "'jo: x", ""]}),
        ("a: @x\nempty:\n\t@\n", {"a": "@x", "empty": None}),
        ("title: @x\na line of its own\ntags: [a]", {"title": "@x", "tags": ["a"]}),
        ("a: []\nb: [@c, ]", {"a": [], "b": ["@c"]}),
        ("a: @x\na: '@y'", {"a": "@y"}),
    ],
)
def test_what_yaml_cannot_read_is_kept_as_bare_text(block: str, values: dict[str, object]) -> None:
    """Items below a key are a list, brackets too; of two equal keys the last wins, here as well."""
    assert read_frontmatter(f"---\n{block}\n---\n").values == values


def test_a_block_indented_by_a_tab_is_read() -> None:
    """The indent of the first property is the indent of all."""
    front = read_frontmatter("---\n\ttitle: T\n\ttags: [a, b]\n\n\tof:\n\t\tdepth: 2\n---\n")
    assert front.values == {"title": "T", "tags": ["a", "b"], "of": {"depth": "2"}}
    assert len(front.warnings) == 1


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("[[Note]]", "[[Note]]"),
        ("[[Note|text]]", "[[Note|text]]"),
        ("[[Smith, Jo]]", "[[Smith, Jo]]"),
        ("\n  - [[a]]\n  - '[[b]]'", ["[[a]]", "[[b]]"]),
        ("{up: [[a]]}", {"up": "[[a]]"}),
        ("[[a], [b]]", [["a"], ["b"]]),
        ("[[]]", [[]]),
    ],
)
def test_an_unquoted_wikilink_is_not_a_list_in_a_list(written: str, value: object) -> None:
    """YAML reads ``[[Note]]`` as nested lists; nobody means that."""
    assert read_frontmatter(f"---\nkey: {written}\n---\n").values == {"key": value}


def test_duplicate_keys_are_told() -> None:
    """The last counts; the warning has the line in the file."""
    front = read_frontmatter("---\ntags: [a]\ntags: [b]\n---\n")
    assert front.values == {"tags": ["b"]}
    assert front.warnings == ("line 3: the key 'tags' is written twice; the last one counts",)
