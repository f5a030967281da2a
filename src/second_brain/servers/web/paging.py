"""Long lists in sheets, so that no page is slow to send or to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from starlette.responses import Response

from ...errors import NotFound
from .page import Visit, with_query

T = TypeVar("T")

PER_SHEET = 100


@dataclass(frozen=True, slots=True)
class Sheet(Generic[T]):
    """A part of a list. ``number`` begins at 1; ``first`` is the place of its first entry in the list, from 1."""

    entries: Sequence[T]
    number: int
    sheets: int
    first: int
    total: int

    @property
    def previous(self) -> str:
        """The number of the sheet before, '' for none."""
        return str(self.number - 1) if self.number > 1 else ""

    @property
    def next(self) -> str:
        """The number of the sheet after, '' for none."""
        return str(self.number + 1) if self.number < self.sheets else ""


def sheet(entries: Sequence[T], asked: str, per_sheet: int = PER_SHEET) -> Sheet[T]:
    """The sheet that a query asks for; the first for what is no number, the last for one beyond."""
    sheets = max(1, -(-len(entries) // per_sheet))
    number = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 10 else 1
    number = min(max(number, 1), sheets)
    first = (number - 1) * per_sheet
    return Sheet(entries[first : first + per_sheet], number, sheets, first + 1, len(entries))


def show_sheet(visit: Visit, template: str, lists: Mapping[str, Sequence[Any]]) -> Response:
    """A sheet of the list that the path names. Raises NotFound for another one."""
    which = visit.request.path_params["which"]
    if which not in lists:
        raise NotFound(f"there is no list '{which[:40]}'", hint="there are: " + ", ".join(lists))
    path = visit.request.url.path
    return visit.show(
        template,
        which=which,
        sheet=sheet(lists[which], visit.argument("page")),
        sheet_url=lambda number: with_query(path, page=number),
    )
