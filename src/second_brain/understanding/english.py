"""Words of time in English.

Read only what a grammar of a few forms vouches for: "may", "march", "second", "sun" and numbers are words first. A
month or a year without more needs a preposition; "the 2019 plan" has none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date
from typing import Final, NamedTuple

from ..analysis.stopwords import STOPWORDS
from . import periods
from .periods import FEW, Period, Reading, Unit

_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS: Final = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "a": 1, "an": 1, "half a": 0.5, "a couple of": 2, "couple of": 2,
    "a few": FEW, "few": FEW, "several": FEW,
}  # fmt: skip
_UNITS: Final[dict[str, Unit]] = {"day": "day", "week": "week", "month": "month", "year": "year"}

_LEFT = r"(?<![A-Za-z0-9_\u00c0-\u024f./\\@#$:+=-])"
_RIGHT = r"(?![A-Za-z0-9_\u00c0-\u024f(]|[-./:\\@+][A-Za-z0-9])"
"""What no word of time is next to: the rest of a word, an identifier, a path, a version, a call."""

_MONTH = rf"(?:{'|'.join(f'{name[:3]}(?:{name[3:]})?' for name in _MONTHS)}|sept)\.?"
_DAY = r"(?:0?[1-9]|[12][0-9]|3[01])(?:st|nd|rd|th)?"
_YEAR = r"(?:19|20|21)[0-9]{2}"
_DATE = (
    rf"(?:{_YEAR}(?:-[0-9]{{2}}){{1,2}}|{_YEAR}(?:/[0-9]{{1,2}}){{2}}|{_DAY}\s(?:of\s)?{_MONTH}(?:,?\s{_YEAR})?"
    rf"|{_MONTH}\s{_DAY}(?:,?\s{_YEAR})?|{_MONTH}(?:,?\s(?:of\s)?{_YEAR})?|{_YEAR})"
)
_COUNT = "|".join(sorted(_NUMBERS, key=len, reverse=True)).replace(" ", r"\s")
_PHRASE = rf"""(?:
    (?P<named>the\sday\sbefore\syesterday|yesterday|today|this\s(?:morning|afternoon|evening)|last\snight)
  | (?P<ago>[0-9]{{1,3}}|{_COUNT})\s(?P<ago_unit>hour|day|week|month|year)s?\sago
  | (?:the\s)?(?:last|past|previous)\s(?P<lately>[0-9]{{1,3}}|{_COUNT})\s(?P<lately_unit>hour|day|week|month|year)s?
  | (?:the\s|this\s)?past\s(?P<past>week|month|year)
  | (?P<which>(?:the\s)?last|(?:the\s)?previous|this)\s(?P<calendar>week|month|year)
  | last\s(?P<weekday>{"|".join(_WEEKDAYS)})
)"""


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.replace(r"\s", r"\s+"), re.IGNORECASE | re.VERBOSE)


_WRITTEN: Final = tuple(
    _compiled(pattern)
    for pattern in (
        rf"(?P<y>{_YEAR})(?:(?P<sep>[-/])(?P<m>[0-9]{{1,2}})(?:(?P=sep)(?P<d>[0-9]{{1,2}}))?)?",
        rf"(?P<d>[0-9]{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?(?P<m>{_MONTH})(?:,?\s(?P<y>{_YEAR}))?",
        rf"(?P<m>{_MONTH})\s(?P<d>[0-9]{{1,2}})(?:st|nd|rd|th)?(?:,?\s(?P<y>{_YEAR}))?",
        rf"(?P<m>{_MONTH})(?:,?\s(?:of\s)?(?P<y>{_YEAR}))?",
    )
)
_NAMED_MONTH: Final = _compiled(rf"{_LEFT}(?:in\s)?(?P<which>last|this)\s(?P<month>{_MONTH}){_RIGHT}")
_RANGE: Final = _compiled(
    rf"""{_LEFT}(?:from|between)\s(?P<a>[0-9A-Za-z][0-9A-Za-z\ ,./-]{{2,20}}?)
    (?:\s(?:to|and|until|till|through)\s|\s?[-–—]\s?)(?P<b>{_DATE}){_RIGHT}"""
)
_DATE_IN_TEXT: Final = _compiled(
    rf"{_LEFT}(?:(?P<lead>since|from|after|before|until|till|in|on|during)\s)?(?P<date>{_DATE}){_RIGHT}"
)
_PHRASE_IN_TEXT: Final = _compiled(
    rf"{_LEFT}(?:(?P<lead>since|from|after|before|until|till|in|on|during|within|over)\s)?"
    rf"(?P<phrase>{_PHRASE})(?P<own>['’]s)?{_RIGHT}"
)
_YEAR_IN_TEXT: Final = re.compile(rf"(?<![0-9A-Za-z.,-]){_YEAR}(?![0-9A-Za-z]|[.,-][0-9])")
_NEXT_WORD: Final = re.compile(r"\s+([A-Za-z]+)")
_ONWARD: Final = re.compile(r"\s+(?:on|onwards?|to|until|till)\b", re.IGNORECASE)
_LAST_WORD: Final = re.compile(r"([A-Za-z]+)\s+$")
_MEASURE: Final = re.compile(
    r"""\s*(?:[%×]|x\s?[0-9])|\s+(?:[kmg]i?b|m?s|px|[kmg]?hz|rpm|[kcm]?m|k?g|[km]?wh?
    |bytes?|words?|tokens?|lines?|steps?|char(?:acter)?s?|rows?|files?|items?|users?|people|times|iterations?
    |requests?|chunks?|notes?|documents?|seconds?|minutes?|hours?|days?|yen|euros?|dollars?|miles?|met(?:er|re)s?)\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""What follows a number that is an amount, not a year."""
_PROGRAMMING: Final = re.compile(
    r"\b(?:datetime|timestamps?|strftime|strptime|timedelta|dateutil|cron|crontab|pandas|javascript)\b", re.IGNORECASE
)
"""In such a question the words of time are what it is about."""

_LOOSE: Final = STOPWORDS | {
    "about", "at", "because", "but", "by", "concerning", "for", "from", "if", "in", "on", "or", "regarding", "since",
    "so", "than", "until", "while", "with",
}  # fmt: skip
"""Before these a phrase of time stands for itself ("last week about"); another word it may belong to ("last month
number")."""
_BEFORE_A_VERB: Final = frozenset(("to", "will", "can", "could", "should", "would", "must", "might", "may", "cannot"))
"""After these "last" is a verb."""
_BEFORE_A_NOUN: Final = frozenset(("the", "our", "my", "his", "her", "their", "a"))
"""After these "last march" is a march."""
_BEFORE_NOWADAYS: Final = frozenset(("as", "even", "is", "are", "still"))
"""After these "today" is this age."""
_EDGES: Final[dict[str, Callable[[Period], Period]]] = {
    "since": Period.onward,
    "after": Period.onward,
    "before": Period.earlier,
    "until": Period.until,
    "till": Period.until,
}
_DAY_LEADS: Final = frozenset(("on", "since", "from", "after", "before", "until", "till"))
_YEAR_LEADS: Final = frozenset(("in", "during", "since", "from", "after", "before", "until", "till"))
_MONTH_LEADS: Final = frozenset(("in", "during", "since"))

_NEWER: Final = re.compile(
    rf"{_LEFT}(?:(?:the\s+)?(?:latest|newest|most\s+recent(?:ly)?)|recent(?:ly)?|lately){_RIGHT}", re.IGNORECASE
)
_OF_SOFTWARE: Final = frozenset(("version", "versions", "release", "releases", "tag", "image", "commit", "build"))
"""With these "latest" is what is written, too."""


class _Written(NamedTuple):
    """A date as written; ``numeric`` has no month's name."""

    year: int | None
    month: int | None
    day: int | None
    numeric: bool


def period(text: str, today: date) -> Period | None:
    """The period that the whole text names, or None; ``two weeks ago`` is that very day here.

    Raises:
        ValueError, OverflowError: not a day of the calendar.
    """
    written = _written(text)
    if written:
        return _period(written, today)
    phrase = _PHRASE_IN_TEXT.fullmatch(text)
    if phrase and not phrase["lead"]:
        return _phrase_period(phrase, today, exact=True)
    named = _NAMED_MONTH.fullmatch(text)
    return _named_month(named, today) if named else None


def readings(text: str, today: date) -> Iterator[Reading]:
    """What can be read as a time or a wish for what is newer, in no order; readings may overlap."""
    yield from _ranges(text, today)
    yield from _dates(text, today)
    yield from _named_months(text, today)
    if not _PROGRAMMING.search(text):
        yield from _phrases(text, today)
    for found in _NEWER.finditer(text):
        following = _NEXT_WORD.match(text, found.end())
        kept = following and following[1].lower() in _OF_SOFTWARE
        yield Reading(found.start(), found.end(), found.start() if kept else found.end(), None)


def _written(text: str) -> _Written | None:
    for pattern in _WRITTEN:
        found = pattern.fullmatch(text)
        if found:
            year, month, day = (found.groupdict().get(part) for part in "ymd")
            numeric = month is None or month.isdecimal()
            return _Written(_int(year), _int(month) if numeric else _month_number(month or ""), _int(day), numeric)
    return None


def _int(digits: str | None) -> int | None:
    return None if digits is None else int(digits)


def _month_number(name: str) -> int:
    return next(number for number, month in enumerate(_MONTHS, 1) if month[:3] == name[:3].lower())


def _period(written: _Written, today: date) -> Period:
    """Without a year, the last such day or month that has come."""
    year, month, day, _ = written
    if month is None:
        return periods.year(year or 0)
    if year is None:
        return periods.latest_month(month, today) if day is None else periods.latest_day(month, day, today)
    return periods.month(year, month) if day is None else periods.day(date(year, month, day))


def _ranges(text: str, today: date) -> Iterator[Reading]:
    for found in _RANGE.finditer(text):
        first, last = _written(found["a"]), _written(found["b"])
        if first is None or last is None or _MEASURE.match(text, found.end()):
            continue
        crosses = (first.month or 1) > (last.month or 12)  # from November to March
        if last.year and not first.year:
            first = first._replace(year=last.year - crosses)
        try:
            start = _period(first, today)
            if start.first and not last.year:
                last = last._replace(year=start.first.year + crosses)
            whole = start.through(_period(last, today))
        except (ValueError, OverflowError):
            continue
        yield Reading(found.start(), found.end(), found.start(), whole)


def _dates(text: str, today: date) -> Iterator[Reading]:
    another_year = _YEAR_IN_TEXT.search(text) is not None
    for found in _DATE_IN_TEXT.finditer(text):
        written, lead = _written(found["date"]), (found["lead"] or "").lower()
        if written is None or _MEASURE.match(text, found.end()):
            continue
        if written.year:
            clear = bool(written.day) or not written.numeric or lead in _YEAR_LEADS
        elif another_year:
            clear = False  # who names a year elsewhere does not mean the month of this one
        elif written.day:
            clear = lead in _DAY_LEADS
        else:
            clear = lead in _MONTH_LEADS and _is_month(text, found.start("date"), found.end())
        if not clear:
            continue
        try:
            named = _period(written, today)
        except (ValueError, OverflowError):
            continue
        yield Reading(found.start(), found.end(), found.start(), _bounded(named, lead, text, found.end()))


def _named_months(text: str, today: date) -> Iterator[Reading]:
    for found in _NAMED_MONTH.finditer(text):
        start = found.start("month")
        capital_needed = found["which"].lower() == "this"  # this may, this march
        clear = text[start].isupper() if capital_needed else _is_month(text, start, found.end())
        if clear and _word_before(text, found.start()) not in _BEFORE_A_VERB | _BEFORE_A_NOUN:
            yield Reading(found.start(), found.end(), start, _named_month(found, today))


def _named_month(found: re.Match[str], today: date) -> Period:
    """``this March`` is the one of this year, ``last March`` one that is over."""
    number = _month_number(found["month"])
    return periods.month(today.year - (found["which"].lower() == "last" and number >= today.month), number)


def _phrases(text: str, today: date) -> Iterator[Reading]:
    for found in _PHRASE_IN_TEXT.finditer(text):
        phrase, lead = found["phrase"], (found["lead"] or "").lower()
        following = _NEXT_WORD.match(text, found.end())
        next_word = following[1].lower() if following else ""
        if next_word in ("date", "dates", "round", "long", "of"):
            continue
        word_before = _word_before(text, found.start())
        if phrase.lower().startswith("last") and word_before in _BEFORE_A_VERB:
            continue
        if phrase.lower() == "today" and word_before in _BEFORE_NOWADAYS and not found["own"]:
            continue
        if _is_name(text, found):
            continue
        try:
            meant = _bounded(_phrase_period(found, today), lead, text, found.end())
        except (ValueError, OverflowError):
            continue
        alone = found["ago"] or found["own"] or not following or next_word in _LOOSE
        end = found.start("weekday") if found["weekday"] else found.end()
        yield Reading(found.start(), found.end(), end if alone else found.start(), meant)


def _phrase_period(found: re.Match[str], today: date, *, exact: bool = False) -> Period:
    """What a phrase that means another time every day means today."""
    if found["named"]:
        name = " ".join(found["named"].lower().split())
        back = {"yesterday": 1, "last night": 1, "the day before yesterday": 2}.get(name, 0)
        return periods.calendar_unit("day", today, back)
    if found["ago"]:
        count, unit = _counted(found["ago"], found["ago_unit"])
        return periods.day(periods.day_back(today, count, unit)) if exact else periods.around(today, count, unit)
    if found["lately"]:
        return periods.lately(today, *_counted(found["lately"], found["lately_unit"]))
    if found["past"]:
        return periods.lately(today, 1, _UNITS[found["past"].lower()])
    if found["weekday"]:
        number = _WEEKDAYS.index(found["weekday"].lower())
        return periods.weekday(number, today, int(number >= today.weekday()))
    return periods.calendar_unit(_UNITS[found["calendar"].lower()], today, int(found["which"].lower() != "this"))


def _counted(count: str, unit: str) -> tuple[float, Unit]:
    word = " ".join(count.lower().split())
    number = int(word) if word.isdecimal() else _NUMBERS[word]
    return (-(-number // 24), "day") if unit.lower() == "hour" else (number, _UNITS[unit.lower()])


def _bounded(period: Period, lead: str, text: str, end: int) -> Period:
    """The period as the preposition before it has it."""
    if lead == "from" and _ONWARD.match(text, end):
        lead = "since"
    return _EDGES[lead](period) if lead in _EDGES else period


def _is_month(text: str, start: int, end: int) -> bool:
    """Whether a month's name without day or year is one: in small letters, abbreviations and "may" are other words."""
    name = text[start:end].rstrip(".")
    if name[0].isupper():
        return True
    return name in _MONTHS and (name != "may" or not _NEXT_WORD.match(text, end))


def _is_name(text: str, found: re.Match[str]) -> bool:
    """Whether capitals make it the name of something: USA Today, This Week in Rust."""
    phrase = found["phrase"]
    if found["weekday"] or phrase.isupper() or not phrase[0].isupper():
        return False
    if " " in phrase:
        return phrase.istitle()
    before = text[: found.start()].rstrip(" \t\"'(“‘")
    return bool(before) and before[-1] not in ".!?:;。！？\n"


def _word_before(text: str, start: int) -> str:
    found = _LAST_WORD.search(text, max(0, start - 40), start)
    return found[1].lower() if found else ""
