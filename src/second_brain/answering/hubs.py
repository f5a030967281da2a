"""What is a hub, and how much of what it links to belongs into an answer?

A hub is an index, a map of content, a README, or a note that is mostly links: somebody's own answer to "what belongs
together". Here are the rules alone, for whoever has the note, in an index or in a file.
"""

from __future__ import annotations

import math
import re
from typing import Final

from ..records import Linking

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
