"""Where a fact comes from stands at its end: ``The pump is an LP-9. (source: ops/pump.md)``.

It is part of the observation's text, since the reference server would drop any other key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .lines import Graph

_SOURCE = re.compile(r"\s*\(source: ([^()\n]+(?:\([^()\n]*\)[^()\n]*)*)\)\s*$")


@dataclass(frozen=True, slots=True)
class Unfounded:
    """A fact whose source is gone, or that names none (``source`` is '')."""

    entity: str
    observation: str
    source: str


def with_source(observation: str, source: str) -> str:
    """The observation with the file that it comes from."""
    return f"{_SOURCE.sub('', observation).rstrip()} (source: {source})"


def source_of(observation: str) -> str:
    """The file that an observation names, '' for none."""
    found = _SOURCE.search(observation)
    return found.group(1).strip() if found else ""


def unfounded(graph: Graph, exists: Callable[[str], bool]) -> Iterator[Unfounded]:
    """Facts whose file ``exists`` denies, and facts that name none, in the order of the file."""
    known: dict[str, bool] = {}
    for entity in graph.entities:
        for observation in entity.observations:
            source = source_of(observation)
            if source and source not in known:
                known[source] = exists(source)
            if not source or not known[source]:
                yield Unfounded(entity.name, observation, source)


def dangling(graph: Graph) -> list[tuple[str, str, str]]:
    """Relations with an end that is no entity, as an import may bring them."""
    names = {entity.name for entity in graph.entities}
    return [relation.key for relation in graph.relations if not {relation.source, relation.target} <= names]
