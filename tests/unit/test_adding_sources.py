"""``brain add`` knows where agents keep their sessions, and takes an export as a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from second_brain import Brain
from second_brain.errors import UsageError


@pytest.fixture
def brain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Brain:
    """A brain without sources; the user's home is empty."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    home = tmp_path / "home"
    home.mkdir()
    (home / "models.yaml").write_text("embedder: hashing\n")
    return Brain.open(home, environment={})


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        ("claude-session-jsonl", ".claude/projects"),
        ("codex-session-jsonl", ".codex"),
        ("gemini-session", ".gemini/tmp"),
    ],
)
def test_an_agents_sessions_are_found_where_it_keeps_them(brain, tmp_path, kind, place):
    """Without a path by their kind, without a kind by their place; else the error says where it looked."""
    with pytest.raises(UsageError, match=place):
        brain.add(kind=kind)
    folder = tmp_path / "me" / place
    folder.mkdir(parents=True)
    assert brain.add(kind=kind).path == folder
    brain.remove(brain.sources()[0].name)
    assert brain.add(folder).kind == kind


def test_other_folders_are_notes_and_need_a_path(brain, tmp_path):
    """The default kind stays Markdown."""
    (tmp_path / "notes").mkdir()
    assert brain.add(tmp_path / "notes").kind == "markdown"
    with pytest.raises(UsageError, match="'code' needs a path"):
        brain.add(kind="code")


def test_an_export_is_a_source_as_a_file(brain, tmp_path):
    """conversations.json as it is; a note is none."""
    file = tmp_path / "conversations.json"
    said = {"content_type": "text", "parts": ["Why does the heron stand?"]}
    nodes = {
        "r": {"id": "r", "message": None, "parent": None, "children": ["a"]},
        "a": {
            "id": "a",
            "message": {"id": "m", "author": {"role": "user"}, "content": said},
            "parent": "r",
            "children": [],
        },
    }
    talk = {"id": "c1", "title": "Herons", "create_time": 1935000000.0, "mapping": nodes, "current_node": "a"}
    file.write_text(json.dumps([talk]))
    source = brain.add(file, kind="chatgpt-export")
    (report,) = brain.sync().sources
    assert (source.path, report.added, report.failures) == (file, 1, ())
    (hit,) = brain.search("heron", mode="lexical").hits
    assert (hit.title, hit.kind) == ("Herons", "session")
    note = tmp_path / "a.md"
    note.write_text("x")
    with pytest.raises(UsageError, match="is a file, expected a folder"):
        brain.add(note)
