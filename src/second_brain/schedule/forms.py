"""Which timers this machine has, what must be done for the jobs of a home, and how they stand."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

from ..errors import UsageError
from . import cron, launchd, systemd, tasks
from .jobs import Home, Job
from .plan import Plan, Write

Form = Literal["systemd", "launchd", "cron", "tasks"]
FORMS: tuple[Form, ...] = get_args(Form)
PLATFORMS: dict[str, Form] = {"linux": "systemd", "darwin": "launchd", "win32": "tasks"}
"""What a platform brings with it, by Python's name for it; others have cron."""

Standing = Literal["installed", "outdated", "absent"]
"""``outdated``: what is written there differs from what the settings say now."""


def chosen(asked: str = "") -> tuple[Form, UsageError | None]:
    """The form that is asked for, else the best one here, else that of the platform; and why it starts nothing here."""
    reasons = {form: _missing(form) for form in FORMS}
    usable = [form for form in FORMS if not reasons[form]]
    best = usable[0] if usable else PLATFORMS.get(sys.platform, "cron")
    form = next((form for form in FORMS if form == asked), best)
    if not reasons[form]:
        return form, None
    why = f"{form} cannot be used here: {reasons[form]}"
    if not asked:
        why = f"nothing here can start jobs: {reasons['systemd']}, and {reasons['cron']}"
    hint = f"here there is: {', '.join(usable)}" if usable else "install cron, or let `brain watch` run"
    return form, UsageError(why, hint=hint)


def installation(form: Form, home: Home, jobs: Sequence[Job]) -> Plan:
    """What must be done so that these jobs, and no others of this home, run in this form and in no other.

    Raises UsageError when a file of that name is not ours, or a crontab cannot be read.
    """
    plan = sum((removal(other, home) for other in FORMS if other != form), Plan())
    if not jobs:
        return plan + removal(form, home)
    if form == "cron":
        return plan + cron.installing(home, jobs)
    if form == "tasks":
        return plan + Plan(notes=("type this:", *tasks.commands(home, jobs)))
    writes = _writes(form, home, jobs)
    for write in writes:
        if write.path.exists() and not _is_ours(write.path, home):
            raise UsageError(f"{write.path} is there and not ours", hint="move it away, then try again")
    gone = [path for path in _files(form, home) if path not in {write.path for write in writes}]
    changed = tuple(write for write in writes if _text(write.path) != write.text)
    if form == "systemd" and not changed and not gone and systemd.enabled(home, jobs, os.environ):
        return plan
    calls = systemd.installing(home, jobs, gone) if form == "systemd" else launchd.installing(home, jobs, gone)
    return plan + Plan(writes=changed, deletes=tuple(gone)) + calls


def removal(form: Form, home: Home) -> Plan:
    """What must be done so that nothing of this home is left in this form: only what bears our mark goes."""
    if form == "cron":
        return cron.removing(home)
    if form == "tasks":
        return Plan()
    gone = _files(form, home)
    if not gone:
        return Plan()
    return Plan(deletes=tuple(gone)) + (systemd.removing(gone) if form == "systemd" else launchd.removing(gone))


def standings(home: Home, jobs: Sequence[Job]) -> tuple[Form | None, dict[str, Standing]]:
    """The form in which this home's jobs are installed (None for none), and how each job stands there."""
    for form in FORMS:
        if form == "tasks":
            continue
        found = _in_crontab(home, jobs) if form == "cron" else _in_files(form, home, jobs)
        if found is not None:
            return form, found
    return None, {job.name: "absent" for job in jobs}


def _in_files(form: Form, home: Home, jobs: Sequence[Job]) -> dict[str, Standing] | None:
    if not _files(form, home):
        return None
    found: dict[str, Standing] = {}
    for write in _writes(form, home, jobs):
        text = _text(write.path)
        state: Standing = "absent" if text is None else "installed" if text == write.text else "outdated"
        found[write.job] = state if found.get(write.job, state) == state else "outdated"
    if form == "systemd" and not systemd.enabled(home, jobs, os.environ):
        found = {job: "outdated" if state == "installed" else state for job, state in found.items()}
    return found


def _in_crontab(home: Home, jobs: Sequence[Job]) -> dict[str, Standing] | None:
    there = cron.current(home, cron.crontab())
    if not there:
        return None
    found: dict[str, Standing] = {}
    for job in jobs:
        wanted = cron.block(home, [job]).splitlines()[1:-1]
        if all(line in there.splitlines() for line in wanted):
            found[job.name] = "installed"
        else:
            found[job.name] = "outdated" if f"schedule run {job.name} ".encode() in there else "absent"
    return found


def _writes(form: Form, home: Home, jobs: Sequence[Job]) -> tuple[Write, ...]:
    return systemd.writes(home, jobs, os.environ) if form == "systemd" else launchd.writes(home, jobs)


def _files(form: Form, home: Home) -> list[Path]:
    """The files of this home that bear our mark."""
    found = systemd.ours(home, os.environ) if form == "systemd" else launchd.ours(home)
    return [path for path in found if _is_ours(path, home)]


def _is_ours(path: Path, home: Home) -> bool:
    return home.marker in (_text(path) or "")


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def _missing(form: Form) -> str:
    """Why this form cannot be used here, or ''."""
    if form == "systemd":
        return systemd.available(os.environ) if sys.platform == "linux" else "that is of Linux"
    if form == "cron":
        return "that is not of Windows" if sys.platform == "win32" else cron.available()
    if PLATFORMS.get(sys.platform) == form:
        return ""
    return f"that is of {'macOS' if form == 'launchd' else 'Windows'}"
