"""``brain mcp`` and ``brain serve``: the tools for agents, on stdin and stdout, and over HTTP."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from pathlib import Path

import click

from .exits import Exit
from .options import Invocation
from .output import Piece, say, tell
from .remote import RemoteCommand, open_asked, remote_option

toolsets_option = click.option(
    "--toolsets",
    metavar="SET,...",
    default="knowledge,sources",
    show_default=True,
    help="knowledge, sources, memory, notes, vault.",
)
read_only_option = click.option("--read-only", is_flag=True, help="Only tools that change nothing.")


@click.command(cls=RemoteCommand)
@toolsets_option
@read_only_option
@click.option(
    "--privacy", metavar="LABEL", default="", help="The highest label that this client may see.  [default: all]"
)
@click.option("--alone", is_flag=True, help="Work in this process, even where `brain serve` runs.")
@remote_option("Be a thin proxy for the brain on another machine.")
@click.pass_obj
def mcp(invocation: Invocation, toolsets: str, read_only: bool, privacy: str, alone: bool, remote: str | None) -> int:
    """Serve one agent over stdin and stdout (Model Context Protocol).

    Agents' programs start it themselves; `brain setup CLIENT` tells them how. Where `brain serve` runs for the same
    home it answers, and this process only hands messages on.
    """
    from ..servers.stdio import claimed

    with claimed() as wire:  # before anything else is imported: whatever it may print
        from ..errors import MissingExtra
        from ..servers.brains import Brains
        from ..servers.desk import Desk
        from ..servers.places import graph_file, project_folder
        from ..servers.relay import handed_on
        from ..servers.stdio import Begun
        from ..servers.stdio import serve as run

        project = project_folder(os.environ)
        desk = Desk(
            Brains(lambda: open_asked(invocation, remote), models_elsewhere=remote is not None),
            privacy or invocation.privacy,
            read_only,
            project,
            graph=graph_file(project or Path.cwd(), os.environ),
        )
        begun: Begun | None = Begun()
        if not alone and remote is None:
            begun = handed_on(wire, invocation.home, invocation.index, _names(toolsets), desk)
        if begun is not None:
            try:
                run(wire, _names(toolsets), desk, begun)
            except ImportError as error:
                raise MissingExtra("the MCP server", "mcp") from error
            desk.brains.close()
    return Exit.DONE


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="The port; 0 for a free one."
)
@toolsets_option
@read_only_option
@click.option("--open", "open_page", is_flag=True, help="Print a link that lets a browser in once, and open it.")
@click.option("--watch", "follow", is_flag=True, help="Index notes as they change, as `brain watch` does.")
@click.pass_obj
def serve(
    invocation: Invocation, host: str, port: int, toolsets: str, read_only: bool, open_page: bool, follow: bool
) -> int:
    """Serve a page for people, and agents over HTTP at /mcp, each with a token.

    Only this machine can reach it unless --host says otherwise; TLS is your proxy's work (docs/guides/http.md).
    """
    from ..errors import MissingExtra
    from ..servers.brains import Brains
    from ..servers.relay import socket_path
    from ..servers.tokens import tokens
    from .watch import followed

    try:
        from ..servers.http import is_loopback
        from ..servers.http import serve as run
        from ..servers.web.access import login_path
        from ..servers.web.visitors import Visitors
    except ImportError as error:
        raise MissingExtra("the server", "serve") from error
    with invocation.open_brain() as brain:
        brain.must_see_all("serve others")
        if not is_loopback(host):
            words = f"note: {host} can be reached from other machines; tokens travel in the open without TLS"
            tell(Piece(words, "warning"))
        if not tokens(brain.settings) and not open_page:
            tell("note: there is no token yet, so nobody can ask; `brain token add laptop --privacy work` makes one")
            tell("note: `brain serve --open` lets your own browser in without one")
        visitors = Visitors()

        def ready(port: int) -> None:
            where = f"http://{f'[{host}]' if ':' in host else host}:{port}"
            tell(f"serving at {where}/mcp for agents, at {where}/ for people; Ctrl-C ends it")
            if open_page:
                _let_in(where + login_path(visitors.link_key()))

        with followed(brain) if follow else nullcontext():
            run(
                Brains(lambda: brain),
                _names(toolsets),
                host=host,
                port=port,
                read_only=read_only,
                neighbours=socket_path(invocation.home, invocation.index, os.environ),
                ready=ready,
                visitors=visitors,
            )
    return Exit.DONE


def _let_in(link: str) -> None:
    """Show the link that lets a browser in once, and open it where there is a screen."""
    import webbrowser

    say(link)
    tell("this link lets one browser in, once, within ten minutes, and shows it everything")
    if sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(link)


def _names(toolsets: str) -> list[str]:
    return [name.strip() for name in toolsets.split(",") if name.strip()]


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
