from __future__ import annotations

import json
from pathlib import Path

from running_brain import Brain


def test_export_and_check_go_together(brain: Brain, indexed: Path, tmp_path: Path) -> None:
    """What was exported is a bundle: exit code 0, on stdout what was written and found."""
    written = brain("okf", "export", tmp_path / "bundle", "--source", "notes")
    assert (written.code, written.out) == (0, f"3 notes and 4 directories and logs written to {tmp_path / 'bundle'}\n")
    assert "ops/log.md is not in the form that this name is reserved for; it is ops/log-note.md" in written.err
    checked = brain("okf", "check", tmp_path / "bundle")
    assert (checked.code, checked.out) == (0, "a conformant bundle (0 errors, 0 pieces of advice)\n")


def test_a_folder_that_is_no_bundle_fails_with_every_place(brain: Brain, vault: Path) -> None:
    """Exit code 1; --quiet leaves out advice."""
    (vault / "a.md").write_text("---\ntype: Note\nstatus: new\n---\n")
    checked = brain("okf", "check", vault)
    assert checked.code == 1
    assert "a.md:3: advice: the status 'new' is not one of: draft, stable, deprecated\n" in checked.out
    assert "日記/2031-03-01.md:1: frontmatter: it has no frontmatter" in checked.out
    assert checked.out.endswith("pieces of advice)\n")
    assert "advice: " not in brain("okf", "check", "--quiet", vault).out


def test_check_as_json(brain: Brain, tmp_path: Path) -> None:
    """Counts, and every finding with its rule."""
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle" / "a.md").write_text("---\ntitle: x\n---\n")
    checked = brain("okf", "check", tmp_path / "bundle", "--json")
    assert checked.code == 1
    assert json.loads(checked.out) == {
        "conformant": False,
        "errors": 1,
        "advice": 0,
        "findings": [
            {
                "path": "a.md",
                "line": 1,
                "rule": "type",
                "message": "it has no `type`: expected one such as `type: Note`",
            }
        ],
    }


def test_export_leaves_out_what_is_more_private(brain: Brain, indexed: Path, tmp_path: Path) -> None:
    """By --privacy, and by the global option of the same name; an unknown label is an error."""
    (indexed / "plan.md").write_text("---\nprivacy: secret\n---\n# Plan\n")
    brain("index", "--quiet")
    report = json.loads(brain("okf", "export", tmp_path / "one", "--privacy", "personal", "--json").out)
    assert (report["notes"], report["folder"]) == (3, str(tmp_path / "one"))
    assert json.loads(brain("--privacy", "personal", "okf", "export", tmp_path / "two", "--json").out)["notes"] == 3
    assert json.loads(brain("okf", "export", tmp_path / "three", "--json").out)["notes"] == 4
    refused = brain("okf", "export", tmp_path / "four", "--privacy", "private")
    assert (refused.code, (tmp_path / "four").exists()) == (1, False)


def test_export_into_a_folder_with_files_asks_for_force(brain: Brain, indexed: Path, tmp_path: Path) -> None:
    """The hint names the option."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x.txt").write_text("x")
    refused = brain("okf", "export", tmp_path / "full")
    assert refused.code == 1
    assert "--force" in refused.err
    assert brain("okf", "export", tmp_path / "full", "--force").code == 0
