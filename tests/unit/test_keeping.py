"""What of a document is kept: its language, its project, its text without secrets."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from second_brain.keeping import kept, project_of
from second_brain.types import Document

NOW = datetime(2031, 5, 2, tzinfo=UTC)
ENGLISH = "The pump in the second hall was replaced because its seal was not what it had been."


def test_a_project_is_the_repository_around_a_folder_or_the_folder_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The nearest folder with `.git`, a file or a folder; a repository of somebody's whole home is none."""
    monkeypatch.setenv("HOME", str(tmp_path))
    notes = tmp_path / "work" / "pumps" / "docs" / "notes"
    notes.mkdir(parents=True)
    assert project_of(notes) == "notes"
    (tmp_path / ".git").mkdir()
    assert project_of(notes) == "notes"
    (tmp_path / "work" / "pumps" / ".git").write_text("gitdir: elsewhere\n")
    assert project_of(notes) == "pumps"
    (notes / ".git").mkdir()
    assert project_of(notes) == "notes"


def test_what_a_parser_says_is_kept() -> None:
    """Language and project are found only where there is none; code has no language; secrets go unless kept."""
    text = f"---\nder die das und ist nicht\n---\n{ENGLISH}\npassword = 'Tr0ub4dor'\n"
    note = Document("n/a.md", "n", "markdown", "note", "t", text, NOW, body_start=34)
    found = kept(note, redact=True, project="pumps")
    assert (found.language, found.project, found.metadata["secrets"]) == ("en", "pumps", {"password": 1})
    assert "Tr0ub4dor" not in found.text
    assert kept(note, redact=False).text == text
    own = Document("n/a.md", "n", "markdown", "note", "t", ENGLISH, NOW, language="ja", project="own")
    assert kept(own, redact=True, project="pumps") is own
    assert kept(Document("n/a.py", "n", "code", "code", "t", ENGLISH, NOW), redact=True).language == ""
