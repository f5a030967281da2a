"""An address as a question with filters, and back: every search can be linked, and each filter taken off again.

/?q=bilge+pump&mode=lexical&tag=boat&type=Project&since=2026-01-01
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from ...errors import UsageError
from ...moments import FORMS, parse_moment
from ...types import MODES, Filter, Mode

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

FIELDS = ("source", "type", "tag", "project", "language", "privacy")
"""Filters of which an address may hold several, in the order in which they are shown."""

DAYS = ("since", "until")
DEFAULT_MODE: Mode = "hybrid"
LONGEST = 2000
"""Characters of a question that are taken."""

MOST_FILTERS = 50
"""Filters of an address that are taken."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What an address asks. ``chosen`` holds (field, value) pairs, each once, also of ``since`` and ``until``."""

    text: str = ""
    mode: Mode = DEFAULT_MODE
    chosen: tuple[tuple[str, str], ...] = ()
    cursor: str = ""

    @property
    def filter(self) -> Filter:
        """The filter that the address describes. Raises UsageError for a day that is none."""
        values = {field: tuple(value for name, value in self.chosen if name == field) for field in FIELDS}
        days = {name: value for name, value in self.chosen if name in DAYS}
        return Filter(
            sources=values["source"],
            types=values["type"],
            tags=values["tag"],
            projects=values["project"],
            languages=values["language"],
            labels=values["privacy"],
            since=_moment(days.get("since", ""), end=False),
            until=_moment(days.get("until", ""), end=True),
        )

    def has(self, field: str, value: str) -> bool:
        """Whether this filter is set."""
        return (field, value) in self.chosen

    def with_(self, field: str, value: str) -> Asked:
        """With one filter more; a day takes the place of the former one."""
        kept = tuple(pair for pair in self.chosen if field not in DAYS or pair[0] != field)
        return Asked(self.text, self.mode, tuple(dict.fromkeys((*kept, (field, value)))))

    def without(self, field: str, value: str) -> Asked:
        """With one filter less."""
        return Asked(self.text, self.mode, tuple(pair for pair in self.chosen if pair != (field, value)))

    def only_text(self) -> Asked:
        """With no filter."""
        return Asked(self.text, self.mode)

    def in_mode(self, mode: Mode) -> Asked:
        """The same, asked in another way."""
        return Asked(self.text, mode, self.chosen)

    def after(self, cursor: str) -> Asked:
        """The next page of the same."""
        return Asked(self.text, self.mode, self.chosen, cursor)

    def in_month(self, month: str) -> Asked:
        """Within a month (``2031-05``) or a year (``2031``)."""
        first, last = _ends(month)
        return self.with_("since", first).with_("until", last)

    def address(self, path: str = "/") -> str:
        """The address that asks this."""
        query = urlencode(list(self._pairs()))
        return f"{path}?{query}" if query else path

    def _pairs(self) -> Iterator[tuple[str, str]]:
        if self.text:
            yield "q", self.text
        if self.mode != DEFAULT_MODE:
            yield "mode", self.mode
        yield from self.chosen
        if self.cursor:
            yield "cursor", self.cursor


def asked(query: QueryParams) -> Asked:
    """What the query of an address asks. A mode that there is not is the default one."""
    mode = query.get("mode", DEFAULT_MODE)
    chosen = [
        (name, value.strip()) for name, value in query.multi_items() if name in (*FIELDS, *DAYS) and value.strip()
    ]
    return Asked(
        query.get("q", "").strip()[:LONGEST],
        mode if mode in MODES else DEFAULT_MODE,
        tuple(dict.fromkeys(chosen))[:MOST_FILTERS],
        query.get("cursor", ""),
    )


def _moment(text: str, *, end: bool) -> datetime | None:
    if not text:
        return None
    try:
        return parse_moment(text, datetime.now().astimezone(), end=end)
    except ValueError as error:
        raise UsageError(f"'{text[:40]}' is no day or time", hint=f"forms: {FORMS}") from error


def _ends(month: str) -> tuple[str, str]:
    year, _, number = month.partition("-")
    if not number:
        return f"{year}-01-01", f"{year}-12-31"
    return f"{month}-01", f"{month}-{monthrange(int(year), int(number))[1]:02}"
