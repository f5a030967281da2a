"""Fields that a question names (``type:meeting``, ``title:"pump room"``, ``after:2026-03``), and what they demand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import lru_cache
from typing import Final

from ..analysis import normalize
from ..types import Filter
from . import english, japanese
from .periods import Period, Unit, day, day_back, first_moment
from .verbatim import quoted, verbatim

LONGEST_TYPED: Final = 1000
"""Characters. What is longer was pasted: it is searched as it is, but for fields at its very beginning or end."""

_FIELD: Final = re.compile(
    r"""(?<![^\s(（])(?P<name>title|tag|type|source|path|project|kind|lang|before|after)[:：]
    (?P<value>"[^"]*"|“[^”]*”|「[^」]*」|『[^』]*』|(?!//|[:：])[^\s"“”「」『』、。，；]+)""",
    re.IGNORECASE | re.VERBOSE,
)
_QUOTES: Final = '"“”「」『』'
_NOT_THE_VALUE: Final = ",;!?！？)）"
"""What follows a value without a space is the sentence's."""
_KNOWN_FIELDS: Final = {
    "source": "sources",
    "kind": "kinds",
    "type": "types",
    "project": "projects",
    "lang": "languages",
    "tag": "tags",
}
"""Fields whose values exist or not, and where ``Known`` and ``Filter`` keep them."""
_NAMES_SHOWN: Final = 6
_AGO: Final = re.compile(r"(?P<count>[0-9]{1,4})(?P<unit>[dwmy])", re.IGNORECASE)
_AGO_UNITS: Final[dict[str, Unit]] = {"d": "day", "w": "week", "m": "month", "y": "year"}


@dataclass(frozen=True, slots=True)
class Known:
    """What exists, so that only that is a field: ``source:foo`` is text where no source is named foo.

    ``oldest`` is the date of the oldest document, where it is known: a time before it is what notes tell of, and
    words only.
    """

    sources: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    oldest: datetime | None = None


@dataclass(frozen=True, slots=True)
class Field:
    """``text[start:end]`` as typed: the field's name in small letters, and its value without quotes."""

    name: str
    value: str
    start: int
    end: int

    def __str__(self) -> str:
        return f"{self.name}:{self.value}"


class NoValue(Exception):
    """A field's value is none, so that the field is text; the message says why."""


def fields(text: str) -> list[Field]:
    """The fields in order, whether or not their values exist.

    None in quotes, and of those that take any value (a title, a path, a date) none in an error message.
    """
    if ":" not in text and "：" not in text:
        return []
    if len(text) > LONGEST_TYPED:
        return _at_the_ends(text)
    quotes, fixed = quoted(text), verbatim(text)
    return [
        field
        for field in _found(text, 0, len(text))
        if not any(start <= field.start < end for start, end in (quotes if field.name in _KNOWN_FIELDS else fixed))
    ]


def _at_the_ends(text: str) -> list[Field]:
    leading: list[Field] = []
    end = 0
    for field in _found(text, 0, LONGEST_TYPED):
        if text[end : field.start].strip():
            break
        leading.append(field)
        end = field.end
    trailing: list[Field] = []
    start = len(text)
    for field in reversed(list(_found(text, max(end, start - LONGEST_TYPED), start))):
        if text[field.end : start].strip():
            break
        trailing.append(field)
        start = field.start
    return leading + trailing[::-1]


def _found(text: str, first: int, last: int) -> Iterator[Field]:
    for found in _FIELD.finditer(text, first, last):
        typed, end = found["value"], found.end()
        if typed[0] in _QUOTES:
            value = typed[1:-1]
        else:
            value = typed.rstrip(_NOT_THE_VALUE)
            end -= len(typed) - len(value)
        if value.strip() and not value.endswith((":", "：")):
            yield Field(found["name"].lower(), value.strip(), found.start(), end)


def demand(filter: Filter, field: Field, known: Known, now: datetime) -> tuple[Filter, str]:
    """The filter with the field's demand added, and in words what it demands.

    Raises:
        NoValue: the value does not exist, is no date, or nothing could pass the filter any more.
    """
    name, value = field.name, field.value
    if name == "title":
        return replace(filter, titles=_added(filter.titles, value)), f"a title with '{value}' in it"
    if name == "path":
        if filter.path_prefix:
            raise NoValue(f"the path is '{filter.path_prefix}' already")
        return replace(filter, path_prefix=value), f"below the path '{value}'"
    if name in ("before", "after"):
        return _bounded(filter, field, now)
    plural = _KNOWN_FIELDS[name]
    exact = _known_name(name, value, getattr(known, plural))
    changes: dict[str, object] = {plural: _added(getattr(filter, plural), exact)}
    return replace(filter, **changes), f"the {name} '{exact}'"  # type: ignore[arg-type]  # all six are tuples of names


def _bounded(filter: Filter, field: Field, now: datetime) -> tuple[Filter, str]:
    named = _named_period(field.value, now.date())
    if named is None or named.first is None:
        raise NoValue(
            f"'{field.value}' is no day, month or year; write 2031-05-02, 2031-05, 2031, 2w, yesterday or \"last week\""
        )
    moment = first_moment(named.first, now)
    if field.name == "after":
        bounded = replace(filter, since=max(moment, filter.since or moment))
    else:
        bounded = replace(filter, until=min(moment, filter.until or moment))
    if bounded.since and bounded.until and bounded.since >= bounded.until:
        raise NoValue(f"no time is both from {bounded.since.date()} on and before {bounded.until.date()}")
    return bounded, str(named.onward() if field.name == "after" else named.earlier())


def _named_period(value: str, today: date) -> Period | None:
    """What a value of ``before:`` or ``after:`` names."""
    ago = _AGO.fullmatch(value)
    try:
        if ago:
            return day(day_back(today, int(ago["count"]), _AGO_UNITS[ago["unit"].lower()]))
        return english.period(value, today) or japanese.period(value, today)
    except (ValueError, OverflowError):  # no day of the calendar
        return None


def _known_name(field: str, value: str, names: tuple[str, ...]) -> str:
    """The name that exists, as it is spelt there; of a tag also one that others lie below."""
    spellings = _spellings(names, hierarchical=field == "tag")
    exact = spellings.get(normalize(value.lstrip("#").rstrip("/") if field == "tag" else value))
    if exact is None:
        shown = ", ".join(sorted(names)[:_NAMES_SHOWN]) + (", ..." if len(names) > _NAMES_SHOWN else "")
        raise NoValue(f"there is no {field} '{value}'" + (f", only {shown}" if names else ""))
    return exact


@lru_cache(maxsize=16)
def _spellings(names: tuple[str, ...], *, hierarchical: bool) -> dict[str, str]:
    """Names by their folded form. Remembered: folding thousands of tags takes milliseconds."""
    spellings: dict[str, str] = {}
    for name in names:
        spellings.setdefault(normalize(name), name)
    for name in names if hierarchical else ():
        while name := name.rpartition("/")[0]:
            spellings.setdefault(normalize(name), name)
    return spellings


def _added(values: tuple[str, ...], value: str) -> tuple[str, ...]:
    return values if value in values else (*values, value)
