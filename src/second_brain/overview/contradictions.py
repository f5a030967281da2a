"""What in the notes contradicts itself? For a person to look at; nothing is changed.

Decisions that were superseded and are still linked to, or that only one of two records knows of; lessons that hold no
more and are still named; names that several notes have; facts of the knowledge graph whose file is gone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..clearance import VisibleLinks
from ..index.sqlite import outlines
from ..index.sqlite.outlines import Outline
from ..journal import decisions, lessons
from ..journal.decisions import Decision
from ..memory.lines import Graph
from ..memory.sources import Unfounded, unfounded
from ..ranking.adjust import is_withdrawn
from .neighbourhood import LinkGraph

RECORDS = frozenset({"adr", "adrs", "decisions", "decision-records", "decision-log"})
"""Names of folders in which decision records lie."""

RECORD_TYPES = frozenset({"decision", "adr"})

MOST_NAMING = 100
"""Passages that are looked at for the name of one lesson."""

_LESSON = re.compile(r"\bL-(\d{1,6})\b")


@dataclass(frozen=True, slots=True)
class Outdated:
    """A document that holds no more, and the living ones that still link to it."""

    document: Outline
    linked_from: tuple[Outline, ...]


@dataclass(frozen=True, slots=True)
class OneSided:
    """A record that says it supersedes, or is superseded by, another which does not say so.

    ``other`` is None where there is no such record: then ``number`` is what it was called.
    """

    record: Outline
    supersedes: bool
    number: int
    other: Outline | None


@dataclass(frozen=True, slots=True)
class NamedLesson:
    """A lesson that holds no more, where it stands, and the documents that still name it."""

    id: str
    title: str
    status: str
    document: Outline
    line: int
    named_in: tuple[Outline, ...]


@dataclass(frozen=True, slots=True)
class SharedName:
    """A name that several notes of a source have, and how many links are written so."""

    name: str
    notes: tuple[Outline, ...]
    links: int


def outdated(graph: LinkGraph) -> list[Outdated]:
    """Superseded, deprecated, obsolete and archived documents that living ones link to, those most linked first."""
    found = []
    for key, outline in graph.documents.items():
        if is_withdrawn(outline.status):
            from_ = [graph.documents[other] for other in graph.into.get(key, ())]
            living = [other for other in from_ if not is_withdrawn(other.status)]
            if living:
                found.append(Outdated(outline, tuple(sorted(living, key=lambda other: other.uri))))
    return sorted(found, key=lambda entry: (-len(entry.linked_from), entry.document.uri))


def one_sided(visible: VisibleLinks, graph: LinkGraph) -> list[OneSided]:
    """Records whose successor or predecessor does not know of them, by uri.

    A record is a Markdown file ``0012-title.md`` in a folder of records, or one with the type of a decision.
    """
    folders: dict[str, dict[int, list[tuple[Outline, Decision]]]] = {}
    for outline in graph.documents.values():
        folder, _, name = outline.uri.rpartition("/")
        number = decisions.number_of(name) if outline.kind == "markdown" else None
        if number is None:
            continue
        if folder.rpartition("/")[2].casefold() in RECORDS or outline.type.casefold() in RECORD_TYPES:
            text = visible.index.text(outline.key)
            record = decisions.parsed(text, Path(name), number)
            folders.setdefault(folder, {}).setdefault(number, []).append((outline, record))
    found = [entry for records in folders.values() for entry in _one_sided(records)]
    return sorted(found, key=lambda entry: (entry.record.uri, entry.number))


def _one_sided(records: dict[int, list[tuple[Outline, Decision]]]) -> Iterator[OneSided]:
    for number, entries in records.items():
        for outline, record in entries:
            for supersedes, others in ((True, record.supersedes), (False, record.superseded_by)):
                for other in others:
                    there = records.get(other, [])
                    if not any(number in (r.superseded_by if supersedes else r.supersedes) for _, r in there):
                        yield OneSided(outline, supersedes, other, there[0][0] if there else None)


def retired_lessons(visible: VisibleLinks, graph: LinkGraph) -> list[NamedLesson]:
    """Lessons that hold no more and that other documents of their source still name, by file and line."""
    found = []
    for outline in graph.documents.values():
        if not outline.uri.endswith("/" + lessons.FILE):
            continue
        for lesson in lessons.parsed(visible.index.text(outline.key)):
            if lesson.state == "active":
                continue
            naming = _naming(visible, graph, outline, lesson.number)
            if naming:
                found.append(NamedLesson(lesson.id, lesson.title, lesson.status, outline, lesson.line, naming))
    return sorted(found, key=lambda entry: (entry.document.uri, entry.line))


def _naming(visible: VisibleLinks, graph: LinkGraph, document: Outline, number: int) -> tuple[Outline, ...]:
    """The other documents of the same source, none of them withdrawn, that name a lesson."""
    match = f'"l-{number:04d}" OR "l-{number}"'
    keys = [key for key, _ in visible.index.lexical(match, visible.filter, MOST_NAMING).entries]
    named = {
        chunk.document.key
        for chunk in visible.index.chunks(keys).values()
        if chunk.document.source == document.source and chunk.document.key != document.key
        if any(int(found) == number for found in _LESSON.findall(chunk.text))
    }
    outlined = [graph.documents[key] for key in named if key in graph.documents]
    return tuple(sorted((each for each in outlined if not is_withdrawn(each.status)), key=lambda each: each.uri))


def shared_names(visible: VisibleLinks, graph: LinkGraph) -> list[SharedName]:
    """Titles, aliases and file names that several notes of a source have, those that most links are written as first.

    A link with such a name leads to one of them, and perhaps not to the one that was meant.
    """
    found = []
    for name, keys, links in outlines.shared_names(visible.index.database, visible.filter):
        notes = tuple(graph.documents[key] for key in keys if key in graph.documents)
        if len(notes) > 1:
            found.append(SharedName(name, notes, links))
    return found


def lost_facts(graph: Graph, roots: Iterable[Path]) -> list[Unfounded]:
    """Facts of the knowledge graph that name a file which is in none of the folders, in the order of the file."""
    places = tuple(roots)
    return [
        fact for fact in unfounded(graph, lambda file: any((root / file).exists() for root in places)) if fact.source
    ]
