"""Tags by Obsidian's rules."""

from __future__ import annotations

import pytest

from second_brain.parsing.tags import distinct, inline_tags, property_tags
from second_brain.types import Json


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("#ops", ["ops"]),
        ("a #ops/pump-2_x b", ["ops/pump-2_x"]),
        ("one\n#two\t#three", ["two", "three"]),
        ("#1984 #y1984 #1984-b", ["y1984", "1984-b"]),
        ("#ops, #sea. #a/b/ (#no) #end!", ["ops", "sea", "a/b", "end"]),
        ("#会議、#予定 #日本語タグ。次", ["会議", "日本語タグ"]),
        ("#🚰 #ffffff", ["🚰", "ffffff"]),
        ("# heading #", []),
        ("## #sub", ["sub"]),
        ("C# a#b https://x.example/#part \\#no ##no", []),
        ("#/ #", []),
    ],
)
def test_tags_in_text(text: str, tags: list[str]) -> None:
    """A tag stands behind a blank and has something in its name that is no digit."""
    assert list(inline_tags(text, 0, ())) == tags


def test_tags_in_opaque_spans_and_before_the_body_do_not_count() -> None:
    """Spans are half open."""
    text = "#front #a #code #b"
    assert list(inline_tags(text, 7, [(10, 15)])) == ["a", "b"]


@pytest.mark.parametrize(
    ("value", "tags"),
    [
        (["ops", "#sea", " a/b "], ["ops", "sea", "a/b"]),
        ("ops, sea #deep", ["ops", "sea", "deep"]),
        ("", []),
        (None, []),
        ({"a": "b"}, []),
        (["2031", None, ["x"]], ["2031"]),
    ],
)
def test_tags_in_properties(value: Json, tags: list[str]) -> None:
    """Lists and texts are read, anything else is not; digits alone are fine where a list says they are tags."""
    assert [tag for tag in property_tags(value) if tag] == tags


def test_the_first_spelling_stays() -> None:
    """Letter case and Unicode form do not make two tags of one."""
    assert distinct(["Ops", "ops", "", " ", "Cafe\u0301", "CAFÉ", "sea"]) == ("Ops", "Café", "sea")
