"""A note with several headings of level 1."""

from __future__ import annotations

from second_brain.parsing.markdown import MarkdownParser
from second_brain.testing.parser_contract import make_blob


def title(text: str) -> str:
    (document,) = MarkdownParser().parse(make_blob(text.encode(), "v/Tree Rotation.md"))
    return document.title


def test_several_top_headings_are_chapters_and_the_note_is_called_by_its_file_name() -> None:
    """One is the title; two are not."""
    assert title("# Left\n\na\n\n## Detail\n\nb\n") == "Left"
    assert title("# Left\n\na\n\n# Right\n\nb\n") == "Tree Rotation"
