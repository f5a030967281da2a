"""The headings of reStructuredText are sections."""

from __future__ import annotations

from second_brain.parsing.rst import RstParser
from second_brain.testing.parser_contract import ParserContract, check_document, make_blob
from second_brain.types import Document

TEXT = """.. _top:

===========
 Changelog
===========

1.0
---

First.

Fixed
~~~~~

- a pump

0.9
---

Before.
"""


def read(text: str) -> Document:
    blob = make_blob(text, "repo/docs/changelog.rst")
    (document,) = RstParser().parse(blob)
    check_document(document, blob)
    return document


class TestRstParser(ParserContract):
    def parser(self) -> RstParser:
        return RstParser()

    def samples(self) -> list[bytes]:
        return [
            b"",
            TEXT.encode(),
            b"a\n===\nb\n===\n\n---\n",
            b"===\n\xff\n===\n",
            "会議\n====\r\n\r\n議事録".encode(),
        ]


def test_levels_follow_the_order_of_the_styles():
    """A title with a line above is of another style than one without."""
    document = read(TEXT)
    assert [(section.level, section.path) for section in document.sections] == [
        (0, ()),
        (1, ("Changelog",)),
        (2, ("Changelog", "1.0")),
        (3, ("Changelog", "1.0", "Fixed")),
        (2, ("Changelog", "0.9")),
    ]
    assert document.title == "Changelog"
    assert document.text[document.sections[1].start :].startswith("===========\n Changelog")


def test_what_only_looks_like_a_heading_is_none():
    """A line that is too short, the end of a paragraph, a table, a rule between paragraphs."""
    text = "A long title\n===\n\nline one\nline two\n--------\n\n====  ====\na     b\n====  ====\n\n----\n\nend\n"
    assert [section.path for section in read(text).sections] == [()]


def test_a_file_of_several_chapters_is_called_by_its_name():
    """As a Markdown file is."""
    assert read("One\n===\n\nTwo\n===\n").title == "changelog"
