"""The notes of an index become a conformant bundle, and are left as they are."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from second_brain import Brain
from second_brain.errors import NotFound, UsageError
from second_brain.okf.checking import check_bundle
from second_brain.okf.exporting import export_bundle

VAULT = Path(__file__).parents[3] / "example-vault"
NOW = datetime(2031, 4, 5, tzinfo=UTC)


def test_the_example_vault_becomes_a_conformant_bundle(tmp_path: Path, make_notes: Any):
    """It has aliases, Japanese names, tables, embeds and notes without frontmatter; every note is in a directory."""
    notes = make_notes(tmp_path)
    before = {path: hashlib.sha256(path.read_bytes()).digest() for path in VAULT.rglob("*") if path.is_file()}
    with notes.brain as brain:
        brain.add(VAULT, name="vault")
        brain.sync(["vault"])
        report = export_bundle(brain, tmp_path / "bundle", source="vault")
    assert [finding for finding in check_bundle(tmp_path / "bundle", NOW) if finding.is_error] == []
    assert before == {path: hashlib.sha256(path.read_bytes()).digest() for path in before}
    written = {path.relative_to(tmp_path / "bundle").as_posix() for path in (tmp_path / "bundle").rglob("*.md")}
    assert len(written) == report.notes + report.generated
    assert {"index.md", "log.md", "meetings/index.md", "目次.md"} <= written
    assert "[[" not in (tmp_path / "bundle" / "目次.md").read_text(encoding="utf-8")


def exported(notes: Any, files: dict[str, str], **options: Any) -> dict[str, str]:
    """The bundle's files by path."""
    notes.index(files)
    folder = notes.home.parent / "bundle"
    export_bundle(notes.brain, folder, source="notes", **options)
    assert [finding for finding in check_bundle(folder, NOW) if finding.is_error] == []
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in folder.rglob("*.md")}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("# Pump\n", '---\ntype: "Note"\n---\n# Pump\n'),
        ("---\ntitle: x\n---\nbody\n", '---\ntype: "Note"\ntitle: x\n---\nbody\n'),
        ("---\ntype: Decision\ntitle: x  # why\n---\nbody\n", "---\ntype: Decision\ntitle: x  # why\n---\nbody\n"),
        ("---\n---\nbody\n", '---\ntype: "Note"\n---\nbody\n'),
        ("---\nType: Decision\n---\n", '---\ntype: "Decision"\nType: Decision\n---\n'),
        ("---\ntype:\ntags: [a]\n---\nx\n", '---\ntype: "Note"\n"tags": ["a"]\n---\nx\n'),
        ("---\ntitle: a: b\ntags: [c]\n---\nx\n", '---\ntype: "Note"\n"title": "a: b"\n"tags": ["c"]\n---\nx\n'),
        ("---\nA rule, not frontmatter\n---\nx\n", '---\ntype: "Note"\n---\n---\nA rule, not frontmatter\n---\nx\n'),
    ],
)
def test_a_type_is_added_where_there_is_none(notes: Any, written: str, expected: str):
    """What can be read stays as it is written; what cannot is written anew, with all of its values."""
    assert exported(notes, {"a.md": written})["a.md"] == expected


def test_links_lead_from_the_root_of_the_bundle(notes: Any):
    """Wikilinks with all their parts, in tables too; Markdown links to notes; what leads out of the vault stays."""
    text = (
        "[[Pump A]] [[deep/Pump A#Seal ring|the seal]] ![[Plan (old)]] ![[p.png|100]] [[Nowhere]]\n"
        "[x](deep/Pump%20A.md#Seal) [y](<Plan (old).md>) [z](https://example.com) [p](p.png)\n\n"
        "| a |\n|---|\n| [[Pump A\\|pump]] |\n\n`[[code]]`\n"
    )
    files = {"a.md": text, "deep/Pump A.md": "x", "Plan (old).md": "see [[a|b [c]]]"}
    bundle = exported(notes, files)
    assert bundle["a.md"].partition("---\n")[2].partition("---\n")[2] == (
        "[Pump A](/deep/Pump%20A.md) [the seal](/deep/Pump%20A.md#Seal%20ring) [Plan (old)](/Plan%20%28old%29.md)"
        " ![p.png](/p.png) [Nowhere](/Nowhere.md)\n"
        "[x](/deep/Pump%20A.md#Seal) [y](/Plan%20%28old%29.md) [z](https://example.com) [p](p.png)\n\n"
        "| a |\n|---|\n| [pump](/deep/Pump%20A.md) |\n\n`[[code]]`\n"
    )
    broken = [finding for finding in check_bundle(notes.home.parent / "bundle", NOW) if "Pump" in finding.message]
    assert broken == []


def test_each_folder_gets_a_directory_with_titles_and_descriptions(notes: Any):
    """And the bundle a history by day."""
    files = {
        "a.md": "---\ntitle: '[Draft] Pump'\ndescription: How it works.\n---\n",
        "deep/down/b.md": "# Valve\n",
    }
    bundle = exported(notes, files)
    assert bundle["index.md"] == (
        '---\nokf_version: "0.2"\n---\n\n# notes\n\n* [\\[Draft\\] Pump](a.md) - How it works.\n\n'
        "# Folders\n\n* [deep](deep/) - notes: 1\n"
    )
    assert bundle["deep/index.md"] == "# Folders\n\n* [down](down/) - notes: 1\n"
    assert bundle["deep/down/index.md"] == "# down\n\n* [Valve](b.md)\n"
    day = datetime.now(UTC).date()
    assert bundle["log.md"].startswith(f"# Update Log\n\n## {day}\n\n* **Update**: [")


