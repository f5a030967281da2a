from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest
from running_brain import Brain

from second_brain.cli import display
from second_brain.models.hashing import HashingEmbedder
from second_brain.protocols import Vectors


def test_a_first_time_user_is_told_how_to_begin(brain: Brain) -> None:
    """``brain index`` with no source is not an error that ends there."""
    outcome = brain("index")
    assert (outcome.code, outcome.out) == (1, "")
    assert "hint: type `brain add ~/notes`" in outcome.err


def test_a_folder_that_is_no_source_is_proposed_as_one(brain: Brain, vault: Path) -> None:
    """``brain index ~/notes`` is what many will type first."""
    outcome = brain("index", vault)
    assert outcome.code == 1
    assert f"hint: type `brain add {vault}`" in outcome.err


def test_the_summary_counts_by_source(brain: Brain, vault: Path) -> None:
    """What changed is read, the rest is left; progress does not show in short runs."""
    brain("add", vault)
    first = brain("index")
    assert (first.code, first.err) == (0, "")
    assert first.out.startswith("notes: 3 added\nvectors: ")
    (vault / "ops/log.md").write_text("# Log\n\nchanged\n", encoding="utf-8")
    (vault / "日記/2031-03-01.md").unlink()
    assert brain("index").out.startswith("notes: 1 changed, 1 unchanged, 1 deleted\nvectors: 1 made")


def test_quiet_says_nothing(brain: Brain, vault: Path) -> None:
    """For cron: only the exit code speaks."""
    brain("add", vault)
    (vault / "photo.md").write_bytes(b"\x00\x01\x02" * 1000)
    outcome = brain("index", "--quiet")
    assert (outcome.code, outcome.out, outcome.err) == (3, "", "")


def test_json_holds_the_whole_report(brain: Brain, vault: Path) -> None:
    """One object, with every source, failure and count."""
    brain("add", vault)
    (vault / "photo.md").write_bytes(b"\x00\x01\x02" * 1000)
    outcome = brain("index", "--json")
    assert (outcome.code, outcome.err) == (3, "")
    report = json.loads(outcome.out)
    (source,) = report["sources"]
    assert (source["source"], source["added"]) == ("notes", 3)
    assert [(failure["uri"], failure["kind"]) for failure in source["failures"]] == [("notes/photo.md", "binary")]
    assert report["embedding"]["waiting"] == 0
    assert report["error"] is None


def test_skipped_files_are_named_and_change_the_exit_code(brain: Brain, vault: Path) -> None:
    """The first ten, then a count; --verbose names all."""
    brain("add", vault)
    for number in range(12):
        (vault / f"photo{number:02}.md").write_bytes(b"\x00\x01\x02" * 1000)
    outcome = brain("index")
    assert outcome.code == 3
    lines = outcome.err.splitlines()
    assert [line.startswith(f"  not read: {vault}/photo") for line in lines] == [True] * 10 + [False]
    assert [line.count("photo") for line in lines] == [1] * 10 + [0]
    assert lines[-1] == "  not read: and 2 more (--verbose names all)"
    assert brain("index", "--verbose").err.count(f"not read: {vault}/photo") == 12
    assert brain("-v", "index").err.count(f"not read: {vault}/photo") == 12


def test_a_warning_names_file_and_line_and_is_no_failure(brain: Brain, vault: Path) -> None:
    """The note was read as well as it could be: exit code 0."""
    brain("add", vault)
    (vault / "bad.md").write_text("---\ntitle: Pump: weekly: check\n---\nbody\n", encoding="utf-8")
    outcome = brain("index")
    assert outcome.code == 0
    assert f"warning: {vault / 'bad.md'}: line 2" in outcome.err


def test_a_missing_folder_keeps_its_notes(brain: Brain, indexed: Path) -> None:
    """An unplugged disk is no deletion; the way on is told."""
    away = indexed.rename(indexed.with_name("away"))
    outcome = brain("index")
    assert outcome.code == 3
    assert "not compared: " in outcome.err
    assert "brain index --prune 'notes', or brain remove 'notes'" in outcome.err
    assert json.loads(brain("search", "valve", "--json").out)["hits"]
    away.rename(indexed)
    assert brain("index").code == 0


def test_vectors_can_follow_later(brain: Brain, vault: Path) -> None:
    """--no-embed reads only; embed makes the rest, in as many steps as wanted."""
    brain("add", vault)
    assert "vectors" not in brain("index", "--no-embed").out
    waiting = json.loads(brain("status", "--json").out)["waiting"]
    assert waiting > 1
    assert f": 1 made in 0.0 s, {waiting - 1} still wait\n" in brain("embed", "--limit", 1).out
    done = brain("embed", "--json")
    assert (done.code, done.err) == (0, "")
    report = json.loads(done.out)
    assert (report["embedded"], report["waiting"]) == (waiting - 1, 0)


