from __future__ import annotations

import json
from pathlib import Path

from running_brain import Brain


def test_adding_a_folder_says_what_to_type_next(brain: Brain, vault: Path) -> None:
    """The source is named after its folder; nothing is read yet."""
    added = brain("add", vault)
    assert (added.code, added.out) == (0, f"added source notes (markdown, personal): {vault}\n")
    assert added.err == "next: brain index notes\n"
    assert json.loads(brain("status", "--json").out)["documents"] == 0


def test_a_source_takes_name_and_privacy(brain: Brain, vault: Path) -> None:
    """A name with a space is quoted in the command that is proposed."""
    added = brain("add", vault, "--name", "my notes", "--privacy", "work")
    assert added.out == f"added source my notes (markdown, work): {vault}\n"
    assert added.err == "next: brain index 'my notes'\n"


def test_a_folder_that_does_not_exist_is_refused(brain: Brain, tmp_path: Path) -> None:
    """The error names it, and exit code 1 says that the command failed."""
    refused = brain("add", tmp_path / "gone")
    assert (refused.code, refused.out) == (1, "")
    assert f"error: {tmp_path / 'gone'} does not exist\n  hint: " in refused.err


def test_an_unknown_kind_is_refused_with_those_that_exist(brain: Brain, vault: Path) -> None:
    """The kinds are the installed ones."""
    refused = brain("add", vault, "--kind", "pigeons")
    assert refused.code == 1
    assert "'pigeons'" in refused.err
    assert "markdown" in refused.err


def test_sources_are_listed_with_what_is_indexed(brain: Brain, indexed: Path) -> None:
    """As a table for people and an object for programs."""
    listed = json.loads(brain("sources", "--json").out)
    assert listed["sources"] == [
        {"name": "notes", "kind": "markdown", "path": str(indexed), "privacy": "personal", "documents": 3}
    ]
    head, row = brain("sources").out.splitlines()
    assert head.split() == ["name", "kind", "privacy", "documents", "path"]
    assert row.split() == ["notes", "markdown", "personal", "3", str(indexed)]


def test_without_sources_the_way_on_is_told(brain: Brain) -> None:
    """An empty table helps nobody."""
    listed = brain("sources")
    assert (listed.code, listed.out) == (0, "")
    assert "type `brain add ~/notes`" in listed.err


def test_removing_a_source_counts_and_touches_no_file(brain: Brain, indexed: Path) -> None:
    """Settings and index forget it; the files stay."""
    removed = brain("remove", "--yes", "notes")
    assert removed.code == 0
    assert removed.out == "removed source 'notes': 3 documents left the index, no file was touched\n"
    assert removed.err == ""
    assert (indexed / "ops/pump.md").exists()
    assert json.loads(brain("sources", "--json").out)["sources"] == []
    assert json.loads(brain("search", "valve", "--json").out)["hits"] == []


def test_removing_says_where_the_files_still_count(brain: Brain, indexed: Path) -> None:
    """Deleted must not come back unannounced: the enclosing source will read those files."""
    added = brain("add", indexed / "ops")
    assert "it lies inside source 'notes'" in added.err
    brain("index", "--quiet")
    removed = brain("remove", "--yes", "ops")
    assert removed.out.startswith("removed source 'ops': 2 documents")
    assert f"its files lie in source 'notes' too ({indexed}); `brain index notes` will read them" in removed.err


def test_removing_an_unknown_source_names_those_there_are(brain: Brain, indexed: Path) -> None:
    """A misspelt name changes nothing."""
    refused = brain("remove", "noets")
    assert refused.code == 1
    assert "sources: notes" in refused.err


def test_nothing_is_removed_when_nobody_can_be_asked(brain: Brain, indexed: Path) -> None:
    """A script says --yes; a stray pipe does not throw away hours of vectors."""
    refused = brain("remove", "notes")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert json.loads(brain("sources", "--json").out)["sources"] != []


def test_a_folder_of_notes_with_code_and_tables_says_what_would_read_them(brain: Brain, tmp_path: Path) -> None:
    """Counted by kind, with the command; not where the kind was named, nor in folders of packages."""
    folder = tmp_path / "my pump"
    for name in ("a.md", "src/a.py", "src/b.go", "data/c.CSV", "node_modules/d.js", ".git/e.py"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n")
    told = brain("add", folder).err
    assert "2 files of source code too" in told
    assert f"brain remove 'my pump'; brain add '{folder}' --kind repo" in told
    assert "1 tables too" in told
    assert "too, which" not in brain("add", folder / "src", "--kind", "code").err
