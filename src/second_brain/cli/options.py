"""What several commands share: the global options, the filters of a search, and values checked with advice."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import click

from ..moments import FORMS, parse_moment

if TYPE_CHECKING:
    from ..library import Brain
    from ..types import Filter

Command = TypeVar("Command", bound=Callable[..., Any])


ECHO = 60
"""Characters of a pasted argument that an error repeats."""


def shortened(text: str) -> str:
    """The text as an error repeats it."""
    return text if len(text) <= ECHO else f"{text[: ECHO - 1]}…"


class WrongUsage(click.UsageError):
    """A click error with a hint of what to type instead."""

    def __init__(self, message: str, hint: str = "", context: click.Context | None = None) -> None:
        super().__init__(message, context)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Invocation:
    """The global options, which stand before the command."""

    home: str | None
    index: str | None
    verbose: bool
    privacy: str = ""
    """The highest label that may be seen; '' leaves it to settings.yaml."""

    def open_brain(self) -> Brain:
        """The brain that the options name, as far as it may be seen. Imports the library: 0.1 s or more."""
        from ..library import Brain

        brain = Brain.open(self.home, index=self.index, clearance=self.privacy)
        return brain if self.privacy else brain.seen_as_set()


def system_path(context: click.Context, parameter: click.Parameter, path: str | None) -> str | None:
    """A path as this process's file functions take it, also where the locale's encoding lacks its letters."""
    if path is None:
        return None
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return os.fsdecode(path.encode("utf-8"))
    return path


def one_of(*allowed: str) -> Callable[[click.Context, click.Parameter, str | None], str | None]:
    """A callback that takes only these values, letter case ignored, and proposes the nearest."""

    def check(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
        if value is None or value.lower() in allowed:
            return value.lower() if value else value
        raise click.BadParameter(
            f"'{value}' is not one of: {', '.join(allowed)}{nearest(value, allowed)}", context, parameter
        )

    return check


def nearest(word: str, known: Sequence[str]) -> str:
    """``. Did you mean 'x'?``, or '' when nothing is near."""
    from difflib import get_close_matches

    near = get_close_matches(word.lower(), known, 1, 0.5)
    return f". Did you mean '{near[0]}'?" if near else ""


mode_option = click.option(
    "--mode",
    metavar="lexical|dense|hybrid|agentic",
    default="hybrid",
    show_default=True,
    callback=one_of("lexical", "dense", "hybrid", "agentic"),
    help="By word, by meaning, both, or both for each part of a question that is several.",
)

json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")


def _moment(*, end: bool) -> Callable[[click.Context, click.Parameter, str | None], datetime | None]:
    def check(context: click.Context, parameter: click.Parameter, value: str | None) -> datetime | None:
        if value is None:
            return None
        try:
            return parse_moment(value, datetime.now().astimezone(), end=end)
        except (ValueError, OverflowError) as error:
            raise click.BadParameter(f"'{value}' is not a time. Write {FORMS}", context, parameter) from error

    return check


class Filters(TypedDict):
    """The values of ``filter_options``."""

    source: tuple[str, ...]
    kind: tuple[str, ...]
    type: tuple[str, ...]
    project: tuple[str, ...]
    lang: tuple[str, ...]
    title: tuple[str, ...]
    tag: tuple[str, ...]
    since: datetime | None
    until: datetime | None
    path_prefix: str


def filter_options(command: Command) -> Command:
    """Add the options that say which documents count; the command gets them as ``Filters``."""
    for option in reversed(
        (
            click.option("--source", metavar="NAME", multiple=True, help="Only from this source; may be repeated."),
            click.option("--kind", metavar="KIND", multiple=True, help="Only of this kind; may be repeated."),
            click.option("--type", metavar="TYPE", multiple=True, help="Only of this type; may be repeated."),
            click.option("--project", metavar="NAME", multiple=True, help="Only of this project; may be repeated."),
            click.option("--lang", metavar="CODE", multiple=True, help="Only in this language (en, ja...)."),
            click.option("--title", metavar="WORDS", multiple=True, help="Only with these words in the title."),
            click.option(
                "--tag", metavar="TAG", multiple=True, help="Only with this tag or one below it; all must match."
            ),
            click.option(
                "--since", metavar="WHEN", callback=_moment(end=False), help="Not older: a date, 7d, 2w, 3m, today..."
            ),
            click.option(
                "--until", metavar="WHEN", callback=_moment(end=True), help="Not newer; a day counts as a whole."
            ),
            click.option(
                "--path-prefix", metavar="PATH", default="", help="Only below this path, in its source or on disk."
            ),
        )
    ):
        command = option(command)
    return command


def make_filter(values: Filters) -> Filter:
    """The filter that the options describe."""
    from ..types import Filter

    since, until = values["since"], values["until"]
    if since and until and since >= until:
        raise WrongUsage(
            f"--since {since:%Y-%m-%d %H:%M} is not before --until {until:%Y-%m-%d %H:%M}: nothing can match",
            "give the earlier time to --since",
        )
    return Filter(
        sources=values["source"],
        kinds=values["kind"],
        types=values["type"],
        projects=values["project"],
        languages=values["lang"],
        titles=values["title"],
        tags=values["tag"],
        since=since,
        until=until,
        path_prefix=values["path_prefix"],
    )
