"""``brain status``, ``brain doctor``, ``brain compact``: is the index whole, fresh and small?"""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import click

from ..moments import shown
from .exits import Exit
from .journal import project_folder, project_option
from .options import Invocation, json_option
from .output import Piece, Style, say, say_json, tell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from ..index.sqlite.check import Finding
    from ..library import Brain
    from ..records import Status

SECRETS_SHOWN = 20
"""So many documents in which secrets were masked are named; ``--verbose`` names all."""

SEVERITY: dict[str, Style] = {"ok": "dim", "note": "plain", "warning": "warning", "error": "error"}


@click.command()
@json_option
@click.pass_obj
def status(invocation: Invocation, as_json: bool) -> int:
    """Show what is indexed, and how fresh it is."""
    from ..hooks.moments import spent

    with invocation.open_brain() as brain:
        found = brain.status()
        watcher, jobs = _watcher(brain), _jobs(brain)
    hints = spent(invocation.home)
    if as_json:
        values = {field.name: getattr(found, field.name) for field in fields(found)}
        say_json({**values, "hints": asdict(hints), "watching": watcher, "schedule": jobs})
        return Exit.DONE
    _say_status(found, _by_itself(watcher, jobs))
    if hints.all:
        used = f"{hints.newest} of {hints.budget} in the last session that had any, {hints.all} in all"
        say(Piece("  hints      ", "dim"), used)
    for notice in found.notices:
        tell(Piece(f"note: {notice}", "warning"))
    return Exit.DONE


def _watcher(brain: Brain) -> dict[str, Any] | None:
    """Who indexes notes as they change, and which sources that the asker may see are polled; None for nobody."""
    from ..generations import first_index
    from ..watching.presence import watching

    found = watching(first_index(brain.settings))
    names = {source.name for source in brain.sources()}
    polling = {name: reason for name, reason in found.polling.items() if name in names} if found else {}
    return {**asdict(found), "polling": polling} if found else None


def _jobs(brain: Brain) -> dict[str, Any]:
    """What runs by itself; a crontab that cannot be read is told, and no reason to say nothing of the index."""
    from ..errors import UsageError
    from .schedule import standing

    try:
        return standing(brain.settings)
    except UsageError as error:
        tell(Piece(f"note: {error}", "warning"))
        return {"form": None, "jobs": []}


def _by_itself(watcher: dict[str, Any] | None, jobs: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The lines that say what goes on without being asked."""
    if watcher:
        polled = "".join(f"; polling '{name}': {reason}" for name, reason in watcher["polling"].items())
        yield "watching", f"since {shown(watcher['since'])} (process {watcher['pid']}){polled}"
    if jobs["form"]:
        named = [f"{job['job']} {job['when']}" for job in jobs["jobs"] if job["state"] in ("installed", "outdated")]
        yield "schedule", f"{', '.join(named)} ({jobs['form']}; see `brain schedule status`)"


def _say_status(found: Status, more: Iterable[tuple[str, str]] = ()) -> None:
    from .display import say_table

    vectors = f"{found.embedded:,}/{found.chunks:,}"
    lines = (
        ("settings", str(found.home)),
        ("index", f"{found.index} ({size(found.index_bytes + found.matrix_bytes)})" if found.index_bytes else ""),
        ("generation", found.generation),
        ("documents", f"{found.documents:,} ({size(found.text_bytes)} of text)"),
        ("passages", f"{found.chunks:,}"),
        ("vectors", f"{vectors} ({found.embedder or found.wanted_embedder})"),
        ("links", f"{found.links:,} ({found.unresolved_links:,} lead nowhere)"),
        ("unreadable", f"{found.failures:,}" if found.failures else ""),
        ("last run", shown(found.last_sync) if found.last_sync else "never"),
        *more,
    )
    say(Piece(f"second-brain {found.version}", "title"))
    for name, value in lines:
        if value:
            say(Piece(f"  {name:<11}", "dim"), value)
    if found.sources:
        say()
        say_table(
            ("source", "documents", "passages", "waiting", "unreadable", "last run", "path"),
            [
                (
                    source.name,
                    source.documents,
                    source.chunks,
                    source.waiting,
                    source.failures,
                    ("not available" if source.unavailable else shown(source.synced)) if source.synced else "never",
                    source.path,
                )
                for source in found.sources
            ],
        )


@click.command()
@click.option("--fix", is_flag=True, help="Mend what can be mended without losing a note.")
@click.option("--hook", "in_short", is_flag=True, help="At most ten lines of what is wrong, nothing when all is well.")
@project_option
@json_option
@click.pass_obj
def doctor(invocation: Invocation, fix: bool, in_short: bool, project: Path | None, as_json: bool) -> int:
    """Look for damage in the index, and mend it; say where secrets were masked.

    Looks also at what the project of the current folder relies on: servers, hooks, sources, decisions, lessons, the
    knowledge graph, and how much of every session's context its instructions take.
    Ends with exit code 3 if a warning or an error is left.
    """
    from ..invariants import in_short as shortly
    from ..invariants import project_findings

    with invocation.open_brain() as brain:
        findings = brain.doctor(fix=fix)
        if not brain.clearance and not any(f.name == "generations" and f.severity == "error" for f in findings):
            findings += project_findings(brain, project_folder(project))
    if in_short:
        text = shortly(findings)
        if text:
            say(text)
        return Exit.DONE
    troubles = [finding for finding in findings if finding.severity in ("warning", "error")]
    if as_json:
        say_json({"findings": [asdict(finding) for finding in findings]})
    else:
        for finding in _shortened(findings, every=invocation.verbose):
            say(Piece(f"{finding.severity:<8}", SEVERITY[finding.severity]), finding.message)
            if finding.remedy:
                say("        ", Piece(finding.remedy, "dim"))
        if not troubles:
            say("no damage found")
    return Exit.INCOMPLETE if troubles else Exit.DONE


def _shortened(findings: list[Finding], *, every: bool) -> Iterator[Finding]:
    """The findings; of many masked secrets only the first ones and how many documents hold more."""
    from ..index.sqlite.check import Finding

    notes = [finding for finding in findings if finding.name == "secrets" and finding.severity == "note"]
    left_out = [] if every else notes[SECRETS_SHOWN:]
    yield from (finding for finding in findings if finding not in left_out)
    if left_out:
        yield Finding("secrets", "note", f"and in {len(left_out)} more documents", "brain --verbose doctor names all")


@click.command()
@click.pass_obj
def compact(invocation: Invocation) -> int:
    """Give free space of the index back to the disk."""
    with invocation.open_brain() as brain:
        before, after = brain.compact()
    say(f"{size(before)} before, {size(after)} after")
    return Exit.DONE


def size(count: float) -> str:
    """Bytes as people read them: ``12.3 MB``, in powers of 1000 as disks are sold."""
    units = ("B", "kB", "MB", "GB")
    power = 0
    while count >= 1000 and power < len(units) - 1:
        count, power = count / 1000, power + 1
    return f"{count:.{min(power, 1)}f} {units[power]}"
