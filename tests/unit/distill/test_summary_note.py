"""The Markdown file of a summary."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from planted_sessions import session

from second_brain.distill.extract import extractive
from second_brain.distill.note import file_name, recognized, rendered, session_hash
from second_brain.parsing.frontmatter import read_frontmatter
from second_brain.parsing.markdown import MarkdownParser
from second_brain.testing.parser_contract import make_blob

NOW = datetime(2031, 5, 2, 4, 30, tzinfo=UTC)


def note(document, privacy="work"):
    """The whole file."""
    return rendered(document, extractive(document), privacy=privacy, now=NOW)


def test_it_reads_as_a_typed_note(tmp_path):
    """Type, date, privacy and title are what the parser of notes finds."""
    document, _ = session(1)
    (parsed,) = MarkdownParser().parse(make_blob(note(document)))
    assert (parsed.type, parsed.title, parsed.privacy) == ("session-summary", "Session 1", "work")
    assert parsed.date == datetime(2031, 5, 1, tzinfo=UTC)
    assert parsed.metadata["session"] == document.uri
    assert parsed.metadata["generated"] == {
        "by": "second-brain/0.1.0 (extractive)",
        "at": "2031-05-02T04:30:00Z",
    }


@pytest.mark.parametrize(
    "title", ['A: "B"\nC', "- x", "{y}", "@z", "123", "yes", "null", "#1", "断水手順", "'", "~", ""]
)
def test_any_title_reads_back(title):
    """As one line, whatever YAML would make of it."""
    document = replace(session(1)[0], title=title)
    values = read_frontmatter(note(document)).values
    assert values.get("title", "") == " ".join(title.split())


def test_what_a_person_changed_is_recognized(tmp_path):
    """A changed property is no change of what is said; a changed word is."""
    document, _ = session(1)
    file = tmp_path / "n.md"
    file.write_text(note(document))
    found = recognized(file)
    assert found is not None
    assert (found.session, found.session_hash, found.edited) == (document.uri, session_hash(document), False)
    file.write_text(note(document).replace("privacy: work", "privacy: secret\ntags: [x]"))
    assert (found := recognized(file))
    assert not found.edited
    file.write_text(note(document) + "My own thought.\n")
    assert (found := recognized(file))
    assert found.edited


def test_files_that_are_no_summaries_are_left_alone(tmp_path):
    """Notes, binary files, and what is not there."""
    (tmp_path / "a.md").write_text("---\ntype: note\n---\nx")
    (tmp_path / "b.md").write_bytes(b"\xff\xfe")
    assert [recognized(tmp_path / name) for name in ("a.md", "b.md", "c.md")] == [None, None, None]


def test_names_are_short_readable_and_unlike_each_other():
    """Within 120 bytes in any script; two sessions of one title have two files."""
    one, other = session(1)[0], session(2)[0]
    titles = ("Pump: on/off?", "あ" * 300, "../../etc/passwd", "🚰", "a" * 500, "")
    names = [file_name(replace(document, title=title)) for title in titles for document in (one, other)]
    assert all(first != second for first, second in zip(names[::2], names[1::2], strict=True))
    assert all(len(name.encode()) <= 120 and "/" not in name and name.startswith("2031-05-01-") for name in names)
    assert names[0].startswith("2031-05-01-pump-on-off-00000001-")


def test_headings_follow_the_language_of_the_session():
    """Japanese where kana are frequent."""
    assert "## 何が起きたか" in note(session(2)[0])
    assert "## What happened" in note(session(1)[0])
