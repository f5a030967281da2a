"""The knowledge graph of ``memory.jsonl`` as something that can be drawn."""

from __future__ import annotations

from collections import defaultdict

from ..memory.lines import Graph
from .neighbourhood import MOST_NODES, Drawing, Node


def drawn(graph: Graph, around: str = "", *, depth: int = 1, most: int = MOST_NODES) -> Drawing:
    """Entities and their relations: all of them, or those up to ``depth`` relations away from one.

    Ends of relations that are no entity are drawn too, with type ''. Empty when no entity has the name.
    """
    near: dict[str, set[str]] = defaultdict(set)
    types = {entity.name: entity.type for entity in graph.entities}
    for relation in graph.relations:
        near[relation.source].add(relation.target)
        near[relation.target].add(relation.source)
        types.setdefault(relation.source, "")
        types.setdefault(relation.target, "")
    if around and around not in types:
        return Drawing((), ())
    distances = {around: 0} if around else dict.fromkeys(types, -1)
    edge = [around] if around else []
    for step in range(1, depth + 1):
        edge = sorted({other for name in edge for other in near[name]} - distances.keys())
        distances.update((name, step) for name in edge)
    ordered = sorted(distances, key=lambda name: (distances[name], -len(near[name]), name))
    chosen = ordered[:most]
    places = {name: place for place, name in enumerate(chosen)}
    said: dict[tuple[int, int], dict[str, None]] = {}
    for relation in graph.relations:
        if relation.source in places and relation.target in places and relation.source != relation.target:
            ends = places[relation.source], places[relation.target]
            said.setdefault((min(ends), max(ends)), {})[relation.type] = None
    return Drawing(
        tuple(Node(name, name, "", types[name], "", len(near[name] - {name}), distances[name]) for name in chosen),
        tuple(said),
        tuple(", ".join(types_of) for types_of in said.values()),
        len(ordered) - len(chosen),
    )
