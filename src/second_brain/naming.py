"""Which document is called so, and how is a passage called in short?"""

from __future__ import annotations

import re
from collections.abc import Iterable

from . import config
from .index.sqlite.store import SqliteIndex
from .records import StoredDocument
from .types import Filter

_NOTE_LINK = re.compile(r"^note:([^#]+)#\d+$")
"""How summaries name the turn of a session: ``note:3f2a1c9b#4``."""

_LINE = re.compile(r":\d+$")
"""Hits are shown with the line that they begin on."""

SHORTEST_ID = 6
"""Digits of a passage's id that are shown at least."""


def named(index: SqliteIndex, name: str, filter: Filter) -> list[StoredDocument]:
    """The documents that a name may mean: a uri, path, title, alias, or the beginning of a passage's id."""
    name = _NOTE_LINK.sub(r"\1", name.strip())
    if not name:
        return []
    found = index.find(name, filter) or index.find(_LINE.sub("", name), filter)
    if not found and ("/" in name or "\\" in name or name.startswith(("~", "."))):
        found = index.find(str(config.as_named(name)), filter)
    if not found and len(name) >= 4 and all(char in "0123456789abcdef" for char in name):
        keys = [key for key, _ in index.chunk_keys(name, filter)]
        documents = {chunk.document.uri: chunk.document for chunk in index.chunks(keys).values()}
        found = list(documents.values())
    return found


def short_ids(index: SqliteIndex, ids: Iterable[str], filter: Filter) -> dict[str, str]:
    """For each passage's id the shortest beginning that names no other passage here, of 6 digits or more.

    One of them is a figure, so that no word is taken for an id.
    """
    short = {}
    for id in dict.fromkeys(ids):
        length = SHORTEST_ID
        while length < len(id) and (id[:length].isalpha() or len(index.chunk_keys(id[:length], filter)) > 1):
            length += 1
        short[id] = id[:length]
    return short
