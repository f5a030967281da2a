"""What day does a note speak of?

Parsing is pure, so no local time zone is known: a bare day is its midnight in UTC, and a time without an
offset is a time in UTC.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

_ISO_WEEK = re.compile(r"\d{4}-?W")
_WRITTEN_DAY = re.compile(
    r"(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})日?"
    r"(?:[T\s]+(\d{1,2}):(\d{2})(?::(\d{2}))?)?"
)
_COMPACT = r"((?:19|20|21)\d{2})(\d{2})(\d{2})"
_DAY_NAMES = tuple(
    re.compile(pattern) for pattern in (r"(\d{4})-(\d{2})-(\d{2})", _COMPACT, r"(\d{4})年(\d{1,2})月(\d{1,2})日")
)
_DATED_NAMES = tuple(
    re.compile(pattern)
    for pattern in (
        r"(\d{4})[-_.](\d{1,2})[-_.](\d{1,2})(?!\d)",
        _COMPACT + r"(?:\d{4}|\d{6})?(?!\d)",  # also with a time behind it, as in a Zettelkasten
        r"(\d{4})年(\d{1,2})月(\d{1,2})日",
    )
)


def parse_time(text: str) -> datetime | None:
    """The moment that a frontmatter value names, in UTC; None when it names none.

    ISO 8601 (``2031-04-05``, ``2031-04-05T10:00:00+09:00``), ``2031/4/5``, ``2031年4月5日``, each also with a
    time; also as a link (``[[2031-04-05]]``).
    """
    text = text.strip().removeprefix("[[").removesuffix("]]")
    if _ISO_WEEK.match(text):
        return None  # fromisoformat would take it, but nobody means the Monday
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        written = _WRITTEN_DAY.fullmatch(text)
        if written is None:
            return None
        return _moment(*(int(part or 0) for part in written.groups()))
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:  # the first or last day of the calendar
        return None


def day_of_name(stem: str) -> datetime | None:
    """The day that a file name begins with: ``2031-04-05 Visit``, ``203104051230``, ``2031年4月5日 会議``.

    None when it begins with none.
    """
    return _first_day(_DATED_NAMES, stem, whole=False)


def is_day_name(stem: str) -> bool:
    """Whether a file name is a day and nothing else, as daily notes are named."""
    return _first_day(_DAY_NAMES, stem, whole=True) is not None


def _first_day(patterns: tuple[re.Pattern[str], ...], stem: str, *, whole: bool) -> datetime | None:
    if not stem[:4].isdecimal():
        return None
    for pattern in patterns:
        match = pattern.fullmatch(stem) if whole else pattern.match(stem)
        if match and (moment := _moment(*map(int, match.groups()))):
            return moment
    return None


def _moment(year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0) -> datetime | None:
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
