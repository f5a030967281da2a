"""``brain models``: which model plays which role, and is it here?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .exits import Exit
from .options import Invocation, json_option
from .output import Piece, say, say_json, tell

if TYPE_CHECKING:
    from ..library import Brain


@click.command()
@click.option("--fetch", is_flag=True, help="Download what models.yaml names from the hub and is not here yet.")
@json_option
@click.pass_obj
def models(invocation: Invocation, fetch: bool, as_json: bool) -> int:
    """Show which model plays which role, and where texts are sent.

    Nothing is ever downloaded without --fetch, and no text leaves this machine unless models.yaml names an endpoint.
    """
    with invocation.open_brain() as brain:
        if fetch and not brain.fetch_models():
            tell("there is nothing to fetch: models.yaml names no model of the hub")
        roles = _roles(brain)
    if as_json:
        say_json({"roles": roles})
        return Exit.DONE
    for role in roles:
        say(Piece(f"{role['role']:<9}", "dim"), role["model"] or "none")
        if role["sends"]:
            say(Piece(" " * 9 + role["sends"], "dim"))
    return Exit.DONE


def _roles(brain: Brain) -> list[dict[str, str]]:
    from ..config import EndpointSettings

    named = brain.settings.models
    roles = []
    for role, chosen in (("embedder", named.embedder), ("reranker", named.reranker), ("chat", named.chat)):
        if isinstance(chosen, EndpointSettings):
            sends = f"texts up to '{chosen.privacy}' are sent to {chosen.url}"
            roles.append({"role": role, "model": chosen.model or chosen.url, "sends": sends})
        else:
            roles.append({"role": role, "model": chosen or "", "sends": ""})
    return roles
