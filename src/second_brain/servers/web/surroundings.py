"""What stands around a note: the notes that lead to it and that it leads to, each with its words, and similar ones."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import BrainError
from ...records import Note, StoredDocument, StoredLink
from .files import TYPES

if TYPE_CHECKING:
    from ...library import Brain

MOST = 40
"""Notes that are listed on either side; how many more there are is said."""

AROUND = 90
"""Characters of context on each side of a link."""

SIMILAR = 6
COMPARED = 1500
"""Characters of a note that stand for it when similar ones are looked for."""

_MARKUP = re.compile(
    r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]|!?\[([^\[\]]*)\]\([^()\s]*\)"  # links, by their text
    r"|\[\[[^\[\]|]*\|?|[*_~=`]{2,3}|^[#>\s|-]+|[\s|]+"
)


@dataclass(frozen=True, slots=True)
class Linked:
    """A note on the other side of links. ``contexts`` are the words around them, the link's own in the middle."""

    document: StoredDocument
    contexts: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Around:
    """The two sides of a note. ``missing`` are names that lead nowhere yet; ``more`` says how many are not listed."""

    backlinks: tuple[Linked, ...]
    more_backlinks: int
    links: tuple[Linked, ...]
    more_links: int
    missing: tuple[str, ...]


def around(brain: Brain, note: Note) -> Around:
    """What is linked with a note, as far as the view shows it."""
    incoming = _grouped(note.backlinks, lambda link: link.source)
    outgoing = _grouped(note.links, lambda link: link.target or "")
    outgoing.pop("", None)
    listed = {*list(incoming)[:MOST], *list(outgoing)[:MOST]}
    documents = _documents(brain, listed)
    texts = brain.visible().index
    return Around(
        tuple(
            Linked(documents[uri], tuple(_contexts(texts.text(documents[uri].key), links)))
            for uri, links in list(incoming.items())[:MOST]
            if uri in documents
        ),
        max(0, len(incoming) - MOST),
        tuple(
            Linked(documents[uri], tuple(_contexts(note.text, links)))
            for uri, links in list(outgoing.items())[:MOST]
            if uri in documents
        ),
        max(0, len(outgoing) - MOST),
        tuple(dict.fromkeys(link.written[:200] for link in note.links if _is_missing(link)))[:MOST],
    )


def similar(brain: Brain, note: Note) -> list[StoredDocument]:
    """The notes whose meaning is nearest; none where there are no vectors of the embedder of now."""
    visible = brain.visible()
    try:
        embedder = brain.embedder()
        if visible.index.vectors.embedder != embedder.identity:
            return []
        vector = embedder.embed_documents([f"{note.document.title}\n{note.text[:COMPARED]}"])[0]
    except BrainError:
        return []
    keys = [key for key, _ in visible.index.dense(vector, visible.filter, SIMILAR * 10).entries]
    chunks = visible.index.chunks(keys)
    found = {chunks[key].document.uri: chunks[key].document for key in keys if key in chunks}
    found.pop(note.document.uri, None)
    return list(found.values())[:SIMILAR]


def _is_missing(link: StoredLink) -> bool:
    """Whether a note of this name could be written; a picture is none."""
    return link.target is None and link.written.rpartition(".")[2].lower() not in TYPES


def _grouped(links: Iterable[StoredLink], side: Callable[[StoredLink], str]) -> dict[str, list[StoredLink]]:
    groups: dict[str, list[StoredLink]] = {}
    for link in links:
        groups.setdefault(side(link), []).append(link)
    return groups


def _documents(brain: Brain, uris: Iterable[str]) -> Mapping[str, StoredDocument]:
    visible = brain.visible()
    where = "d.uri IN (SELECT value FROM json_each(?))"
    found = visible.index.documents(where, (json.dumps(list(uris)),), visible.filter, 2 * MOST)
    return {document.uri: document for document in found}


def _contexts(text: str, links: list[StoredLink]) -> Iterator[tuple[str, str, str]]:
    """The words around the first links, each once."""
    seen: set[tuple[str, str]] = set()
    for link in links[:20]:
        if link.start < 0 or len(seen) == 2:
            continue
        begin = max(text.rfind("\n", 0, link.start) + 1, link.start - AROUND)
        line_end = text.find("\n", link.start)
        end = min(line_end if line_end >= 0 else len(text), link.start + len(link.written) + len(link.text) + AROUND)
        before, after = _plain(text[begin : link.start]), _plain(_behind(text[link.start : end]))
        words = link.text or link.written
        if (before, after) not in seen:
            seen.add((before, after))
            yield before, words[:200], after


def _behind(text: str) -> str:
    """What follows a link."""
    found = re.match(r"!?\[\[[^\]\n]*\]\]|!?\[[^\]\n]*\]\([^)\n]*\)", text)
    return text[found.end() :] if found else ""


def _plain(text: str) -> str:
    return _MARKUP.sub(lambda match: match[1] or match[2] or (" " if match[0] != match[0].strip() else ""), text)
