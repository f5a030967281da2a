"""``--remote``: the same commands, answered by the brain on another machine."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from .exits import Exit
from .options import Invocation
from .output import Piece, say, say_json, tell

if TYPE_CHECKING:
    from ..library import Brain
    from ..remote.brain import RemoteBrain

Command = TypeVar("Command", bound=Callable[..., Any])

IN_SETTINGS = "settings"
"""The value of ``--remote`` that takes the address of settings.yaml; it is what ``--remote`` alone means."""

_ADDRESS = re.compile(r"https?://\S+|[\w.\-]+:\d{1,5}|\[[0-9A-Fa-f:.]+\]:\d{1,5}")


def remote_option(help: str) -> Callable[[Command], Command]:
    """The option, for commands of the class ``RemoteCommand``."""
    told = f"{help} URL is that of settings.yaml if left out."
    return click.option("--remote", metavar="[URL]", default=None, help=told)


class RemoteCommand(click.Command):
    """Takes ``--remote`` with an address behind it or without."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Say what ``--remote`` alone means."""
        return super().parse_args(ctx, with_address(args))


def with_address(args: Sequence[str]) -> list[str]:
    """The arguments, each ``--remote`` with what it stands for: what is no address behind it is a word by itself."""
    options = list(args[: args.index("--")] if "--" in args else args)
    given = list(args)
    for position, arg in enumerate(options):
        behind = options[position + 1] if position + 1 < len(options) else ""
        if arg == "--remote" and not _ADDRESS.fullmatch(behind):
            given[position] = f"--remote={IN_SETTINGS}"
    return given


def open_remote(invocation: Invocation, remote: str) -> RemoteBrain:
    """The brain on another machine. Imports neither a database nor a model."""
    from ..remote.brain import RemoteBrain

    url = "" if remote == IN_SETTINGS else remote
    return RemoteBrain.open(invocation.home, url=url, index=invocation.index, clearance=invocation.privacy)


def open_asked(invocation: Invocation, remote: str | None) -> Brain:
    """This machine's own brain, or the one on another machine, which answers to the same calls."""
    return invocation.open_brain() if remote is None else cast("Brain", open_remote(invocation, remote))


def index_remotely(
    invocation: Invocation,
    remote: str,
    targets: Sequence[str],
    *,
    prune: bool,
    quiet: bool,
    verbose: bool,
    as_json: bool,
) -> int:
    """Send what changed to the box, and wait until it is indexed there."""
    from ..remote.sending import send
    from .display import progress
    from .indexing import say_source

    with open_remote(invocation, remote) as brain:
        brain.must_see_all("send sources")
        with progress(quiet=quiet) as show:
            sent = send(brain, targets, prune=prune, progress=show)
    if as_json:
        say_json({**asdict(sent), "url": brain.line.url})
    elif not quiet:
        for report in sent.report.sources:
            say_source(report, verbose=verbose, remote=True)
        say(Piece("sent", "title"), f": {sent.files:,} files, {sent.bytes / 1e6:.1f} MB, to {brain.line.url}")
        if sent.waiting:
            tell(f"  {sent.waiting:,} passages are found by word there and wait for a vector")
    for problem in sent.problems:
        tell(Piece("  note: ", "warning"), problem)
    incomplete = sent.problems or any(report.failures or report.unavailable for report in sent.report.sources)
    return Exit.INCOMPLETE if incomplete else Exit.DONE
