"""Writes ``docs/reference/cli.md`` from the commands themselves: ``python -m second_brain.cli.reference FOLDER``."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from .app import app
from .exits import MEANINGS

FILE = "cli.md"

HEAD = """\
# The command `brain`

<!-- Written by `make docs` from the commands themselves; changes here are lost. -->

    brain [global options] COMMAND [options] [arguments]

Results go to stdout, everything about them (progress, notes, errors) to stderr.
With `--json` stdout holds exactly one object, on one line, in UTF-8.
An error is then `{"error": {"type", "message", "hint"}}`.
Times are in your local time zone.
`NO_COLOR` turns styles off; `BRAIN_DEBUG=1` shows the traceback of an error.
"""


def render() -> str:
    """The whole page."""
    context = click.Context(app, info_name="brain")
    parts = [HEAD, "## Exit codes\n"]
    parts.append(
        "\n".join(["| code | meaning |", "|---:|---|", *(f"| {c.value} | {t} |" for c, t in MEANINGS.items())])
    )
    parts.append("\n## Global options\n")
    parts.extend(_options(app))
    for name in app.list_commands(context):
        command = app.get_command(context, name)
        if command is not None:
            parts.extend(_section(name, command, click.Context(command, context, info_name=name)))
    return "\n".join(parts) + "\n"


def _section(name: str, command: click.Command, context: click.Context) -> Iterator[str]:
    """A command, and those below it."""
    yield f"\n## brain {name}\n"
    yield from _command(name, command)
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            inner = command.get_command(context, below)
            if inner is not None and not inner.hidden:
                yield from _section(f"{name} {below}", inner, click.Context(inner, context, info_name=below))


def _command(name: str, command: click.Command) -> Iterator[str]:
    arguments = [parameter for parameter in command.params if isinstance(parameter, click.Argument)]
    words = " ".join(argument.metavar or str(argument.name).upper() for argument in arguments)
    yield f"    brain {name} [options] {words}".rstrip() + "\n"
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        if paragraph.startswith("\b\n"):
            title, *lines = paragraph[2:].split("\n")
            yield f"{title}\n"
            yield "\n".join(f"    {line.strip()}" for line in lines) + "\n"
        else:
            yield re.sub(r"(?<=\.) (?=[A-Za-z])", "\n", " ".join(paragraph.split("\n"))) + "\n"
    yield from _options(command)


def _options(command: click.Command) -> Iterator[str]:
    """The options as a table; built from their own words, as click's wording changes between versions."""
    yield "| option | meaning |"
    yield "|---|---|"
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            value = f" {parameter.metavar}".replace("|", r"\|") if parameter.metavar else ""
            names = ", ".join(parameter.opts) + value
            meaning = (parameter.help or "").replace("  [default: ", " (default: ").replace("]", ")")
            default = f" (default: {parameter.default})" if parameter.show_default else ""
            yield f"| `{names}` | {meaning}{default} |"


def main() -> int:
    """Write the page into the folder that is named."""
    if len(sys.argv) != 2:
        print("usage: python -m second_brain.cli.reference FOLDER", file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text(render(), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
