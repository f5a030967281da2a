"""The nine tools of the knowledge graph, with the names, arguments and answers of the reference memory server."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from .arguments import Arguments
from .desk import Desk, Report
from .toolsets import Answer, Tool

if TYPE_CHECKING:
    from ..memory.lines import Relation
    from ..memory.operations import KnowledgeGraph, Page

PAGE_TOKENS = 2_000

TEXT = {"type": "string"}
LIST = {"type": "array", "items": TEXT}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _list(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item}


ENTITY = _object(name=TEXT, entityType=TEXT, observations=LIST)
RELATION = _object(**{"from": TEXT, "to": TEXT, "relationType": TEXT})
PAGED = {"limit": {"type": "integer", "default": 50}, "cursor": TEXT}
GRAPH = {"entities": _list(ENTITY), "relations": _list(RELATION), "total": {"type": "integer"}, "cursor": TEXT}
DONE = {"success": {"type": "boolean"}, "message": TEXT}


def _graph(desk: Desk) -> KnowledgeGraph:
    desk.brain.must_see_all("read the knowledge graph, which has no privacy labels")
    if desk.graph is None:
        raise UsageError(
            "this connection belongs to no folder, so there is no graph", hint="the server's MEMORY_FILE_PATH names one"
        )
    from ..memory.file import MemoryFile
    from ..memory.operations import KnowledgeGraph

    return KnowledgeGraph(MemoryFile(desk.graph))


def _changing(desk: Desk) -> KnowledgeGraph:
    desk.whole("change the knowledge graph")
    return _graph(desk)


def _text(entry: dict[str, Any], key: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"'{key}' is missing in {json.dumps(entry, ensure_ascii=False)[:120]}")
    return value


def _strings(entry: dict[str, Any], key: str) -> list[str]:
    value = entry.get(key, [])
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise UsageError(f"'{key}' is no list of texts in {json.dumps(entry, ensure_ascii=False)[:120]}")
    return value


def _relations(given: Arguments) -> list[Relation]:
    from ..memory.lines import Relation

    return [
        Relation(_text(entry, "from"), _text(entry, "to"), _text(entry, "relationType"))
        for entry in given.objects("relations")
    ]


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def create_entities(desk: Desk, given: Arguments, report: Report) -> Answer:
    """Add entities."""
    from ..memory.lines import Entity

    wanted = [
        Entity(_text(entry, "name"), _text(entry, "entityType"), tuple(_strings(entry, "observations")))
        for entry in given.objects("entities")
    ]
    made = [entity.shown() for entity in _changing(desk).create_entities(wanted)]
    return Answer(_shown(made), {"entities": made})


def create_relations(desk: Desk, given: Arguments, report: Report) -> Answer:
    """Add relations."""
    made = [relation.shown() for relation in _changing(desk).create_relations(_relations(given))]
    return Answer(_shown(made), {"relations": made})


def add_observations(desk: Desk, given: Arguments, report: Report) -> Answer:
    """Add observations."""
    wanted = [(_text(entry, "entityName"), _strings(entry, "contents")) for entry in given.objects("observations")]
    added = [
        {"entityName": name, "addedObservations": texts} for name, texts in _changing(desk).add_observations(wanted)
    ]
    return Answer(_shown(added), {"results": added})


def _deleted(what: str) -> Answer:
    message = f"{what} deleted successfully"
    return Answer(message, {"success": True, "message": message})


def delete_entities(desk: Desk, given: Arguments, report: Report) -> Answer:
    """Remove entities."""
    _changing(desk).delete_entities(given.texts("entityNames"))
    return _deleted("Entities")


def delete_observations(desk: Desk, given: Arguments, report: Report) -> Answer:
    """Remove observations."""
    wanted = [(_text(entry, "entityName"), _strings(entry, "observations")) for entry in given.objects("deletions")]
    _changing(desk).delete_observations(wanted)
    return _deleted("Observations")


def delete_relations(desk: Desk, given: Arguments, report: Report) -> Answer:
    """Remove relations."""
    _changing(desk).delete_relations(_relations(given))
    return _deleted("Relations")


def _read(ask: Callable[[KnowledgeGraph, int, str], Page], desk: Desk, given: Arguments) -> Answer:
    """A page that fits into the budget: fewer entities where they are long."""
    from ..answering.packing import tokens

    graph = _graph(desk)
    limit = given.number("limit", 50, low=1, high=200)
    cursor = given.text("cursor")
    while True:
        page = ask(graph, limit, cursor)
        value = {
            "entities": [entity.shown() for entity in page.entities],
            "relations": [relation.shown() for relation in page.relations],
            "total": page.total,
            "cursor": page.cursor,
        }
        text = json.dumps(value, ensure_ascii=False)
        if limit == 1 or tokens(text) <= PAGE_TOKENS:
            return Answer(text, value)
        limit = max(1, limit // 2)


def read_graph(desk: Desk, given: Arguments, report: Report) -> Answer:
    """Everything, page by page."""
    return _read(lambda graph, limit, cursor: graph.read_graph(limit=limit, cursor=cursor), desk, given)


def search_nodes(desk: Desk, given: Arguments, report: Report) -> Answer:
    """Entities that answer."""
    query = given.text("query")
    return _read(lambda graph, limit, cursor: graph.search_nodes(query, limit=limit, cursor=cursor), desk, given)


def open_nodes(desk: Desk, given: Arguments, report: Report) -> Answer:
    """Entities by name."""
    names = given.texts("names")
    return _read(lambda graph, limit, cursor: graph.open_nodes(names, limit=limit, cursor=cursor), desk, given)


def _changer(
    name: str, title: str, description: str, run: Any, takes: Any, gives: Any, *, deletes: bool = False
) -> Tool:
    return Tool(
        name,
        title,
        description,
        run,
        takes,
        gives,
        tuple(takes),
        read_only=False,
        destructive=deletes,
        idempotent=deletes,
    )


MEMORY = (
    _changer(
        "create_entities", "Create Entities", "Create multiple new entities in the knowledge graph", create_entities,
        {"entities": _list(ENTITY)}, {"entities": _list(ENTITY)},
    ),
    _changer(
        "create_relations", "Create Relations",
        "Create multiple new relations between entities in the knowledge graph. Relations should be in active voice",
        create_relations, {"relations": _list(RELATION)}, {"relations": _list(RELATION)},
    ),
    _changer(
        "add_observations", "Add Observations",
        "Add new observations to existing entities in the knowledge graph; name the source file at the end",
        add_observations, {"observations": _list(_object(entityName=TEXT, contents=LIST))},
        {"results": _list(_object(entityName=TEXT, addedObservations=LIST))},
    ),
    _changer(
        "delete_entities", "Delete Entities", "Delete multiple entities and their relations from the knowledge graph",
        delete_entities, {"entityNames": LIST}, DONE, deletes=True,
    ),
    _changer(
        "delete_observations", "Delete Observations",
        "Delete specific observations from entities in the knowledge graph", delete_observations,
        {"deletions": _list(_object(entityName=TEXT, observations=LIST))}, DONE, deletes=True,
    ),
    _changer(
        "delete_relations", "Delete Relations", "Delete multiple relations from the knowledge graph", delete_relations,
        {"relations": _list(RELATION)}, DONE, deletes=True,
    ),
    Tool("read_graph", "Read Graph", "Read the knowledge graph, page by page", read_graph, PAGED, GRAPH),
    Tool(
        "search_nodes", "Search Nodes", "Search for nodes in the knowledge graph based on a query", search_nodes,
        {"query": TEXT, **PAGED}, GRAPH, ("query",),
    ),
    Tool(
        "open_nodes", "Open Nodes", "Open specific nodes in the knowledge graph by their names", open_nodes,
        {"names": LIST, **PAGED}, GRAPH, ("names",),
    ),
)  # fmt: skip
