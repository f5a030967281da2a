"""``brain adr``, ``brain learn``, ``brain handoff`` and ``brain graph`` from a shell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running_brain import Brain


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project's folder, in which the shell is."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("MEMORY_FILE_PATH", raising=False)
    return folder


def graph_of(project: Path) -> list[dict[str, object]]:
    """The lines of the knowledge graph."""
    return [json.loads(line) for line in (project / "memory.jsonl").read_text(encoding="utf-8").splitlines()]


def test_a_decision_is_written_linked_and_found(brain: Brain, project: Path) -> None:
    """The record, its entity with its file, the relation to what it supersedes, and the index where it is a source."""
    assert brain("add", project).code == 0
    first = brain("adr", "Use", "Whoosh", "--context", "The heron needs words.", "--decision", "Whoosh.")
    assert first.code == 0
    assert "ADR-0001" in first.out
    second = json.loads(brain("adr", "Use FTS5", "--supersedes", 1, "--json").out)
    assert Path(second["path"]) == project / "docs/adr/0002-use-fts5.md"
    lines = graph_of(project)
    assert {
        "type": "relation",
        "from": "ADR-0002 Use FTS5",
        "to": "ADR-0001 Use Whoosh",
        "relationType": "supersedes",
    } in lines
    assert any("(source: docs/adr/0002-use-fts5.md)" in str(line.get("observations")) for line in lines)
    hits = json.loads(brain("search", "heron", "--mode", "lexical", "--json").out)["hits"]
    assert [Path(hit["path"]).name for hit in hits] == ["0001-use-whoosh.md"]
    assert any("superseded" in note for note in hits[0]["notes"])


def test_a_lesson_is_text_and_the_other_words_are_commands(brain: Brain, project: Path) -> None:
    """Options before or behind the text; list, check, supersede and retire."""
    assert "L-0001" in brain("learn", "When", "the valve leaks,", "close it.", "--detect", "exit 1").out
    assert "L-0002" in brain("learn", "--cause", "rust", "Oil the hinge.").out
    assert "L-0001" in brain("learn", "list").out
    checked = brain("learn", "check")
    assert (checked.code, checked.out.split()[:2]) == (0, ["absent", "L-0001"])
    assert brain("learn", "supersede", "L-1", "L-2").code == 0
    assert "L-0001" not in brain("learn", "list").out
    assert "superseded by L-0002" in brain("learn", "list", "--all").out
    assert brain("learn", "retire", "2", "sold").code == 0
    assert json.loads(brain("learn", "list", "--json").out) == {"lessons": []}
    assert "no lesson L-0009" in brain("learn", "retire", "9", "x").err
    assert brain("learn").code == 2


def test_a_detection_that_finds_its_fault_says_so(brain: Brain, project: Path) -> None:
    """Exit code 3, with what the command said."""
    brain("learn", "Never write MATCH unquoted.", "--detect", "echo src/fts.py")
    found = brain("learn", "check")
    assert found.code == 3
    assert "there" in found.out
    assert "src/fts.py" in found.out


def test_a_handoff_is_written_and_its_card_shown_again(brain: Brain, project: Path) -> None:
    """The card names the file and the next step; one that says nothing is refused."""
    written = brain("handoff", "pump", "--next", "open the valve", "--open", "why it leaks", "--file", "src/a.py")
    assert written.code == 0
    assert brain("handoff", "--card").out == written.out
    assert "Next step: open the valve" in written.out
    assert (project / "docs/handoffs").is_dir()
    assert brain("handoff", "pump").code == 2


def test_the_card_of_a_project_without_handoffs_says_how_to_write_one(brain: Brain, project: Path) -> None:
    """The error names the folder."""
    outcome = brain("handoff", "--card")
    assert outcome.code == 1
    assert "has no handoff yet" in outcome.err


def test_the_graph_is_shown_searched_and_checked(brain: Brain, project: Path) -> None:
    """An entity with its relations; a name near to it; facts whose file is gone."""
    brain("adr", "Use Whoosh")
    brain("adr", "Use FTS5", "--supersedes", 1)
    shown = brain("graph", "show", "ADR-0002", "Use", "FTS5").out
    assert "─ supersedes ─▶ ADR-0001 Use Whoosh" in shown
    assert "nearest: ADR-0002 Use FTS5" in brain("graph", "show", "FTS5").err
    assert "ADR-0001" in brain("graph", "search", "whoosh").out
    assert brain("graph", "check").code == 0
    (project / "docs/adr/0001-use-whoosh.md").unlink()
    with (project / "memory.jsonl").open("a") as stream:
        stream.write('{"type":"relation","from":"Ghost","to":"ADR-0002 Use FTS5","relationType":"haunts"}\nbroken\n')
    found = brain("graph", "check", "--json")
    assert found.code == 3
    said = json.loads(found.out)
    assert [fact["source"] for fact in said["lost"]] == ["docs/adr/0001-use-whoosh.md"]
    assert said["dangling"] == [["Ghost", "ADR-0002 Use FTS5", "haunts"]]
    assert said["unreadable"] == ["broken"]


def test_the_graph_is_proposed_from_notes_decisions_and_lessons(brain: Brain, project: Path) -> None:
    """Typed notes and their links; nothing is added without --yes, and nothing twice."""
    (project / "Ada.md").write_text(
        "---\ntype: person\ndescription: keeps the pumps\n---\nSee [[Pump LP-9]] and [[diary]].\n"
    )
    (project / "Pump LP-9.md").write_text("---\ntype: machine\n---\nIt pumps.\n")
    (project / "diary.md").write_text("A plain note.\n")
    brain("add", project)
    brain("index", "--quiet")
    brain("learn", "Oil the hinge.")
    before = graph_of(project)
    assert "2 entities and 1 relations are proposed" in brain("graph", "rebuild").out
    assert graph_of(project) == before
    assert brain("graph", "rebuild", "--yes").code == 0
    entities = {line["name"]: line["observations"] for line in graph_of(project) if line["type"] == "entity"}
    assert entities["Ada"] == ["keeps the pumps (source: Ada.md)"]
    assert {"type": "relation", "from": "Ada", "to": "Pump LP-9", "relationType": "links_to"} in graph_of(project)
    assert "0 entities and 0 relations" in brain("graph", "rebuild").out


def test_recall_brings_lessons_graph_and_notes_together_and_writes_nothing(brain: Brain, project: Path) -> None:
    """Each with the place where it stands; as JSON for programs; a topic that nobody knows is said to be unknown."""
    (project / "log.md").write_text("# Log\n\nThe pump of hall 2 leaked.\n")
    (project / "lp9.md").write_text("---\ntype: system\ndescription: The pump of hall 2.\n---\n# LP-9\n\nIt leaks.\n")
    assert brain("add", project).code == 0
    ingested = brain("ingest", project / "lp9.md")
    assert (ingested.code, "+ LP-9  system" in ingested.out) == (0, True)
    assert "(source: lp9.md)" in str(graph_of(project))
    assert brain("ingest", project / "log.md").out.endswith("0 entities and 0 relations were added\n")
    brain("learn", "When the pump leaks, change the seal.")
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    said = brain("recall", "pump", "leaks").out
    assert f"{project}/docs/lessons.md:" in said
    assert "The pump of hall 2. (source: lp9.md)" in said
    assert f"{project}/log.md:" in said
    told = json.loads(brain("recall", "pump", "--json").out)
    assert [lesson["id"] for lesson in told["lessons"]] == ["L-0001"]
    assert [entity["name"] for entity in told["entities"]] == ["LP-9"]
    assert {Path(hit["path"]).name for hit in told["hits"]} >= {"log.md", "lp9.md"}
    assert {path: path.read_bytes() for path in project.rglob("*") if path.is_file()} == before


def test_a_folder_that_lies_in_no_source_becomes_one_when_it_is_ingested(brain: Brain, tmp_path: Path) -> None:
    """A file alone does not: the error says what to type."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "a.md").write_text("The heron.\n")
    refused = brain("ingest", folder / "a.md")
    assert (refused.code, "lies in no source" in refused.err, "brain add" in refused.err) == (1, True, True)
    assert "source 'elsewhere'" in brain("ingest", folder, "--no-graph").out
    assert "a.md" in brain("search", "heron", "--mode", "lexical").out


def test_setup_of_a_project_needs_a_view_of_everything(brain: Brain, project: Path) -> None:
    """Refused before anything is written."""
    assert brain("--privacy", "work", "setup", "project", "--project", project, "--yes").code == 1
    assert list(project.iterdir()) == [project / ".git"]
