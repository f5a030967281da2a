"""Cursors: they lead on in one answer, and nowhere else."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from second_brain.answering.cursors import MOST_PAGES, Place, decode, encode, query_digest
from second_brain.errors import UsageError
from second_brain.types import Filter, Query

NOW = datetime(2031, 5, 2, 12, 30, 0, 123456, tzinfo=timezone(timedelta(hours=9)))
QUERY = Query("排水ポンプ", NOW)
STATE = "0123456789abcdef"


def test_a_cursor_says_what_it_was_told():
    """Moment to the microsecond, pages shown, whether reranked; in some forty characters that need no quotes."""
    place = Place(query_digest(QUERY), STATE[:12], NOW, True, (10, 3, 255))
    cursor = encode(place)
    assert len(cursor) <= 40
    assert cursor.replace("-", "").replace("_", "").isalnum()
    assert decode(cursor, QUERY, STATE) == place
    assert decode(cursor, QUERY, STATE).now.utcoffset() == timedelta(hours=9)


@pytest.mark.parametrize(
    "other",
    [
        replace(QUERY, text="排水ポンプ "),
        replace(QUERY, limit=11),
        replace(QUERY, mode="agentic"),
        replace(QUERY, filter=Filter(tags=("a",))),
        replace(QUERY, filter=Filter(privacy=("public",))),
        replace(QUERY, per_document=1),
        replace(QUERY, condensed=True),
    ],
)
def test_a_cursor_of_another_question_is_refused(other):
    """Whatever differs that decides the answer."""
    cursor = encode(Place(query_digest(QUERY), STATE[:12], NOW).after(10))
    with pytest.raises(UsageError, match="another question"):
        decode(cursor, other, STATE)


def test_the_moment_does_not_make_another_question():
    """A page is asked for later than the one before."""
    cursor = encode(Place(query_digest(QUERY), STATE[:12], NOW).after(10))
    assert decode(cursor, replace(QUERY, now=datetime(2032, 1, 1, tzinfo=UTC)), STATE).now == NOW


def test_a_changed_index_is_refused_with_a_hint():
    """Instead of a page that repeats or misses."""
    cursor = encode(Place(query_digest(QUERY), STATE[:12], NOW).after(10))
    with pytest.raises(UsageError, match="index has changed") as refused:
        decode(cursor, QUERY, "f" * 16)
    assert refused.value.hint == "search again without a cursor"


@pytest.mark.parametrize("text", ["x", "10", "ü", "A" * 39, "\ud800", "AAAA" * 30, "=" * 8, "page two"])
def test_what_is_no_cursor_is_refused(text):
    """One message, never another exception."""
    with pytest.raises(UsageError):
        decode(text, QUERY, STATE)


def test_a_chain_of_pages_ends():
    """And so does one of pages too large to count."""
    place = Place(query_digest(QUERY), STATE[:12], NOW)
    assert encode(replace(place, shown=(1,) * MOST_PAGES))
    assert encode(replace(place, shown=(1,) * (MOST_PAGES + 1))) == ""
    assert encode(place.after(256)) == ""
