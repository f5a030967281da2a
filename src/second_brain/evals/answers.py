"""What any system answers to a question, in one form, so that all are measured, timed and weighed by the same code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple, TypeAlias

from ..protocols import Progress
from .measures import DEPTH
from .questions import NOW, Question


class Place(NamedTuple):
    """Where an answer stands: half open, in characters of the document with this uri."""

    document: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Found:
    """What a system answered: places, best first, and the text that an agent would read of it, made on request."""

    places: Sequence[Place]
    text: Callable[[], str]


Engine: TypeAlias = Callable[[str], Found]
"""A system: from a question to its answer."""

Answers: TypeAlias = "Mapping[str, Sequence[Place]]"
"""By question id, what one system found, best first."""


@dataclass(frozen=True, slots=True)
class Asking:
    """How the questions of a set are asked; the names are those of ``Brain.search``."""

    limit: int = DEPTH
    per_document: int | None = 1
    now: datetime = NOW
    condensed: bool = False

    def as_an_agent(self) -> Asking:
        """The same as an agent asks: an answer to read, with two passages of a document."""
        return replace(self, per_document=2, condensed=True)


def capped(places: Iterable[Place], asking: Asking) -> list[Place]:
    """The first ``limit`` places, at most ``per_document`` of each document."""
    taken: list[Place] = []
    seen: dict[str, int] = {}
    for place in places:
        seen[place.document] = seen.get(place.document, 0) + 1
        if asking.per_document is None or seen[place.document] <= asking.per_document:
            taken.append(place)
        if len(taken) == asking.limit:
            break
    return taken


def gather(
    engines: Mapping[str, Engine], questions: Sequence[Question], name: str, progress: Progress
) -> dict[str, Answers]:
    """Every system's answers. What stands under two names is asked once.

    ``progress`` is told ``(set and system, done, total)``.
    """
    known: dict[Engine, Answers] = {}
    for system, engine in engines.items():
        if engine in known:
            continue
        answers: dict[str, Sequence[Place]] = {}
        for done, question in enumerate(questions, start=1):
            answers[question.id] = engine(question.text).places
            progress(f"{name} {system}", done, len(questions))
        known[engine] = answers
    return {system: known[engine] for system, engine in engines.items()}
