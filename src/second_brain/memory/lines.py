"""The lines of ``memory.jsonl``: entities and relations with whatever else stands in them, and lines that are neither.

{"type": "entity", "name": "Ada", "entityType": "person", "observations": ["likes tea"]}
{"type": "relation", "from": "Ada", "to": "Acme", "relationType": "works_at"}
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Entity:
    """A node. ``more`` are keys of its line that are not ours; they are written back."""

    name: str
    type: str
    observations: tuple[str, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)

    def shown(self) -> dict[str, Any]:
        """As the operations give it back."""
        return {"name": self.name, "entityType": self.type, "observations": list(self.observations)}

    def line(self) -> dict[str, Any]:
        """As it stands in the file."""
        return {"type": "entity", **self.shown(), **self.more}


@dataclass(frozen=True, slots=True)
class Relation:
    """An edge between two entities, in active voice."""

    source: str
    target: str
    type: str
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes it the same relation."""
        return self.source, self.target, self.type

    def shown(self) -> dict[str, Any]:
        """As the operations give it back."""
        return {"from": self.source, "to": self.target, "relationType": self.type}

    def line(self) -> dict[str, Any]:
        """As it stands in the file."""
        return {"type": "relation", **self.shown(), **self.more}


@dataclass(frozen=True, slots=True)
class Graph:
    """Everything in the file. ``others`` are objects of other types, ``bad`` what could not be read, as written."""

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    others: tuple[Mapping[str, Any], ...] = ()
    bad: tuple[str, ...] = ()

    def text(self) -> str:
        """The file: entities, then relations, then others, each on a line of its own."""
        lines: list[Mapping[str, Any]] = [entity.line() for entity in self.entities]
        lines += [relation.line() for relation in self.relations]
        lines += self.others
        return "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)


def read(text: str) -> Graph:
    """What the text of the file holds; nothing in it can make this fail.

    An entity that stands there twice is one with all observations; a relation that stands there twice is one.
    Objects glued together on a line are taken apart.
    """
    entities: dict[str, Entity] = {}
    relations: dict[tuple[str, str, str], Relation] = {}
    others: list[Mapping[str, Any]] = []
    bad: list[str] = []
    for line in text.lstrip("\ufeff").split("\n"):
        for value in _values(line):
            if isinstance(value, str):
                bad.append(value)
                continue
            entity, relation = _entity(value), _relation(value)
            if entity is not None:
                known = entities.get(entity.name)
                entities[entity.name] = _joined(known, entity) if known else entity
            elif relation is not None:
                relations.setdefault(relation.key, relation)
            elif value.get("type") in ("entity", "relation"):
                bad.append(json.dumps(value, ensure_ascii=False))
            else:
                others.append(value)
    return Graph(tuple(entities.values()), tuple(relations.values()), tuple(others), tuple(bad))


def _values(line: str) -> Iterator[dict[str, Any] | str]:
    """The objects of a line; the rest of it as text from where it is none."""
    decoder = json.JSONDecoder()
    rest = line.strip().replace("\x00", "")
    while rest:
        try:
            value, end = decoder.raw_decode(rest)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            yield rest
            return
        yield {_clean(key): _cleaned(entry) for key, entry in value.items()}
        rest = rest[end:].lstrip(" \t\r,")


def _entity(value: Mapping[str, Any]) -> Entity | None:
    if value.get("type") != "entity" or not isinstance(value.get("name"), str) or not value["name"].strip():
        return None
    observations = value.get("observations")
    found = observations if isinstance(observations, list) else []
    texts = tuple(dict.fromkeys(entry for entry in found if isinstance(entry, str)))
    more = {key: entry for key, entry in value.items() if key not in ("type", "name", "entityType", "observations")}
    return Entity(value["name"], str(value.get("entityType") or ""), texts, more)


def _relation(value: Mapping[str, Any]) -> Relation | None:
    if value.get("type") != "relation":
        return None
    ends = [value.get("from"), value.get("to"), value.get("relationType")]
    if not all(isinstance(end, str) and end.strip() for end in ends):
        return None
    more = {key: entry for key, entry in value.items() if key not in ("type", "from", "to", "relationType")}
    return Relation(str(ends[0]), str(ends[1]), str(ends[2]), more)


def _joined(known: Entity, again: Entity) -> Entity:
    observations = tuple(dict.fromkeys((*known.observations, *again.observations)))
    return replace(known, observations=observations, more={**again.more, **known.more})


def _cleaned(value: Any) -> Any:
    """The value with lone surrogates replaced: no file could take them."""
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, list):
        return [_cleaned(entry) for entry in value]
    if isinstance(value, dict):
        return {_clean(key): _cleaned(entry) for key, entry in value.items()}
    return value


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text
