"""What was written and worked on, day by day: notes beside the sessions of that day, each with its summary."""

from __future__ import annotations

import calendar
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from ..clearance import VisibleLinks
from ..index.sqlite import outlines
from ..index.sqlite.outlines import Outline
from ..types import Filter

WORK = frozenset({"session", "commit"})
"""Kinds that tell of work; all others are written things."""


@dataclass(frozen=True, slots=True)
class Session:
    """A session with the notes that summarize it."""

    session: Outline
    summaries: tuple[Outline, ...] = ()


@dataclass(frozen=True, slots=True)
class Day:
    """One day: what was written, and what was worked on, each by time, then by uri.

    A summary stands with its session, whichever day it was written on, if the session is in the same stretch of days.
    """

    day: str
    written: tuple[Outline, ...]
    sessions: tuple[Session, ...]
    commits: tuple[Outline, ...]

    @property
    def projects(self) -> tuple[str, ...]:
        """The projects that were worked on, by name."""
        everything = (*self.written, *self.commits, *(entry.session for entry in self.sessions))
        return tuple(sorted({outline.project for outline in everything} - {""}))


@dataclass(frozen=True, slots=True)
class Square:
    """A day of the heat map: ``level`` is 0 for nothing, to 4 for the busiest days."""

    day: date
    written: int
    worked: int
    level: int


def month_of(text: str, today: date) -> date:
    """The first day of a month written as ``2031-05``; of today's for anything else."""
    try:
        return datetime.strptime(text, "%Y-%m").date()
    except ValueError:
        return today.replace(day=1)


def latest(visible: VisibleLinks, today: date) -> date:
    """The last day up to today on which there is anything; today where there is none."""
    found = visible.index.recent(within(visible.filter, date.min.replace(year=1900), today + timedelta(days=1)), 1)
    return (
        date.fromisoformat(outlines.of_keys(visible.index.database, [found[0].key])[found[0].key].day)
        if found
        else today
    )


def months_from(month: date, count: int) -> date:
    """The first day of the month so many months later; the first or last month there is beyond the calendar's ends."""
    place = month.year * 12 + month.month - 1 + count
    place = min(max(place, 12), 12 * 9_999 + 10)
    return date(place // 12, place % 12 + 1, 1)


def within(filter: Filter, first: date, until: date) -> Filter:
    """The filter for days of this machine's clock, from ``first`` up to the day before ``until``."""
    since, end = (datetime(day.year, day.month, day.day).astimezone() for day in (first, until))
    return replace(filter, since=since, until=end)


def choices(visible: VisibleLinks) -> dict[str, tuple[str, ...]]:
    """The projects, sources and types of what the view shows, each by name."""
    found = outlines.spread(visible.index.database, visible.filter)
    return {
        "project": tuple(sorted({project for _, project, _, _ in found} - {""})),
        "source": tuple(sorted({source for source, _, _, _ in found})),
        "type": tuple(sorted({type for _, _, type, _ in found} - {""})),
    }


def of_month(visible: VisibleLinks, month: date) -> list[Day]:
    """The days of a month on which there is anything, the newest first."""
    database = visible.index.database
    with database.snapshot():
        found = outlines.outlines(database, within(visible.filter, month, months_from(month, 1)))
        about = outlines.told_sessions(database, [each.key for each in found if each.kind == "markdown"])
    return _days(found, about)


def _days(found: Iterable[Outline], about: Mapping[int, str]) -> list[Day]:
    found = sorted(found, key=lambda outline: (outline.time, outline.uri))
    sessions = {outline.uri for outline in found if outline.kind == "session"}
    told: dict[str, list[Outline]] = {}
    by_day: dict[str, list[Outline]] = {}
    for outline in found:
        if about.get(outline.key) in sessions:
            told.setdefault(about[outline.key], []).append(outline)
        else:
            by_day.setdefault(outline.day, []).append(outline)
    return [
        Day(
            day,
            tuple(outline for outline in entries if outline.kind not in WORK),
            tuple(Session(each, tuple(told.get(each.uri, ()))) for each in entries if each.kind == "session"),
            tuple(outline for outline in entries if outline.kind == "commit"),
        )
        for day, entries in sorted(by_day.items(), reverse=True)
    ]


def heat_map(visible: VisibleLinks, month: date) -> list[list[Square]]:
    """The weeks, Monday first, of the twelve months that end with this one; days of other months are left out.

    A level stands for a quarter of the way up to the days that are busier than 95 of 100; those are 4.
    """
    first, until = months_from(month, -11), months_from(month, 1)
    counted = outlines.days(visible.index.database, within(visible.filter, first, until))
    totals = sorted(sum(kinds.values()) for kinds in counted.values())
    busy = max(4, totals[int(len(totals) * 0.95)]) if totals else 4
    weeks: list[list[Square]] = []
    day = first
    while day < until:
        kinds = counted.get(day.isoformat(), {})
        worked = sum(count for kind, count in kinds.items() if kind in WORK)
        total = sum(kinds.values())
        if not weeks or day.weekday() == calendar.MONDAY:
            weeks.append([])
        weeks[-1].append(Square(day, total - worked, worked, _level(total, busy)))
        day += timedelta(days=1)
    return weeks


def _level(count: int, busy: int) -> int:
    return min(4, 1 + 4 * (count - 1) // busy) if count else 0
