"""What the notes, decisions and lessons of a project would add to its knowledge graph, without any model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..memory.lines import Entity, Graph, Relation
from ..memory.sources import with_source
from .decisions import folder_of
from .decisions import read_all as decisions_of
from .facts import entity_of_decision, entity_of_lesson, relations_of
from .lessons import read_all as lessons_of

PLAIN = frozenset(("", "note", "daily", "session", "session-summary", "handoff", "map", "history", "readme", "doc"))
"""Types that do not say what a note stands for."""


@dataclass(frozen=True, slots=True)
class LinkedNote:
    """A note as the proposals see it; ``links`` are titles of the notes that it links to."""

    title: str
    type: str
    description: str
    path: str
    links: Sequence[str]


def proposed(notes: Iterable[LinkedNote], project: Path) -> Graph:
    """Entities for typed notes, decisions and lessons; relations for their links and for what supersedes what."""
    decisions = decisions_of(folder_of(project))
    entities = [entity_of_decision(decision, project) for decision in decisions]
    entities += [entity_of_lesson(lesson) for lesson in lessons_of(project) if lesson.state == "active"]
    relations = list(relations_of(decisions))
    typed = [note for note in notes if note.type.lower() not in PLAIN]
    titles = {note.title for note in typed}
    for note in typed:
        said = note.description or f"{note.title} is a {note.type.lower()}"
        entities.append(Entity(note.title, note.type.lower(), (with_source(said, note.path),)))
        relations += [
            Relation(note.title, target, "links_to")
            for target in dict.fromkeys(note.links)
            if target in titles and target != note.title
        ]
    by_name = {entity.name: entity for entity in reversed(entities)}
    return Graph(tuple(reversed(by_name.values())), tuple({relation.key: relation for relation in relations}.values()))