def test_a_passage_without_vector_is_named(brain: Brain, vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The embedder refuses one text: the others get theirs, exit code 3 says that one did not."""
    embed = HashingEmbedder.embed_documents

    def refuse_torque(self: HashingEmbedder, texts: list[str]) -> Vectors:
        if any("torque" in text for text in texts):
            raise ValueError("too heavy")
        return embed(self, texts)

    monkeypatch.setattr(HashingEmbedder, "embed_documents", refuse_torque)
    brain("add", vault)
    outcome = brain("index")
    assert outcome.code == 3
    assert "too heavy" in outcome.err
    assert "no vector: " in outcome.err
    assert ", 1 still wait" in outcome.out


def test_a_missing_model_does_not_hide_what_was_read(brain: Brain, vault: Path, tmp_path: Path) -> None:
    """Words are indexed, so the summary is given; then the error, and exit code 1."""
    brain("add", vault)
    (tmp_path / "home" / "models.yaml").write_text("embedder: pigeons\n", encoding="utf-8")
    outcome = brain("index")
    assert outcome.code == 1
    assert outcome.out == "notes: 3 added\n"
    assert "error: 'pigeons'" in outcome.err
    report = json.loads(brain("index", "--json").out)
    assert report["sources"][0]["unchanged"] == 3
    assert report["error"]["type"] == "ConfigError"


def test_ctrl_c_while_reading_says_how_far_it_came(brain: Brain, vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 130, and the next run goes on from a sound index."""
    brain("add", vault)
    monkeypatch.setattr(display, "_nothing", _interrupt_at(2))
    outcome = brain("index", "--quiet")
    assert (outcome.code, outcome.out) == (130, "")
    assert outcome.err == (
        "error: stopped at 2 of 3 files of source 'notes'; what was done stays, the index is sound\n"
        "  hint: go on with `brain index`\n"
    )
    monkeypatch.undo()
    monkeypatch.setenv("BRAIN_HOME", str(vault.parent / "home"))
    assert brain("doctor").code == 0
    assert json.loads(brain("index", "--json").out)["sources"][0]["added"] == 3


def _interrupt_at(wanted: int) -> display.Progress:
    def show(stage: str, done: int, total: int | None) -> None:
        if done == wanted:
            raise KeyboardInterrupt

    return show


def test_ctrl_c_while_embedding_keeps_what_was_read(brain: Brain, vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The summary of the files is given; `brain embed` goes on."""

    def interrupted(self: HashingEmbedder, texts: list[str]) -> Vectors:
        raise KeyboardInterrupt

    brain("add", vault)
    monkeypatch.setattr(HashingEmbedder, "embed_documents", interrupted)
    outcome = brain("index")
    assert outcome.code == 130
    assert outcome.out == "notes: 3 added\n"
    assert "stopped at 0 of " in outcome.err
    assert "hint: go on with `brain embed`" in outcome.err
    stopped = brain("embed", "--json")
    assert stopped.code == 130
    assert json.loads(stopped.out)["error"]["type"] == "Interrupted"


def test_reading_again_keeps_the_vectors(brain: Brain, indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--rebuild costs reading, not embedding."""
    monkeypatch.setattr(HashingEmbedder, "embed_documents", lambda self, texts: np.zeros((0, 256), np.float32))
    report = json.loads(brain("index", "--rebuild", "--json").out)
    assert report["embedding"]["embedded"] == 0
    assert report["embedding"]["waiting"] == 0


def test_into_a_file_progress_is_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On stderr, never at the end of a stage; waiting for another process is said at once."""
    monkeypatch.setattr(display, "LINE_EVERY_S", 0.0)
    with display.progress(quiet=False) as show:
        show("waiting for another brain", 0, None)
        show("notes", 1, 3)
        show("embed", 2, 4)
        show("embed", 4, 4)
    assert capsys.readouterr() == ("", "waiting for another brain\nnotes: 1 of 3\nvectors: 2 of 4\n")


def test_progress_in_lines_tells_the_pace_and_what_is_left(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted from the beginning of the stage, which may have been begun by an earlier run."""
    clock = iter((0.0, 0.0, 128.0, 800.0, 890.0))
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    with display.progress(quiet=False) as show:
        for done in (0, 1024, 5_600, 5_990):
            show("embed", done, 6_000)
    assert capsys.readouterr().err.splitlines() == [
        "vectors: 1,024 of 6,000, 8.0 a second, about 10 min left",
        "vectors: 5,600 of 6,000, 7.0 a second, less than a minute left",
        "vectors: 5,990 of 6,000, 6.7 a second, less than a minute left",
    ]
