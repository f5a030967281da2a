"""What does not fit each other in the notes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from second_brain.memory.lines import Entity, Graph
from second_brain.overview import contradictions
from second_brain.overview.neighbourhood import LinkGraph


def record(title: str, status: str = "accepted", more: str = "") -> str:
    return f"---\nstatus: {status}\n---\n# {title}\n\n{more}\n"


def test_what_was_taken_back_and_is_still_linked_is_told(notes: Any) -> None:
    """Links from living notes count; those from other withdrawn ones do not."""
    notes.index(
        {
            "docs/adr/0001-old.md": record("Old", "superseded by ADR-0002"),
            "docs/adr/0002-new.md": record("New", more="* Supersedes [Old](0001-old.md)"),
            "guide.md": "# Guide\n\nas in [[0001-old]]\n",
            "attic.md": record("Attic", "archived", "[[0001-old]]"),
            "unlinked.md": record("Unlinked", "deprecated"),
        }
    )
    graph = LinkGraph(notes.brain.visible())
    (found,) = contradictions.outdated(graph)
    assert found.document.title == "Old"
    assert [other.title for other in found.linked_from] == ["New", "Guide"]
    assert contradictions.one_sided(notes.brain.visible(), graph) == []


def test_records_that_do_not_know_of_each_other_are_told(notes: Any) -> None:
    """From either side, with the other record or, where it is gone, its number; other folders and files are none."""
    notes.index(
        {
            "a/docs/adr/0001-one.md": record("One"),
            "a/docs/adr/0002-two.md": record("Two", more="* Supersedes [One](0001-one.md)"),
            "a/docs/adr/0003-three.md": record("Three", "superseded by ADR-0001"),
            "a/docs/adr/0004-four.md": record("Four", "superseded by ADR-0099"),
            "b/docs/adr/0001-other.md": record("Other", "superseded by ADR-0002"),
            "notes/0007-shopping.md": record("Shopping", "superseded by ADR-0001"),
        }
    )
    visible = notes.brain.visible()
    found = contradictions.one_sided(visible, LinkGraph(visible))
    told = [(each.record.title, each.supersedes, each.number, each.other and each.other.title) for each in found]
    assert told == [
        ("Two", True, 1, "One"),
        ("Three", False, 1, "One"),
        ("Four", False, 99, None),
        ("Other", False, 2, None),
    ]


def test_lessons_that_hold_no_more_but_are_named_are_told(notes: Any) -> None:
    """Retired and superseded ones; numbers are compared as numbers, and the lessons' own file does not count."""
    notes.index(
        {
            "docs/lessons.md": "# Lessons\n\n"
            "## L-0001 Quote terms\n\n- Lesson: Quote.\n- Status: retired 2031-05-02: done otherwise\n\n"
            "## L-0002 Wait\n\n- Lesson: Wait.\n- Status: superseded by L-0003\n\n"
            "## L-0003 Do not wait\n\n- Lesson: Go.\n- Status: active\n\nsee L-0001\n",
            "how.md": "# How\n\nas L-0001 says, and L-0003\n",
            "other.md": "# Other\n\nL-0021, XL-0002 and l0002\n",
        }
    )
    visible = notes.brain.visible()
    (found,) = contradictions.retired_lessons(visible, LinkGraph(visible))
    assert (found.id, found.title, [note.title for note in found.named_in]) == ("L-0001", "Quote terms", ["How"])


def test_names_of_several_notes_are_told_by_how_often_they_are_linked(notes: Any) -> None:
    """Titles, aliases and file names; index notes and notes of other sources do not count."""
    notes.index(
        {
            "a/pump.md": "# Pump\n",
            "b/pump.md": "# Pump again\n",
            "mast.md": "---\naliases: [Rig]\n---\n# Mast\n",
            "rig.md": "# Rigging\n",
            "a/index.md": "# Index\n",
            "b/index.md": "# Index\n",
            "links.md": "[[rig]] [[Rig]] [[pump]]\n",
        }
    )
    visible = notes.brain.visible()
    found = contradictions.shared_names(visible, LinkGraph(visible))
    assert [(each.name, [note.uri for note in each.notes], each.links) for each in found] == [
        ("rig", ["notes/mast.md", "notes/rig.md"], 2),
        ("pump", ["notes/a/pump.md", "notes/b/pump.md"], 1),
    ]


def test_nothing_of_a_hidden_note_is_told(notes: Any) -> None:
    """No kind of contradiction names or counts what the view does not show."""
    secret = "---\nprivacy: secret\n---\n"
    notes.index(
        {
            "pump.md": "---\naliases: [Rig]\n---\n# Pump\n",
            "rig.md": secret + "# Rig\n\n[[old]] L-0001\n",
            "old.md": record("Old", "deprecated"),
            "docs/lessons.md": "## L-0001 A\n\n- Lesson: A.\n- Status: retired 2031-05-02: no\n",
            "docs/adr/0001-one.md": record("One", "superseded by ADR-0002"),
            "docs/adr/0002-two.md": "---\nprivacy: secret\nstatus: accepted\n---\n# Two\n",
        }
    )
    visible = notes.brain.seen_by("personal").visible()
    graph = LinkGraph(visible)
    assert contradictions.outdated(graph) == []
    assert contradictions.shared_names(visible, graph) == []
    assert contradictions.retired_lessons(visible, graph) == []
    (side,) = contradictions.one_sided(visible, graph)
    assert side.other is None


def test_facts_whose_file_is_gone_are_told(tmp_path: Path) -> None:
    """A fact whose file is in any of the folders is founded; one that names no file is no finding."""
    (tmp_path / "there.md").write_text("")
    graph = Graph((Entity("Ada", "person", ("tea (source: gone.md)", "pumps (source: there.md)", "no source")),))
    (fact,) = contradictions.lost_facts(graph, [tmp_path])
    assert (fact.entity, fact.source) == ("Ada", "gone.md")
