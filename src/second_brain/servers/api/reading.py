"""The endpoints that only read: search, documents, links, facets, collections, sources, status."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from ... import wire
from ...errors import Ambiguous, NotFound, UsageError
from ..metrics import answered_tokens
from .asking import MOST_HITS, MOST_NAMES, MOST_STREAMED, Asked

if TYPE_CHECKING:
    from ...library import Brain
    from ...records import CollectionState, Facets, Note, Status, StoredDocument
    from ...types import Filter, SearchResult

PAGE = 20
"""Hits of a stream that are found together."""

MOST_LINKS = 1_000
"""Of one document."""


def search(asked: Asked) -> wire.SearchAnswer:
    """One page of an answer."""
    request: wire.SearchRequest = asked.body
    if not 1 <= request.limit <= MOST_HITS:
        more = f"; /search/stream takes up to {MOST_STREAMED}" if request.limit > MOST_HITS else ""
        raise UsageError(f"'limit' is {request.limit}, expected 1 to {MOST_HITS}{more}")
    brain = asked.desk.brain
    result = _searched(asked, brain, request, request.cursor)
    return wire.SearchAnswer.of(result, brain.short_ids(hit.id for hit in (*result.hits, *result.rolled_up)))


def stream(asked: Asked) -> Iterator[wire.StreamLine]:
    """The hits one by one, found page by page; then the rest of the result, as of the first page."""
    request: wire.SearchRequest = asked.body
    if not 1 <= request.limit <= MOST_STREAMED:
        raise UsageError(f"'limit' is {request.limit}, expected 1 to {MOST_STREAMED}")
    if request.cursor:
        raise UsageError("a stream has no cursor", hint=f"ask /search page by page, or for up to {MOST_STREAMED} hits")
    brain, page = asked.desk.brain, replace(request, limit=min(PAGE, request.limit))
    left, cursor, first = request.limit, "", None
    while first is None or (left and cursor):
        asked.report("search", request.limit - left, request.limit)
        result = _searched(asked, brain, page, cursor)
        first = first or result
        short_ids = brain.short_ids(hit.id for hit in result.hits[:left])
        for hit in result.hits[:left]:
            yield wire.StreamLine(hit=hit, short_id=short_ids[hit.id])
        left -= len(result.hits[:left])
        cursor = result.cursor
    rolled_up = brain.short_ids(hit.id for hit in first.rolled_up)
    yield wire.StreamLine(result=wire.SearchAnswer.of(replace(first, hits=(), cursor="", cursors=()), rolled_up))


def _searched(asked: Asked, brain: Brain, request: wire.SearchRequest, cursor: str) -> SearchResult:
    for name, moment in (("now", request.now), *_moments("filter.", request.filter)):
        if moment is not None and moment.tzinfo is None:
            raise UsageError(f"'{name}' names no time zone: {moment.isoformat()}", hint="like 2031-05-02T09:00:00Z")
    if request.per_document is not None and request.per_document < 1:
        raise UsageError(f"'per_document' is {request.per_document}, expected 1 or more, or null for no cap")
    began = time.perf_counter()
    result = brain.search(
        request.query,
        limit=request.limit,
        mode=request.mode,
        filter=request.filter,
        now=request.now,
        per_document=request.per_document,
        condensed=request.condensed,
        strict=request.strict,
        cursor=cursor,
        collections=request.collections,
    )
    answer, whole = answered_tokens(brain, result)
    asked.metrics.searched(result, time.perf_counter() - began, answer_tokens=answer, document_tokens=whole)
    return result


def _moments(place: str, filter: Filter) -> tuple[tuple[str, datetime | None], ...]:
    return (f"{place}since", filter.since), (f"{place}until", filter.until)


def document(asked: Asked) -> Note:
    """A document whole."""
    note = asked.desk.brain.get(asked.values["name"], filter=asked.values["filter"])
    return replace(note, text="") if asked.values["text"] == "no" else note


def recent(asked: Asked) -> list[StoredDocument]:
    """What was written last."""
    return asked.desk.brain.recent(limit=asked.values["limit"], filter=asked.values["filter"])


def facets(asked: Asked) -> Facets:
    """How documents spread."""
    return asked.desk.brain.facets(asked.values["text"], filter=asked.values["filter"])


def links(asked: Asked) -> wire.LinksAnswer:
    """Where documents lead."""
    request: wire.LinksRequest = asked.body
    if len(request.names) > MOST_NAMES:
        raise UsageError(f"'names' holds {len(request.names)}, expected at most {MOST_NAMES}")
    brain = asked.desk.brain
    return wire.LinksAnswer({name: _led_to(brain, name) for name in request.names})


def _led_to(brain: Brain, name: str) -> tuple[StoredDocument, ...]:
    try:
        note = brain.get(name)
    except (NotFound, Ambiguous):
        return ()
    uris = list(dict.fromkeys(link.target for link in note.links if link.target))[:MOST_LINKS]
    seen = brain.visible()
    marks = ",".join("?" * len(uris))
    found = {d.uri: d for d in seen.index.documents(f"d.uri IN ({marks})", uris, seen.filter, len(uris))}
    return tuple(found[uri] for uri in uris if uri in found and uri != note.document.uri)


def collections(asked: Asked) -> tuple[CollectionState, ...]:
    """The collections, with what each holds."""
    return asked.desk.brain.collections()


def sources(asked: Asked) -> list[wire.RemoteSource]:
    """The sources of the settings."""
    return [wire.RemoteSource(s.name, s.kind, str(s.path), s.privacy) for s in asked.desk.brain.sources()]


def status(asked: Asked) -> Status:
    """How fresh it all is."""
    return asked.desk.brain.status()
