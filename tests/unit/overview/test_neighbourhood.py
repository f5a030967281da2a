"""Which notes are linked, which stand out, and what of it somebody with a label sees."""

from __future__ import annotations

from typing import Any

import pytest

from second_brain.memory.lines import Entity, Graph, Relation
from second_brain.overview.entities import drawn
from second_brain.overview.neighbourhood import Drawing, LinkGraph, Loose

NOTES = {
    "hub.md": "# Hub\n\n[[one]] [[two]] [[ops/three]]\n",
    "one.md": "# One\n\n[[two]] and [[nowhere]] ![[picture.png]]\n",
    "two.md": "# Two\n\n[[one]]\n",
    "ops/three.md": "# Three\n\n[[hub]] [[far]]\n",
    "far.md": "# Far\n",
    "alone.md": "---\ndate: 2031-05-02\n---\n# Alone\n",
}


@pytest.fixture
def graph(notes: Any) -> LinkGraph:
    notes.index(NOTES)
    return LinkGraph(notes.brain.visible())


def names(drawing: Drawing) -> list[str]:
    return [node.name.partition("/")[2] for node in drawing.nodes]


def test_a_neighbourhood_goes_both_ways_and_ends_at_its_depth(graph: LinkGraph) -> None:
    """One link away of ``one`` are the notes that it links to and those that link to it; the rest is farther."""
    near = graph.around("notes/one.md")
    assert names(near) == ["one.md", "hub.md", "two.md"]
    assert [node.distance for node in near.nodes] == [0, 1, 1]
    assert names(graph.around("notes/one.md", depth=2)) == ["one.md", "hub.md", "two.md", "ops/three.md"]
    assert names(graph.around("notes/one.md", depth=3))[-1] == "far.md"


def test_two_links_between_two_notes_are_one_edge(graph: LinkGraph) -> None:
    """``one`` and ``two`` link to each other: drawn once, as places in the nodes."""
    drawing = graph.around("notes/one.md")
    assert sorted(drawing.edges) == [(0, 1), (0, 2), (1, 2)]


def test_too_many_nodes_are_cut_farthest_and_least_linked_first(graph: LinkGraph) -> None:
    """A drawing of two nodes has the beginning and its most linked neighbour, and counts what does not fit."""
    drawing = graph.around("notes/one.md", depth=3, most=2)
    assert (names(drawing), drawing.left_out) == (["one.md", "hub.md"], 3)


def test_hubs_orphans_and_broken_links_are_told(graph: LinkGraph) -> None:
    """Hubs by incoming links; an orphan has none either way; a link to a picture is not a broken one."""
    assert [(hub.title, into, out) for hub, into, out in graph.hubs][:2] == [("One", 2, 1), ("Two", 2, 1)]
    assert [orphan.title for orphan in graph.orphans] == ["Alone"]
    assert graph.loose == (Loose("notes/one.md", "One", "nowhere", 19),)


def test_the_whole_leaves_out_what_has_no_links(graph: LinkGraph) -> None:
    """Every linked note is drawn, the most linked first, with the folder that it lies in."""
    whole = graph.whole
    assert set(names(whole)) == {"hub.md", "one.md", "two.md", "ops/three.md", "far.md"}
    assert whole.nodes[0].name == "notes/hub.md"
    assert {node.folder for node in whole.nodes} == {"", "ops"}


def test_what_a_label_hides_is_neither_drawn_nor_counted(notes: Any) -> None:
    """A view without secret notes has no node, edge or degree of one; a link to it leads nowhere."""
    notes.index(
        {
            "plan.md": "---\nprivacy: public\n---\n# Plan\n\n[[salary]] [[shared]]\n",
            "shared.md": "---\nprivacy: public\n---\n# Shared\n",
            "salary.md": "---\nprivacy: secret\n---\n# Salary\n\n[[plan]]\n",
        }
    )
    view = notes.brain.seen_by("personal")
    graph = LinkGraph(view.visible())
    assert graph.around("notes/salary.md") == Drawing((), ())
    drawing = graph.around("notes/plan.md", depth=3)
    assert [(node.title, node.degree) for node in drawing.nodes] == [("Plan", 1), ("Shared", 1)]
    assert [loose.written for loose in graph.loose] == ["salary"]
    assert {hub.title for hub, _, _ in graph.hubs} == {"Shared"}


def test_a_link_leads_to_the_visible_note_of_two_with_one_name(notes: Any) -> None:
    """Where the note that a link leads to may not be seen, it leads where it would without that note."""
    notes.index(
        {
            "start.md": "---\nprivacy: public\n---\n# Start\n\n[[plan]]\n",
            "plan.md": "---\nprivacy: secret\n---\n# Plan\n",
            "deep/er/plan.md": "---\nprivacy: public\n---\n# Plan\n",
        }
    )
    graph = LinkGraph(notes.brain.seen_by("personal").visible())
    assert names(graph.around("notes/start.md")) == ["start.md", "deep/er/plan.md"]


GRAPH = Graph(
    (Entity("Ada", "person"), Entity("Pump", "part"), Entity("Boat", "thing"), Entity("Tea", "drink")),
    (
        Relation("Ada", "Pump", "repairs"),
        Relation("Pump", "Ada", "belongs_to"),
        Relation("Boat", "Pump", "has"),
        Relation("Boat", "Harbour", "lies_in"),
    ),
)


def test_entities_are_drawn_with_their_relations() -> None:
    """Two relations between two entities are one edge with both words; an end that is no entity is drawn too."""
    drawing = drawn(GRAPH)
    assert [node.name for node in drawing.nodes] == ["Boat", "Pump", "Ada", "Harbour", "Tea"]
    said = dict(zip(drawing.edges, drawing.labels, strict=True))
    assert said == {(1, 2): "repairs, belongs_to", (0, 1): "has", (0, 3): "lies_in"}
    assert {node.name: node.type for node in drawing.nodes}["Harbour"] == ""


def test_entities_around_one_end_at_the_depth() -> None:
    """One relation away of Ada is the pump, two away the boat."""
    assert [node.name for node in drawn(GRAPH, "Ada").nodes] == ["Ada", "Pump"]
    assert [node.name for node in drawn(GRAPH, "Ada", depth=2).nodes] == ["Ada", "Pump", "Boat"]
    assert drawn(GRAPH, "Nobody") == Drawing((), ())
