"""Reads a question: fields become a filter, words of time a preference, the rest is what to search for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Final, TypeAlias

from ..types import Filter
from . import english, japanese
from .fields import LONGEST_TYPED, Known, NoValue, demand, fields
from .periods import Period, Reading, first_moment
from .verbatim import Span, touches, verbatim

Window: TypeAlias = tuple[datetime | None, datetime | None]
"""From the first moment up to, not including, the second; None is no bound."""

OLDEST: Final = date(1970, 1, 1)
"""What begins before is what notes tell of, not when they were written."""

_WORD: Final = re.compile(r"\w")
_JOINTS: Final = " \t\r\n\u3000,、，"
_ENDS: Final = _JOINTS + ".;:!?。．；：？！()（）"


@dataclass(frozen=True, slots=True)
class Understanding:
    """A question as read.

    ``text`` is what to search for by word and meaning, '' where nothing but fields was named: then list by date.
    ``filter`` holds what fields demanded, nothing else: it excludes.
    ``when`` is the time that words of the question speak of ("last March", 先週). They may be misread, so it is a
    preference: search once more within ``narrowed``, which also finds what would stand too far down, and lift what is
    in it above the rest, but let no document go for it. Several times give one window that holds them all.
    ``recent``: the question asks for what is newer ("latest", 最近).
    ``said`` has a sentence for each thing read, to be shown with the answer.
    """

    text: str
    filter: Filter = Filter()
    when: Window = (None, None)
    recent: bool = False
    said: tuple[str, ...] = ()

    @property
    def narrowed(self) -> Filter:
        """The filter with ``when`` as bounds too."""
        since, until = self.when
        if since and self.filter.since:
            since = max(since, self.filter.since)
        if until and self.filter.until:
            until = min(until, self.filter.until)
        return replace(self.filter, since=since or self.filter.since, until=until or self.filter.until)


def understand(text: str, now: datetime, *, known: Known) -> Understanding:
    """What is to be searched when somebody asks ``text``; never an error.

    - Fields: ``title:`` and ``path:`` take any value; ``source:``, ``kind:``, ``type:``, ``project:``, ``lang:`` and
      ``tag:`` one that is known, in any letter case or width; ``before:`` and ``after:`` a day, month or year, also in
      words (``after:"last week"``) or as ``7d``, ``2w``, ``3m``, ``1y``. Both bounds are the first moment of what is
      named, so ``after:`` includes it and ``before:`` does not. Of a repeated field any value will do, but titles and
      tags must all fit. A field whose value is none stays text, and ``said`` tells why.
    - Words of time, English and Japanese: taken out where they make sense on this day only ("last week", "latest",
      三日前), left where a note may hold them ("March 2026", 3月5日) and where nothing else would be left. What begins
      after today, begins before 1970 or ends before ``known.oldest`` is words only. "two weeks ago" is a window: the
      14th day back and four days on either side; ``periods.around`` has the widths.
    - Quotes, addresses, options and error messages are left alone. So is what is longer than 1,000 characters, but for
      fields at either end.

    Args:
        text: as typed or pasted.
        now: aware; days are those of its time zone.
        known: what fields may name.

    Cost: 0.1 ms for a question, some 1.5 ms for 1,000 characters, less for any longer text.
    """
    filter = Filter()
    said: list[str] = []
    taken: list[Span] = []
    for field in fields(text):
        try:
            filter, meaning = demand(filter, field, known, now)
        except NoValue as problem:
            said.append(f"'{field}' is searched as words: {problem}")
        else:
            said.append(f"'{field}' read as {meaning}")
            taken.append((field.start, field.end))
    if len(text) > LONGEST_TYPED:
        return Understanding(_without(text, taken), filter, said=tuple(said))
    readings = _readings(text, now.date(), known, [*verbatim(text), *taken])
    said += [f"'{text[one.start : one.end].strip(_JOINTS)}' read as {one}" for one in readings]
    phrases = [(reading.start, reading.cut) for reading in readings if reading.cut > reading.start]
    left = _without(text, [*taken, *phrases])
    if phrases and not taken and not _WORD.search(left):
        left = text  # a time and nothing else is a word, too
    periods = [one.period for one in readings if one.period]
    return Understanding(left, filter, _window(periods, now), len(periods) < len(readings), tuple(said))


def _readings(text: str, today: date, known: Known, untouchable: Sequence[Span]) -> list[Reading]:
    """The readings that hold, in order, none over another: the first, and of those that begin together the longest."""
    floor = known.oldest.date() if known.oldest else OLDEST
    found = [*english.readings(text, today), *japanese.readings(text, today)]
    chosen: list[Reading] = []
    for reading in sorted(found, key=lambda one: (one.start, -one.end)):
        if not chosen or reading.start >= chosen[-1].end:
            chosen.append(reading)
    return [
        reading
        for reading in chosen
        if _may_be_written_in(reading.period, today, floor) and not touches(reading.start, reading.end, untouchable)
    ]


def _may_be_written_in(period: Period | None, today: date, floor: date) -> bool:
    if period is None:
        return True
    begins = period.first is None or OLDEST <= period.first <= today
    return begins and (period.after is None or period.after > floor)


def _window(periods: Sequence[Period], now: datetime) -> Window:
    """The shortest window that holds all the periods."""
    firsts = [period.first for period in periods]
    afters = [period.after for period in periods]
    since = min((first for first in firsts if first), default=None) if all(firsts) else None
    until = max((after for after in afters if after), default=None) if all(afters) else None
    return (first_moment(since, now) if since else None), (first_moment(until, now) if until else None)


def _without(text: str, cuts: Sequence[Span]) -> str:
    """The text without the spans and the white space around them; as it is where nothing is cut."""
    if not cuts:
        return text
    left, at = "", 0
    for start, end in [*sorted(cuts), (len(text), len(text))]:
        piece = text[at:start].strip()
        if not left:
            left = piece.lstrip(_JOINTS)
        elif piece:
            left += piece if piece[0] in _ENDS else f" {piece}"
        at = end
    if not piece:
        left = left.rstrip(_JOINTS)
    return left if _WORD.search(left) else left.strip(_ENDS)
