"""The map: a note's neighbourhood by links, the knowledge graph, and what stands out among all notes."""

from __future__ import annotations

from typing import Any

from starlette.responses import JSONResponse, Response

from ...errors import NotFound
from ...memory.file import MemoryFile
from ...overview import entities
from ...overview.kept import Kept
from ...overview.neighbourhood import DEEPEST, Drawing, LinkGraph, Node
from .page import Page, Visit, note_url, with_query
from .paging import sheet, show_sheet
from .visible import visible

LONGEST_LABEL = 90
"""Characters of a title in a drawing; the list shows it whole."""

LISTED = 50
"""Nodes in the list beside the drawing, until more are asked for."""

ROWS = 10
"""Of hubs, orphans and broken links on the page itself."""

MOST_FACTS = 200
"""Observations of an entity that are shown."""

LINK_GRAPHS: Kept[LinkGraph] = Kept(LinkGraph)
"""The links of each view, for this page and the review."""


def show_map(visit: Visit) -> Response:
    """The page: the list of what is drawn is in it, the drawing is fetched."""
    graph = LINK_GRAPHS.of(visit.brain.visible())
    depth = _depth(visit)
    what = "entities" if visit.argument("what") == "entities" and _has_entities(visit) else "notes"
    around = visit.argument("around")
    drawing = _drawing(visit, what, around, depth)
    nodes = sheet(drawing.nodes, visit.argument("nodes"), LISTED)
    query = {"what": "entities" if what == "entities" else "", "around": around}
    here = {**query, "depth": str(depth) if around else ""}
    hubs, orphans = graph.hubs, graph.orphans
    return visit.show(
        "map.html",
        what=what,
        around=around,
        title=drawing.nodes[0].title if around else "",
        begin=drawing.nodes[0] if around else None,
        depth=depth,
        depths=range(1, DEEPEST + 1),
        colours=_colours(what, around),
        query=query,
        here=here,
        drawing=drawing,
        source=with_query("/map/drawing", **here),
        nodes=nodes,
        sheet_url=lambda number: with_query("/map", **here, nodes=number),
        node_url=lambda node: _node_url(what, node),
        around_url=lambda node: with_query("/map", **{**query, "around": node.name}),
        has_entities=_has_entities(visit),
        facts=_facts(visit, around)[:MOST_FACTS] if what == "entities" and around else (),
        hubs=hubs[:ROWS],
        hub_count=len(hubs),
        orphans=orphans[:ROWS],
        orphan_count=len(orphans),
        loose=graph.loose[:ROWS],
        loose_count=len(graph.loose),
    )


def show_list(visit: Visit) -> Response:
    """All hubs, orphans or links that lead nowhere, page by page. Raises NotFound for another list."""
    graph = LINK_GRAPHS.of(visit.brain.visible())
    return show_sheet(visit, "map-list.html", {"hubs": graph.hubs, "orphans": graph.orphans, "broken": graph.loose})


def send_drawing(visit: Visit) -> Response:
    """What the page's script draws: columns of nodes, and edges as places in them, one after the other."""
    what = "entities" if visit.argument("what") == "entities" and _has_entities(visit) else "notes"
    around = visit.argument("around")
    drawing = _drawing(visit, what, around, _depth(visit))
    nodes = drawing.nodes
    return JSONResponse(
        {
            "titles": [visible(_short(node.title)) for node in nodes],
            "urls": [_node_url(what, node) for node in nodes],
            "degrees": [node.degree for node in nodes],
            "begins": bool(around),
            "edges": [place for edge in drawing.edges for place in edge],
            "labels": [visible(_short(label)) for label in drawing.labels],
            "colours": {
                name: _column([str(getattr(node, name)) for node in nodes], by_name=name == "distance")
                for name in _colours(what, around)
            },
        }
    )


def _drawing(visit: Visit, what: str, around: str, depth: int) -> Drawing:
    """What is asked for. Raises NotFound when it begins at something that is not there, or not to be seen."""
    if what == "entities":
        assert visit.house.graph is not None
        drawing = entities.drawn(MemoryFile(visit.house.graph).read(), around, depth=depth)
        if around and not drawing.nodes:
            raise NotFound(f"no entity is named '{around[:80]}'", hint="the map of the knowledge graph lists them")
        return drawing
    graph = LINK_GRAPHS.of(visit.brain.visible())
    return graph.around(visit.brain.get(around).document.uri, depth=depth) if around else graph.whole


def _facts(visit: Visit, name: str) -> tuple[str, ...]:
    """What the knowledge graph knows of an entity."""
    assert visit.house.graph is not None
    known = MemoryFile(visit.house.graph).read().entities
    return next((entity.observations for entity in known if entity.name == name), ())


def _has_entities(visit: Visit) -> bool:
    """Whether there is a knowledge graph, and for this visitor: it has no privacy labels."""
    graph = visit.house.graph
    return not visit.brain.clearance and graph is not None and graph.exists()


def _depth(visit: Visit) -> int:
    text = visit.argument("depth")
    return min(int(text), DEEPEST) if text.isascii() and text.isdigit() and int(text) else 1


def _node_url(what: str, node: Node) -> str:
    return note_url(node.name) if what == "notes" else with_query("/map", what="entities", around=node.name)


def _colours(what: str, around: str) -> tuple[str, ...]:
    """What the colours may stand for: the first one that tells nodes apart is shown."""
    names = ("source", "folder", "type") if what == "notes" else ("type",)
    return (*names, "distance") if around else names


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1].rstrip() + "…"


def _column(values: list[str], *, by_name: bool) -> dict[str, list[Any]]:
    """Values by place in the list of distinct ones, the most frequent first, or in their order."""
    counts: dict[str, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    names = sorted(counts, key=lambda name: (0 if by_name else -counts[name], name))
    places = {name: place for place, name in enumerate(names)}
    return {
        "names": [visible(_short(name)) for name in names],
        "counts": [counts[name] for name in names],
        "of": [places[value] for value in values],
    }


PAGES = (
    Page("/map", show_map),
    Page("/map/drawing", send_drawing, part=True),
    Page("/map/{which}", show_list),
)
