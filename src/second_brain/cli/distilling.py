"""``brain distill``: one summary note for each session."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from .exits import Exit
from .options import Invocation, json_option
from .output import Piece, Style, say, say_json, tell

if TYPE_CHECKING:
    from ..distill.run import DistillReport

STYLES: dict[str, Style] = {"failed": "error", "waiting": "warning", "edited": "dim", "unchanged": "dim"}
QUIETLY = ("unchanged", "short", "active", "unreadable")
"""What became of these sessions is only counted, unless more is asked for."""


@click.command()
@click.argument("sessions", metavar="[SESSION]...", nargs=-1)
@click.option(
    "--dry-run", is_flag=True, help="Tell what would be written and sent, and what it would cost; do nothing."
)
@click.option("--no-model", is_flag=True, help="Take the session's own words, even where a chat model is configured.")
@click.option("--again", is_flag=True, help="Also sessions whose summary is up to date; never one that you edited.")
@click.option("-n", "--limit", metavar="N", type=click.IntRange(min=1), help="At most so many notes, newest first.")
@click.option("--write-prompts", is_flag=True, help="Put the prompts where you can change them, and do nothing else.")
@json_option
@click.pass_obj
def distill(
    invocation: Invocation,
    sessions: tuple[str, ...],
    dry_run: bool,
    no_model: bool,
    again: bool,
    limit: int | None,
    write_prompts: bool,
    as_json: bool,
) -> int:
    """Write one summary note for each session of your agents.

    SESSION is a source, or the beginning of a session's id or uri; without one, all sessions that have no summary or
    went on since. Without a chat model in models.yaml the summary is made of the session's own words. A note that you
    edited is kept as it is.
    """
    from ..distill.run import distill as run
    from ..distill.run import write_prompts as write
    from .display import progress

    with invocation.open_brain() as brain:
        if write_prompts:
            for path, fresh in write(brain.settings.home):
                say(f"{path}" if fresh else f"{path} is there already and was left alone")
            return Exit.DONE
        with progress(quiet=as_json) as show:
            report = run(
                brain,
                sessions,
                now=datetime.now(UTC),
                progress=show,
                dry_run=dry_run,
                use_model=not no_model,
                again=again,
                limit=limit,
            )
    if as_json:
        say_json({**asdict(report), "folder": str(report.folder), "counts": report.counts()})
    else:
        _say(report, dry_run=dry_run, everything=invocation.verbose)
    return Exit.INCOMPLETE if report.counts()["failed"] else Exit.DONE


def _say(report: DistillReport, *, dry_run: bool, everything: bool) -> None:
    for outcome in report.outcomes:
        if outcome.state in QUIETLY and not everything:
            continue
        say(Piece(f"{outcome.state:<9} ", STYLES.get(outcome.state, "plain")), outcome.title)
        for line in (outcome.path, outcome.detail):
            if line:
                say("          ", Piece(line, "dim"))
    counts = ", ".join(f"{count} {state}" for state, count in sorted(report.counts().items()))
    say(f"{counts or 'no sessions'}; notes in {report.folder}")
    if report.requests:
        cost = f", about {report.cost:,.2f} at the prices of models.yaml" if report.cost else ""
        would = "would be" if dry_run else "at most were"
        say(f"{report.requests} requests of {report.tokens:,} tokens {would} sent to the chat model{cost}")
    for notice in report.notices:
        tell(Piece(f"note: {notice}", "warning"))
