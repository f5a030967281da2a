"""The nine operations of the reference memory server: same names, same meaning, but whole batches or nothing.

Differences, each to the safe side: an entity or relation named twice in one call is added once; a relation between
entities that do not exist is refused; what is read comes in pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..errors import NotFound, UsageError
from ..secrets import redact
from .file import MemoryFile
from .lines import Entity, Graph, Relation
from .search import matching

LONGEST_NAME = 500
LONGEST_OBSERVATION = 10_000
"""Characters. What is longer belongs into a note."""

PAGE = 50
"""Entities in one answer, unless another number is asked for."""


@dataclass(frozen=True, slots=True)
class Page:
    """Part of the graph: entities, and the relations that touch them. ``cursor`` asks for more, '' at the end."""

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]
    total: int
    cursor: str = ""


class KnowledgeGraph:
    """The operations on one file."""

    def __init__(self, file: MemoryFile) -> None:
        self.file = file

    # -- changing ----------------------------------------------------------------------------------------

    def create_entities(self, entities: Sequence[Entity]) -> list[Entity]:
        """Add entities whose names are not known; returns those.

        Raises UsageError for a wrong one: then none is added.
        """
        for entity in entities:
            _check_name(entity.name, "an entity's name")
            _check_name(entity.type, f"the type of '{entity.name[:80]}'")
            _check_observations(entity.name, entity.observations)

        def change(graph: Graph) -> tuple[Graph, list[Entity]]:
            known = {entity.name for entity in graph.entities}
            fresh: dict[str, Entity] = {}
            for entity in entities:
                if entity.name not in known:
                    texts = (redact(text)[0] for text in entity.observations)
                    unique = replace(entity, observations=tuple(dict.fromkeys(texts)))
                    fresh.setdefault(entity.name, unique)
            return replace(graph, entities=(*graph.entities, *fresh.values())), list(fresh.values())

        return self.file.change(change)

    def create_relations(self, relations: Sequence[Relation]) -> list[Relation]:
        """Add relations that are not there; returns those.

        Raises NotFound when an end is no entity, UsageError for a relation without a type: then none is added.
        """
        for relation in relations:
            _check_name(relation.type, "a relation's type")

        def change(graph: Graph) -> tuple[Graph, list[Relation]]:
            names = {entity.name for entity in graph.entities}
            missing = sorted({end for r in relations for end in (r.source, r.target) if end not in names})
            if missing:
                raise NotFound(
                    f"no entity is named {_listed(missing)}: none of the {len(relations)} relations was added",
                    hint="create the entities first, or correct the names: letter case counts",
                )
            known = {relation.key for relation in graph.relations}
            fresh = {relation.key: relation for relation in relations if relation.key not in known}
            return replace(graph, relations=(*graph.relations, *fresh.values())), list(fresh.values())

        return self.file.change(change)

    def add_observations(self, observations: Sequence[tuple[str, Sequence[str]]]) -> list[tuple[str, list[str]]]:
        """Add observations by entity's name; returns those that were new, in the order given.

        Raises NotFound when there is no such entity: then nothing is added.
        """
        for name, contents in observations:
            _check_observations(name, contents)

        def change(graph: Graph) -> tuple[Graph, list[tuple[str, list[str]]]]:
            by_name = {entity.name: entity for entity in graph.entities}
            missing = sorted({name for name, _ in observations if name not in by_name})
            if missing:
                raise NotFound(f"no entity is named {_listed(missing)}", hint="create it first, or correct the name")
            added = []
            for name, contents in observations:
                entity = by_name[name]
                texts = dict.fromkeys(redact(text)[0] for text in contents)
                fresh = [text for text in texts if text not in entity.observations]
                by_name[name] = replace(entity, observations=(*entity.observations, *fresh))
                added.append((name, fresh))
            return replace(graph, entities=tuple(by_name.values())), added

        return self.file.change(change)

    def delete_entities(self, names: Sequence[str]) -> int:
        """Remove entities and the relations that touch them; unknown names are ignored. Returns how many went."""
        gone = set(names)

        def change(graph: Graph) -> tuple[Graph, int]:
            entities = tuple(entity for entity in graph.entities if entity.name not in gone)
            relations = tuple(r for r in graph.relations if r.source not in gone and r.target not in gone)
            left = replace(graph, entities=entities, relations=relations)
            return left, len(graph.entities) - len(entities)

        return self.file.change(change)

    def delete_observations(self, deletions: Sequence[tuple[str, Sequence[str]]]) -> int:
        """Remove observations, as written, by entity's name; unknown ones are ignored. Returns how many went."""

        def change(graph: Graph) -> tuple[Graph, int]:
            gone: dict[str, set[str]] = {}
            for name, texts in deletions:
                gone.setdefault(name, set()).update(texts)
            entities = []
            for entity in graph.entities:
                left = tuple(text for text in entity.observations if text not in gone.get(entity.name, ()))
                entities.append(replace(entity, observations=left))
            count = sum(
                len(old.observations) - len(new.observations) for old, new in zip(graph.entities, entities, strict=True)
            )
            return replace(graph, entities=tuple(entities)), count

        return self.file.change(change)

    def delete_relations(self, relations: Sequence[Relation]) -> int:
        """Remove relations; unknown ones are ignored. Returns how many went."""
        gone = {relation.key for relation in relations}

        def change(graph: Graph) -> tuple[Graph, int]:
            left = tuple(relation for relation in graph.relations if relation.key not in gone)
            return replace(graph, relations=left), len(graph.relations) - len(left)

        return self.file.change(change)

    # -- reading -----------------------------------------------------------------------------------------

    def read_graph(self, *, limit: int = PAGE, cursor: str = "") -> Page:
        """Everything, page by page, in the order of the file."""
        graph = self.file.read()
        return _page(graph, graph.entities, limit, cursor)

    def search_nodes(self, query: str, *, limit: int = PAGE, cursor: str = "") -> Page:
        """Entities that answer, best first: those that hold the query as written, then those that share its words.

        An empty query is ``read_graph``.
        """
        graph = self.file.read()
        return _page(graph, matching(query, graph.entities), limit, cursor)

    def open_nodes(self, names: Sequence[str], *, limit: int = PAGE, cursor: str = "") -> Page:
        """Entities by their exact names; unknown ones are ignored."""
        graph = self.file.read()
        wanted = set(names)
        return _page(graph, [entity for entity in graph.entities if entity.name in wanted], limit, cursor)


