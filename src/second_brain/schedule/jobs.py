"""Which jobs a home has, when each runs next, and the command line that runs it."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from ..config import Daily, Every, Settings
from ..generations import first_index

CARRIED = ("BRAIN_MODEL_CACHE", "XDG_CACHE_HOME", "XDG_STATE_HOME")
"""Variables that say where our files are: a job has them as the shell had that installed it."""


@dataclass(frozen=True, slots=True)
class Job:
    """``index`` also runs at login, when much may have changed."""

    name: str
    when: Every | Daily

    @property
    def at_login(self) -> bool:
        """Whether it runs once more when the user logs in."""
        return self.name == "index"


@dataclass(frozen=True, slots=True)
class Home:
    """Whose jobs they are. ``tag`` is in the name of whatever is written for it: 8 hex digits of home and index.

    ``brain`` is the command line before the subcommand, its first word absolute. ``state`` holds logs and locks.
    """

    folder: Path
    tag: str
    brain: tuple[str, ...]
    state: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def marker(self) -> str:
        """The text by which what we wrote for this home is known again."""
        return f"second-brain schedule {self.tag}"

    def command(self, job: str) -> tuple[str, ...]:
        """The command line that runs a job."""
        return (*self.brain, "schedule", "run", job, "--quiet")


def home_of(settings: Settings, environment: Mapping[str, str]) -> Home:
    """The home that the settings are of, with the ``brain`` that this process is."""
    import platformdirs

    index = first_index(settings)
    identity = f"{settings.home}\0{index}".encode("utf-8", "surrogateescape")
    tag = hashlib.blake2b(identity, digest_size=4).hexdigest()
    beside = Path(sys.executable).with_name("brain.exe" if sys.platform == "win32" else "brain")
    program = (str(beside),) if beside.exists() else (sys.executable, "-m", "second_brain.entry")
    return Home(
        folder=settings.home,
        tag=tag,
        brain=(*program, "--home", str(settings.home), "--index", str(index)),
        state=platformdirs.user_state_path("second-brain", appauthor=False) / "schedule" / tag,
        environment={name: os.fspath(environment[name]) for name in CARRIED if environment.get(name)},
    )


def jobs_of(settings: Settings) -> tuple[Job, ...]:
    """The jobs that are not off."""
    times = settings.schedule
    named = (("index", times.index), ("distill", times.distill), ("embed", times.embed))
    return tuple(Job(name, when) for name, when in named if when is not None)


def next_run(when: Every | Daily, now: datetime) -> datetime:
    """The first moment after ``now`` (aware), in its local time zone of then."""
    local = now.astimezone().replace(tzinfo=None)  # a wall clock: 04:30 stays 04:30 where summer time begins
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
    if isinstance(when, Daily):
        found = midnight.replace(hour=when.hour, minute=when.minute)
        if found <= local:
            found += timedelta(days=1)
    else:
        step = timedelta(minutes=when.minutes)
        found = midnight + ((local - midnight) // step + 1) * step
    return found.astimezone()


def described(when: Every | Daily) -> str:
    """The time in the words of the settings."""
    if isinstance(when, Daily):
        return f"{when.hour:02d}:{when.minute:02d}"
    if when.minutes == 60:
        return "hourly"
    return f"every {when.minutes} min" if when.minutes < 60 else f"every {when.minutes // 60} hours"
