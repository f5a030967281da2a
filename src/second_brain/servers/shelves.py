"""The tools for sources: index, list, remove. Files are never changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import NotFound, UsageError
from .arguments import Arguments
from .desk import Desk, Report
from .toolsets import Answer, Tool

if TYPE_CHECKING:
    from ..types import SyncReport

TEXT = {"type": "string"}
COUNT = {"type": "integer"}
LIST = {"type": "array", "items": TEXT}
OBJECTS = {"type": "array", "items": {"type": "object"}}
NAMED = 10
"""Failures that are named."""

MOST_EMBEDDED = 2_000
"""Passages that get a vector in one call: half a minute with the bundled model."""


def index(desk: Desk, given: Arguments, report: Report) -> Answer:
    """Bring folders up to date; a new one becomes a source."""
    brain = desk.whole("index")
    places = desk.allowed(brain, given.texts("paths", commas=False))
    for place in places:
        if not any(place.is_relative_to(source.path) for source in brain.sources()):
            if not place.is_dir():
                raise UsageError(f"{place} is a file that lies in no source", hint="give its folder")
            brain.add(place)
    if not places and not brain.sources():
        raise UsageError("there is nothing to index yet", hint="give the folder of the user's notes in `paths`")
    done = brain.sync(places, progress=report)
    embedded = brain.embed(limit=MOST_EMBEDDED, progress=report)
    value = {
        "added": sum(source.added for source in done.sources),
        "changed": sum(source.changed + source.moved for source in done.sources),
        "removed": sum(source.deleted for source in done.sources),
        "unchanged": sum(source.unchanged for source in done.sources),
        "waiting": embedded.waiting,
        "failures": [f"{failure.uri}: {failure.message}"[:300] for failure in done.failures[:NAMED]],
    }
    return Answer(_said(done, value), value)


def _said(done: SyncReport, value: dict[str, object]) -> str:
    from ..answering.packing import seen

    lines = [
        f"{value['added']} added, {value['changed']} changed, {value['removed']} removed,"
        f" {value['unchanged']} unchanged"
    ]
    if value["waiting"]:
        lines.append(
            f"{value['waiting']} passages are found by word and wait for a vector: call again, or the user runs"
            " `brain embed`"
        )
    lines += [f"source {source.source}: {source.unavailable}" for source in done.sources if source.unavailable]
    failures = done.failures
    lines += [f"skipped {failure.uri}: {failure.message}" for failure in failures[:NAMED]]
    if len(failures) > NAMED:
        lines.append(f"and {len(failures) - NAMED} more")
    return "\n".join(" ".join(seen(line).split())[:400] for line in lines)


def listed(desk: Desk, given: Arguments, report: Report) -> Answer:
    """The sources that this consumer may see."""
    brain = desk.brain
    known = {state.name: state for state in brain.status().sources}
    value = [
        {
            "name": source.name,
            "kind": source.kind,
            "path": str(source.path),
            "privacy": source.privacy,
            "documents": known[source.name].documents if source.name in known else 0,
        }
        for source in brain.sources()[:100]
    ]
    text = "\n".join(
        f"{s['name']} ({s['kind']}, {s['privacy']}): {s['documents']} documents, {s['path']}" for s in value
    )
    return Answer(text or "there is no source yet: index_paths makes a folder one", {"sources": value})


def remove(desk: Desk, given: Arguments, report: Report) -> Answer:
    """Forget a source: its part of the index, never a file."""
    brain = desk.whole("remove a source")
    name = given.text("name", needed=True)
    names = dict.fromkeys([*(source.name for source in brain.sources()), *(s.name for s in brain.status().sources)])
    if name not in names:
        known = ", ".join(names) or "none"
        raise NotFound(f"no source is named '{name[:80]}'; sources: {known}")
    if not given.flag("confirm"):
        raise UsageError(
            f"source '{name}' would be forgotten; its files stay",
            hint="ask the user, then call again with confirm=true",
        )
    count = brain.remove(name)
    return Answer(f"source '{name}' is forgotten: {count} documents; its files stay", {"removed": count})


SOURCES = (
    Tool(
        "index_paths",
        "Index folders",
        "Reads folders anew; a folder that is no source yet becomes one. Use it when the user asks to add notes, or"
        " after many files changed. Only folders that the user allowed; files are never changed.",
        index,
        {"paths": {**LIST, "description": "Folders or files; none means all sources"}},
        {"added": COUNT, "changed": COUNT, "removed": COUNT, "unchanged": COUNT, "waiting": COUNT, "failures": LIST},
        read_only=False,
    ),
    Tool(
        "list_sources",
        "List sources",
        "Lists what is indexed, by source. Use it to choose a filter. Not for finding notes.",
        listed,
        {},
        {"sources": OBJECTS},
    ),
    Tool(
        "remove_source",
        "Forget a source",
        "Takes a source out of the index; its files stay. Only when the user asks for it.",
        remove,
        {"name": TEXT, "confirm": {"type": "boolean", "description": "true after the user agreed"}},
        {"removed": COUNT},
        ("name",),
        read_only=False,
        destructive=True,
    ),
)