def test_a_note_with_a_reserved_name_keeps_it_only_in_the_form_of_one(notes: Any):
    """Another one is renamed, and links follow it."""
    files = {
        "index.md": "---\ntitle: Start here\n---\nWelcome to [[a]].\n",
        "log.md": "# Log\n\n## 2031-04-05\n* **Creation**: [[a]]\n",
        "a.md": "back to [[index]]\n",
    }
    bundle = exported(notes, files)
    assert bundle["log.md"] == "# Log\n\n## 2031-04-05\n* **Creation**: [a](/a.md)\n"
    assert "Welcome to [a](/a.md)." in bundle["index-note.md"]
    assert "back to [index](/index-note.md)" in bundle["a.md"]
    assert "[Start here](index-note.md)" in bundle["index.md"]


def test_what_is_above_the_clearance_is_not_in_the_bundle(notes: Any):
    """Neither the note, nor its path, nor a count of it."""
    notes.index({"a.md": "see [[plan]]", "secret/plan.md": "---\nprivacy: secret\n---\n# The plan\n"})
    folder = notes.home.parent / "bundle"
    report = export_bundle(notes.brain.seen_by("personal"), folder, source="notes")
    assert report.notes == 1
    assert sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.md")) == [
        "a.md",
        "index.md",
        "log.md",
    ]
    assert not any("secret" in path.read_text() or "The plan" in path.read_text() for path in folder.rglob("*.md"))


def test_all_sources_are_exported_each_into_its_own_folder(notes: Any, tmp_path: Path):
    """With links within each."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.md").write_text("to [[c]], to [[gone]]")
    (other / "c.md").write_text("x")
    notes.brain.add(other, name="other")
    notes.write({"a.md": "x"})
    notes.brain.sync()
    export_bundle(notes.brain, tmp_path / "bundle")
    assert "to [c](/other/c.md), to [gone](/other/gone.md)" in (tmp_path / "bundle" / "other" / "b.md").read_text()
    assert (tmp_path / "bundle" / "notes" / "a.md").exists()
    assert "* [other](other/) - notes: 2" in (tmp_path / "bundle" / "index.md").read_text()
    assert [finding for finding in check_bundle(tmp_path / "bundle", NOW) if finding.is_error] == []


def test_a_folder_in_use_is_not_written_into(notes: Any, tmp_path: Path):
    """A file, a folder with something in it, one in a source or around it: nothing is written, and it says why."""
    notes.index({"a.md": "x"})
    full = tmp_path / "full"
    full.mkdir()
    (full / "theirs.txt").write_text("mine")
    for folder, reason in (
        (full / "theirs.txt", "is a file"),
        (full, "is not empty"),
        (notes.root / "bundle", "lie in each other"),
        (tmp_path, "lie in each other"),
    ):
        with pytest.raises(UsageError, match=reason):
            export_bundle(notes.brain, folder, force=reason == "lie in each other")
    assert list(full.iterdir()) == [full / "theirs.txt"]
    export_bundle(notes.brain, full, force=True)
    assert (full / "theirs.txt").read_text() == "mine"


def test_an_index_without_notes_has_nothing_to_export(notes: Any, tmp_path: Path):
    """And no folder is made."""
    with pytest.raises(NotFound, match="no notes to export"):
        export_bundle(notes.brain, tmp_path / "bundle")
    with pytest.raises(NotFound, match="no source is named 'x'"):
        export_bundle(notes.brain, tmp_path / "bundle", source="x")
    assert not (tmp_path / "bundle").exists()
    assert isinstance(notes.brain, Brain)


def test_two_notes_that_differ_in_their_suffix_only_stay_apart(notes: Any):
    """All files of a bundle end in ``.md``."""
    bundle = exported(notes, {"a.markdown": "one", "a.md": "two"})
    assert {bundle["a.md"].split("\n")[-1], bundle["a-note.md"].split("\n")[-1]} == {"one", "two"}


def test_a_link_in_the_folder_is_replaced_and_not_followed(notes: Any, tmp_path: Path):
    """With --force, what it leads to stays as it is; a folder that leads out is refused."""
    notes.index({"a.md": "x", "deep/b.md": "y"})
    folder = tmp_path / "bundle"
    folder.mkdir()
    (folder / "a.md").symlink_to(notes.root / "a.md")
    export_bundle(notes.brain, folder, force=True, source="notes")
    assert (notes.root / "a.md").read_text() == "x"
    assert not (folder / "a.md").is_symlink()
    other = tmp_path / "other"
    other.mkdir()
    (other / "deep").symlink_to(notes.root / "deep")
    with pytest.raises(UsageError, match="is a link that leads out"):
        export_bundle(notes.brain, other, force=True, source="notes")
    assert (notes.root / "deep" / "b.md").read_text() == "y"
