"""``brain graph``: the knowledge graph in memory.jsonl."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .exits import Exit
from .journal import project_folder, project_graph, project_option
from .options import Invocation, json_option
from .output import Piece, say, say_json, tell

if TYPE_CHECKING:
    from ..library import Brain
    from ..memory.lines import Entity, Graph, Relation

SHOWN = 12
"""Observations of an entity that are shown, and relations in each direction."""


@click.group()
def graph() -> None:
    """Look after the knowledge graph in memory.jsonl: entities, relations, and the file that each fact comes from.

    Programs read and write it through the tools of `brain mcp --toolsets memory`, or with the reference memory server.
    """


@graph.command()
@click.argument("name", nargs=-1, required=True)
@project_option
@json_option
def show(name: tuple[str, ...], project: Path | None, as_json: bool) -> int:
    """Draw an entity with what it is related to."""
    from ..errors import NotFound

    knowledge = project_graph(project_folder(project))
    wanted = " ".join(name)
    page = knowledge.open_nodes([wanted])
    if not page.entities:
        near = [entity.name for entity in knowledge.search_nodes(wanted, limit=5).entities]
        hint = f"nearest: {', '.join(near)}" if near else "`brain graph search ''` lists all"
        raise NotFound(f"no entity is named '{wanted}'", hint=hint)
    (entity,) = page.entities
    if as_json:
        say_json({"entity": entity.shown(), "relations": [relation.shown() for relation in page.relations]})
        return Exit.DONE
    _draw(entity, page.relations)
    return Exit.DONE


@graph.command()
@click.argument("query", nargs=-1)
@click.option("-n", "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many entities.")
@project_option
@json_option
def search(query: tuple[str, ...], limit: int, project: Path | None, as_json: bool) -> int:
    """Find entities by what they are called and what is known of them; without QUERY list all."""
    page = project_graph(project_folder(project)).search_nodes(" ".join(query), limit=limit)
    if as_json:
        say_json({"entities": [entity.shown() for entity in page.entities], "total": page.total})
        return Exit.DONE
    for entity in page.entities:
        say(Piece(entity.name, "title"), Piece(f"  {entity.type}", "dim"))
        for observation in entity.observations[:2]:
            say("  ", observation[:200])
    if page.total > len(page.entities):
        tell(f"{page.total - len(page.entities)} more: raise -n")
    if not page.total:
        tell("nothing found")
    return Exit.DONE


@graph.command()
@project_option
@json_option
@click.pass_obj
def check(invocation: Invocation, project: Path | None, as_json: bool) -> int:
    """Find facts whose source file is gone, relations that lead nowhere, lines that cannot be read.

    Exit code 3 when something was found. Nothing is changed.
    """
    from ..memory.sources import dangling, unfounded

    folder = project_folder(project)
    file = project_graph(folder).file
    found = file.read()
    with invocation.open_brain() as brain:
        roots = [folder, *(source.path for source in brain.sources())]
    facts = list(unfounded(found, lambda source: any((root / source).exists() for root in roots)))
    lost = [fact for fact in facts if fact.source]
    loose = dangling(found)
    if as_json:
        say_json(
            {
                "file": str(file.path),
                "entities": len(found.entities),
                "relations": len(found.relations),
                "lost": [{"entity": f.entity, "observation": f.observation, "source": f.source} for f in lost],
                "without_source": len(facts) - len(lost),
                "dangling": loose,
                "unreadable": list(found.bad),
            }
        )
    else:
        say(f"{file.path}: {len(found.entities)} entities, {len(found.relations)} relations")
        for fact in lost:
            say(Piece(f"{fact.source} is gone", "warning"), f": {fact.entity}: {fact.observation[:160]}")
        for source, target, kind in loose:
            say(Piece("no such entity", "warning"), f": {source} {kind} {target}")
        for line in found.bad:
            say(Piece("unreadable", "warning"), f": {line[:160]}")
        if len(facts) > len(lost):
            say(Piece(f"{len(facts) - len(lost)} facts name no source file", "dim"))
    return Exit.INCOMPLETE if lost or loose or found.bad else Exit.DONE


@graph.command()
@click.option("--yes", is_flag=True, help="Add what is proposed; without, it is only shown.")
@project_option
@json_option
@click.pass_obj
def rebuild(invocation: Invocation, yes: bool, project: Path | None, as_json: bool) -> int:
    """Propose entities and relations from decisions, lessons, properties and links of the notes; no model.

    Only what is not there yet is proposed. Nothing is removed: facts that a person or an agent added stay.
    """
    with invocation.open_brain() as brain:
        found = missing_facts(brain, project_folder(project))
    entities, relations = found.entities, found.relations
    if yes:
        add_facts(found, project_folder(project))
    if as_json:
        say_json({"entities": [e.shown() for e in entities], "relations": [r.shown() for r in relations], "added": yes})
        return Exit.DONE
    say_facts(found)
    say(f"{len(entities)} entities and {len(relations)} relations {'were added' if yes else 'are proposed'}")
    if not yes and (entities or relations):
        tell("nothing was written: add --yes to add them")
    return Exit.DONE


def missing_facts(brain: Brain, folder: Path, within: Path | None = None) -> Graph:
    """What the notes of a project would add to its graph: those ``within`` a place only, where one is named."""
    from ..journal.facts import below
    from ..journal.proposals import LinkedNote, proposed
    from ..memory.lines import Graph

    notes = [
        LinkedNote(note.title, note.type, note.description, below(Path(note.path), folder), links)
        for note, links in (brain.linked() if brain.sources() else ())
        if note.kind == "markdown" and Path(note.path).is_relative_to(within or folder)
    ]
    found, known = proposed(notes, folder), project_graph(folder).file.read()
    names = {entity.name for entity in known.entities}
    keys = {relation.key for relation in known.relations}
    return Graph(
        tuple(entity for entity in found.entities if entity.name not in names),
        tuple(relation for relation in found.relations if relation.key not in keys),
    )


def add_facts(found: Graph, folder: Path) -> None:
    """Write entities and relations into a project's graph."""
    knowledge = project_graph(folder)
    knowledge.create_entities(found.entities)
    knowledge.create_relations(found.relations)


def say_facts(found: Graph) -> None:
    """A line for each."""
    for entity in found.entities:
        say(Piece(f"+ {entity.name}", "match"), Piece(f"  {entity.type}", "dim"))
    for relation in found.relations:
        say(Piece(f"+ {relation.source} {relation.type} {relation.target}", "match"))


def _draw(entity: Entity, relations: tuple[Relation, ...]) -> None:
    say(Piece(entity.name, "title"), Piece(f"  {entity.type}", "dim"))
    for observation in entity.observations[:SHOWN]:
        say("│ ", observation)
    if len(entity.observations) > SHOWN:
        say("│ ", Piece(f"and {len(entity.observations) - SHOWN} more", "dim"))
    out = [(f"─ {relation.type} ─▶ ", relation.target) for relation in relations if relation.source == entity.name]
    into = [(f"◀─ {relation.type} ─ ", relation.source) for relation in relations if relation.target == entity.name]
    lines = [*out[:SHOWN], *into[:SHOWN]]
    for position, (arrow, other) in enumerate(lines):
        say("└" if position == len(lines) - 1 else "├", Piece(arrow, "dim"), other)
    hidden = len(out) + len(into) - len(lines)
    if hidden:
        tell(f"{hidden} more relations: --json shows all")
