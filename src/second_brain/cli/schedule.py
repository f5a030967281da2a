"""``brain schedule``: jobs that run by themselves."""

from __future__ import annotations

import os
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from .exits import Exit
from .options import Invocation, json_option, one_of
from .output import Piece, say, say_json, tell

if TYPE_CHECKING:
    from ..config import Settings
    from ..library import Brain
    from ..schedule.plan import Plan
    from ..schedule.running import Step, Told
    from ..types import EmbedReport, SyncReport

JOBS = ("index", "distill", "embed")
FORMS = ("systemd", "launchd", "cron", "tasks")
AT_ONCE = 1_000
"""Passages that an index job makes vectors for: half a minute; the embed job makes the rest at night."""

with_option = click.option(
    "--with",
    "form",
    metavar="|".join(FORMS),
    default=None,
    callback=one_of(*FORMS),
    help="What starts the jobs.  [default: systemd, launchd or cron, whichever is here]",
)
yes_option = click.option("--yes", is_flag=True, help="Do not ask.")
dry_option = click.option("--dry-run", is_flag=True, help="Show what would be done; do nothing.")


@click.group()
def schedule() -> None:
    """Let this machine index, distill and embed by itself.

    The times are those of `schedule:` in settings.yaml: index hourly and at login, distill at 04:30, embed at 05:00.
    `brain watch` follows files as they change.
    """


@schedule.command()
@with_option
@yes_option
@dry_option
@click.pass_obj
def install(invocation: Invocation, form: str | None, yes: bool, dry_run: bool) -> int:
    """Write the jobs of this home: all that is written and called is shown first.

    Again after a change of the times, of Python or of the home: what is there is replaced. A dry run shows what would
    be written also where nothing here could start it.
    """
    from ..schedule.forms import chosen, installation
    from ..schedule.jobs import described, home_of, jobs_of
    from ..schedule.plan import Plan

    with invocation.open_brain() as brain:
        brain.must_see_all("schedule jobs")
        settings = brain.settings
    picked, lacking = chosen(form or "")
    if lacking and not dry_run:
        raise lacking
    home, jobs = home_of(settings, os.environ), jobs_of(settings)
    plan = installation(picked, home, jobs)
    if lacking:
        plan += Plan(notes=(f"{lacking}; {lacking.hint}",))
    if not _agreed(plan, yes=yes, dry_run=dry_run):
        return Exit.DONE
    plan.carry_out()
    for job in jobs:
        say(f"{job.name:<8} {described(job.when)}{' and at login' if job.at_login else ''}")
    _tell_key(settings)
    return Exit.DONE


@schedule.command()
@yes_option
@dry_option
@click.pass_obj
def remove(invocation: Invocation, yes: bool, dry_run: bool) -> int:
    """Take the jobs of this home away: only what bears its mark."""
    from ..schedule import tasks
    from ..schedule.forms import FORMS as forms
    from ..schedule.forms import removal
    from ..schedule.jobs import home_of, jobs_of
    from ..schedule.plan import Plan

    with invocation.open_brain() as brain:
        brain.must_see_all("take jobs away")
        settings = brain.settings
    home = home_of(settings, os.environ)
    plan = sum((removal(form, home) for form in forms), Plan())
    if os.name == "nt":
        plan += Plan(notes=("type this:", *tasks.removals(home, jobs_of(settings))))
    if _agreed(plan, yes=yes, dry_run=dry_run):
        plan.carry_out()
        say(f"removed; the logs stay in {home.state}")
    return Exit.DONE


@schedule.command()
@json_option
@click.pass_obj
def status(invocation: Invocation, as_json: bool) -> int:
    """Show each job: whether it is installed, how its last run ended, when the next one is, and its log."""
    from ..moments import shown
    from .display import say_table

    with invocation.open_brain() as brain:
        settings = brain.settings
    found = standing(settings)
    if as_json:
        say_json(found)
        return Exit.DONE
    say(f"jobs of {settings.home}: {found['form'] or 'not installed'}")
    say_table(
        ("job", "when", "state", "last run", "ended", "next run", "log"),
        [
            (
                job["job"],
                job["when"],
                job["state"],
                shown(job["last"]["began"]) if job["last"] else "never",
                ENDED[job["last"]["exit"]] if job["last"] else "",
                shown(job["next"]) if job["next"] else "",
                job["log"],
            )
            for job in found["jobs"]
        ],
    )
    for job in found["jobs"]:
        for step, words in (job["last"] or {"words": {}})["words"].items():
            if words.startswith("failed"):
                tell(Piece(f"note: {job['job']}, {step}: {words}", "warning"))
    if any(job["state"] == "outdated" for job in found["jobs"]):
        tell(Piece("note: what is installed is not what the settings say; run `brain schedule install`", "warning"))
    return Exit.DONE


ENDED = {0: "done", 3: "incomplete", 1: "failed"}
"""How a run ended, by its exit code."""


