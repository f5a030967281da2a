"""Words of time in Japanese.

No spaces tell a word from a part of one, so every form looks at its neighbours: 今日本で holds no 今日, 締切の三日前
counts from the deadline, 3日前後 and 2019年モデル are no times at all. Digits may be full-width, numbers below a
hundred also Chinese characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date
from typing import Final

from . import periods
from .periods import FEW, Period, Reading, Unit

_KANJI_DIGITS: Final = "〇一二三四五六七八九"
_ERAS: Final = {"令和": 2018, "平成": 1988, "昭和": 1925}
"""The year before the first of each era."""
_NAMED_DAYS: Final = {
    **dict.fromkeys(("今日", "本日", "今朝"), 0),
    **dict.fromkeys(("昨日", "きのう", "昨夜", "昨晩"), 1),
    **dict.fromkeys(("一昨日", "おととい"), 2),
}
_BACK: Final = {
    **dict.fromkeys(("今週", "今月", "今年"), 0),
    **dict.fromkeys(("先週", "先月", "昨年", "去年"), 1),
    **dict.fromkeys(("先々週", "先々月", "一昨年", "おととし"), 2),
}
"""How many weeks, months or years before this one."""
_UNITS: Final[dict[str, Unit]] = {"日": "day", "週": "week", "年": "year"}
_WEEKDAYS: Final = "月火水木金土日"

_FIGURE = "[0-9０-９]"
_SMALL = rf"(?:{_FIGURE}{{1,2}}|[一二三四五六七八九十]{{1,3}})"
_COUNT = rf"(?:{_FIGURE}{{1,3}}|[一二三四五六七八九十]{{1,3}}|数|半)"
_YEAR = rf"(?:(?:令和|平成|昭和)(?:元|{_SMALL})|{_FIGURE}{{4}}|[{_KANJI_DIGITS}]{{4}})年"
_COUNTED = "日|週間?|[かヶカヵケ箇]月|(?<=半)月|年"

_WRITTEN = rf"""(?:
    (?P<year>{_YEAR})(?:の?(?P<month>{_SMALL})月(?:の?(?P<day>{_SMALL})日)?)?
  | (?P<only_month>{_SMALL})月(?:の?(?P<month_day>{_SMALL})日)?
)"""
_WRITTEN_UNNAMED = re.sub(r"\?P<\w+>", "?:", _WRITTEN)
_PHRASE = rf"""(?:
    (?P<named>一昨日|おととい|昨日|(?<![ぁ-ん])きのう|昨夜|昨晩|(?<!昨)今日(?!では|まで)|(?<![日一-龠])本日(?![誌記])|今朝)
  | (?P<years>一昨年|おととし|(?<!過)去年|昨年|今年)(?P<fiscal>度)?
      (?:の?(?P<of_year>{_SMALL})月(?:の?(?P<of_year_day>{_SMALL})日)?)?
  | (?P<months>先々月|先月|今月)(?:の?(?P<of_month>{_SMALL})日)?
  | (?P<weeks>先々週|先週|今週)(?:の?(?P<weekday>[{_WEEKDAYS}])曜日?)?
  | (?:約|およそ|だいたい)?(?P<ago>{_COUNT})(?P<ago_unit>{_COUNTED})(?P<ago_half>半)?(?:ほど|くらい|ぐらい)?前
  | (?:ここ|この|過去|直近の?|最近の?)(?P<lately>{_COUNT})(?P<lately_unit>{_COUNTED})(?P<lately_half>半)?間?
)"""

_RANGE: Final = re.compile(
    rf"(?<![0-9０-９{_KANJI_DIGITS}十])(?P<a>{_WRITTEN_UNNAMED})(?:から|[〜～~–—-])(?P<b>{_WRITTEN_UNNAMED})",
    re.VERBOSE,
)
_WRITTEN_IN_TEXT: Final = re.compile(
    rf"(?<![0-9０-９{_KANJI_DIGITS}十年毎翌同前後何.]){_WRITTEN}(?P<edge>以降|以来|から|までに|まで|以前|より前|に|の|中|頃|ごろ)?"
    "(?![度号版期比])",
    re.VERBOSE,
)
_PHRASE_IN_TEXT: Final = re.compile(
    rf"""{_PHRASE}(?P<edge>以降|以来|から|までに|まで|以前|より前|中に?|頃|ごろ)?
    (?![前後半者期提例倒末比同的性子本版号]|この頃|の?(?:日付|日時|曜日))(?:の|[にはも](?![ぁ-ん])|、)?""",
    re.VERBOSE,
)
"""The characters that may not follow make another word: 3日前後, 今日的, 今日子, 今日本で, 昨年比, 昨日の日付."""
_COUNTS_FROM_AN_EVENT: Final = re.compile("[の一-龠ァ-ヴーA-Za-z0-9０-９]")
"""Right before ``三日前``: 締切の三日前, 出港三日前."""
_YEAR_IN_TEXT: Final = re.compile(rf"{_YEAR}|去年|昨年|おととし")

_EDGES: Final[dict[str, Callable[[Period], Period]]] = {
    "以降": Period.onward,
    "以来": Period.onward,
    "から": Period.onward,
    "まで": Period.until,
    "以前": Period.earlier,
    "より前": Period.earlier,
}

_NEWER: Final = re.compile(
    "(?:最新|最近(?![傍接隣似点短])|直近|近頃|このごろ|(?:一番|いちばん|最も|もっとも)新しい|新しい順)"
    "(?:(?P<of_software>版|バージョン|リリース)|の|[にはも](?![ぁ-ん])|、)?"
)
"""最近傍 asks for nothing new; 最新版 is what is written, too."""


def period(text: str, today: date) -> Period | None:
    """The period that the whole text names, or None; ``2週間前`` is that very day here.

    Raises:
        ValueError, OverflowError: not a day of the calendar.
    """
    written = _WRITTEN_IN_TEXT.fullmatch(text)
    if written:
        return None if written["edge"] else _written_period(written, today)
    phrase = _PHRASE_IN_TEXT.fullmatch(text)
    return _phrase_period(phrase, today, exact=True) if phrase and not phrase["edge"] else None


def readings(text: str, today: date) -> Iterator[Reading]:
    """What can be read as a time or a wish for what is newer, in no order; readings may overlap."""
    yield from _ranges(text, today)
    yield from _dates(text, today)
    yield from _phrases(text, today)
    for found in _NEWER.finditer(text):
        yield Reading(found.start(), found.end(), found.start() if found["of_software"] else found.end(), None)


def _ranges(text: str, today: date) -> Iterator[Reading]:
    for found in _RANGE.finditer(text):
        start, end = _WRITTEN_IN_TEXT.fullmatch(found["a"]), _WRITTEN_IN_TEXT.fullmatch(found["b"])
        if start is None or end is None:
            continue
        try:
            first = _written_period(start, today)
            whole = first.through(_written_period(end, today, after=first.first))
        except (ValueError, OverflowError):
            continue
        yield Reading(found.start(), found.end(), found.start(), whole)


def _dates(text: str, today: date) -> Iterator[Reading]:
    another_year = _YEAR_IN_TEXT.search(text) is not None
    for found in _WRITTEN_IN_TEXT.finditer(text):
        edge = found["edge"]
        if found["year"]:
            clear = bool(found["month"]) or edge not in (None, "の")  # 2019年の計画 is a plan of that name
        elif another_year:
            clear = False  # who names a year elsewhere does not mean the month of this one
        else:
            clear = bool(found["month_day"]) or edge in ("に", "の", "中", "から", "以降", "以来")
        if not clear or edge == "までに":  # a deadline
            continue
        try:
            named = _written_period(found, today)
        except (ValueError, OverflowError):
            continue
        yield Reading(found.start(), found.end(), found.start(), _EDGES[edge](named) if edge in _EDGES else named)


def _phrases(text: str, today: date) -> Iterator[Reading]:
    for found in _PHRASE_IN_TEXT.finditer(text):
        edge = found["edge"]
        if edge == "までに" or (found["ago"] and edge == "まで"):
            continue  # a deadline
        if found["ago"] and found.start() and _COUNTS_FROM_AN_EVENT.match(text, found.start() - 1):
            continue
        try:
            meant = _phrase_period(found, today)
        except (ValueError, OverflowError):
            continue
        kept = next((found.start(part) for part in ("of_year", "of_month", "weekday") if found[part]), found.end())
        yield Reading(found.start(), found.end(), kept, _EDGES[edge](meant) if edge in _EDGES else meant)


def _written_period(found: re.Match[str], today: date, *, after: date | None = None) -> Period:
    """Without a year, the last such day or month that has come, or the first that begins not before ``after``."""
    if found["year"]:
        year = _year(found["year"])
        if not found["month"]:
            return periods.year(year)
        month, day = _number(found["month"]), found["day"]
        return periods.day(date(year, month, _number(day))) if day else periods.month(year, month)
    month, month_day = _number(found["only_month"]), found["month_day"]
    day = _number(month_day) if month_day else 0
    if after is not None:
        year = after.year + (month < after.month)
        return periods.day(date(year, month, day)) if day else periods.month(year, month)
    return periods.latest_day(month, day, today) if day else periods.latest_month(month, today)


def _phrase_period(found: re.Match[str], today: date, *, exact: bool = False) -> Period:
    """What a phrase that means another time every day means today."""
    if found["named"]:
        return periods.calendar_unit("day", today, _NAMED_DAYS[found["named"]])
    if found["years"]:
        return _in_year(found, today)
    if found["months"]:
        month = periods.calendar_unit("month", today, _BACK[found["months"]])
        if found["of_month"] and month.first:
            return periods.day(month.first.replace(day=_number(found["of_month"])))
        return month
    if found["weeks"]:
        back = _BACK[found["weeks"]]
        if found["weekday"]:
            return periods.weekday(_WEEKDAYS.index(found["weekday"]), today, back)
        return periods.calendar_unit("week", today, back)
    if found["lately"]:
        return periods.lately(today, _amount(found["lately"], found["lately_half"]), _unit(found["lately_unit"]))
    count, unit = _amount(found["ago"], found["ago_half"]), _unit(found["ago_unit"])
    return periods.day(periods.day_back(today, count, unit)) if exact else periods.around(today, count, unit)


def _in_year(found: re.Match[str], today: date) -> Period:
    """A year counted from this one, or a month or day of it; a fiscal year (年度) begins in April."""
    back = _BACK[found["years"]]
    if not found["of_year"]:
        if found["fiscal"]:
            year = today.year - (today.month < 4) - back
            return Period(date(year, 4, 1), date(year + 1, 4, 1))
        return periods.year(today.year - back)
    month, day = _number(found["of_year"]), found["of_year_day"]
    year = today.year - back
    if found["fiscal"]:
        year += (month < 4) - (today.month < 4)
    return periods.day(date(year, month, _number(day))) if day else periods.month(year, month)


def _year(text: str) -> int:
    """2026年, ２０２６年, 二〇二六年, 令和8年, 令和元年."""
    name = text.removesuffix("年")
    era = _ERAS.get(name[:2])
    if era is not None:
        return era + (1 if name[2:] == "元" else _number(name[2:]))
    if name.isdecimal():
        return int(name)
    return int("".join(str(_KANJI_DIGITS.index(digit)) for digit in name))


def _number(text: str) -> int:
    """12, １２, 十二."""
    if text.isdecimal():
        return int(text)
    tens, ten, ones = text.rpartition("十")
    if not ten:
        return int("".join(str(_KANJI_DIGITS.index(digit)) for digit in ones))
    return 10 * (_number(tens) if tens else 1) + (_number(ones) if ones else 0)


def _amount(count: str, half: str | None) -> float:
    if count == "半":
        return 0.5
    return (FEW if count == "数" else _number(count)) + (0.5 if half else 0)


def _unit(text: str) -> Unit:
    return _UNITS.get(text[0], "month")
