"""``brain duplicates``: notes that are nearly the same."""

from __future__ import annotations

from typing import Unpack

import click

from .exits import Exit
from .options import Filters, Invocation, filter_options, json_option, make_filter
from .output import Piece, say, say_json, tell


@click.command()
@click.option("-n", "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many pairs.")
@filter_options
@json_option
@click.pass_obj
def duplicates(invocation: Invocation, limit: int, as_json: bool, **filters: Unpack[Filters]) -> int:
    """List pairs of notes that share most of their text, the most alike first.

    For a look with your own eyes: nothing is changed or merged. Notes of one day, and those with hardly any text, are
    left out.
    """
    from ..overview.review import Sketches

    with invocation.open_brain() as brain:
        pairs = Sketches().pairs(brain.visible(make_filter(filters)))
    if as_json:
        shown = [
            {"alike": pair.alike, "within": pair.within, "first": pair.first.uri, "second": pair.second.uri}
            for pair in pairs[:limit]
        ]
        say_json({"pairs": shown, "total": len(pairs)})
        return Exit.DONE
    for pair in pairs[:limit]:
        say(Piece(f"{int(pair.alike * 100):>3} %  ", "dim"), Piece(pair.first.title, "title"), f"  {pair.first.uri}")
        say("       ", Piece(pair.second.title, "title"), f"  {pair.second.uri}")
    if len(pairs) > limit:
        tell(f"{len(pairs) - limit} more: raise -n")
    if not pairs:
        tell("no notes are nearly the same")
    return Exit.DONE
