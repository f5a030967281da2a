"""Map-of-content roll-up: the notes that a hub among the hits links to and that fit the question.

A hub is an index, a map of content, a README, or a note that is mostly links: somebody's own answer to "what belongs
together". Its notes come after the ranking, never in place of it, and the answer names the hub.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from ..index.sqlite.lookups import Linking, linking
from ..retrieval import Retriever
from ..types import Hit, Query

MOST_HUBS: Final = 3
LOOKED_AT: Final = 8
"""Hits among which hubs are looked for."""

MOST_CHILDREN: Final = 5
"""Of one hub."""

MOST_CHARACTERS: Final = 6_000
"""Of all children's quotes together."""

FITS: Final = 0.35
"""How probable it must be that a child answers, before damping."""

MANY_LINKS: Final = 30
"""A hub with more links says less by each of them."""

_LEAST: Final = ((2, 0.15), (5, 0.0))
_LEAST_UNNAMED: Final = ((5, 0.35), (10, 0.2))
"""From so many links and such a share of the note's bytes on (names of other notes; brackets come on top) a note is a
hub: one whose name or labels say so, and any other. Set by looking at the hubs of a public vault of 6,571 notes."""

_NAMES: Final = re.compile(
    r"(?:^|[\W_])mocs?(?:$|[\W_])|^readme$|目次|もくじ|索引|ホーム|入口"
    r"|(?:^|[\s_(&])(?:index|hub|home|start here|maps? of content|(?:table of )?contents|overview)(?:$|[\s_)&])"
)
_LABELS: Final = frozenset(("moc", "index", "hub", "map", "readme", "map-of-content", "maps-of-content", "目次"))

Chance = Callable[[Hit, str], float]
"""How probable it is that a hit answers what a hub's title leaves open: hit, title."""


def is_hub(note: Linking) -> bool:
    """Whether a note is one to find others by: by its name, type or tags, or because it is mostly links."""
    named = (
        (len(note.name) <= 60 and _NAMES.search(note.name))
        or note.type.lower() in _LABELS
        or any(tag.lower().rpartition("/")[2] in _LABELS for tag in note.tags)
    )
    share = sum(size for _, size in note.links) / max(1, note.size)
    least = _LEAST if named else _LEAST_UNNAMED
    return any(len(note.links) >= links and share >= part for links, part in least)


def damping(links: int) -> float:
    """What a link counts of a hub with so many: 1 up to ``MANY_LINKS``, a half at ten times as many."""
    return 1.0 / (1.0 + math.log10(max(1.0, links / MANY_LINKS)))


def roll_up(retriever: Retriever, query: Query, hits: Sequence[Hit], chance: Chance) -> tuple[Hit, ...]:
    """The notes that hubs among the hits link to and that fit, best first for each hub, hubs in their order.

    The children are searched for like anything else, with the query's filter and privacy: one that the asker may not
    see is not even counted.

    Args:
        retriever: asked once more, where there is a hub.
        query: the question, with the filter of the asker.
        hits: the ranking, best first; nothing of it is repeated.
        chance: see ``FITS``. What the hub's own title says, a child need not repeat.
    """
    asker = replace(query.filter, kinds=(), types=(), tags=(), titles=(), since=None, until=None, path_prefix="")
    names = list(dict.fromkeys(hit.uri for hit in hits[:LOOKED_AT]))
    hubs = [note for note in linking(retriever.index.database, names, asker) if is_hub(note)][:MOST_HUBS]
    listed = {hit.uri for hit in hits}
    titles = {hit.uri: hit.title for hit in hits}
    hub_of: dict[str, Linking] = {}
    for hub in hubs:
        for uri, _ in hub.links:
            if uri not in listed:
                hub_of.setdefault(uri, hub)
    wanted = replace(query.filter, uris=tuple(hub_of))
    if query.filter.uris:
        wanted = replace(wanted, uris=tuple(uri for uri in hub_of if uri in query.filter.uris))
    if not wanted.uris:
        return ()
    asked = replace(query, filter=wanted, limit=3 * MOST_CHILDREN * len(hubs), per_document=1)
    found: dict[str, list[Hit]] = {hub.uri: [] for hub in hubs}
    characters = 0
    for child in retriever.search(asked).hits:
        hub = hub_of[child.uri]
        fits = chance(child, titles[hub.uri]) * damping(len(hub.links)) >= FITS
        if fits and len(found[hub.uri]) < MOST_CHILDREN and characters + len(child.text) <= MOST_CHARACTERS:
            found[hub.uri].append(replace(child, via=hub.uri))
            characters += len(child.text)
    children = (child for hub in hubs for child in found[hub.uri])
    return tuple(replace(child, rank=rank) for rank, child in enumerate(children, start=len(hits) + 1))
