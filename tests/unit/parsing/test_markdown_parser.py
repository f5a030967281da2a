"""A note as a document."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from second_brain.parsing.markdown import MarkdownParser
from second_brain.testing.parser_contract import make_blob
from second_brain.types import Document, Json, Link, Section


def read(text: str | bytes, uri: str = "notes/sub/Sample.md") -> Document:
    (document,) = MarkdownParser().parse(make_blob(text, uri))
    return document


NOTE = """---
title:  Pump   room
type: Playbook
description: >
  What to check
  every week.
status: Stable
privacy: Private
tags: [ops, Pump/Large]
aliases: [LP-9, 大型ポンプ]
date: 2031-04-05
created: 2031-04-01T09:00:00+09:00
stale_after: 2032-04-05
resource: https://example.org/pump
sources:
  - resource: manual.pdf
    id: m
verified: { by: human:mika, at: 2031-04-06 }
up: "[[Index]]"
---
# Heading

Torque is 42 Nm, see [[Valve#Spec|the valve]]. #ops #Sea
"""


def test_a_full_note() -> None:
    """Every field of the document, from a note that has all of them."""
    text = NOTE
    assert read(NOTE) == Document(
        uri="notes/sub/Sample.md",
        source="notes",
        kind="markdown",
        type="Playbook",
        title="Pump room",
        text=text,
        modified=datetime(2031, 4, 5, 6, 7, 8, tzinfo=UTC),
        body_start=text.index("# Heading"),
        sections=(Section(1, ("Heading",), text.index("# Heading"), len(text)),),
        blocks=read(NOTE).blocks,
        date=datetime(2031, 4, 5, tzinfo=UTC),
        created=datetime(2031, 4, 1, tzinfo=UTC),
        description="What to check every week.",
        status="stable",
        tags=("ops", "Pump/Large", "Sea"),
        aliases=("LP-9", "大型ポンプ"),
        links=(
            Link("Index", "", "Index", "frontmatter", -1),
            Link("Valve", "Spec", "the valve", "wikilink", text.index("[[Valve")),
        ),
        privacy="private",
        metadata={
            "date": "2031-04-05",
            "created": "2031-04-01T09:00:00+09:00",
            "stale_after": "2032-04-05",
            "resource": "https://example.org/pump",
            "sources": [{"resource": "manual.pdf", "id": "m"}],
            "verified": [{"by": "human:mika", "at": "2031-04-06"}],
            "up": "[[Index]]",
        },
        warnings=(),
    )


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: Given\n---\n# Heading\n", "Given"),
        ("---\ntitle:\n---\n# Heading\n", "Heading"),
        ("\n\n# *A* `b`\n\ntext", "A b"),
        ("Setext\n======\n", "Setext"),
        ("text\n\n# Heading\n", "Sample"),
        ("## Heading\n", "Sample"),
        ("#\n", "Sample"),
        ("", "Sample"),
        ("---\ntitle: [First, Second]\n---\n", "First"),
        ("---\ntitle: {a: b}\n---\n", "Sample"),
    ],
)
def test_titles(text: str, title: str) -> None:
    """The property, else a first heading of level 1 with no text before it, else the file name."""
    assert read(text).title == title


@pytest.mark.parametrize(
    ("uri", "title"),
    [("notes/a.b.md", "a.b"), ("notes/Cafe\u0301.md", "Café"), ("notes/.md", ".md"), ("notes/README", "README")],
)
def test_titles_from_file_names(uri: str, title: str) -> None:
    """Without its extension, in NFC."""
    assert read("", uri).title == title


@pytest.mark.parametrize(
    ("uri", "text", "kind"),
    [
        ("notes/a.md", "", "note"),
        ("notes/index.md", "# Decisions\n", "map"),
        ("notes/log.md", "## 2031-04-05\n", "history"),
        ("notes/Index.md", "# Decisions\n", "note"),
        ("notes/README.md", "", "note"),
        ("notes/2031-04-05.md", "", "daily"),
        ("notes/20310405.md", "", "daily"),
        ("notes/2031年4月5日.md", "", "daily"),
        ("notes/2031-04-05 Visit.md", "", "note"),
        ("notes/2031-04-05.md", "---\ntype: Journal\n---\n", "Journal"),
        ("notes/index.md", "---\ntype: MOC\n---\n", "MOC"),
    ],
)
def test_types(uri: str, text: str, kind: str) -> None:
    """The property as written, else daily for a file named by a day, the two reserved names of OKF, else note."""
    assert read(text, uri).type == kind


@pytest.mark.parametrize(
    ("properties", "name", "date", "created"),
    [
        ("date: 2031-01-01\ncreated: 2031-02-02", "x", (2031, 1, 1), (2031, 2, 2)),
        ("created: 2031-02-02\ngenerated: {at: 2031-03-03}", "x", (2031, 2, 2), (2031, 2, 2)),
        (
            "generated: {by: human:me, at: '2031-03-03T00:00:00Z'}\ntimestamp: 2031-04-04",
            "x",
            (2031, 3, 3),
            (2031, 3, 3),
        ),
        ("timestamp: 2031-04-04", "x", (2031, 4, 4), (2031, 4, 4)),
        ("title: x", "2031-05-05 Visit", (2031, 5, 5), None),
        ("date: 2031-01-01", "2031-05-05", (2031, 1, 1), None),
        ("date:", "2031-05-05", (2031, 5, 5), None),
        ("title: x", "x", None, None),
        ("generated: 2031-03-03", "x", None, None),
    ],
)
def test_dates(
    properties: str, name: str, date: tuple[int, int, int] | None, created: tuple[int, int, int] | None
) -> None:
    """In the order of DATE_KEYS, then the file name; the file's time is never the note's date."""
    document = read(f"---\n{properties}\n---\n", f"notes/{name}.md")
    assert document.date == (datetime(*date, tzinfo=UTC) if date else None)
    assert document.created == (datetime(*created, tzinfo=UTC) if created else None)
    assert document.warnings == ()


def test_an_unreadable_date_is_told_with_its_line() -> None:
    """The next source of a date counts; the value stays in the metadata."""
    document = read("---\ntitle: x\nDate: next week\ncreated: 2031-02-02\n---\n")
    assert document.date == datetime(2031, 2, 2, tzinfo=UTC)
    assert document.metadata == {"Date": "next week", "created": "2031-02-02"}
    assert document.warnings == ("line 3: date is 'next week'; expected a day such as 2031-04-05",)


@pytest.mark.parametrize(
    ("properties", "tags", "aliases"),
    [
        ("tags: a, b c\naliases: One, Two Words", ("a", "b", "c"), ("One", "Two Words")),
        ("tag: '#a'\nalias: One", ("a",), ("One",)),
        ("Tags: [a]\nALIASES: [One, null, One]", ("a",), ("One",)),
        ("tags: [a]\ntag: b\naliases: [One]\nalias: Two", ("a", "b"), ("One", "Two")),
        ("tags:\naliases:", (), ()),
        ("tags: {a: b}\naliases: {a: b}", (), ()),
    ],
)
def test_tags_and_aliases(properties: str, tags: tuple[str, ...], aliases: tuple[str, ...]) -> None:
    """Plural and singular, lists and text, in any letter case."""
    document = read(f"---\n{properties}\n---\n")
    assert (document.tags, document.aliases, dict(document.metadata)) == (tags, aliases, {})


def test_tags_in_the_text_are_those_that_a_reader_sees_as_tags() -> None:
    """Not in properties, code, links, addresses, math or HTML."""
    text = (
        "---\nnote: text with #no1\ntags: [front]\n---\n# Title #head\n\n#one `#no2` $x #no3$ [a #no4](b.md) "
        "[[c #no5]] https://example.org/#no #two\n\n```\n#no6\n```\n\n<div>\n#no7\n</div>\n\n"
        "- #three\n> #four\n\n$$\n#no8\n$$\n"
    )
    assert read(text).tags == ("front", "head", "one", "two", "three", "four")


def test_other_properties_are_kept_as_written() -> None:
    """Unknown keys of any shape, in their order and letter case."""
    values: dict[str, Json] = {"Version": "1.10", "on": "no", "empty": None, "deep": {"a": ["1", {"b": None}]}}
    document = read("---\nVersion: 1.10\non: no\nempty:\ndeep:\n  a:\n  - 1\n  - b:\n---\n")
    assert document.metadata == values
    assert list(document.metadata) == list(values)


def test_the_text_is_kept_whole() -> None:
    """Frontmatter and Obsidian's comments are part of the text; offsets count from its beginning."""
    document = read(b"\xef\xbb\xbf---\r\na: b\r\n---\r\nx %%hidden%%\r\n")
    assert document.text == "---\na: b\n---\nx %%hidden%%\n"
    assert document.text[document.body_start :] == "x %%hidden%%\n"


def test_warnings_come_in_the_order_of_the_file() -> None:
    """Bytes, frontmatter, dates, text."""
    document = read(b"---\ntitle: a: b\ndate: soon\n---\n\xff\n")
    assert [warning.partition(":")[0] for warning in document.warnings] == ["line 5", "line 2", "line 3"]


def test_the_keys_of_open_knowledge_format_are_kept_as_written() -> None:
    """Where it comes from, who confirmed it and until when; a single confirmation is a list of one."""
    text = (
        "---\ntype: Metric\nresource: https://example.com/t\nstale_after: 2031-04-05T00:00:00Z\n"
        "generated: {by: human:me, at: 2031-04-01T10:00:00Z}\nverified: {by: human:mika, at: 2031-04-02T10:00:00Z}\n"
        "sources:\n  - {id: ga4, resource: /refs/ga4.md, usage_count: 5000}\n---\n"
    )
    assert read(text).metadata == {
        "resource": "https://example.com/t",
        "stale_after": "2031-04-05T00:00:00Z",
        "generated": {"by": "human:me", "at": "2031-04-01T10:00:00Z"},
        "verified": [{"by": "human:mika", "at": "2031-04-02T10:00:00Z"}],
        "sources": [{"id": "ga4", "resource": "/refs/ga4.md", "usage_count": "5000"}],
    }
