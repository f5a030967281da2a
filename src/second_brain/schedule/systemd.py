"""User timers of systemd: for each job a service that runs it once, and a timer that starts the service."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..config import Daily, Every
from ..sources.paths import disk_bytes
from .jobs import Home, Job
from .plan import Call, Plan, Write

_BOOTED = Path("/run/systemd/system")
LOGIN_S = 120
"""So long after login: the desktop comes first."""


def available(environment: Mapping[str, str]) -> str:
    """Why this user has no systemd to ask, or ''."""
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    if not _BOOTED.is_dir() or not shutil.which("systemctl"):
        return "systemd does not run this machine"
    if not runtime or not Path(runtime, "systemd").is_dir():
        return "systemd runs no manager for this user here (no $XDG_RUNTIME_DIR/systemd)"
    return ""


def folder(environment: Mapping[str, str]) -> Path:
    """Where the units of the user are."""
    return Path(environment.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "systemd" / "user"


def writes(home: Home, jobs: Sequence[Job], environment: Mapping[str, str]) -> tuple[Write, ...]:
    """The units of the jobs."""
    return tuple(
        Write(job.name, folder(environment) / f"{_unit(home, job.name)}.{kind}", text)
        for job in jobs
        for kind, text in (("service", _service(home, job)), ("timer", _timer(home, job)))
    )


def ours(home: Home, environment: Mapping[str, str]) -> list[Path]:
    """The units of this home that are there, whoever wrote them."""
    return sorted(folder(environment).glob(f"{_unit(home, '')}*"))


def enabled(home: Home, jobs: Sequence[Job], environment: Mapping[str, str]) -> bool:
    """Whether systemd starts the timers of all these jobs at login."""
    wanted = folder(environment) / "timers.target.wants"
    return all((wanted / f"{_unit(home, job.name)}.timer").is_symlink() for job in jobs)


def installing(home: Home, jobs: Sequence[Job], gone: Sequence[Path]) -> Plan:
    """What is called when units were written; ``gone`` are units that are no longer wanted."""
    timers = tuple(f"{_unit(home, job.name)}.timer" for job in jobs)
    return Plan(
        before=_stopping(gone),
        calls=(
            Call(("systemctl", "--user", "daemon-reload")),
            Call(("systemctl", "--user", "enable", *timers)),
            Call(("systemctl", "--user", "restart", *timers)),
        ),
        notes=("the timers run while you are logged in; `loginctl enable-linger` lets them run without",),
    )


def removing(gone: Sequence[Path]) -> Plan:
    """What is called when units are taken away."""
    return Plan(before=_stopping(gone), calls=(Call(("systemctl", "--user", "daemon-reload"), may_fail=True),))


def _stopping(gone: Sequence[Path]) -> tuple[Call, ...]:
    timers = tuple(path.name for path in gone if path.suffix == ".timer")
    return (Call(("systemctl", "--user", "disable", "--now", *timers), may_fail=True),) if timers else ()


def _unit(home: Home, job: str) -> str:
    return f"second-brain-{home.tag}-{job}"


def _service(home: Home, job: Job) -> str:
    command = home.command(job.name)
    if any(letter in "\"'\\" or letter < " " for letter in command[0]):
        command = ("/usr/bin/env", *command)  # systemd starts no program with such letters in its path
    # ":" keeps systemd from replacing $ in the words that follow (systemd.service, "Command lines")
    words = " ".join(map(quoted, (f":{command[0]}", *command[1:])))
    lines = [
        f"# {home.marker}: `brain schedule remove` takes it away",
        "[Unit]",
        f"Description=second-brain: {job.name} ({home.tag})",
        "",
        "[Service]",
        "Type=oneshot",
        *(f"Environment={quoted(f'{name}={value}')}" for name, value in home.environment.items()),
        f"ExecStart={words}",
        "SuccessExitStatus=3",  # some files were skipped: told in the log, no failed unit
        "Nice=10",
        "CPUWeight=20",
        "IOWeight=20",
        "IOSchedulingClass=idle",
    ]
    return "\n".join(lines) + "\n"


def _timer(home: Home, job: Job) -> str:
    lines = [
        f"# {home.marker}: `brain schedule remove` takes it away",
        "[Unit]",
        f"Description=second-brain: when to {job.name} ({home.tag})",
        "",
        "[Timer]",
        f"OnCalendar={calendar(job.when)}",
        *([f"OnStartupSec={LOGIN_S}"] if job.at_login else []),
        "Persistent=true",  # what was missed while the machine slept is made up for
        "",
        "[Install]",
        "WantedBy=timers.target",
    ]
    return "\n".join(lines) + "\n"


def calendar(when: Every | Daily) -> str:
    """The time as systemd.time writes it."""
    if isinstance(when, Daily):
        return f"*-*-* {when.hour:02d}:{when.minute:02d}:00"
    if when.minutes < 60:
        return f"*-*-* *:0/{when.minutes}:00"
    return f"*-*-* 0/{when.minutes // 60}:00:00"


def quoted(text: str) -> str:
    """A word as units take it: whatever stands in it, systemd reads the very same bytes."""
    plain = {'"': '\\"', "\\": "\\\\", "%": "%%"}
    parts = []
    for letter in text:
        if letter < " " or "\x7f" <= letter < "\xa0" or "\ud800" <= letter <= "\udfff":
            parts += [f"\\x{byte:02x}" for byte in disk_bytes(letter)]
        else:
            parts.append(plain.get(letter, letter))
    return f'"{"".join(parts)}"'
