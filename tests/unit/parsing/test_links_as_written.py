"""Links as people write them."""

from __future__ import annotations

import pytest

from second_brain.parsing.links import markdown_link, property_links, wikilink
from second_brain.types import Link


@pytest.mark.parametrize(
    ("address", "target", "anchor"),
    [
        ("Note", "Note", ""),
        (" a/b.md ", "a/b.md", ""),
        ("Note#Part", "Note", "Part"),
        ("Note#One#Two", "Note", "One#Two"),
        ("Note#^block-1", "Note", "^block-1"),
        ("Pump A\\", "Pump A", ""),
        ("a]b", "a]b", ""),
        ("100%25", "100%25", ""),
        ("https://example.org/x", "https://example.org/x", ""),
    ],
)
def test_wikilinks(address: str, target: str, anchor: str) -> None:
    """The anchor is kept apart; a table's backslash belongs to neither side; nothing is decoded."""
    assert wikilink(address, "text", 3) == Link(target, anchor, "text", "wikilink", 3)


@pytest.mark.parametrize("address", ["#Part", "", "  ", "a\nb", "#^b"])
def test_wikilinks_that_lead_nowhere_else(address: str) -> None:
    """A link within the note is none, nor is one with a line break."""
    assert wikilink(address, "text", 0) is None


@pytest.mark.parametrize(
    ("address", "target", "anchor"),
    [
        ("People/Mika%20Ono.md", "People/Mika Ono.md", ""),
        ("Plan (old).md", "Plan (old).md", ""),
        ("../Notes%20(CC).md#Part%202", "../Notes (CC).md", "Part 2"),
        ("50%25%20plan%20%232.md#a", "50% plan #2.md", "a"),
        ("/dir/x.md", "/dir/x.md", ""),
        ("%E6%B5%B7.md", "海.md", ""),
    ],
)
def test_markdown_links(address: str, target: str, anchor: str) -> None:
    """Split at the first ``#``, then percent-decoded."""
    assert markdown_link(address, "text", 3) == Link(target, anchor, "text", "markdown", 3)


@pytest.mark.parametrize(
    "address", ["https://example.org/a.md", "mailto:a@example.org", "obsidian://open", "//host/x", "#part", ""]
)
def test_markdown_links_that_lead_out(address: str) -> None:
    """Addresses with a scheme and links within the note are none."""
    assert markdown_link(address, "text", 0) is None


@pytest.mark.parametrize(
    ("text", "shown"), [("100", ""), ("100x50", ""), ("Pump|100", "Pump"), ("Pump 100", "Pump 100")]
)
def test_the_size_of_an_embed_is_not_its_text(text: str, shown: str) -> None:
    """``![[pump.png|100]]`` shows no 100."""
    assert wikilink("pump.png", text, 0, embed=True) == Link("pump.png", "", shown, "embed", 0)
    assert markdown_link("pump.png", text, 0, embed=True) == Link("pump.png", "", shown, "embed", 0)


def test_links_in_properties_at_any_depth() -> None:
    """Several in one text, in lists and in mappings; their offset is -1."""
    values = {
        "up": "[[Index#Top|the index]] and [[Other]]",
        "people": ["[[Mika]]", "no link", None],
        "deep": {"er": ["see [[Down]]"]},
        "odd": "[[]] [[#here]]",
    }
    assert list(property_links(values)) == [
        Link("Index", "Top", "the index", "frontmatter", -1),
        Link("Other", "", "Other", "frontmatter", -1),
        Link("Mika", "", "Mika", "frontmatter", -1),
        Link("Down", "", "Down", "frontmatter", -1),
    ]
