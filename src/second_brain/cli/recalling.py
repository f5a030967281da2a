"""``brain recall`` and ``brain ingest``: what is known of a topic, and making a file known."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .exits import Exit
from .journal import project_folder, project_graph, project_option
from .options import Invocation, json_option
from .output import Piece, say, say_json, tell
from .search import hit_as_json, say_hits
from .sources import add_unless_held

if TYPE_CHECKING:
    from ..journal.lessons import Lesson
    from ..memory.lines import Entity

MOST = 5
"""Lessons and entities that are shown."""


@click.command()
@click.argument("topic", nargs=-1, required=True)
@click.option("-n", "--limit", metavar="N", type=click.IntRange(min=1), default=8, show_default=True, help="Passages.")
@project_option
@json_option
@click.pass_obj
def recall(invocation: Invocation, topic: tuple[str, ...], limit: int, project: Path | None, as_json: bool) -> int:
    """Tell what is known of a topic: lessons, the knowledge graph, notes, sessions. Nothing is written.

    Lessons and graph are those of the project of the current folder; notes and sessions are all that is indexed.
    """
    words, folder = " ".join(topic), project_folder(project)
    with invocation.open_brain() as brain:
        result = brain.search(words, mode="agentic", limit=limit, condensed=True)
        facts = not brain.clearance  # whose sources nobody may have to hide
    lessons = _lessons(words, folder) if facts else []
    entities = _entities(words, folder) if facts else ()
    if as_json:
        say_json(
            {
                "topic": words,
                "lessons": [{**asdict(lesson), "id": lesson.id} for lesson in lessons],
                "entities": [entity.shown() for entity in entities],
                "hits": [hit_as_json(hit, explain=False) for hit in (*result.hits, *result.rolled_up)],
                "confidence": result.confidence,
                "notices": result.notices,
            }
        )
        return Exit.DONE
    from ..journal.lessons import FILE

    for lesson in lessons:
        say(Piece(f"{lesson.id}  ", "title"), lesson.lesson)
        say("   ", Piece(f"{folder / FILE}:{lesson.line}", "dim", (folder / FILE).as_uri()))
    for entity in entities:
        say(Piece(entity.name, "title"), Piece(f"  {entity.type}", "dim"))
        for observation in entity.observations[:MOST]:
            say("    ", observation)
    if (lessons or entities) and result.hits:
        say()
    say_hits(result)
    for notice in result.notices:
        tell(Piece(f"note: {notice}", "dim"))
    if not (lessons or entities or result.hits):
        tell("nothing is known of it; `brain status` shows what is indexed")
    return Exit.DONE


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--no-graph", is_flag=True, help="Leave the knowledge graph alone.")
@project_option
@click.pass_obj
def ingest(invocation: Invocation, path: Path, no_graph: bool, project: Path | None) -> int:
    """Make a file or folder searchable, and add what its notes stand for to the knowledge graph.

    A folder that lies in no source becomes one. Entities are typed notes, decisions and lessons, each fact with its
    source file; relations are their links. No model is asked, and nothing is removed.
    """
    from .display import progress
    from .graph import add_facts, missing_facts, say_facts

    place, folder = path.absolute(), project_folder(project)
    with invocation.open_brain() as brain, progress(quiet=False) as show:
        if place.is_dir():
            add_unless_held(brain, place)
        report = brain.sync([place], progress=show)
        brain.embed(progress=show)
        found = None if no_graph else missing_facts(brain, folder, place)
    read = sum(source.added + source.changed for source in report.sources)
    say(f"{read} read, {sum(source.unchanged for source in report.sources)} as they were")
    if found is not None:
        add_facts(found, folder)
        say_facts(found)
        say(f"{len(found.entities)} entities and {len(found.relations)} relations were added")
    return Exit.INCOMPLETE if any(source.failures for source in report.sources) else Exit.DONE


def _lessons(topic: str, folder: Path) -> list[Lesson]:
    from ..journal.facts import entity_of_lesson
    from ..journal.lessons import read_all
    from ..memory.search import matching

    active = {lesson.id: lesson for lesson in read_all(folder) if lesson.state == "active"}
    return [active[e.name] for e in matching(topic, [entity_of_lesson(x) for x in active.values()])[:MOST]]


def _entities(topic: str, folder: Path) -> tuple[Entity, ...]:
    page = project_graph(folder).search_nodes(topic, limit=2 * MOST)
    return tuple(entity for entity in page.entities if entity.type != "lesson")[:MOST]
