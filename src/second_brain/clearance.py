"""What may this asker see?

Everything has a privacy label, and somebody who may see labels up to one of them gets a view in which nothing above
it exists: no document, name, number or source. The labels are part of every query (``Filter.privacy``); here is what
queries alone cannot say: which sources are there at all, and where links lead for somebody to whom a note does not
exist that they would otherwise lead to.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .config import Settings
from .errors import NotFound, UsageError
from .graph.links import LinkResolver
from .index.sqlite.counting import leads_to_a_note
from .index.sqlite.store import SqliteIndex
from .records import StoredLink
from .sources.paths import normalize_relative
from .types import Filter

MOST_CONDITIONS = 100
"""Tags, or parts of the title, of one filter."""


def stricter(settings: Settings, label: str, other: str) -> str:
    """The lower of two clearances; '' is that for everything, and so is the highest label.

    Raises UsageError for a label that the settings do not know.
    """
    order = settings.privacy_labels
    ranks = [len(settings.labels_up_to(name)) for name in (label, other) if name]
    lowest = min(ranks, default=len(order))
    return "" if lowest == len(order) else order[lowest - 1]


def visible_settings(settings: Settings, label: str) -> Settings:
    """The settings without the sources that somebody with this clearance may not see."""
    if not label:
        return settings
    allowed = settings.labels_up_to(label)
    return replace(settings, sources=tuple(source for source in settings.sources if source.privacy in allowed))


def no_source(settings: Settings, name: str) -> NotFound:
    """The error for a name that no source has."""
    known = ", ".join(source.name for source in settings.sources) or "none yet"
    return NotFound(f"no source is named '{name}'; sources: {known}", hint="see `brain sources`")


def allowed(index: SqliteIndex, settings: Settings, clearance: str, filter: Filter) -> Filter:
    """The filter without what somebody with this clearance may not see by the settings of now, its path in normal form.

    The one place where a view is limited. The labels in the index are those of the last sync. Raises NotFound for a
    source that nobody knows, or that is not to be seen, and UsageError for more conditions than a query can hold.
    """
    for name, values in (("tags", filter.tags), ("titles", filter.titles)):
        if len(values) > MOST_CONDITIONS:
            raise UsageError(f"a filter of {len(values)} {name} is too long: all must match, {MOST_CONDITIONS} at most")
    if clearance:
        seen = settings.labels_up_to(clearance)
        asked = seen if filter.privacy is None else filter.privacy
        filter = replace(filter, privacy=tuple(label for label in asked if label in seen))
    known = {source.name for source in settings.sources}
    if not clearance:
        known |= {name for name, _, _ in index.freshness()}
    for name in filter.sources:
        if name not in known:
            raise no_source(settings, name)
    filter = replace(filter, path_prefix=_prefix(filter.path_prefix))
    if filter.privacy is None:
        return filter
    names = filter.sources or sorted(known)
    allowed = tuple(name for name in names if settings.label(name, "") in filter.privacy)
    return replace(filter, sources=allowed) if allowed else replace(filter, privacy=())


def _prefix(path: str) -> str:
    """A path prefix in the form that uris have. An absolute one keeps its spelling, which the disk's may be."""
    return re.sub(r"/(?:\.?/)+", "/", path) if Path(path).is_absolute() else normalize_relative(path)


@dataclass(frozen=True, slots=True)
class VisibleLinks:
    """The links of an index as far as a filter lets through: each leads where it would if there were nothing else."""

    index: SqliteIndex
    filter: Filter

    def outgoing(self, document: int, uri: str) -> list[StoredLink]:
        """The links that stand in a document, in order."""
        links = self.index.outgoing(document, self.filter)
        if self.filter.privacy is None or all(link.target for link in links):
            return links
        led = {(link.start, link.written): link for link in self._led_elsewhere(uri) if link.source == uri}
        return [led.get((link.start, link.written), link) if link.target is None else link for link in links]

    def backlinks(self, uri: str) -> list[StoredLink]:
        """The links that lead to a document, in order of their documents."""
        links = self.index.backlinks(uri, self.filter)
        if self.filter.privacy is not None:
            links += [link for link in self._led_elsewhere(uri) if link.target == uri]
            links.sort(key=lambda link: link.source)
        return links

    def lost(self, sources: Sequence[str]) -> int:
        """How many links to notes lead nowhere although they lead somewhere for those who see everything."""
        return sum(
            link.target is None and leads_to_a_note(link.written)
            for source in sources
            for link in self._led_elsewhere(f"{source}/")
        )

    def led_elsewhere(self) -> list[StoredLink]:
        """The links that lead to another note than for those who see everything, or to none; of all sources."""
        if self.filter.privacy is None:
            return []
        return [link for source in self.filter.sources for link in self._led_elsewhere(f"{source}/")]

    def _led_elsewhere(self, uri: str) -> list[StoredLink]:
        """The links of the source of ``uri`` whose target may not be seen, as they are resolved without it."""
        source, _, _ = uri.partition("/")
        hidden = self.index.links_to_hidden(source, self.filter)
        if not hidden:
            return []
        targets = self.index.link_targets(source, self.filter)
        resolver = LinkResolver((target.partition("/")[2], aliases) for target, aliases in targets)
        led = []
        for link in hidden:
            found = resolver.resolve(link.written, link.source.partition("/")[2])
            to = None if found.path is None else f"{source}/{found.path}"
            led.append(replace(link, target=to, by_alias=int(found.by_alias)))
        return led
