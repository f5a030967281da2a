"""``brain mcp`` and ``brain serve``: the tools for agents, on stdin and stdout, and over HTTP."""

from __future__ import annotations

import os

import click

from .exits import Exit
from .options import Invocation
from .output import Piece, say, tell

toolsets_option = click.option(
    "--toolsets",
    metavar="SET,...",
    default="knowledge,sources",
    show_default=True,
    help="knowledge, sources, memory, notes, vault.",
)
read_only_option = click.option("--read-only", is_flag=True, help="Only tools that change nothing.")


@click.command()
@toolsets_option
@read_only_option
@click.option("--privacy", metavar="LABEL", help="The highest label that this client may see.  [default: all]")
@click.pass_obj
def mcp(invocation: Invocation, toolsets: str, read_only: bool, privacy: str | None) -> int:
    """Serve one agent over stdin and stdout (Model Context Protocol).

    Agents' programs start it themselves; `brain setup CLIENT` tells them how.
    """
    from ..errors import MissingExtra
    from ..servers.desk import Desk, project_folder, usable_roots
    from ..servers.stdio import serve as run
    from ..servers.toolsets import chosen

    tools = chosen([name.strip() for name in toolsets.split(",") if name.strip()], read_only=read_only)
    brain = invocation.open_brain()
    project = project_folder(os.environ)
    view = brain.seen_by(privacy) if privacy else brain
    owner = None if read_only or view.clearance else brain
    roots = usable_roots(brain.settings.allowed_roots, project)
    try:
        run(tools, Desk(view, owner, roots, project))
    except ImportError as error:
        raise MissingExtra("the MCP server", "mcp") from error
    return Exit.DONE


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="The port; 0 for a free one."
)
@toolsets_option
@read_only_option
@click.pass_obj
def serve(invocation: Invocation, host: str, port: int, toolsets: str, read_only: bool) -> int:
    """Serve agents over HTTP at /mcp, each with a token.

    Only this machine can reach it unless --host says otherwise; TLS is your proxy's work (docs/guides/http.md).
    """
    from ..errors import MissingExtra
    from ..servers.http import is_loopback
    from ..servers.http import serve as run
    from ..servers.toolsets import chosen

    tools = chosen([name.strip() for name in toolsets.split(",") if name.strip()], read_only=read_only)
    with invocation.open_brain() as brain:
        brain.must_see_all("serve others")
        if not is_loopback(host):
            tell(
                Piece(
                    f"note: {host} can be reached from other machines; tokens travel in the open without TLS", "warning"
                )
            )
        tell(f"serving at http://{host}:{port}/mcp; Ctrl-C ends it")
        try:
            run(brain, tools, host=host, port=port)
        except ImportError as error:
            raise MissingExtra("the server", "mcp") from error
    return Exit.DONE


@click.group()
def token() -> None:
    """Make and take back the tokens by which others may ask `brain serve`."""


@token.command("add")
@click.argument("name")
@click.option("--privacy", metavar="LABEL", help="The highest label that it shows.  [default: the least private]")
@click.option("--changes", is_flag=True, help="It may let folders be indexed and sources be forgotten.")
@click.pass_obj
def add_token(invocation: Invocation, name: str, privacy: str | None, changes: bool) -> int:
    """Make a token. It is shown once, and only its hash is kept."""
    from ..servers.tokens import add

    with invocation.open_brain() as brain:
        brain.must_see_all("make a token")
        label = privacy or brain.settings.privacy_labels[0]
        made = add(brain.settings, name, label, changes=changes)
    say(made)
    tell(f"'{name}' shows up to '{label}'; it is not shown again")
    return Exit.DONE


@token.command("list")
@click.pass_obj
def list_tokens(invocation: Invocation) -> int:
    """List the tokens' names and what they show."""
    from ..servers.tokens import tokens

    with invocation.open_brain() as brain:
        for known in tokens(brain.settings):
            say(f"{known.name}  up to '{known.privacy}'" + ("  may change the index" if known.changes else ""))
    return Exit.DONE


@token.command("remove")
@click.argument("name")
@click.pass_obj
def remove_token(invocation: Invocation, name: str) -> int:
    """Make a token worthless, at once, also for servers that are running."""
    from ..servers.tokens import remove

    with invocation.open_brain() as brain:
        brain.must_see_all("remove a token")
        remove(brain.settings, name)
    say(f"'{name}' is removed")
    return Exit.DONE