def standing(settings: Settings) -> dict[str, Any]:
    """What ``status`` shows: the form, and each job with its state, last and next run."""
    from ..schedule.forms import standings
    from ..schedule.jobs import described, home_of, jobs_of, next_run
    from ..schedule.running import last_run, log_path

    home, jobs = home_of(settings, os.environ), {job.name: job for job in jobs_of(settings)}
    form, states = standings(home, list(jobs.values()))
    now = datetime.now(UTC)
    rows = []
    for name in JOBS:
        job, last = jobs.get(name), last_run(home.state, name)
        state = states.get(name, "absent")
        rows.append(
            {
                "job": name,
                "when": described(job.when) if job else "off",
                "at_login": bool(job and job.at_login),
                "state": state if job else "off",
                "last": asdict(last) if last else None,
                "next": next_run(job.when, now) if job and state != "absent" else None,
                "log": str(log_path(home.state, name)),
            }
        )
    return {"form": form, "jobs": rows}


@schedule.command()
@click.argument("job", metavar="|".join(JOBS), callback=one_of(*JOBS))
@click.option("-q", "--quiet", is_flag=True, help="Only into the log.")
@click.pass_obj
def run(invocation: Invocation, job: str, quiet: bool) -> int:
    """Run a job now, as its timer does: alone, at low priority, with a log.

    A run that finds another one working ends at once.
    """
    from ..schedule.jobs import home_of
    from ..schedule.running import run as carry_out

    with invocation.open_brain() as brain:
        brain.must_see_all("run jobs")
        home = home_of(brain.settings, os.environ)
        return carry_out(home.state, job, _steps(brain, job), say=lambda line: None if quiet else tell(line))


def _steps(brain: Brain, job: str) -> list[Step]:
    from ..schedule.running import Step

    if job == "distill":
        return [Step("distill", lambda: _distill(brain))]
    limit = AT_ONCE if job == "index" else None
    return [Step("index", lambda: _index(brain)), Step("embed", lambda: _embed(brain, limit))]


def _index(brain: Brain) -> Told:
    from ..errors import IndexLocked
    from ..schedule.running import Told

    if not brain.sources():
        return Told("no source yet; nothing to do")
    try:
        report = brain.sync(wait_s=0)
    except IndexLocked:
        return Told("another brain is indexing; nothing to do")
    return Told(summary(report), any(source.failures or source.unavailable for source in report.sources))


def _embed(brain: Brain, limit: int | None) -> Told:
    from ..errors import IndexLocked
    from ..schedule.running import Told

    try:
        report = brain.embed(limit=limit, wait_s=0)
    except IndexLocked:
        return Told("another brain makes vectors; nothing to do")
    return Told(embedded(report), bool(report.failures))


def _distill(brain: Brain) -> Told:
    from ..config import SESSION_KINDS
    from ..distill.run import distill
    from ..schedule.running import Told

    if brain.settings.models.chat is None:
        return Told("no chat model in models.yaml; nothing to do")
    if not any(source.kind in SESSION_KINDS for source in brain.sources()):
        return Told("no source of sessions; nothing to do")
    report = distill(brain, now=datetime.now(UTC), progress=lambda stage, done, total: None)
    counts = ", ".join(f"{count} {state}" for state, count in sorted(report.counts().items()))
    return Told("; ".join((counts or "no sessions", *report.notices)), bool(report.counts()["failed"]))


def summary(report: SyncReport) -> str:
    """One line of what a comparison with the disk found: ``2 added, 1 changed (notes), 0.1 s``."""
    counts = {
        name: sum(getattr(source, name) for source in report.sources)
        for name in ("added", "changed", "moved", "deleted")
    }
    counts["skipped with a reason"] = len(report.failures)
    said = [f"{count:,} {name}" for name, count in counts.items() if count]
    said += [f"{source.source} not available" for source in report.sources if source.unavailable]
    return f"{', '.join(said) or 'nothing changed'}, {report.seconds:.1f} s"


def embedded(report: EmbedReport) -> str:
    """One line of what an embedding run did."""
    refused = f", {len(report.failures)} refused" if report.failures else ""
    return f"{report.embedded:,} vectors made, {report.waiting:,} wait{refused}, {report.seconds:.1f} s"


def _agreed(plan: Plan, *, yes: bool, dry_run: bool) -> bool:
    """Show the plan and ask; whether it is to be carried out."""
    for line in plan.shown():
        say(Piece(line, "dim" if line.startswith("    ") else "plain"))
    for note in plan.notes:
        tell(Piece(f"note: {note}", "dim"))
    if plan.empty:
        tell("nothing to do")
        return False
    if dry_run:
        tell("nothing was done")
        return False
    return yes or click.confirm("do this?", err=True)


def _tell_key(settings: Settings) -> None:
    """A job has not the variables of a shell's settings: say so where the chat model needs one."""
    chat = settings.models.chat
    if chat and chat.key_variable and settings.schedule.distill:
        words = f"note: distill takes ${chat.key_variable} from the environment, which jobs have only where the system"
        tell(Piece(f"{words} sets it (systemd: ~/.config/environment.d, cron: a line in the crontab)", "warning"))
