"""Periods: days of the calendar, and what was read as one.

Weeks begin on Monday. A day beyond the calendar is a ``ValueError`` or ``OverflowError``, as the standard library
raises it.
"""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final, Literal, TypeAlias

Unit: TypeAlias = Literal["day", "week", "month", "year"]

FEW: Final = 3
"""What "a few" and 数 are taken for."""

_DAY: Final = timedelta(days=1)
_DAYS: Final[dict[Unit, int]] = {"day": 1, "week": 7, "month": 30}
_MARGINS: Final[dict[Unit, int]] = {"day": 1, "week": 4, "month": 15, "year": 183}


@dataclass(frozen=True, slots=True)
class Period:
    """From the day ``first`` up to, not including, the day ``after``; None where it has no bound."""

    first: date | None
    after: date | None

    def onward(self) -> Period:
        """From where this one begins."""
        return Period(self.first, None)

    def earlier(self) -> Period:
        """All before this one."""
        return Period(None, self.first)

    def until(self) -> Period:
        """All up to the last day of this one."""
        return Period(None, self.after)

    def through(self, other: Period) -> Period:
        """From where this one begins to where the other ends."""
        if self.first is not None and other.after is not None and self.first >= other.after:
            raise ValueError("ends before it begins")
        return Period(self.first, other.after)

    def __str__(self) -> str:
        if self.first is None:
            return f"before {self.after}" if self.after else "any time"
        if self.after is None:
            return f"{self.first} or later"
        last = self.after - _DAY
        return str(self.first) if last == self.first else f"{self.first} to {last}"


@dataclass(frozen=True, slots=True)
class Reading:
    """``text[start:end]`` read as a period, or, with None, as a wish for what is newer.

    Of it ``text[start:cut]`` says nothing to a search; the rest (a month's name, a year) is what a note may hold.
    """

    start: int
    end: int
    cut: int
    period: Period | None

    def __str__(self) -> str:
        return str(self.period or "a wish for what is newer")


def day(of: date) -> Period:
    """That day."""
    return Period(of, of + _DAY)


def month(year: int, number: int) -> Period:
    """A calendar month."""
    return Period(date(year, number, 1), date(year + number // 12, number % 12 + 1, 1))


def year(number: int) -> Period:
    """A calendar year."""
    return Period(date(number, 1, 1), date(number + 1, 1, 1))


def calendar_unit(unit: Unit, today: date, back: int) -> Period:
    """The day, week, month or year that holds today, or the one so many before."""
    if unit == "day":
        return day(today - timedelta(days=back))
    if unit == "week":
        monday = today - timedelta(days=today.weekday() + 7 * back)
        return Period(monday, monday + timedelta(days=7))
    if unit == "year":
        return year(today.year - back)
    before, number = divmod(today.year * 12 + today.month - 1 - back, 12)
    return month(before, number + 1)


def weekday(number: int, today: date, weeks_back: int) -> Period:
    """A day of the week (Monday is 0) of so many weeks ago."""
    monday = today - timedelta(days=today.weekday() + 7 * weeks_back)
    return day(monday + timedelta(days=number))


def whole(count: float, unit: Unit) -> tuple[int, Unit]:
    """The same length in a unit that needs no fraction: half a year is six months, half a month 15 days."""
    if count == int(count):
        return int(count), unit
    if unit == "year":
        return whole(count * 12, "month")
    return round(count * _DAYS[unit]), "day"


def day_back(today: date, count: float, unit: Unit) -> date:
    """The day so many units before; in a shorter month, its last."""
    number, unit = whole(count, unit)
    if unit in ("day", "week"):
        return today - timedelta(days=number * _DAYS[unit])
    months = number * 12 if unit == "year" else number
    year, month = divmod(today.year * 12 + today.month - 1 - months, 12)
    return date(year, month + 1, min(today.day, monthrange(year, month + 1)[1]))


def lately(today: date, count: float, unit: Unit) -> Period:
    """The last so many units, today included."""
    return Period(day_back(today, count, unit), today + _DAY)


def around(today: date, count: float, unit: Unit) -> Period:
    """The days that somebody may mean by so many units ago, none after today.

    On each side of the exact day: one day when days are counted, four for weeks, 15 for months, 183 for years, or an
    eighth of the distance where that is more, as memory counts in round numbers.
    """
    number, unit = whole(count, unit)
    exact = day_back(today, number, unit)
    margin = timedelta(days=max(_MARGINS[unit], (today - exact).days // 8))
    return Period(exact - margin, min(exact + margin, today) + _DAY)


def latest_month(number: int, today: date) -> Period:
    """The last such month that has begun."""
    return month(today.year - (number > today.month), number)


def latest_day(number: int, of_month: int, today: date) -> Period:
    """The last such day that has come."""
    return day(date(today.year - ((number, of_month) > (today.month, today.day)), number, of_month))


def first_moment(day: date, now: datetime) -> datetime:
    """The first moment of the day in the time zone of ``now``."""
    return datetime(day.year, day.month, day.day, tzinfo=now.tzinfo)
