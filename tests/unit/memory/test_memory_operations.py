"""The nine operations on a knowledge graph keep to what the reference memory server does, and to what it should do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from second_brain.errors import NotFound, UsageError
from second_brain.memory.file import MemoryFile
from second_brain.memory.lines import Entity, Relation
from second_brain.memory.operations import LONGEST_NAME, LONGEST_OBSERVATION, KnowledgeGraph
from second_brain.memory.sources import dangling, source_of, unfounded, with_source

ADA = Entity("Ada", "person", ("likes tea", "lives in Rome"))
ACME = Entity("Acme", "company", ())
WORKS = Relation("Ada", "Acme", "works_at")


@pytest.fixture
def graph(tmp_path: Path) -> KnowledgeGraph:
    """An empty graph; its file does not exist yet."""
    return KnowledgeGraph(MemoryFile(tmp_path / "deep" / "memory.jsonl"))


def lines(graph: KnowledgeGraph) -> list[object]:
    """The file as any program would read it."""
    text = graph.file.path.read_text(encoding="utf-8")
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def test_the_file_has_the_form_of_the_reference_server(graph):
    """Entities first, then relations, each an object on a line."""
    graph.create_entities([ADA, ACME])
    graph.create_relations([WORKS])
    assert lines(graph) == [
        {"type": "entity", "name": "Ada", "entityType": "person", "observations": ["likes tea", "lives in Rome"]},
        {"type": "entity", "name": "Acme", "entityType": "company", "observations": []},
        {"type": "relation", "from": "Ada", "to": "Acme", "relationType": "works_at"},
    ]


def test_only_what_is_new_is_created(graph):
    """A known name is skipped, its observations stay; what is named twice in one call is added once."""
    assert graph.create_entities([ADA, ADA]) == [ADA]
    assert graph.create_entities([Entity("Ada", "cat", ("purrs",)), ACME, Entity("ada", "person")]) == [
        ACME,
        Entity("ada", "person"),
    ]
    assert graph.create_relations([WORKS, WORKS]) == [WORKS]
    assert graph.create_relations([WORKS]) == []
    assert graph.open_nodes(["Ada"]).entities == (ADA,)


def test_observations_are_added_once_and_all_or_none(graph):
    """Exact texts are compared; an unknown entity stops the whole call."""
    graph.create_entities([ADA])
    assert graph.add_observations([("Ada", ["likes tea", "sings", "sings"])]) == [("Ada", ["sings"])]
    with pytest.raises(NotFound, match="'Bob'"):
        graph.add_observations([("Ada", ["dances"]), ("Bob", ["x"])])
    assert graph.open_nodes(["Ada"]).entities[0].observations == ("likes tea", "lives in Rome", "sings")


def test_kg_4_relations_need_both_ends_and_go_with_them(graph):
    """A batch with one bad relation is refused whole; deleting an entity deletes its relations."""
    graph.create_entities([ADA, ACME])
    with pytest.raises(NotFound, match=r"'Ghost A', 'Ghost B': none of the 2 relations was added"):
        graph.create_relations([WORKS, Relation("Ghost A", "Ghost B", "haunts")])
    assert graph.read_graph().relations == ()
    graph.create_relations([WORKS])
    assert graph.delete_entities(["Acme", "nobody"]) == 1
    assert graph.read_graph().relations == ()


def test_deleting_is_exact_and_ignores_what_is_not_there(graph):
    """Observations and relations as written."""
    graph.create_entities([ADA, ACME])
    graph.create_relations([WORKS])
    assert graph.delete_observations([("Ada", ["likes te", "lives in Rome"]), ("Bob", ["x"])]) == 1
    assert graph.delete_relations([Relation("Ada", "Acme", "works_AT"), WORKS]) == 1
    assert graph.read_graph().entities == (Entity("Ada", "person", ("likes tea",)), ACME)


def test_opening_gives_relations_with_either_end(graph):
    """As the reference server does; unknown names are ignored."""
    graph.create_entities([ADA, ACME])
    graph.create_relations([WORKS])
    page = graph.open_nodes(["Acme", "Ghost"])
    assert (page.entities, page.relations) == ((ACME,), (WORKS,))


def test_a_search_finds_substrings_and_several_words(graph):
    """The whole query in any field first, letter case ignored; then words in any order, Japanese too; '' is all."""
    pump = Entity("Pump LP-9", "machine", ("It was repaired in May by Ada",))
    tank = Entity("水槽", "machine", ("第二倉庫の排水ポンプにつながる",))
    graph.create_entities([ADA, ACME, pump, tank])
    assert [entity.name for entity in graph.search_nodes("IKES TE").entities] == ["Ada"]
    assert [entity.name for entity in graph.search_nodes("repairing the pump").entities] == ["Pump LP-9"]
    assert [entity.name for entity in graph.search_nodes("排水 倉庫").entities] == ["水槽"]
    assert [entity.name for entity in graph.search_nodes("Ada").entities] == ["Ada", "Pump LP-9"]
    assert graph.search_nodes("  ").total == 4
    assert graph.search_nodes("zeppelin").entities == ()


def test_kg_6_a_large_graph_comes_in_pages(graph):
    """3,000 entities: every one once, none twice; a foreign cursor is refused."""
    graph.create_entities([Entity(f"e{n}", "t", ("x",) * 1) for n in range(3000)])
    seen, cursor = [], ""
    while True:
        page = graph.read_graph(limit=700, cursor=cursor)
        assert page.total == 3000
        seen += [entity.name for entity in page.entities]
        cursor = page.cursor
        if not cursor:
            break
    assert seen == [f"e{n}" for n in range(3000)]
    assert len(graph.read_graph().entities) == 50
    with pytest.raises(UsageError, match="no cursor"):
        graph.read_graph(cursor="next")


@pytest.mark.parametrize(
    "entity",
    [Entity(" ", "t"), Entity("n", ""), Entity("n" * (LONGEST_NAME + 1), "t"), Entity("n", "t", ("",)),
     Entity("n", "t", ("x" * (LONGEST_OBSERVATION + 1),))],
)  # fmt: skip
def test_what_could_not_be_understood_later_is_refused_whole(graph, entity):
    """Empty and huge names and observations; nothing of the call is kept."""
    with pytest.raises(UsageError):
        graph.create_entities([ADA, entity])
    assert not graph.file.path.exists()


def test_facts_name_their_source_and_lost_ones_are_found():
    """At the end of the text, whatever brackets the file's name has."""
    for source in ("ops/pump.md", "Plan (old).md", "会議 メモ.md"):
        assert source_of(with_source("It leaks.", source)) == source
    assert with_source("It leaks. (source: a.md)", "b.md") == "It leaks. (source: b.md)"
    assert source_of("It leaks (source of the Nile).") == ""
    from second_brain.memory.lines import Graph

    graph = Graph((Entity("P", "t", ("a (source: a.md)", "b (source: b.md)", "c")),), (Relation("P", "Q", "r"),))
    found = [(fact.observation, fact.source) for fact in unfounded(graph, lambda source: source == "a.md")]
    assert found == [("b (source: b.md)", "b.md"), ("c", "")]
    assert dangling(graph) == [("P", "Q", "r")]


def test_keys_are_masked_and_a_link_out_of_the_project_is_refused(graph, tmp_path):
    """What an agent was told in passing is not kept; somebody else's file is not overwritten."""
    from second_brain.memory.location import memory_file

    key = "ghp_" + "a1B2" * 9
    graph.create_entities([Entity("P", "t", (f"deploy with {key}",))])
    graph.add_observations([("P", [f"again {key}"])])
    assert key not in graph.file.path.read_text(encoding="utf-8")
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "rc").write_text("alias x=y\n")
    (project / "memory.jsonl").symlink_to(tmp_path / "rc")
    with pytest.raises(UsageError, match="leads out of the project"):
        memory_file(project, {})
    assert memory_file(project, {"MEMORY_FILE_PATH": str(tmp_path / "named.jsonl")}) == tmp_path / "named.jsonl"
