"""``brain setup``: tell an agent's program of this brain, and undo it."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .exits import Exit
from .options import Invocation, one_of
from .output import Piece, say, tell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..library import Brain
    from ..setup.entries import Change

NAMES = ("claude-code", "claude-desktop", "cursor", "vscode", "codex", "gemini")
PROJECT = "project"


@click.command()
@click.argument("client", metavar="|".join((*NAMES, PROJECT)), callback=one_of(*NAMES, PROJECT))
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

    `project` prepares a folder for Claude Code without the plugin: servers and hooks are written into it, it is
    indexed, and the doctor looks at it.

    \b
    Examples:
      brain setup claude-code --yes
      brain setup cursor --project . --privacy work --yes
      brain setup claude-code --remove --yes
      brain setup project --project ~/notes --yes
    """  # noqa: D301
    from ..setup.clients import CLIENTS, Place
    from ..setup.entries import adding, removing, settings_file

    if client == PROJECT:
        return _prepare(invocation, (project or Path.cwd()).absolute(), remove=remove, yes=yes)
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
    if not _shown([change], yes=yes):
        return Exit.DONE
    change.write()
    say(f"{chosen.title}: {'removed' if remove else 'written'}; {chosen.after}")
    if not remove:
        say(Piece(f"the server is: {shlex.join([command, *arguments])}", "dim"))
    return Exit.DONE


def _prepare(invocation: Invocation, folder: Path, *, remove: bool, yes: bool) -> int:
    """Make a folder ready, or undo it; what is written in it stays."""
    from ..setup.project import Prepared, changes, keep, prepared

    if not folder.is_dir():
        raise click.BadParameter(f"{folder} is no folder")
    with invocation.open_brain() as brain:
        brain.must_see_all("prepare a project")
        settings = brain.settings
        made = prepared(settings, folder)
        planned = changes(folder, _brain(invocation), remove=remove, made=made)
        needed = [change for change in planned if change.needed]
        if not _shown(needed, yes=yes):
            return Exit.DONE
        for change in needed:
            change.write()
            say(f"{change.path}: {'written' if change.after is not None else 'removed'}")
        if remove:
            if any(source.name == made.source for source in brain.sources()):
                brain.remove(made.source)
                say(f"source '{made.source}': no longer indexed")
            keep(settings, folder, None)
            say("removed; notes, decisions and lessons are as they were")
            return Exit.DONE
        new = tuple(c.path.relative_to(folder).as_posix() for c in needed if c.before is None)
        keep(settings, folder, Prepared(files=new))
        return _index_project(brain, folder)


def _index_project(brain: Brain, folder: Path) -> int:
    """Make the folder a source where it lies in none, index it, and tell what the doctor sees."""
    from ..setup.project import Prepared, keep
    from .display import progress
    from .sources import add_unless_held

    if source := add_unless_held(brain, folder):
        keep(brain.settings, folder, Prepared(source.name))
    with progress(quiet=False) as show:
        brain.sync([folder], progress=show)
        brain.embed(progress=show)
    wrong = [finding for finding in brain.doctor() if finding.severity in ("error", "warning")]
    for finding in wrong:
        say(Piece(f"{finding.severity}: {finding.message}", "warning"))
        say(Piece(f"  {finding.remedy}", "dim"))
    say("ready: start `claude` in the folder, approve its servers and hooks, and ask it to recall something")
    return Exit.INCOMPLETE if wrong else Exit.DONE


def _shown(needed: Sequence[Change], *, yes: bool) -> bool:
    """Show the changes; whether they are to be written now."""
    for change in needed:
        for line in change.diff().splitlines():
            say(Piece(line, "match" if line.startswith("+") else "warning" if line.startswith("-") else "dim"))
    if not yes:
        tell("nothing was written: add --yes to write it" if needed else "nothing to change")
    return yes


def _brain(invocation: Invocation) -> list[str]:
    """The command `brain`, found without PATH, with the settings of now."""
    beside = Path(sys.executable).with_name("brain.exe" if sys.platform == "win32" else "brain")
    command = [str(beside)] if beside.exists() else [sys.executable, "-m", "second_brain.entry"]
    home = invocation.home or os.environ.get("BRAIN_HOME")
    if home:
        command += ["--home", str(Path(home).expanduser().absolute())]
    index = invocation.index or os.environ.get("BRAIN_INDEX")
    if index:
        command += ["--index", str(Path(index).expanduser().absolute())]
    return command


def _server(invocation: Invocation, privacy: str | None, read_only: bool) -> tuple[str, list[str]]:
    """The command that starts the server."""
    command, *arguments = _brain(invocation)
    arguments.append("mcp")
    if privacy is not None:
        arguments += ["--privacy", privacy]
    if read_only:
        arguments.append("--read-only")
    return command, arguments
