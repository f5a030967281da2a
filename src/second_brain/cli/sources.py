"""``brain add``, ``brain sources``, ``brain remove``: which folders are read."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import click

from .exits import Exit
from .options import Invocation, WrongUsage, json_option
from .output import Piece, one_line, say, say_json, tell

if TYPE_CHECKING:
    from pathlib import Path

    from ..config import SourceSettings
    from ..library import Brain


@click.command()
@click.argument("path", required=False)
@click.option("--name", metavar="NAME", help="What to call it.  [default: the folder's name]")
@click.option("--kind", metavar="KIND", help="What it holds.  [default: by its place, else markdown]")
@click.option("--privacy", metavar="LABEL", help="Who may see it: public, work, personal (default) or secret.")
@click.pass_obj
def add(invocation: Invocation, path: str | None, name: str | None, kind: str | None, privacy: str | None) -> int:
    """Make a folder a source: notes, code, an agent's sessions, an export.

    Writes an entry into sources.yaml; nothing is read before `brain index`. PATH may be left out for the sessions of an
    agent: they are looked for where it keeps them.

    \b
    Kinds:
      markdown                                notes, an Obsidian vault (default)
      code, repo                              source code; a git repository
      claude-session-jsonl, codex-session-jsonl, gemini-session
      chatgpt-export, claude-export           a folder, conversations.json, or the zip file
      documents                               PDF, HTML, Office files (extra)

    \b
    Examples:
      brain add ~/notes
      brain add --kind claude-session-jsonl --privacy work
      brain add ~/src/pump --kind repo
    """  # noqa: D301
    if path is None and kind is None:
        raise WrongUsage("which folder?", "give a path: brain add ~/notes")
    with invocation.open_brain() as brain:
        source = brain.add(path, name=name, kind=kind, privacy=privacy)
        say("added source ", Piece(source.name, "title"), f" ({source.kind}, {source.privacy}): {source.path}")
        for other in brain.sources():
            if other.name != source.name and source.path.is_relative_to(other.path):
                tell(f"note: it lies inside source '{other.name}'; its files count as '{source.name}' from now on")
            elif other.name != source.name and other.path.is_relative_to(source.path):
                tell(f"note: source '{other.name}' lies inside it and keeps its own files")
        if source.kind == "markdown" and kind is None:
            _tell_left_out(source)
        tell(f"next: brain index '{source.name}'" if " " in source.name else f"next: brain index {source.name}")
    return Exit.DONE


def add_unless_held(brain: Brain, folder: Path) -> SourceSettings | None:
    """Make a folder a source, and say so; None where it lies in one already."""
    if any(folder.is_relative_to(source.path) for source in brain.sources()):
        return None
    source = brain.add(folder)
    say(f"source '{source.name}': {source.path}")
    return source


def _tell_left_out(source: SourceSettings) -> None:
    """Say what a source of another kind would read there."""
    from ..sources.survey import left_out

    words = {"repo": "files of source code", "code": "files of source code", "documents": "tables"}
    for kind, count in left_out(source.path).items():
        tell(
            f"note: it holds {count:,} {words[kind]} too, which notes do not; to read them as well:"
            f" brain remove {shlex.quote(source.name)}; brain add {shlex.quote(str(source.path))} --kind {kind}"
        )


@click.command()
@json_option
@click.pass_obj
def sources(invocation: Invocation, as_json: bool) -> int:
    """List the sources, and how much of each is indexed."""
    from .display import say_table

    with invocation.open_brain() as brain:
        states = {state.name: state for state in brain.status().sources}
        listed = [
            {
                "name": source.name,
                "kind": source.kind,
                "path": str(source.path),
                "privacy": source.privacy,
                "documents": states[source.name].documents if source.name in states else 0,
            }
            for source in brain.sources()
        ]
        file = str(brain.settings.sources_file)
    if as_json:
        say_json({"file": file, "sources": listed})
        return Exit.DONE
    say_table(
        ("name", "kind", "privacy", "documents", "path"),
        [(entry["name"], entry["kind"], entry["privacy"], entry["documents"], entry["path"]) for entry in listed],
    )
    if not listed:
        tell("no sources yet: type `brain add ~/notes` (the folder of your notes)")
    tell(Piece(f"settings: {file}", "dim"))
    return Exit.DONE


@click.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def remove(invocation: Invocation, name: str, yes: bool) -> int:
    """Forget a source; its files are not touched.

    Takes it out of sources.yaml and out of the index. It asks first; a script says --yes.
    """
    with invocation.open_brain() as brain:
        brain.must_see_all("remove a source")
        configured = {source.name: source for source in brain.sources()}
        indexed = {state.name: state for state in brain.status().sources}
        known = name in configured or name in indexed
        if known and not yes:
            if not (sys.stdin and sys.stdin.isatty()):
                raise click.UsageError(f"nobody is there to ask: type `brain remove --yes '{one_line(name)}'`")
            count = indexed[name].documents if name in indexed else 0
            question = f"Forget source '{one_line(name)}' ({count} documents)? No file is touched."
            if not click.confirm(question, err=True):
                tell("nothing was changed")
                return Exit.DONE
        count = brain.remove(name)
        say(f"removed source '{name}': {count} document{'' if count == 1 else 's'} left the index, no file was touched")
        if name in configured:
            path = configured[name].path
            for other in brain.sources():
                if path.is_relative_to(other.path):
                    tell(
                        f"note: its files lie in source '{other.name}' too ({other.path});"
                        f" `brain index {other.name}` will read them as part of it"
                    )
    return Exit.DONE
