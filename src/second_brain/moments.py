"""Moments as people type and read them: in the local time zone.

A day that a note names without a time is stored as its midnight in UTC, because parsing knows no time zone
(``parsing.dates``); such a moment is shown as that day, whatever the zone.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, date, datetime, time, timedelta

FORMS = "2031-05-02, 2031-05-02T09:30, 2031-05-02T09:30+09:00, 7d, 2w, 3m, 1y, today, yesterday"

_AGO = re.compile(r"(\d{1,4})\s*([dwmy])")


def parse_moment(text: str, now: datetime, *, end: bool = False) -> datetime:
    """The moment that ``text`` names, aware.

    Days, also ``7d`` and the like, are days of the local time zone: their first moment, or with ``end`` the
    first moment after them, so that ``until`` includes the day. A time is taken as it is.

    Args:
        text: one of FORMS; letter case does not matter. ``m`` is months.
        now: aware; the day that ``today`` means.
        end: for an exclusive upper bound.

    Raises:
        ValueError: none of the forms, or not a day of the calendar.
    """
    word = text.strip().lower()
    day = _day(word, now)
    if day is None:
        moment = _iso_moment(text.strip())
        return moment if moment.tzinfo else _aware(moment)
    return _aware(datetime.combine(day + timedelta(days=1) if end else day, time()))


def _day(word: str, now: datetime) -> date | None:
    """The day that the word names, or None when it may be a date with a time."""
    today = now.astimezone().date()
    if word in ("today", "yesterday"):
        return today - timedelta(days=word == "yesterday")
    ago = _AGO.fullmatch(word)
    if ago:
        count = int(ago[1])
        if ago[2] in "dw":
            return today - timedelta(days=count * (7 if ago[2] == "w" else 1))
        return _months_before(today, count * (12 if ago[2] == "y" else 1))
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", word):
        return date.fromisoformat(word)
    return None


def _months_before(day: date, months: int) -> date:
    """The same day of an earlier month, or its last day where that month is shorter."""
    year, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    if year < 1:
        raise ValueError("before the first year of the calendar")
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _iso_moment(text: str) -> datetime:
    if not re.match(r"\d{4}-\d{2}-\d{2}[T ]", text, re.IGNORECASE):
        raise ValueError("none of the forms")
    return datetime.fromisoformat(text)


def _aware(moment: datetime) -> datetime:
    try:
        return moment.astimezone()
    except (OverflowError, OSError):  # years that the system's clock functions do not know
        return moment.replace(tzinfo=UTC)


def _is_day(moment: datetime) -> bool:
    return moment.astimezone(UTC).time() == time()


def local(moment: datetime) -> datetime:
    """The same moment with the local offset; a bare day stays midnight UTC, so that its date is the note's."""
    return moment.astimezone(UTC) if _is_day(moment) else _aware(moment)


def shown(moment: datetime) -> str:
    """``2031-05-02 06:30`` in local time, ``2031-05-02`` for a bare day."""
    return local(moment).strftime("%Y-%m-%d" if _is_day(moment) else "%Y-%m-%d %H:%M")
