from __future__ import annotations

from datetime import UTC, datetime

import pytest

from second_brain.errors import ParseError
from second_brain.parsing.transcript import TranscriptParser
from second_brain.testing.parser_contract import check_document, make_blob
from second_brain.transcripts import Entry, Fact, Head, Transcript, encode
from second_brain.types import Document


def parsed(*lines: Entry | Fact, uri: str = "agent/p/s1.jsonl", **head) -> list[Document]:
    transcript = Transcript(Head(**{"agent": "claude-code", "session": "s1", **head}), lines)
    blob = make_blob(encode(transcript), uri)
    documents = list(TranscriptParser().parse(blob))
    for document in documents:
        check_document(document, blob)
    return documents


def user(text: str, minute: int = 0, **more) -> Entry:
    return Entry("user", text, f"2031-05-01T09:{minute:02d}:00.000Z", **more)


def said(text: str, minute: int = 0, **more) -> Entry:
    return Entry("assistant", text, f"2031-05-01T09:{minute:02d}:30.000Z", **more)


WHOLE = """\
## 1 · 2031-05-01 09:00 · Why does it leak?

**User:** Why does it leak?

It drips.

**Assistant:** I look.

$ pytest -q
edit src/valve.py

error: Exit code 1
no seal

**Assistant:**
- The seal is worn.

**User:** "Replace it?"="Yes"

**Assistant:** Done.

## 2 · 2031-05-01 09:05 · Thanks.

**User:** Thanks.

"""


def test_a_session_reads_like_a_talk():
    """Who speaks is said where that changes; repeated commands and edits of an exchange are shown once."""
    (document,) = parsed(
        user("Why does it leak?\n\nIt drips."),
        said("I look."),
        Entry("command", "pytest -q"),
        Entry("command", "pytest -q"),
        Entry("edit", "src/valve.py"),
        Entry("edit", "src/valve.py"),
        Entry("error", "Exit code 1\nno seal"),
        Entry("edit", "src/valve.py"),
        said("- The seal is worn."),
        Entry("answer", '"Replace it?"="Yes"'),
        said("Done.", 1),
        user("Thanks.", 5),
    )
    assert document.text == WHOLE
    assert [section.path for section in document.sections] == [
        ("1 · 2031-05-01 09:00 · Why does it leak?",),
        ("2 · 2031-05-01 09:05 · Thanks.",),
    ]
    shown = [(block.kind, document.text[block.start : block.end]) for block in document.blocks]
    kinds = ["heading", "user", "assistant", "command", "edit", "error", "assistant", "user", "assistant"]
    assert [kind for kind, _ in shown] == [*kinds, "heading", "user"]
    assert shown[3:6] == [
        ("command", "$ pytest -q"),
        ("edit", "edit src/valve.py"),
        ("error", "error: Exit code 1\nno seal"),
    ]


def test_what_is_known_of_a_session():
    """Times, place, model, question, files and pull requests; of a title the last, of other facts the first."""
    (document,) = parsed(
        Fact("cwd", "/home/mina/pump/"),
        Fact("cwd", "/tmp"),
        Fact("branch", "main"),
        Fact("model", "claude-x"),
        Fact("ai-title", "Leak"),
        Fact("ai-title", "Leaking valve"),
        Fact("pr", "https://example.org/7"),
        Fact("unread", "zzz 2"),
        user("Why?", 3),
        said("Because.", 1),
        *(Entry("edit", f"{number}.py") for number in range(300)),
        warnings=("one",),
    )
    assert (document.kind, document.type, document.title, document.project) == (
        "session",
        "session",
        "Leaking valve",
        "pump",
    )
    assert document.date == document.created == datetime(2031, 5, 1, 9, 1, 30, tzinfo=UTC)
    assert document.warnings == ("one",)
    files = document.metadata["files"]
    assert document.metadata == {
        "agent": "claude-code",
        "session": "s1",
        "cwd": "/home/mina/pump/",
        "branch": "main",
        "model": "claude-x",
        "started": "2031-05-01T09:01:30.000Z",
        "ended": "2031-05-01T09:03:00.000Z",
        "first_question": "Why?",
        "turns": 1,
        "files": files,
        "pr_links": ["https://example.org/7"],
        "unread": ["zzz 2"],
    }
    assert files == [f"{number}.py" for number in range(200)]


@pytest.mark.parametrize(
    ("facts", "title"),
    [
        ([("summary", "D"), ("ai-title", "C"), ("agent-name", "B"), ("custom-title", "A")], "A"),
        ([("summary", "D"), ("ai-title", "C"), ("agent-name", "B")], "B"),
        ([("summary", "D"), ("ai-title", "C")], "C"),
        ([("summary", "D")], "D"),
        ([], "Implement the following plan: A new valve"),
    ],
)
def test_the_best_title(facts, title):
    """The user's, the agent's name, the agent's, a summary, else the prompt with what its first line announces."""
    (document,) = parsed(
        *(Fact(*fact) for fact in facts), user("Implement the following plan:\n\n# A new valve\n\nText.")
    )
    assert document.title == title


