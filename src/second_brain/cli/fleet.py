"""``brain fleet``: who asks this brain from elsewhere, and does each look at the generation that answers?"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from ..moments import shown
from .display import say_table
from .exits import Exit
from .options import Invocation, json_option
from .output import Piece, say, say_json, tell

if TYPE_CHECKING:
    from ..config import Settings


@click.group()
def fleet() -> None:
    """See who asks this brain from other machines, and forget those that are gone."""


@fleet.command()
@json_option
@click.pass_obj
def status(invocation: Invocation, as_json: bool) -> int:
    """List consumers: which generation each expects, and how long ago it asked.

    current: it takes what answers now. stale, ahead: it pins an older or a newer generation, and is refused until it
    follows. silent: it has not asked for a week.
    """
    from ..servers.fleet import consumers

    with invocation.open_brain() as brain:
        brain.must_see_all("see who asks")
        generation, now = brain.generation, datetime.now(UTC)
        known = [(consumer, consumer.state(generation, now)) for consumer in consumers(brain.settings)]
        elsewhere, away = _strayed(brain.settings, generation)
    if as_json:
        say_json(
            {
                "generation": generation,
                "consumers": [
                    {"name": c.name, "state": state, "expects": c.expects, "version": c.version, "seen": c.seen}
                    for c, state in known
                ],
                "aliases_elsewhere": elsewhere,
                "problem": away,
            }
        )
        return Exit.DONE
    say(f"generation {generation} answers")
    say_table(
        ("consumer", "state", "expects", "version", "last seen"),
        [(c.name, state, c.expects or "any", c.version, shown(c.seen)) for c, state in known],
    )
    if not known:
        say("nobody has asked from elsewhere yet; consumers name themselves when they ask the API")
    for alias, leads in elsewhere.items():
        words = f"note: Qdrant's alias '{alias}' leads to '{leads}', not to generation '{generation}'"
        tell(Piece(f"{words}: `brain promote {generation}` puts it right", "warning"))
    if away:
        tell(Piece(f"note: {away}", "warning"))
    return Exit.DONE


@fleet.command()
@click.argument("name")
@click.pass_obj
def forget(invocation: Invocation, name: str) -> int:
    """Take a consumer out of the list. If it asks again, it is back."""
    from ..servers.fleet import forget as take_out

    with invocation.open_brain() as brain:
        brain.must_see_all("forget who asks")
        take_out(brain.settings, name)
    say(f"'{name}' is forgotten")
    return Exit.DONE


def _strayed(settings: Settings, generation: str) -> tuple[dict[str, str], str]:
    """Qdrant's aliases that lead to another generation, with where they lead; and why that cannot be said, or ''."""
    from .. import wiring
    from ..errors import BrainError

    collections = wiring.backend_collections(settings)
    if collections is None:
        return {}, ""
    try:
        return {alias: to for alias, to in collections.aliases().items() if to != f"{alias}-{generation}"}, ""
    except BrainError as error:
        return {}, str(error)
