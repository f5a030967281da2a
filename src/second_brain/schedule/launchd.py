"""Agents of launchd: a property list for each job."""

from __future__ import annotations

import os
import plistlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..config import Daily, Every
from ..errors import UsageError
from .jobs import Home, Job
from .plan import Call, Plan, Write


def folder() -> Path:
    """Where the user's agents are."""
    return Path.home() / "Library" / "LaunchAgents"


def writes(home: Home, jobs: Sequence[Job]) -> tuple[Write, ...]:
    """The property lists. Raises UsageError for a path that XML cannot hold."""
    return tuple(Write(job.name, folder() / f"{_label(home, job.name)}.plist", _plist(home, job)) for job in jobs)


def ours(home: Home) -> list[Path]:
    """The property lists of this home that are there, whoever wrote them."""
    return sorted(folder().glob(f"{_label(home, '')}*.plist"))


def installing(home: Home, jobs: Sequence[Job], gone: Sequence[Path]) -> Plan:
    """What is called around writing: launchd takes over a changed file only when it lets go of the old one first."""
    files = [folder() / f"{_label(home, job.name)}.plist" for job in jobs]
    started = tuple(Call(("launchctl", "bootstrap", _domain(), str(file))) for file in files)
    return Plan(before=_stopping([*files, *gone]), calls=started)


def removing(gone: Sequence[Path]) -> Plan:
    """What is called before property lists are taken away."""
    return Plan(before=_stopping(gone))


def _stopping(files: Sequence[Path]) -> tuple[Call, ...]:
    return tuple(Call(("launchctl", "bootout", f"{_domain()}/{file.stem}"), may_fail=True) for file in files)


def _domain() -> str:
    return f"gui/{os.getuid()}"


def _label(home: Home, job: str) -> str:
    return f"second-brain.{home.tag}.{job}"


def _plist(home: Home, job: Job) -> str:
    entries: dict[str, Any] = {
        "Label": _label(home, job.name),
        "ProgramArguments": list(home.command(job.name)),
        "StartCalendarInterval": calendar(job.when),
        "RunAtLoad": job.at_login,
        "ProcessType": "Background",
        "LowPriorityIO": True,
        "Nice": 10,
        "EnvironmentVariables": dict(home.environment),
    }
    unclean = [word for word in (*home.command(job.name), *home.environment.values()) if not _holds(word)]
    if unclean:
        raise UsageError(
            f"launchd cannot be told of {unclean[0]!r}: a property list holds no control characters",
            hint="give the home a plainer name, or use `brain schedule install --with cron`",
        )
    text = plistlib.dumps(entries, sort_keys=False).decode("utf-8")
    return text.replace("<plist", f"<!-- {home.marker}: `brain schedule remove` takes it away -->\n<plist", 1)


def _holds(word: str) -> bool:
    return not any(
        (letter < " " and letter not in "\t\n") or "\ud800" <= letter <= "\udfff" or letter in "\ufffe\uffff"
        for letter in word
    )


def calendar(when: Every | Daily) -> list[dict[str, int]]:
    """The moments as launchd matches them; what is missed while the machine sleeps is made up for once."""
    if isinstance(when, Daily):
        return [{"Hour": when.hour, "Minute": when.minute}]
    if when.minutes <= 60:
        return [{"Minute": minute} for minute in range(0, 60, when.minutes)]
    return [{"Hour": hour, "Minute": 0} for hour in range(0, 24, when.minutes // 60)]
