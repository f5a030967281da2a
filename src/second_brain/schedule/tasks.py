"""The Task Scheduler of Windows: what to type there."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from ..config import Daily, Every
from .jobs import Home, Job


def commands(home: Home, jobs: Sequence[Job]) -> list[str]:
    """The commands that make the tasks of a home."""
    made = []
    for job in jobs:
        run = subprocess.list2cmdline(home.command(job.name))
        for name, times in _triggers(job):
            words = ("schtasks", "/Create", "/F", "/TN", f"second-brain\\{home.tag}-{name}", *times, "/TR", run)
            made.append(subprocess.list2cmdline(words))
    return made


def removals(home: Home, jobs: Sequence[Job]) -> list[str]:
    """The commands that take them away."""
    names = [name for job in jobs for name, _ in _triggers(job)]
    return [
        subprocess.list2cmdline(("schtasks", "/Delete", "/F", "/TN", f"second-brain\\{home.tag}-{name}"))
        for name in names
    ]


def _triggers(job: Job) -> list[tuple[str, tuple[str, ...]]]:
    """Task names, and when each runs: a task has one trigger."""
    found = [(job.name, calendar(job.when))]
    return [*found, (f"{job.name}-login", ("/SC", "ONLOGON"))] if job.at_login else found


def calendar(when: Every | Daily) -> tuple[str, ...]:
    """The time as schtasks takes it."""
    if isinstance(when, Daily):
        return ("/SC", "DAILY", "/ST", f"{when.hour:02d}:{when.minute:02d}")
    if when.minutes < 60:
        return ("/SC", "MINUTE", "/MO", str(when.minutes))
    return ("/SC", "HOURLY", "/MO", str(when.minutes // 60))
