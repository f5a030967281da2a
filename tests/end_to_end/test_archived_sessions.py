"""What was learned from a session outlives the log, the index, and both."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from second_brain import Brain
from second_brain.sources.claude_sessions import ClaudeSessions

SESSION = "5e551011-0000-4000-8000-000000000009"


@pytest.fixture
def open_brain(tmp_path):
    """The brain with one log of Claude Code; ``settings`` are more keys of its source."""
    record = {"type": "user", "timestamp": "2031-05-01T09:00:00Z", "message": {"role": "user", "content": "A gannet?"}}
    log = tmp_path / "projects" / "p" / f"{SESSION}.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text(json.dumps(record) + "\n")
    home = tmp_path / "home"
    home.mkdir()
    (home / "models.yaml").write_text("embedder: hashing\n")

    def opened(settings: str = "") -> Brain:
        entry = f"- name: agent\n  kind: {ClaudeSessions.kind}\n  path: {tmp_path / 'projects'}\n"
        (home / "sources.yaml").write_text(f"sources:\n{entry}{settings}")
        return Brain.open(home, index=home / "index.db", environment={})

    return opened


def found(brain: Brain) -> list[tuple[str, tuple[str, ...]]]:
    return [(hit.uri, hit.notes) for hit in brain.search("gannet", mode="lexical").hits]


def test_a_log_that_its_agent_deleted(open_brain, tmp_path):
    """It is found and read as before, without a word of a file that is gone, also after the index was deleted."""
    known = [(f"agent/p/{SESSION}.jsonl", ())]
    with open_brain() as brain:
        brain.sync()
        assert found(brain) == known
        next((tmp_path / "projects").rglob("*.jsonl")).unlink()
        (report,) = brain.sync().sources
        assert (report.deleted, report.failures) == (0, ())
        assert found(brain) == known
        (report,) = brain.sync().sources
        assert report.unchanged == 1
    for path in (tmp_path / "home").glob("index.db*"):
        path.unlink()
    with open_brain() as brain:
        brain.sync()
        assert found(brain) == known
        note = brain.get(SESSION)
        assert "A gannet?" in note.text
        assert note.document.metadata["archived"] is True


def test_an_archive_that_the_user_does_not_want(open_brain, tmp_path):
    """Turned off there is none; what is in the index stays, and says that its file is gone."""
    with open_brain("  archive: off\n") as brain:
        brain.sync()
        assert not (tmp_path / "home" / "archive").exists()
        next((tmp_path / "projects").rglob("*.jsonl")).unlink()
        (report,) = brain.sync().sources
        assert report.deleted == 0
        ((uri, notes),) = found(brain)
        assert uri == f"agent/p/{SESSION}.jsonl"
        assert "gone" in notes[0]


def test_an_archive_that_the_user_deletes(open_brain, tmp_path):
    """Nothing is lost but the copies; the next time a log is read there is one again."""
    with open_brain() as brain:
        brain.sync()
        copies = list((tmp_path / "home" / "archive" / "agent").rglob("*.z"))
        assert [copy.name for copy in copies] == [f"{SESSION}.jsonl.z"]
        copies[0].unlink()
        brain.sync()
        assert len(found(brain)) == 1
        brain.sync(rebuild=True)
        assert list((tmp_path / "home" / "archive" / "agent").rglob("*.z")) == copies
        assert Path(copies[0]).stat().st_size > 0
