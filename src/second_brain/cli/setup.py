"""``brain setup``: tell an agent's program of this brain, and undo it."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import click

from .exits import Exit
from .options import Invocation, one_of
from .output import Piece, say, tell

NAMES = ("claude-code", "claude-desktop", "cursor", "vscode", "codex", "gemini")


@click.command()
@click.argument("client", metavar="|".join(NAMES), callback=one_of(*NAMES))
@click.option(
    "--project", metavar="DIR", type=click.Path(path_type=Path), help="Only for this folder, in its own file."
)
@click.option("--privacy", metavar="LABEL", help="The highest label that the program may see.  [default: all]")
@click.option("--read-only", is_flag=True, help="Give it no tool that changes anything.")
@click.option("--remove", is_flag=True, help="Take the entry out again.")
@click.option("--yes", is_flag=True, help="Write it; without, the change is only shown.")
@click.pass_obj
def setup(
    invocation: Invocation,
    client: str,
    project: Path | None,
    privacy: str | None,
    read_only: bool,
    remove: bool,
    yes: bool,
) -> int:
    """Add `brain mcp` to the settings of an agent's program.

    The change is shown; --yes writes it. Everything else in the file stays as it is.

    \b
    Examples:
      brain setup claude-code --yes
      brain setup cursor --project . --privacy work --yes
      brain setup claude-code --remove --yes
    """  # noqa: D301
    from ..setup.clients import CLIENTS, Place
    from ..setup.entries import adding, removing, settings_file

    with invocation.open_brain() as brain:
        if privacy is not None:
            brain.settings.labels_up_to(privacy)  # an unknown label is an error now, not when the program starts
    chosen = CLIENTS[client]
    place = Place(Path.home(), sys.platform, os.environ)
    file = settings_file(chosen, place, project)
    command, arguments = _server(invocation, privacy, read_only)
    change = removing(chosen, file) if remove else adding(chosen, file, command, arguments)
    if not change.needed:
        say(f"{file}: nothing to change" if not remove else f"{file}: there is no entry of ours")
        return Exit.DONE
    for line in change.diff().splitlines():
        say(Piece(line, "match" if line.startswith("+") else "warning" if line.startswith("-") else "dim"))
    if not yes:
        tell("nothing was written: add --yes to write it")
        return Exit.DONE
    change.write()
    say(f"{chosen.title}: {'removed' if remove else 'written'}; {chosen.after}")
    if not remove:
        say(Piece(f"the server is: {shlex.join([command, *arguments])}", "dim"))
    return Exit.DONE


def _server(invocation: Invocation, privacy: str | None, read_only: bool) -> tuple[str, list[str]]:
    """The command that starts the server, found without PATH, with the settings of now."""
    beside = Path(sys.executable).with_name("brain.exe" if sys.platform == "win32" else "brain")
    command, arguments = (str(beside), []) if beside.exists() else (sys.executable, ["-m", "second_brain.cli"])
    home = invocation.home or os.environ.get("BRAIN_HOME")
    if home:
        arguments += ["--home", str(Path(home).expanduser().absolute())]
    index = invocation.index or os.environ.get("BRAIN_INDEX")
    if index:
        arguments += ["--index", str(Path(index).expanduser().absolute())]
    arguments.append("mcp")
    if privacy is not None:
        arguments += ["--privacy", privacy]
    if read_only:
        arguments.append("--read-only")
    return command, arguments
