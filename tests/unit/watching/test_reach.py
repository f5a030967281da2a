"""What a source looks into, and which events can matter to it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from second_brain import wiring
from second_brain.config import Settings, SourceSettings
from second_brain.sources.walking import Reach


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """Folders that are looked into, and others."""
    root = tmp_path / "vault"
    for name in ("sub/deep", ".git/refs", ".obsidian", "node_modules/x", "drafts", "repo/.git", "inner"):
        (root / name).mkdir(parents=True)
    (root / ".gitignore").write_text("node_modules/\nsecret*.md\n")
    (root / ".obsidian/app.json").write_text("{}")
    (root / "link").symlink_to(tmp_path)
    return root


def reach_of(root: Path, kind: str = "markdown", **more) -> Reach:
    settings = Settings(root, root / "index.db", root)
    setting = SourceSettings("s", kind, root, **more)
    inner = SourceSettings("inner", "markdown", root / "inner")
    settings = Settings(root, root / "index.db", root, sources=(setting, inner))
    found = wiring.source(setting, settings).reach()
    assert isinstance(found, Reach)
    return found


def test_only_folders_that_can_hold_notes_are_watched(vault):
    """Not git's, not ignored ones, no other repository or source, and nothing behind a link."""
    reach = reach_of(vault, exclude=("drafts/",))
    names = {os.path.relpath(folder, os.fsencode(vault)).decode() for folder in reach.folders}
    assert names == {".", "sub", "sub/deep", ".obsidian"}
    assert reach.folders[0] == os.fsencode(vault)


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("a.md", True),
        ("sub/deep/a.pdf", True),
        ("sub/.a.md.icloud", True),
        (".gitignore", True),
        ("sub/.indexignore", True),
        (".obsidian/app.json", True),
        ("a.md~", False),
        (".a.md.swp", False),
        ("a.db-wal", False),
        ("secret1.md", False),
        ("drafts/a.md", False),
        (".git/index", False),
        ("node_modules/x/readme.md", False),
        ("repo/a.md", False),
        ("inner/a.md", False),
        (".obsidian/workspace.json", False),
    ],
)
def test_events_count_where_the_walk_would_look(vault, path, counts):
    """Whether the file is there or has just gone."""
    reach = reach_of(vault, exclude=("drafts/",))
    there = vault / path
    assert reach.concerns(os.fsencode(there), modified=False) is counts
    if not there.exists():
        there.touch()
        assert reach.concerns(os.fsencode(there), modified=True) is counts


def test_folders_count_when_they_come_and_go_not_when_they_change(vault):
    """A folder changes with every file in it, wanted or not."""
    reach = reach_of(vault)
    folder = os.fsencode(vault / "sub")
    assert not reach.concerns(folder, modified=True)
    assert reach.concerns(folder, modified=False)
    (vault / "new").mkdir()
    assert reach.concerns(os.fsencode(vault / "new"), modified=False)
    (vault / ".new").mkdir()
    assert not reach.concerns(os.fsencode(vault / ".new"), modified=False)
    (vault / "sub/deep").rmdir()
    assert reach.concerns(os.fsencode(vault / "sub/deep"), modified=True)


def test_rules_are_those_of_now(vault):
    """A pattern that was added since holds for the next event."""
    reach = reach_of(vault)
    path = os.fsencode(vault / "sub/tide.md")
    assert reach.concerns(path, modified=False)
    (vault / "sub/.indexignore").write_text("tide*\n")
    assert not reach.concerns(path, modified=False)


def test_of_a_repository_a_commit_counts_and_nothing_else_that_git_does(tmp_path):
    """``git status`` and ``git add`` write into ``.git`` as well."""
    root = tmp_path / "repo"
    root.mkdir()
    git = ["git", "-C", str(root), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    (root / "a.py").write_text("x = 1\n")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], check=True)
    reach = reach_of(root, "repo")
    assert os.fsencode(root / ".git/logs") in reach.folders
    assert reach.concerns(os.fsencode(root / ".git/logs/HEAD"), modified=True)
    for name in ("index", "index.lock", "logs/refs", "objects/ab"):
        assert not reach.concerns(os.fsencode(root / ".git" / name), modified=False)
    assert reach.concerns(os.fsencode(root / ".gitattributes"), modified=True)


def test_of_an_export_that_is_one_file_only_that_file_counts(tmp_path):
    """It may lie in a folder with everything that was ever downloaded."""
    file = tmp_path / "conversations.json"
    file.write_text("[]")
    (tmp_path / "deep").mkdir()
    reach = reach_of(file, "chatgpt-export")
    assert reach.folders == (os.fsencode(tmp_path),)
    assert reach.concerns(os.fsencode(file), modified=True)
    assert not reach.concerns(os.fsencode(tmp_path / "other.json"), modified=False)


def test_of_sessions_the_logs_count(tmp_path):
    """Copies that we keep are looked at by nobody."""
    (tmp_path / "project").mkdir()
    reach = reach_of(tmp_path, "claude-session-jsonl")
    assert reach.concerns(os.fsencode(tmp_path / "project/0.jsonl"), modified=False)
    assert not reach.concerns(os.fsencode(tmp_path / "project/0.txt"), modified=False)
