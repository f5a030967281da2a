"""Says which values of a filter nothing has, and what there is instead: a misspelt one would only find nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Final

from ..index.sqlite.facets import count_facets
from ..index.sqlite.filters import fold_tag
from ..index.sqlite.store import SqliteIndex
from ..types import Filter

LISTED: Final = 6
"""So many of the values that there are, are named: the nearest by spelling, then the most frequent."""


def unknown_values(index: SqliteIndex, filter: Filter) -> Iterator[str]:
    """A sentence for each kind, type, project, language and tag that no document has which the asker may see.

    Cost: one walk over those documents where the filter names any of these, else none.
    """
    asked = (
        ("kind", filter.kinds, "kinds"),
        ("type", filter.types, "types"),
        ("project", filter.projects, "projects"),
        ("language", filter.languages, "languages"),
        ("tag", filter.tags, "tags"),
    )
    if not any(values for _, values, _ in asked):
        return
    seen = replace(Filter(), sources=filter.sources, privacy=filter.privacy)
    there = count_facets(index.database, seen)
    for what, values, name in asked:
        known = [value for value, _ in getattr(there, name)]
        for value in values:
            if not _among(what, value, known):
                yield f"no note has the {what} '{value}'; there are {_listed(value, known)}"


def _among(what: str, value: str, known: Sequence[str]) -> bool:
    """Whether a value finds one of those that are there, as filters compare them."""
    if what == "tag":
        tag = fold_tag(value)
        return any(other == tag or other.startswith(f"{tag}/") for other in known)
    return value.lower() in {other.lower() for other in known}


def _listed(value: str, known: Sequence[str]) -> str:
    """Some of those that are there, in words."""
    spelled = {other.lower(): other for other in reversed(known)}
    near = [spelled[other] for other in get_close_matches(value.lower().lstrip("#"), list(spelled), n=3, cutoff=0.6)]
    first = [*near, *(other for other in known if other not in near)][:LISTED]
    more = len(known) - len(first)
    return (", ".join(first) + (f" and {more:,} more" if more else "")) if first else "none at all"
