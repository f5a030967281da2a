"""``brain get`` and ``brain recent``: notes as a whole."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Unpack

import click

from ..moments import shown
from . import excerpt
from .exits import Exit
from .options import Filters, Invocation, WrongUsage, filter_options, json_option, make_filter
from .output import Piece, say, say_json, say_verbatim, tell

if TYPE_CHECKING:
    from ..records import Note

FIELDS = (
    "uri",
    "path",
    "title",
    "source",
    "kind",
    "type",
    "date",
    "modified",
    "status",
    "privacy",
    "language",
    "project",
    "description",
    "tags",
    "aliases",
)


@click.command()
@click.argument("name", metavar="PATH|ID")
@click.option("--lines", metavar="A-B", help="Only these lines: 12-40, 12-, -40 or 12.")
@click.option("--section", metavar="HEADING", help="Only the sections with this heading.")
@json_option
@click.pass_obj
def get(invocation: Invocation, name: str, lines: str | None, section: str | None, as_json: bool) -> int:
    """Print a note.

    PATH|ID is a path, its end, a title, an alias, a uri (source/path), or the id of a hit. The text is the
    one that is indexed; if the file has changed since, a note on stderr says so.
    """
    if lines and section:
        raise WrongUsage("--lines and --section exclude each other", "give one of them")
    with invocation.open_brain() as brain:
        note = brain.get(name)
    part = excerpt.Excerpt(note.text, 1)
    if lines:
        part = excerpt.of_lines(note.text, lines)
    elif section:
        part = excerpt.of_section(note.text, section)
    if as_json:
        say_json(_note_as_json(note, part))
        return Exit.DONE
    say_verbatim(part.text)
    for remark in note.notes:
        tell(Piece(f"note: {remark}", "warning"))
    return Exit.DONE


def _note_as_json(note: Note, part: excerpt.Excerpt) -> dict[str, object]:
    document = note.document
    return {
        **{field: getattr(document, field) for field in FIELDS},
        "metadata": document.metadata,
        "warnings": document.warnings,
        "notes": note.notes,
        "links": [asdict(link) for link in note.links],
        "backlinks": [asdict(link) for link in note.backlinks],
        "line": part.line,
        "text": part.text,
    }


@click.command()
@click.option(
    "-n", "--limit", metavar="N", type=click.IntRange(min=1), default=20, show_default=True, help="How many notes."
)
@filter_options
@json_option
@click.pass_obj
def recent(invocation: Invocation, limit: int, as_json: bool, **filters: Unpack[Filters]) -> int:
    """List the newest notes."""
    with invocation.open_brain() as brain:
        documents = brain.recent(limit=limit, filter=make_filter(filters))
    if as_json:
        say_json({"documents": [{field: getattr(document, field) for field in FIELDS} for document in documents]})
        return Exit.DONE
    for document in documents:
        say(
            Piece(f"{shown(document.date):<16}  ", "dim"),
            Piece(document.title, "title"),
            Piece(f"  {document.path}", "dim"),
        )
    if not documents:
        tell("nothing found; `brain status` shows what is indexed")
    return Exit.DONE