def test_headings_are_short():
    """Cut at a word, or where there is none, at 80 characters; a prompt without text has none."""
    long, word, before = parsed(user("word " * 40), uri="agent/a"), parsed(user("排" * 200)), parsed(said("Hello."))
    (heading,) = long[0].sections[0].path
    assert heading.endswith("word…")
    assert len(heading.rpartition(" · ")[2]) <= 80
    assert len(word[0].sections[0].path[0].rpartition(" · ")[2]) == 80
    assert before[0].sections[0].path == ("1 · 2031-05-01 09:00",)
    assert before[0].title == "Session s1"


def test_what_is_no_exchange():
    """Commands that the agent's program answered itself, and a prompt that was sent once more at once."""
    (document,) = parsed(
        user("/clear"),
        user("Why?", 1),
        user("Why?", 2),
        said("Because.", 3),
        user("/review", 4),
        said("Fine.", 5),
        user("/exit", 6),
    )
    assert [section.path[0] for section in document.sections] == [
        "1 · 2031-05-01 09:02 · Why?",
        "2 · 2031-05-01 09:04 · /review",
    ]
    assert parsed(user("/clear"), Fact("cwd", "/x")) == []


def test_several_sessions_in_one_log():
    """Each is a document: the file's own has its uri, others are told apart by session and sub-agent."""
    documents = parsed(
        user("Mine."),
        user("Theirs.", session="s2"),
        user("Task.", subagent="ab"),
        said("Mine too."),
        Fact("parent-title", "Mine.", subagent="ab"),
    )
    assert [(document.uri, document.type, document.title, document.aliases) for document in documents] == [
        ("agent/p/s1.jsonl", "session", "Mine.", ()),
        ("agent/p/s1.jsonl#s2", "session", "Theirs.", ("s2",)),
        ("agent/p/s1.jsonl#s1/ab", "subagent", "Task. (sub-agent of Mine.)", ("s1/ab",)),
    ]
    assert documents[2].metadata["parent"] == "s1"


def test_a_log_of_a_sub_agent():
    """It has the uri of its file, and without its parent's title that one's name."""
    (document,) = parsed(user("Task."), uri="agent/p/s1/subagents/agent-ab.jsonl", subagent="ab")
    assert (document.uri, document.type) == ("agent/p/s1/subagents/agent-ab.jsonl", "subagent")
    assert document.title == "Task. (sub-agent of s1)"


def test_origins_are_those_of_the_copied_exchange():
    """The prompt and the first answer's id make it, else the prompt's time: neither the number nor the session."""
    first = [user("Why?"), said("Because.", id="m1"), user("And?", 1)]
    (one,) = parsed(*first)
    (copy,) = parsed(user("Before.", 9), user("Why?", 7), said("Because.", id="m1"), user("And?", 1), session="s2")
    (other,) = parsed(user("Why?"), said("Because.", id="m2"), user("And?", 2))
    assert len(set(one.origins)) == 2
    assert copy.origins[1:] == one.origins
    assert not set(other.origins) & set(one.origins)


def test_windows_paths_and_projects_by_name():
    """The last part of either kind of path; where no folder is known the project that the source names."""
    assert parsed(Fact("cwd", "C:\\work\\pump"), user("Why?"))[0].project == "pump"
    assert parsed(Fact("project", "tide"), user("Why?"))[0].project == "tide"
    assert parsed(user("Why?"))[0].project == ""


def test_times_that_are_none():
    """A session without times has no date, and is no error."""
    (document,) = parsed(Entry("user", "Why?"))
    assert (document.date, document.sections[0].path) == (None, ("1 · Why?",))
    assert "started" not in document.metadata


def test_lines_of_later_versions_are_passed_over():
    """Unknown kinds of lines and entries; what is no transcript at all is an error."""
    data = encode(Transcript(Head("x"), (user("Why?"),)))
    more = b'\n{"is":"zzz"}\n{"is":"entry","kind":"zzz","text":"x"}\n\xff\n'
    (document,) = TranscriptParser().parse(make_blob(data + more, "agent/a"))
    assert document.text.count("User") == 1
    for wrong in (b"", b"{}", b"\xff", b'{"is":"entry","kind":"user","text":"x"}'):
        with pytest.raises(ParseError, match="agent/a"):
            list(TranscriptParser().parse(make_blob(wrong, "agent/a")))
