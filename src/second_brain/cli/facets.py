"""``brain facets``, and the counts below a search: how notes spread over sources, types, tags and time."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Unpack

import click

from .exits import Exit
from .options import Filters, Invocation, filter_options, json_option, make_filter
from .output import Piece, say, say_json, tell

if TYPE_CHECKING:
    from ..records import Facets

SHOWN = 12
"""So many values of each facet are shown; --json has all."""


@click.command()
@click.argument("words", metavar="[QUERY]...", nargs=-1)
@filter_options
@json_option
@click.pass_obj
def facets(invocation: Invocation, words: tuple[str, ...], as_json: bool, **filters: Unpack[Filters]) -> int:
    """Count notes by source, project, kind, type, language, tag and time.

    With a query, those that hold at least one of its telling words; see also `brain search --facets`.
    """
    with invocation.open_brain() as brain:
        found = brain.facets(" ".join(words), filter=make_filter(filters))
    if as_json:
        say_json(facets_as_json(found))
        return Exit.DONE
    say_facets(found)
    if not found.documents:
        tell("nothing found; `brain status` shows what is indexed")
    return Exit.DONE


def facets_as_json(found: Facets) -> dict[str, object]:
    """The counts as an object: ``{"documents": 3, "types": {"log": 2, "runbook": 1}, ...}``."""
    return {name: dict(counts) if isinstance(counts, tuple) else counts for name, counts in asdict(found).items()}


def say_facets(found: Facets) -> None:
    """The counts, a line for each facet that has any."""
    say(Piece(f"{'documents':<10}", "dim"), f"{found.documents:,}")
    for name, counts in asdict(found).items():
        if name == "documents" or not counts:
            continue
        shown = ", ".join(f"{value} {count:,}" for value, count in counts[:SHOWN])
        more = f", and {len(counts) - SHOWN} more" if len(counts) > SHOWN else ""
        say(Piece(f"{name:<10}", "dim"), shown, Piece(more, "dim"))
