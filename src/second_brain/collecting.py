"""Collections: named sets of sources, and what each holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from .config import Settings
from .errors import NotFound
from .records import CollectionState, SourceState
from .types import Filter


def members(settings: Settings, indexed: Iterable[tuple[str, datetime | None, str]]) -> dict[str, tuple[str, ...]]:
    """The sources of each collection; what is ``indexed`` and in none is in the default one."""
    found = dict(settings.collections)
    named = {source for sources in found.values() for source in sources}
    more = tuple(name for name, _, _ in indexed if name not in named)
    if more:
        found[settings.default_collection] = (*found.get(settings.default_collection, ()), *more)
    return found


def states(
    collections: Mapping[str, Sequence[str]], sources: Iterable[SourceState], default: str
) -> tuple[CollectionState, ...]:
    """What each collection holds and how fresh it is, from what is known of its sources."""
    known = {state.name: state for state in sources}
    found = []
    for name, members in collections.items():
        held = [known[source] for source in members if source in known]
        synced = [state.synced for state in held]
        found.append(
            CollectionState(
                name,
                name == default,
                tuple(members),
                sum(state.documents for state in held),
                sum(state.chunks for state in held),
                sum(state.waiting for state in held),
                min((when for when in synced if when), default=None) if None not in synced else None,
                tuple(state.name for state in held if state.unavailable),
            )
        )
    return tuple(found)


def within(known: Mapping[str, Sequence[str]], collections: Sequence[str], filter: Filter) -> Filter:
    """The filter narrowed to the sources of some collections. Raises NotFound for one that is not there."""
    for name in collections:
        if name not in known:
            raise NotFound(f"there is no collection '{name[:80]}'", hint=f"there are: {', '.join(known)}")
    sources = [source for name in dict.fromkeys(collections) for source in known[name]]
    chosen = tuple(source for source in sources if not filter.sources or source in filter.sources)
    return replace(filter, sources=chosen) if chosen else replace(filter, privacy=())
