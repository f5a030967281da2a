"""What travels between brains arrives as it was, and what should not be there is named."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from second_brain import errors, wire
from second_brain.errors import Ambiguous, BrainError, Busy, GenerationMismatch, MissingExtra, NotFound, UsageError
from second_brain.records import Status
from second_brain.types import Explanation, Filter, Hit, SearchResult, Signal

floats = some.floats(allow_nan=False, allow_infinity=False)
moments = some.datetimes(timezones=some.just(UTC))
texts = some.text(max_size=20)  # without lone surrogates, which no document holds
hits = some.builds(
    Hit,
    rank=some.integers(1, 100),
    score=floats,
    date=moments,
    tags=some.tuples(texts),
    heading_path=some.tuples(texts, texts),
    text=texts,
    explanation=some.builds(
        Explanation,
        some.tuples(some.builds(Signal, texts, some.sampled_from(("add", "multiply")), floats, texts)),
    ),
    notes=some.tuples(texts),
    folded=some.just(()),
    also_in=some.tuples(texts),
)
results = some.builds(
    SearchResult,
    query=texts,
    mode=some.sampled_from(("lexical", "agentic")),
    hits=some.tuples(hits, hits),
    notices=some.tuples(texts),
    timings_ms=some.dictionaries(texts, floats, max_size=3),
    confidence=some.none() | floats,
    rolled_up=some.tuples(hits),
    understood=some.just(()),
    cursors=some.tuples(texts),
)


@given(results)
def test_a_result_that_is_decoded_equals_the_one_that_was_encoded(result: SearchResult) -> None:
    """To the last bit of its numbers."""
    assert wire.decode(wire.encode(result), SearchResult) == result


@given(results, some.dictionaries(texts, texts, max_size=2))
def test_a_result_with_short_ids_is_read_with_and_without_them(result: SearchResult, ids: dict[str, str]) -> None:
    """Who does not know them still understands the rest."""
    data = wire.encode(wire.SearchAnswer.of(result, ids))
    answer = wire.decode(data, wire.SearchAnswer)
    assert (answer.result, dict(answer.short_ids)) == (result, ids)
    assert wire.decode(data, SearchResult) == result


def test_a_request_survives_the_way() -> None:
    """Filter, moments with their zone, and None."""
    request = wire.SearchRequest(
        "水やり",
        filter=Filter(sources=("a",), since=datetime(2031, 5, 2, tzinfo=UTC), privacy=("public",)),
        now=datetime(2031, 5, 2, 9, tzinfo=timezone(timedelta(hours=9))),
        per_document=None,
    )
    assert wire.decode(wire.encode(request), wire.SearchRequest, strict=True) == request


def test_bytes_and_paths_travel_as_text() -> None:
    """Files in base64, paths as they are spelled."""
    file = wire.SyncFile("a/é.md", "00", 1, b"\x00\xff")
    assert wire.decode(wire.encode(file), wire.SyncFile, strict=True) == file
    status = Status(
        version="1",
        home=Path("/a/b"),
        index=Path("c"),
        **dict.fromkeys(
            (
                *("documents", "chunks", "embedded", "waiting", "links", "unresolved_links", "failures"),
                *("text_bytes", "index_bytes", "matrix_bytes"),
            ),
            0,
        ),
        embedder="",
        wanted_embedder="",
        last_sync=None,
        sources=(),
        notices=(),
    )
    assert wire.decode(wire.encode(status), Status) == status


def test_half_a_character_is_sent_as_a_replacement() -> None:
    """JSON cannot hold it, and an answer must not fail for it."""
    assert wire.decode(wire.encode({"a\udce4": ["\ud83d", "\ud83d\udc26"]}), Any) == {"a\ufffd": ["\ufffd", "🐦"]}


@pytest.mark.parametrize(
    ("body", "said", "hint"),
    [
        ({"query": "a", "lmit": 3}, "there is no field 'lmit'", "did you mean 'limit'?"),
        ({"query": "a", "filter": {"sorces": []}}, "no field 'sorces' in 'filter'", "did you mean 'sources'?"),
        ({"query": 5}, "'query': expected `str`, got `int`", ""),
        ({}, "missing required field `query`", "fields: query, mode"),
        ({"query": "a", "mode": "magic"}, "'mode': invalid enum value 'magic'", "hybrid"),
        ({"query": "a", "limit": 1.5}, "'limit': expected `int`", ""),
        ({"query": "a", "filter": {"until": "9999-12-31"}}, "'filter.until'", "2031-05-02T00:00:00Z"),
        ({"query": "a", "filter": {"tags": [1]}}, "'filter.tags[0]'", ""),
        ([], "expected `object`, got `array`", "fields: query"),
    ],
)
def test_a_wrong_request_is_answered_with_what_was_found_and_expected(body: Any, said: str, hint: str) -> None:
    """The place, the value or its type, and what there is instead."""
    with pytest.raises(UsageError) as caught:
        wire.decode(wire.encode(body), wire.SearchRequest, strict=True)
    assert said in str(caught.value)
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"{", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"query": "\\ud800 a"}', "half a character"),
        (b'{"query": "a", "limit": 1e999}', "out of range"),
    ],
)
def test_what_is_no_json_is_refused_and_not_suffered(data: bytes, said: str) -> None:
    """No input is a crash."""
    with pytest.raises(UsageError, match=said):
        wire.decode(data, wire.SearchRequest, strict=True)


def test_every_error_arrives_as_what_it_was() -> None:
    """Class, message, hint; and an ambiguous name with its choices."""
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, BrainError)]
    for kind in set(kinds) - {Ambiguous, Busy, MissingExtra}:
        status, body = wire.raised(kind("what", hint="why"))
        found = wire.error_of(status, body)
        assert (type(found), str(found), found.hint) == (kind, "what", "why")
        assert 400 <= status < 600
    ambiguous = wire.error_of(*wire.raised(Ambiguous("two", ["a", "b"], hint="h")))
    assert isinstance(ambiguous, Ambiguous)
    assert ambiguous.candidates == ["a", "b"]
    busy = wire.error_of(*wire.raised(Busy("full", retry_after_s=3)))
    assert isinstance(busy, Busy)
    assert busy.retry_after_s == 3


def test_an_extra_that_is_missing_there_is_not_missing_here() -> None:
    """Nobody is told to install on their own machine what the server lacks."""
    found = wire.error_of(*wire.raised(MissingExtra("x", "serve")))
    assert type(found) is BrainError
    assert "serve" in str(found)


def test_an_error_of_a_class_that_only_the_server_has_is_the_nearest_that_all_have() -> None:
    """Adapters and rooms have their own."""

    class Special(NotFound):
        pass

    assert type(wire.error_of(*wire.raised(Special("x")))) is NotFound


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (404, b"<html>not here</html>", NotFound),
        (401, b"", errors.NotAllowed),
        (503, b"busy", Busy),
        (400, b'{"error": "text"}', UsageError),
        (500, b'{"error": {"kind": "Unheard", "message": "m"}}', BrainError),
        (409, b'{"error": {"kind": "GenerationMismatch", "message": "m"}}', GenerationMismatch),
    ],
)
def test_an_answer_of_somebody_else_is_an_error_too(status: int, body: bytes, kind: type[BrainError]) -> None:
    """A proxy's page, an older version's words."""
    assert type(wire.error_of(status, body)) is kind
