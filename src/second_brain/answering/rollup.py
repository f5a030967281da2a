"""Map-of-content roll-up: the notes that a hub among the hits links to and that fit the question.

They come after the ranking, never in place of it, and the answer names the hub.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..index.sqlite.lookups import linking
from ..records import Linking
from ..retrieval import Retriever
from ..types import Hit, Query
from .hubs import FITS, LOOKED_AT, MOST_CHARACTERS, MOST_CHILDREN, MOST_HUBS, damping, is_hub

Chance = Callable[[Hit, str], float]
"""How probable it is that a hit answers what a hub's title leaves open: hit, title."""


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
