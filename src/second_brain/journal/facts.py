"""What decisions and lessons add to the knowledge graph: an entity each, naming its file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ..memory.lines import Entity, Relation
from ..memory.operations import KnowledgeGraph
from ..memory.sources import with_source
from .decisions import Decision
from .lessons import FILE as LESSONS
from .lessons import Lesson


def entity_of_decision(decision: Decision, project: Path) -> Entity:
    """A decision as an entity."""
    state = f"{decision.status or 'recorded'} on {decision.date}" if decision.date else decision.status or "recorded"
    return Entity(
        decision_name(decision), "decision", (with_source(f"{decision.title}: {state}", below(decision.path, project)),)
    )


def entity_of_lesson(lesson: Lesson) -> Entity:
    """A lesson as an entity."""
    return Entity(lesson.id, "lesson", (with_source(lesson.lesson, LESSONS),))


def decision_name(decision: Decision) -> str:
    """How the graph calls a decision."""
    return f"{decision.name} {decision.title}"


def relations_of(decisions: Sequence[Decision]) -> Iterable[Relation]:
    """Which decision supersedes which."""
    by_number = {decision.number: decision for decision in decisions}
    for decision in decisions:
        for number in decision.supersedes:
            if number in by_number:
                yield Relation(decision_name(decision), decision_name(by_number[number]), "supersedes")


def add_decision(graph: KnowledgeGraph, decision: Decision, known: Sequence[Decision], project: Path) -> None:
    """Put a decision and what it supersedes into the graph."""
    superseded = [other for other in known if other.number in decision.supersedes]
    graph.create_entities([entity_of_decision(other, project) for other in (*superseded, decision)])
    graph.create_relations(list(relations_of([*superseded, decision])))


def below(path: Path, project: Path) -> str:
    """A path as facts name it: below the project where it lies there."""
    return path.relative_to(project).as_posix() if path.is_relative_to(project) else str(path)
