from __future__ import annotations

import json
from pathlib import Path

import pytest
from running_brain import NOTES, Brain


@pytest.mark.parametrize("name", ["notes/ops/pump.md", "ops/pump.md", "Pump room", "pump", "pump.md", "PUMP ROOM"])
def test_a_note_answers_to_all_its_names(brain: Brain, indexed: Path, name: str) -> None:
    """Uri, path, title, file name; the text is the file's."""
    outcome = brain("get", name)
    assert (outcome.code, outcome.out, outcome.err) == (0, NOTES["ops/pump.md"], "")


def test_a_note_answers_to_its_file_and_to_a_hit(brain: Brain, indexed: Path) -> None:
    """An absolute path and the id of a passage lead to the note."""
    (hit, *_) = json.loads(brain("search", "torque", "--json").out)["hits"]
    for name in (indexed / "ops/pump.md", hit["id"]):
        assert brain("get", name).out == NOTES["ops/pump.md"]


def test_part_of_a_note_can_be_asked_for(brain: Brain, indexed: Path) -> None:
    """By lines or by heading, not both."""
    assert brain("get", "pump", "--lines", "6").out == "# Pump room\n"
    assert brain("get", "pump", "--section", "valves").out.startswith("## Valves\n")
    assert brain("get", "pump", "--section", "v", "--lines", "1").code == 2
    backwards = brain("get", "pump", "--lines", "9-2")
    assert backwards.code == 2
    assert backwards.err.startswith("error: the first line (9) lies after the last (2)\n")
    assert "'Valves'" in brain("get", "pump", "--section", "gone").err


def test_json_holds_links_both_ways(brain: Brain, indexed: Path) -> None:
    """Text, metadata, links and backlinks; the line where the text begins."""
    note = json.loads(brain("get", "pump", "--section", "valves", "--json").out)
    assert (note["uri"], note["title"], note["line"]) == ("notes/ops/pump.md", "Pump room", 10)
    assert (note["date"], note["tags"]) == ("2031-05-02T00:00:00+00:00", ["ops/pumps"])
    assert [(link["written"], link["target"]) for link in note["links"]] == [("log", "notes/ops/log.md")]
    log = json.loads(brain("get", "log", "--json").out)
    assert [link["source"] for link in log["backlinks"]] == ["notes/ops/pump.md"]
    assert log["text"] == NOTES["ops/log.md"]


def test_an_ambiguous_name_lists_the_candidates(brain: Brain, indexed: Path) -> None:
    """None is chosen by chance."""
    (indexed / "log.md").write_text("# Another log\n", encoding="utf-8")
    (indexed / "日記/log.md").write_text("# A third log\n", encoding="utf-8")
    (indexed / "log.md").unlink()
    brain("index", "--quiet")
    outcome = brain("get", "log.md", "--json")
    assert (outcome.code, json.loads(outcome.out)["error"]["candidates"]) == (
        1,
        ["notes/ops/log.md", "notes/日記/log.md"],
    )
    assert "\n  notes/ops/log.md\n  notes/日記/log.md\n" in outcome.err
    assert outcome.err.count("notes/ops/log.md") == 1


def test_an_unknown_name_proposes_a_search(brain: Brain, indexed: Path) -> None:
    """Exit code 1."""
    outcome = brain("get", "zebra")
    assert (outcome.code, outcome.out) == (1, "")
    assert "brain search 'zebra'" in outcome.err


def test_a_note_that_changed_is_given_as_indexed_and_marked(brain: Brain, indexed: Path) -> None:
    """The remark is on stderr, so that the text can be piped."""
    (indexed / "ops/log.md").write_text("new\n", encoding="utf-8")
    outcome = brain("get", "log")
    assert outcome.out == NOTES["ops/log.md"]
    assert outcome.err.startswith("note: the file changed")


def test_recent_notes_come_newest_first(brain: Brain, indexed: Path) -> None:
    """By the note's own date, in local time."""
    outcome = brain("recent", "--until", "2031-12-31")
    assert [line.split("  ")[0] for line in outcome.out.splitlines()] == ["2031-05-02", "2031-04-01", "2031-03-01"]
    listed = json.loads(brain("recent", "-n", 1, "--type", "log", "--json").out)["documents"]
    assert [document["uri"] for document in listed] == ["notes/ops/log.md"]


def test_no_recent_notes_is_no_error(brain: Brain, indexed: Path) -> None:
    """It is said on stderr."""
    outcome = brain("recent", "--since", "2032-01-01")
    assert (outcome.code, outcome.out) == (0, "")
    assert "nothing found" in outcome.err
