"""A passage that several documents repeat (a resumed session) is in the index once, whatever comes and goes."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from second_brain.records import Removal, Replacement
from second_brain.types import Chunk, Document, Filter, Item, chunk_id

WHEN = datetime(2031, 5, 2, tzinfo=UTC)


@pytest.fixture
def put_turns(index):
    """Writes a session of turns, given as origin -> text."""
    index.put_source("s", "sessions", "/s")

    def put(name: str, turns: dict[str, str], source: str = "s") -> None:
        index.put_source(source, "sessions", f"/{source}")
        uri = f"{source}/{name}"
        text = "\n".join(turns.values())
        document = Document(uri, source, "session", "session", name, text, WHEN)
        chunks, start = [], 0
        for ordinal, (origin, turn) in enumerate(turns.items()):
            end = start + len(turn)
            chunks.append(Chunk(chunk_id(uri, turn), uri, ordinal, start, end, turn, (), "", origin=origin))
            start = end + 1
        item = Item(uri, source, f"/{uri}", "x", f"f{len(turns)}", WHEN, 1)
        index.write(source, [Replacement(item, f"h{len(turns)}", ((document, tuple(chunks)),))])

    return put


def found(index, word):
    """The documents whose passages hold the word."""
    ranking = index.lexical(f'"{word}"', Filter(), 10)
    return sorted(chunk.document.uri for chunk in index.chunks([key for key, _ in ranking.entries]).values())


def test_a_repeated_passage_is_found_once_and_both_documents_stay_readable(index, put_turns):
    """The document that had it first keeps it; the other has its whole text and its own passages."""
    put_turns("one", {"a": "heron", "b": "egret"})
    put_turns("two", {"a": "heron", "b": "egret", "c": "stork"})
    assert found(index, "heron") == ["s/one"]
    assert found(index, "stork") == ["s/two"]
    (two,) = index.find("s/two")
    assert index.text(two.key) == "heron\negret\nstork"
    assert index.stats().chunks == 3


def test_passages_without_origin_and_those_of_other_sources_are_never_left_out(index, put_turns):
    """Two notes with the same text are two notes."""
    put_turns("one", {"": "heron"})
    put_turns("two", {"": "heron"})
    put_turns("three", {"a": "heron"})
    put_turns("four", {"a": "heron"}, source="other")
    assert found(index, "heron") == ["other/four", "s/one", "s/three", "s/two"]


def test_a_document_that_grows_keeps_its_passages(index, put_turns):
    """Written again with one more turn, it does not take itself for a repeat, and nobody else is read again."""
    put_turns("one", {"a": "heron"})
    put_turns("two", {"a": "heron", "b": "egret"})
    put_turns("one", {"a": "heron", "d": "ibis"})
    assert found(index, "heron") == ["s/one"]
    assert index.items("s")["s/two"].hash == "h2"


@pytest.mark.parametrize("how", ["removed", "rewritten"])
def test_when_the_first_document_loses_a_passage_those_that_repeat_it_are_read_again(index, put_turns, how):
    """Their hash is forgotten, so that the next run finds the passage in one of them."""
    put_turns("one", {"a": "heron", "b": "egret"})
    put_turns("two", {"a": "heron"})
    put_turns("three", {"c": "stork"})
    if how == "removed":
        index.write("s", [Removal("s/one")])
    else:
        put_turns("one", {"b": "egret"})
    items = index.items("s")
    assert items["s/two"].hash == ""
    assert items["s/three"].hash == "h1"
    put_turns("two", {"a": "heron"})
    assert found(index, "heron") == ["s/two"]


def test_removing_a_source_leaves_no_trace_of_repeats(index, put_turns):
    """Nothing refers to items that are gone."""
    put_turns("one", {"a": "heron"})
    put_turns("two", {"a": "heron"})
    index.remove_source("s")
    assert index.database.value("SELECT count(*) FROM echo") == 0


def test_the_first_passage_left_out_does_not_shift_the_order_of_the_rest(index, put_turns):
    """Ordinals count from 0 without a gap, and the document counts what it has."""
    put_turns("one", {"a": "heron"})
    put_turns("two", {"a": "heron", "b": "egret", "c": "stork"})
    rows = index.database.rows(
        "SELECT c.ordinal, d.chunks FROM chunk c JOIN document d ON d.key = c.document WHERE d.uri = 's/two'"
        " ORDER BY c.ordinal"
    )
    assert rows == [(0, 2), (1, 2)]
    assert index.stats().chunks == 3
