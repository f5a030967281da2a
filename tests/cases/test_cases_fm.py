"""Faults with frontmatter that users of such products met, as far as the parser can show them."""

from __future__ import annotations

import json

import pytest

from second_brain.chunking.markdown import MarkdownChunker
from second_brain.parsing.markdown import MarkdownParser
from second_brain.testing.parser_contract import make_blob
from second_brain.types import Document


def read(data: str | bytes, uri: str = "notes/note.md") -> Document:
    (document,) = MarkdownParser().parse(make_blob(data, uri))
    return document


def passages(document: Document) -> list[str]:
    return [chunk.text for chunk in MarkdownChunker().chunk(document)]


def test_fm_1_bare_colon_in_title() -> None:
    """The title is read as it was meant, the other properties too, and one warning names the line."""
    note = read("---\ntitle: Pump room: weekly check\ntags: [ops]\n---\nValve torque is 42 Nm.\n", "notes/pump.md")
    assert (note.title, note.tags) == ("Pump room: weekly check", ("ops",))
    assert passages(note) == ["Valve torque is 42 Nm."]
    (warning,) = note.warnings
    assert warning.startswith("line 2: ")


def test_fm_2_dates_numbers_and_booleans_stay_text() -> None:
    """What looks like a date, a number or a truth value is text, as written, and JSON takes it."""
    note = read("---\ntitle: 2031-04-05\ntags: [2031, true, 1.10]\nversion: 1.10\non: no\n---\nx\n")
    assert (note.title, note.tags) == ("2031-04-05", ("2031", "true", "1.10"))
    assert json.loads(json.dumps(dict(note.metadata))) == {"version": "1.10", "on": "no"}


def test_fm_4_unfilled_placeholders() -> None:
    """A template is a note like any other; its placeholders are text."""
    note = read("---\ncreated: {{date}}\n---\n# {{title}}\nCheck the pump.\n", "notes/templates/daily.md")
    assert (note.title, note.metadata, note.created) == ("{{title}}", {"created": "{{date}}"}, None)
    assert passages(note) == ["# {{title}}\nCheck the pump."]
    (warning,) = note.warnings
    assert warning.startswith("line 2: ")


def test_fm_5_byte_order_mark() -> None:
    """The mark hides nothing and is in no text."""
    note = read(b"\xef\xbb\xbf---\ntitle: Kelp farm\ntags: [sea]\n---\n# Body\n")
    assert (note.title, note.tags, note.warnings) == ("Kelp farm", ("sea",), ())
    assert "\ufeff" not in note.text + "".join(note.sections[0].path)


@pytest.mark.parametrize(
    ("data", "title", "body"),
    [
        (b"---\r\ntitle: A1\r\n---\r\nx", "A1", "x"),
        (b"---\ntitle: A2\n---", "A2", ""),
        (b"---  \ntitle: A3\n---\t\nx", "A3", "x"),
    ],
)
def test_fm_6_fences_of_every_sort(data: bytes, title: str, body: str) -> None:
    """CRLF, no final newline, blanks behind a fence; a note without a body has a passage that carries its title."""
    note = read(data)
    assert (note.title, note.warnings) == (title, ())
    (chunk,) = MarkdownChunker().chunk(note)
    assert chunk.text == body
    assert chunk.context == title


def test_fm_8_duplicate_keys_and_tabs() -> None:
    """Of two equal keys the last wins; a tab as indent is read; each is one warning and costs no text."""
    twice = read("---\ntags: [a]\ntags: [b]\n---\nFirst body.\n")
    assert (twice.tags, passages(twice)) == (("b",), ["First body."])
    assert twice.warnings == ("line 3: the key 'tags' is written twice; the last one counts",)
    tabbed = read("---\n\ttitle: T\n---\nSecond body.\n")
    assert (tabbed.title, passages(tabbed)) == ("T", ["Second body."])
    (warning,) = tabbed.warnings
    assert warning.startswith("line 2: ")
