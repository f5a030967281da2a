"""The timeline: a year as a heat map, and a month day by day, what was written beside what was worked on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime

from starlette.responses import Response

from ...overview import timeline as days
from ...overview.timeline import Day, Square
from ...types import Filter
from .dates import day_words, month_short, month_words
from .page import Page, Visit, with_query

SHOWN = 12
"""Notes of a day that are shown at once; the others are folded."""

FOLDED = 200
"""Notes of a day that are on the page at all; the search lists all of them."""

SQUARE = 11
STEP = 14
LEFT = 30
TOP = 18


@dataclass(frozen=True, slots=True)
class Month:
    """A month of the heat map: where it leads, what it says, where its name stands, its squares."""

    url: str
    says: str
    name: str
    x: int
    current: bool
    squares: tuple[tuple[int, int, Square, str], ...]


def show_timeline(visit: Visit) -> Response:
    """The page of a month, of those that the filter lets through."""
    today = datetime.now().astimezone().date()
    chosen = {name: visit.argument(name) for name in ("project", "source", "type")}
    filter = Filter(projects=_one(chosen["project"]), sources=_one(chosen["source"]), types=_one(chosen["type"]))
    visible = visit.brain.visible(filter)
    month = days.month_of(visit.argument("month"), days.latest(visible, today))
    weeks = days.heat_map(visible, month)
    found = days.of_month(visible, month)

    def to(first: date) -> str:
        return with_query("/timeline", month=f"{first:%Y-%m}", **chosen)

    return visit.show(
        "timeline.html",
        month=f"{month:%Y-%m}",
        month_words=month_words(visit.language, month),
        months=_months(visit, weeks, month, to),
        width=LEFT + len(weeks) * STEP,
        before=to(days.months_from(month, -1)),
        after=to(days.months_from(month, 1)) if month < today.replace(day=1) else "",
        days=found,
        day_words=lambda day: day_words(visit.language, date.fromisoformat(day)),
        counted=_counted(visit, found),
        chosen=chosen,
        choices=days.choices(visit.brain.visible()),
        SHOWN=SHOWN,
        FOLDED=FOLDED,
        SQUARE=SQUARE,
        HEIGHT=TOP + 7 * STEP,
        week_days=[(TOP + row * STEP, visit.t(f"timeline.weekday.{row}")) for row in (0, 2, 4)],
        project_url=lambda project: with_query(
            "/timeline", **{**chosen, "month": f"{month:%Y-%m}", "project": project}
        ),
        search_url=lambda day: with_query("/", since=day, until=day, **chosen),
    )


def _months(visit: Visit, weeks: list[list[Square]], current: date, to: Callable[[date], str]) -> list[Month]:
    """The squares by month, each in its column of a week and its row of a day."""
    placed: dict[date, list[tuple[int, int, Square, str]]] = {}
    for column, week in enumerate(weeks):
        for square in week:
            x, y = LEFT + column * STEP, TOP + square.day.weekday() * STEP
            says = visit.t(
                "timeline.square", day=day_words(visit.language, square.day), notes=square.written, work=square.worked
            )
            placed.setdefault(square.day.replace(day=1), []).append((x, y, square, says))
    months = []
    for first, squares in placed.items():
        notes, work = (sum(getattr(each[2], name) for each in squares) for name in ("written", "worked"))
        whole = next(
            (x for x, _, square, _ in squares if square.day.day <= 7 and square.day.weekday() == 0), squares[0][0]
        )
        says = visit.t("timeline.square", day=month_words(visit.language, first), notes=notes, work=work)
        name = month_short(visit.language, first)
        months.append(Month(to(first), says, name, whole, first == current, tuple(squares)))
    return months


def _one(value: str) -> tuple[str, ...]:
    return (value,) if value else ()


def _counted(visit: Visit, found: list[Day]) -> str:
    """``4 days: 3 notes and documents, 1 session``."""
    counts = {
        "notes": sum(len(day.written) for day in found),
        "sessions": sum(len(day.sessions) for day in found),
        "commits": sum(len(day.commits) for day in found),
    }
    told = [visit.t(f"timeline.{name}", n=count) for name, count in counts.items() if count]
    return visit.t("timeline.days", n=len(found)) + visit.t("timeline.comma").join(told)


PAGES = (Page("/timeline", show_timeline),)
