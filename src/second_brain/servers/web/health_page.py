"""Health: is what is indexed whole, fresh and good, and what would mend it? In a limited view only of what it shows."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from starlette.responses import Response

from ...errors import UsageError
from ...evals.history import Run, runs
from ...index.sqlite.sizes import part_sizes
from ...moments import shown
from ...schedule.forms import standings
from ...schedule.jobs import described, home_of, jobs_of, next_run
from ...schedule.running import last_run
from ...watching.presence import watching
from .page import Page, Visit, with_query
from .paging import sheet
from .plots import HEIGHT, LEFT, RIGHT, WIDTH, Plot, plot

if TYPE_CHECKING:
    from ...index.sqlite.check import Finding
    from ...library import Brain

T = TypeVar("T")

KEPT_S = 60.0
"""What the doctor found is shown for so long before it looks again: it reads the whole file."""

RUNS = 60
"""Evaluations in the plot, the newest ones."""

SECRETS = 20
"""Documents with masked secrets on a sheet."""

ORDER = {"error": 0, "warning": 1, "note": 2, "ok": 3}


class Recent(Generic[T]):
    """What a question found, by whom it was asked for, asked again after a while. One at a time asks."""

    def __init__(self, lasting_s: float = KEPT_S, clock: Callable[[], float] = time.monotonic) -> None:
        self._lasting_s = lasting_s
        self._clock = clock
        self._lock = threading.Lock()
        self._found: dict[object, tuple[float, T]] = {}

    def of(self, whom: object, ask: Callable[[], T]) -> T:
        """The answer, at most ``lasting_s`` old."""
        with self._lock:
            known = self._found.get(whom)
            if known is None or self._clock() - known[0] > self._lasting_s:
                known = self._clock(), ask()
                self._found = {key: entry for key, entry in self._found.items() if self._is_recent(entry)}
                self._found[whom] = known
            return known[1]

    def _is_recent(self, entry: tuple[float, T]) -> bool:
        return self._clock() - entry[0] <= self._lasting_s


DOCTOR: Recent[list[Finding]] = Recent()


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A job: when it runs, how it is installed, its next run, and what came of the last one."""

    job: str
    when: str
    state: str
    next: datetime | None
    last: datetime | None
    exit: int | None


def show_health(visit: Visit) -> Response:
    """The page; what the doctor finds is fetched, or comes with ``?look=1``."""
    brain = visit.brain
    status = brain.status()
    whole = not brain.clearance
    counted = brain.visible().index.with_secrets(brain.visible().filter)
    metrics = visit.house.brains.metrics
    history = runs(brain.settings)[-RUNS:] if whole else []
    return visit.show(
        "health.html",
        found=status,
        whole=whole,
        sources=status.sources,
        age=lambda moment: _age(visit, moment),
        shown=shown,
        size=_size,
        parts=part_sizes(brain.visible().index.database) if whole else {},
        roster=brain.roster() if whole else None,
        contents=brain.contents,
        counts=metrics.snapshot() if metrics is not None and whole else None,
        runs=history,
        plot=_quality(history) if history else None,
        box=(WIDTH, HEIGHT, LEFT, RIGHT),
        rules=_rules(counted),
        secrets_url=lambda number: with_query("/health", secrets=number) + "#secrets",
        secrets=sheet(counted, visit.argument("secrets"), SECRETS),
        findings=_findings(brain) if visit.argument("look") else None,
        **(_by_itself(brain) if whole else {"watcher": None, "form": None, "jobs": []}),
    )


def show_findings(visit: Visit) -> Response:
    """What the doctor found within the last minute, or finds now."""
    return visit.show("health-findings.html", findings=_findings(visit.brain))


def _findings(brain: Brain) -> list[Finding]:
    found = DOCTOR.of((brain.settings.index, brain.clearance), brain.doctor)
    told = [finding for finding in found if finding.name != "secrets" or finding.severity != "note"]
    return sorted(told, key=lambda finding: ORDER[finding.severity])  # secrets have a list of their own


def _by_itself(brain: Brain) -> dict[str, Any]:
    """Who indexes without being asked: a watcher, and jobs."""
    now = datetime.now(UTC)
    home, jobs = home_of(brain.settings, os.environ), jobs_of(brain.settings)
    try:
        form, states = standings(home, jobs)
    except UsageError:  # a crontab that cannot be read
        form, states = None, {}
    rows = []
    for job in jobs:
        last, state = last_run(home.state, job.name), states.get(job.name, "absent")
        follows = next_run(job.when, now) if state != "absent" else None
        ended, code = (last.ended, last.exit) if last else (None, None)
        rows.append(Scheduled(job.name, described(job.when), state, follows, ended, code))
    return {"watcher": watching(brain.settings.index), "form": form, "jobs": rows if form else []}


def _rules(counted: list[tuple[str, dict[str, int]]]) -> list[tuple[str, int]]:
    """How often each rule found something, the most frequent first."""
    totals: dict[str, int] = {}
    for _, counts in counted:
        for rule, count in counts.items():
            totals[rule] = totals.get(rule, 0) + count
    return sorted(totals.items(), key=lambda entry: (-entry[1], entry[0]))


def _quality(history: list[Run]) -> Plot:
    """The primary measure of each mode over the runs of the newest one's questions."""
    same = [run for run in history if run.golden == history[-1].golden and run.primary == history[-1].primary]
    modes = list(dict.fromkeys(mode for run in same for mode in run.values))
    values = {mode: [run.values.get(mode, {}).get(run.primary) for run in same] for mode in modes}
    breaks = [place for place in range(1, len(same)) if same[place].data != same[place - 1].data]
    return plot(values, [f"{run.when.astimezone():%Y-%m-%d}" for run in same], breaks)


def _age(visit: Visit, moment: datetime) -> str:
    """``3 hours ago``."""
    minutes = max(0, int((datetime.now(UTC) - moment).total_seconds() // 60))
    for unit, length in (("days", 1440), ("hours", 60)):
        if minutes >= length * 2:
            return visit.t(f"health.ago.{unit}", n=minutes // length)
    return visit.t("health.ago.minutes", n=minutes)


def _size(count: float) -> str:
    units = ("B", "kB", "MB", "GB")
    power = 0
    while count >= 1000 and power < len(units) - 1:
        count, power = count / 1000, power + 1
    return f"{count:.{min(power, 1)}f} {units[power]}"


PAGES = (Page("/health", show_health), Page("/health/findings", show_findings, part=True))
