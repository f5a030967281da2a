"""Group WR: what we write never replaces, breaks or doubles what is there."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from second_brain.distill.extract import extractive
from second_brain.distill.note import rendered
from second_brain.errors import ConfigError, UsageError
from second_brain.journal.decisions import Draft, folder_of, read_all, record
from second_brain.journal.handoffs import Handoff, write
from second_brain.journal.lessons import learn
from second_brain.journal.lessons import read_all as lessons_of
from second_brain.parsing.frontmatter import read_frontmatter
from second_brain.parsing.markdown import MarkdownParser
from second_brain.testing.parser_contract import make_blob
from second_brain.types import Document

TODAY = date(2031, 5, 2)
ODD_TITLES = ('A: "B"\nC', "- x", "{y}", "@z", "123", "yes")


def test_wr_1_the_same_title_with_another_body_is_a_second_file_or_refused(tmp_path):
    """A handoff gets a name of its own, a decision in force is not written over; both texts are there."""
    first = write(tmp_path, Handoff("Daily", state="A day of notes."), today=TODAY)
    second = write(tmp_path, Handoff("Daily", state="Other."), today=TODAY)
    assert first != second
    assert "A day of notes." in first.read_text()
    assert "Other." in second.read_text()
    kept = record(tmp_path, Draft("Daily", decision="Write daily."), today=TODAY)
    with pytest.raises(UsageError, match="ADR-0001") as refused:
        record(tmp_path, Draft("daily", decision="Other."), today=TODAY)
    assert "--supersedes 1" in refused.value.hint
    assert "Write daily." in kept.path.read_text()
    assert record(tmp_path, Draft("Daily", decision="Other.", supersedes=(1,)), today=TODAY).number == 2


@pytest.mark.parametrize(
    "block", ['name: "abc "def" ghi"\ntags: [a, b]\nstatus: accepted', "status: [accepted", "\tstatus: accepted"]
)
def test_wr_3_a_field_is_not_set_in_frontmatter_that_cannot_be_read(tmp_path, block):
    """The file is byte-identical, the error names it and the line, and the new record is not written either."""
    folder = tmp_path / "docs/adr"
    folder.mkdir(parents=True)
    old = folder / "0001-old.md"
    old.write_bytes(f"---\n{block}\n---\n# Old\n\nBody\n".encode())
    before = old.read_bytes()
    with pytest.raises(ConfigError, match=r"0001-old\.md: .*line"):
        record(tmp_path, Draft("New", decision="x", supersedes=(1,)), today=TODAY)
    assert old.read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == ["0001-old.md"]


@pytest.mark.parametrize("title", ODD_TITLES)
def test_wr_5_odd_titles_read_back_and_make_one_file_each(tmp_path, title):
    """Ten times each, as decision, lesson, handoff and session summary: valid YAML, the same text, no copies."""
    line = " ".join(title.split())
    for _ in range(10):
        path = write(tmp_path, Handoff(title, state="Dry."), today=TODAY)
        if not read_all(folder_of(tmp_path)):
            record(tmp_path, Draft(title, decision="So."), today=TODAY)
        with pytest.raises(UsageError):
            record(tmp_path, Draft(title, decision="So."), today=TODAY)
        if not lessons_of(tmp_path):
            learn(tmp_path, "When it drips, close it.", title=title, today=TODAY)
        with pytest.raises(UsageError):
            learn(tmp_path, "When it drips, close it.", title=title, today=TODAY)
    assert [file.name for file in (tmp_path / "docs/handoffs").iterdir()] == [path.name]
    (decision,) = read_all(folder_of(tmp_path))
    (lesson,) = lessons_of(tmp_path)
    (handoff,) = MarkdownParser().parse(make_blob(path.read_text()))
    assert (decision.title, handoff.title) == (line, line)
    assert lesson.title == line.removeprefix("- ")
    assert read_frontmatter(decision.path.read_text()).warnings == ()
    session = replace(SESSION, title=title)
    text = rendered(session, extractive(session), privacy="work", now=datetime(2031, 5, 2, tzinfo=UTC))
    assert read_frontmatter(text).values["title"] == line
    assert read_frontmatter(text).warnings == ()


SESSION = Document(
    uri="s/1.jsonl", source="s", kind="session", type="session", title="", text="",
    modified=datetime(2031, 5, 1, tzinfo=UTC),
)  # fmt: skip
