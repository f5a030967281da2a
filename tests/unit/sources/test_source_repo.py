"""A git repository lists what it tracks and, if asked for, its newest commits; nothing of it is ever run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from second_brain.errors import SourceError
from second_brain.parsing.commits import CommitParser
from second_brain.sources.repo import COMMIT, RepoSource
from second_brain.testing.parser_contract import check_document
from second_brain.testing.source_contract import SourceContract
from second_brain.types import Document, Item

WHO = ("-c", "user.name=Mika Ono", "-c", "user.email=mika@example.com", "-c", "init.defaultBranch=main")
CLEAN = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}


def git(root: Path, *arguments: str, when: str = "2031-04-05T10:00:00+09:00") -> None:
    dates = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
    command = ["git", "-C", str(root), *WHO, *arguments]
    subprocess.run(command, check=True, capture_output=True, env={**CLEAN, **dates})


def commit(root: Path, message: str, when: str = "2031-04-05T10:00:00+09:00") -> None:
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", message, when=when)


@pytest.fixture
def boats(tmp_path: Path) -> Path:
    """A repository with nothing in it."""
    root = tmp_path / "boats"
    root.mkdir()
    git(root, "init", "-q")
    return root


class TestRepoSource(SourceContract):
    def source(self, root: Path) -> RepoSource:
        if root.is_dir():
            git(root, "init", "-q")
            git(root, "add", "-A")
        return RepoSource("repo", root)

    def write(self, root: Path, name: str, text: str) -> Path:
        path = root / f"{name}.py"
        path.write_text(text, encoding="utf-8", newline="")
        if (root / ".git").exists():
            git(root, "add", "-A")
        return path


def commits(source: RepoSource) -> list[Item]:
    return [item for item in source.scan().items if item.media_type == COMMIT]


def read(source: RepoSource, item: Item) -> Document:
    blob = source.read(item)
    (document,) = CommitParser().parse(blob)
    check_document(document, blob)
    return document


def test_only_tracked_files_are_listed(boats, grow):
    """Staged ones are tracked; the others are counted. Names may hold any letters."""
    grow(boats, "a.py", "会議/ポンプ 2.py", "README.md")
    git(boats, "add", "-A")
    grow(boats, "scratch.py", "notes.md")
    scan = RepoSource("n", boats).scan()
    assert [item.relative for item in scan.items] == ["README.md", "a.py", "会議/ポンプ 2.py"]
    assert scan.skipped == {"untracked": 2}


def test_a_folder_of_a_repository_can_be_the_source(boats, grow):
    """Paths are counted from it."""
    grow(boats, "top.py", "pumps/a.py")
    commit(boats, "first")
    assert [item.relative for item in RepoSource("n", boats / "pumps").scan().items] == ["a.py"]


def test_without_being_asked_no_commit_is_listed(boats, grow):
    """The default."""
    grow(boats, "a.py")
    commit(boats, "first")
    assert commits(RepoSource("n", boats)) == []


def test_a_commit_is_a_document_of_who_when_and_which_files(boats, grow):
    """Title is the subject, date its own in UTC."""
    grow(boats, "a.py", "b/ポンプ.py")
    commit(boats, "Pump: seal changed\n\nThe old one leaked at 40 Nm.")
    source = RepoSource("n", boats, commits=10)
    (item,) = commits(source)
    document = read(source, item)
    sha = document.metadata["commit"]
    assert item.uri == f"n/.git/commit/{str(sha)[:12]}"
    assert document.text == (
        f"commit {sha}\nauthor Mika Ono <mika@example.com>\ndate 2031-04-05T01:00:00+00:00\n\n"
        "Pump: seal changed\n\nThe old one leaked at 40 Nm.\n\nA a.py\nA b/ポンプ.py\n"
    )
    assert (document.kind, document.type, document.title) == ("commit", "commit", "Pump: seal changed")
    assert (document.project, str(document.date)) == ("boats", "2031-04-05 01:00:00+00:00")


def test_the_newest_commits_are_listed_and_old_ones_never_change(boats):
    """So only new ones are read at the next run."""
    for number in range(5):
        commit(boats, f"number {number}", when=f"2031-04-0{number + 1}T10:00:00Z")
    source = RepoSource("n", boats, commits=3)
    before = {item.uri: item for item in commits(source)}
    assert sorted(read(source, item).title for item in before.values()) == ["number 2", "number 3", "number 4"]
    commit(boats, "number 5", when="2031-04-09T10:00:00Z")
    after = {item.uri: item for item in commits(source)}
    assert len(after) == 3
    (new,) = after.keys() - before.keys()
    assert read(source, after[new]).title == "number 5"
    assert all(before[uri] == after[uri] for uri in after.keys() & before.keys())


def test_merges_that_say_nothing_are_left_out(boats):
    """One with a text of its own stays."""
    commit(boats, "first")
    for number, message in enumerate(("Merge branch 'x'", "Merge the new pump\n\nIt took three weeks.")):
        git(boats, "checkout", "-q", "-b", f"x{number}")
        commit(boats, f"on x{number}")
        git(boats, "checkout", "-q", "main")
        git(boats, "merge", "-q", "--no-ff", "-m", message, f"x{number}")
    source = RepoSource("n", boats, commits=10)
    titles = sorted(read(source, item).title for item in commits(source))
    assert titles == ["Merge the new pump", "first", "on x0", "on x1"]


def test_a_repository_without_commits_has_none(boats, grow):
    """As right after ``git init``."""
    grow(boats, "HEAD.py")
    assert commits(RepoSource("n", boats, commits=5)) == []


def test_a_commit_that_vanished_or_was_not_listed_is_not_read(boats):
    """As a file that is gone."""
    commit(boats, "first")
    source = RepoSource("n", boats, commits=5)
    (item,) = commits(source)
    with pytest.raises(FileNotFoundError):
        RepoSource("n", boats, commits=5).read(item)


def test_a_folder_that_is_no_repository_is_a_source_error(tmp_path, grow):
    """With a hint of what to do."""
    grow(tmp_path, "a.py")
    with pytest.raises(SourceError, match="not a git repository") as refused:
        RepoSource("n", tmp_path).scan()
    assert "kind: code" in refused.value.hint


def test_without_git_the_error_says_so(boats, monkeypatch):
    """And what works without it."""
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SourceError, match="git is not installed"):
        RepoSource("n", boats).scan()


def signed(root: Path) -> None:
    """Put a signature that nobody made into the last commit."""
    shown = subprocess.run(["git", "-C", str(root), "cat-file", "commit", "HEAD"], check=True, capture_output=True)
    signature = b"\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n abcd\n -----END PGP SIGNATURE-----\n\n"
    changed = signature.join(shown.stdout.split(b"\n\n", 1))
    command = ["git", "-C", str(root), "hash-object", "-t", "commit", "-w", "--stdin"]
    sha = subprocess.run(command, check=True, capture_output=True, input=changed).stdout.decode().strip()
    git(root, "update-ref", "HEAD", sha)


def test_nothing_that_a_hostile_repository_names_is_run(boats, grow, tmp_path):
    """Hooks, a file system monitor, diff and text conversion drivers, a pager, a verifier of signatures, filters."""
    marker = tmp_path / "ran"
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch '{marker}'\nexit 0\n")
    trap.chmod(0o755)
    grow(boats, "a.py", (".gitattributes", "*.py diff=evil filter=evil\n"))
    commit(boats, "first")
    signed(boats)
    for key in (
        *("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "pager.log", "gpg.program"),
        *("diff.external", "diff.evil.command", "diff.evil.textconv", "filter.evil.clean", "filter.evil.smudge"),
        *("core.askPass", "alias.log", "alias.ls-files"),
    ):
        git(boats, "config", key, f"!{trap}" if key.startswith("alias.") else str(trap))
    git(boats, "config", "log.showSignature", "true")
    git(boats, "config", "core.hooksPath", str(tmp_path))
    grow(boats, ("a.py", "changed"))
    marker.unlink(missing_ok=True)
    source = RepoSource("n", boats, commits=5)
    (item,) = commits(source)
    assert "A a.py" in read(source, item).text
    assert not marker.exists()
    git(boats, "status")
    assert marker.exists(), "the trap works"
