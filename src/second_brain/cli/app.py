"""The command ``brain``: its global options, and which module holds which command.

A command's module is imported when the command is run, or listed in ``brain --help``.
"""

from __future__ import annotations

from importlib import import_module

import click

from .. import __version__
from .exits import MEANINGS
from .options import Invocation, WrongUsage, nearest, shortened, system_path

COMMANDS = {
    "add": "sources:add",
    "sources": "sources:sources",
    "remove": "sources:remove",
    "index": "indexing:index",
    "embed": "indexing:embed",
    "watch": "watch:watch",
    "schedule": "schedule:schedule",
    "search": "search:search",
    "facets": "facets:facets",
    "duplicates": "duplicates:duplicates",
    "get": "reading:get",
    "recent": "reading:recent",
    "status": "health:status",
    "doctor": "health:doctor",
    "compact": "health:compact",
    "generations": "generations:generations",
    "promote": "generations:promote",
    "rollback": "generations:rollback",
    "distill": "distilling:distill",
    "recall": "recalling:recall",
    "ingest": "recalling:ingest",
    "adr": "journal:adr",
    "learn": "journal:learn",
    "handoff": "journal:handoff",
    "graph": "graph:graph",
    "okf": "okf:okf",
    "mcp": "servers:mcp",
    "serve": "servers:serve",
    "token": "servers:token",
    "fleet": "fleet:fleet",
    "setup": "setup:setup",
    "models": "models:models",
    "eval": "evaluation:evaluate",
}
"""Module and attribute of each command, in the order of the help."""


class LazyGroup(click.Group):
    """A group that imports a command when it is asked for, and proposes one when a name is not known."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, or None."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(f".{module}", __package__), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first argument names. Raises WrongUsage with the nearest one."""
        if args[0] not in COMMANDS and not ctx.resilient_parsing:
            words = shortened(" ".join(args))
            raise WrongUsage(
                f"there is no command '{shortened(args[0])}'{nearest(args[0], list(COMMANDS))}",
                f"`brain --help` lists the commands; to search: brain search {words}",
                ctx,
            )
        return super().resolve_command(ctx, args)


EPILOG = "\b\nExit codes:\n" + "\n".join(f"  {code.value:>3}  {meaning}" for code, meaning in MEANINGS.items())


@click.group(
    "brain", cls=LazyGroup, invoke_without_command=True, epilog=EPILOG, context_settings={"max_content_width": 100}
)
@click.option("--home", metavar="DIR", callback=system_path, help="Folder of the settings.  [default: $BRAIN_HOME]")
@click.option("--index", metavar="FILE", callback=system_path, help="The index file.  [default: $BRAIN_INDEX]")
@click.option(
    "--privacy",
    metavar="LABEL",
    envvar="BRAIN_PRIVACY",
    default="",
    help="Show nothing above this label.  [default: $BRAIN_PRIVACY, `see:` in settings.yaml, else everything]",
)
@click.option("-v", "--verbose", is_flag=True, help="Say more: every failure, timings.")
@click.version_option(__version__, message="brain %(version)s")
@click.pass_context
def app(context: click.Context, home: str | None, index: str | None, privacy: str, verbose: bool) -> None:
    """Search your Markdown notes by word and by meaning, on this machine.

    \b
    First steps:
      brain add ~/notes       say where your notes are
      brain index             read them (only what changed, next time)
      brain search "why did we change the pump?"

    Options stand before the command here: brain --home DIR search WORDS.
    """  # noqa: D301
    context.obj = Invocation(home, index, verbose, privacy)
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
