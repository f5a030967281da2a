"""Hubs whose file here is not the one that the box indexed: what they link to by now belongs into the answer.

The box rolls up its own hubs (``answering.rollup``). Here, by the same rules and caps, is only what it cannot know yet:
a hub that was edited on this machine since, or one of a box that sends no roll-up.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from .. import wire
from ..analysis import index_terms
from ..answering.hubs import FITS, LOOKED_AT, MOST_CHARACTERS, MOST_CHILDREN, MOST_HUBS, damping, is_hub
from ..errors import BrainError
from ..graph.links import LinkResolver
from ..index.sqlite.filters import fold_name
from ..records import Linking, Note
from ..sources.paths import compose
from ..types import Hit, Mode, SearchResult
from .paths import PathRules
from .reading import bytes_of, document_of, hash_of, is_text, linking_of

MARK = "linked from the hub as it is on this machine; the box has not indexed that yet"
LISTED_FOR_S = 60.0
"""How long a listing of a folder's notes is used for links."""

MOST_NOTES = 100_000


class LocalHubs:
    """Rolls up hubs of this machine; ``rules`` say where the box's files lie here."""

    def __init__(self, rules: PathRules) -> None:
        self._rules = rules
        self._resolvers: dict[str, tuple[float, LinkResolver]] = {}

    def added(
        self,
        request: wire.SearchRequest,
        result: SearchResult,
        *,
        note: Callable[[str], Note],
        search: Callable[[wire.SearchRequest], wire.SearchAnswer],
    ) -> tuple[Hit, ...]:
        """What local hubs among the hits link to, the box knows, and its own roll-up lacks; to come after it.

        Args:
            request, result: the question and the box's answer.
            note: the box's note of a uri, its text left out.
            search: the box's answer to another question.
        """
        if not self._rules or request.cursor:
            return ()
        found: list[Hit] = []
        listed = {hit.uri for hit in (*result.hits, *result.rolled_up)}
        titles = {hit.uri: hit.title for hit in result.hits}
        characters = sum(len(hit.text) for hit in result.rolled_up)
        first = len(result.hits) + len(result.rolled_up) + 1
        try:
            for hub, new in self._changed(result, listed, note):
                among = tuple(uri for uri in new if not request.filter.uris or uri in request.filter.uris)
                text = _without(request.query, titles[hub.uri])
                asked = replace(request, query=text or request.query, mode=_mode(request), condensed=False)
                least = FITS / damping(len(hub.links)) if text else 0.0
                for hit in _best(asked, among, search, least):
                    if hit.uri in listed or characters + len(hit.text) > MOST_CHARACTERS:
                        continue
                    listed.add(hit.uri)
                    characters += len(hit.text)
                    found.append(replace(hit, rank=first + len(found), via=hub.uri, notes=(*hit.notes, MARK)))
        except BrainError:  # an answer without it is an answer
            return ()
        return tuple(found)

    def _changed(
        self, result: SearchResult, listed: set[str], note: Callable[[str], Note]
    ) -> Iterator[tuple[Linking, list[str]]]:
        """Hubs whose file here differs from what the box indexed, each with the documents that are new in it."""
        hubs = 0
        for uri, path in {hit.uri: hit.path for hit in result.hits[:LOOKED_AT]}.items():
            file = self._rules.file(path)
            data = bytes_of(file) if file is not None and is_text(file) else None
            if file is None or data is None or hubs >= MOST_HUBS:
                continue
            hub = self._linking(file, data, uri)
            if hub is None or not is_hub(hub):
                continue
            hubs += 1
            known = note(uri)
            if known.document.hash == hash_of(data):
                continue
            rolled_up = {link.target for link in known.links} if known.document.hash else set()
            new = [target for target, _ in hub.links if target not in rolled_up and target not in listed]
            yield hub, new

    def _linking(self, file: Path, data: bytes, uri: str) -> Linking | None:
        """The note as something that links to notes of its own source; None where it does not."""
        source, _, relative = uri.partition("/")
        place = file.as_posix()
        if not compose(place).endswith(f"/{relative}"):
            return None
        document = document_of(file, data, uri)
        if not document.links:
            return None
        resolver = self._resolver(place[: -len(relative) - 1])
        led = [(resolver.resolve(link.target, relative).path, link) for link in document.links]
        links = [(f"{source}/{path}", link) for path, link in led if path is not None and path != relative]
        return linking_of(document, fold_name(document.title), links)

    def _resolver(self, root: str) -> LinkResolver:
        now = time.monotonic()
        made, resolver = self._resolvers.get(root, (0.0, None))
        if resolver is None or now - made > LISTED_FOR_S:
            resolver = LinkResolver((path, ()) for path in _notes_below(root))
            self._resolvers[root] = now, resolver
        return resolver


def _best(
    request: wire.SearchRequest,
    uris: tuple[str, ...],
    search: Callable[[wire.SearchRequest], wire.SearchAnswer],
    least: float,
) -> Iterator[Hit]:
    """The best of these documents that answer with such a probability at least, each by itself."""

    def ask(among: tuple[str, ...], limit: int) -> wire.SearchAnswer:
        filter = replace(request.filter, uris=among)
        return search(replace(request, filter=filter, limit=limit, per_document=1))

    if not uris:
        return
    answer = ask(uris, MOST_CHILDREN)
    if (answer.confidence or 0.0) < least:
        return
    for hit in answer.hits:
        if (ask((hit.uri,), 1).confidence or 0.0) >= least:
            yield hit


def _without(question: str, title: str) -> str:
    """The question without words of a title: what a hub's own title says, a child need not repeat."""
    said = set(index_terms(title).split())
    return " ".join(word for word in question.split() if not said.issuperset(index_terms(word).split()))


def _mode(request: wire.SearchRequest) -> Mode:
    return "hybrid" if request.mode == "agentic" else request.mode


def _notes_below(root: str) -> Iterator[str]:
    """The notes below a folder as paths in it, in the form that uris have; hidden folders are left out."""
    left = MOST_NOTES
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if is_text(name) and left:
                left -= 1
                yield compose(os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/"))  # noqa: PTH118