def _page(graph: Graph, found: Sequence[Entity], limit: int, cursor: str) -> Page:
    """The page that begins where the cursor says. Raises UsageError for a cursor that is none of ours."""
    if cursor and not (cursor.isascii() and cursor.isdigit()):
        raise UsageError(f"'{cursor[:40]}' is no cursor of this answer", hint="take the cursor of the page before")
    first, limit = int(cursor or 0), max(1, limit)
    entities = tuple(found[first : first + limit])
    names = {entity.name for entity in entities}
    relations = tuple(r for r in graph.relations if r.source in names or r.target in names)
    end = first + limit
    return Page(entities, relations, len(found), str(end) if end < len(found) else "")


def _check_name(name: str, what: str) -> None:
    if not name.strip():
        raise UsageError(f"{what} is empty", hint="give it a name that will be understood later")
    if len(name) > LONGEST_NAME:
        raise UsageError(f"{what} has {len(name):,} characters, at most {LONGEST_NAME} are kept")


def _check_observations(name: str, observations: Sequence[str]) -> None:
    for text in observations:
        if not text.strip():
            raise UsageError(f"an observation of '{name[:80]}' is empty")
        if len(text) > LONGEST_OBSERVATION:
            raise UsageError(
                f"an observation of '{name[:80]}' has {len(text):,} characters,"
                f" at most {LONGEST_OBSERVATION:,} are kept",
                hint="put it into a note and name the note",
            )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"'{name[:80]}'" for name in names[:5])
    return shown + (f" and {len(names) - 5} more" if len(names) > 5 else "")
