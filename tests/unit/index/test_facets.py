"""Filters by kind, project, language and title, and the counts of what they let through."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from second_brain import Brain
from second_brain.records import Facets
from second_brain.types import Filter

FILES = {
    "pump.md": "---\ntype: Runbook\ntags: [ops/pumps, urgent]\ndate: 2031-05-02\n---\n# Pump room ＡＢ\n\n"
    "The valve of the pump is closed with a key that hangs in the hall.\n",
    "log.md": "---\ntype: log\ntags: [ops]\ndate: 2031-04-01\n---\n# Log of the pump\n\n"
    "The pump was replaced and it is not what we had before.\n",
    "日記.md": "---\ntags: [ops]\ndate: 2030-04-01\nprivacy: secret\n---\n# 三月\n\n"
    "排水ポンプを月曜に交換した。 pump\n",
}


@pytest.fixture
def indexed(notes: Any) -> Any:
    (notes.root / ".git").mkdir()
    notes.index(FILES)
    return notes


def test_notes_get_language_and_project(indexed: Any) -> None:
    """The language of the text, and the repository or folder in which the source lies."""
    hits = indexed.brain.search("pump", per_document=1).hits
    assert {hit.uri: (hit.language, hit.project) for hit in hits} == {
        "notes/pump.md": ("en", "notes"),
        "notes/log.md": ("en", "notes"),
        "notes/日記.md": ("ja", "notes"),
    }


@pytest.mark.parametrize(
    ("filter", "found"),
    [
        (Filter(kinds=("Markdown",)), {"pump.md", "log.md", "日記.md"}),
        (Filter(kinds=("code",)), set()),
        (Filter(projects=("NOTES", "x")), {"pump.md", "log.md", "日記.md"}),
        (Filter(projects=("x",)), set()),
        (Filter(languages=("JA",)), {"日記.md"}),
        (Filter(languages=("en", "ja"), types=("log",)), {"log.md"}),
        (Filter(titles=("PUMP",)), {"pump.md", "log.md"}),
        (Filter(titles=("pump", "ab")), {"pump.md"}),
        (Filter(titles=("pump", "三月")), set()),
        (Filter(titles=("of  the",)), {"log.md"}),
        (Filter(titles=("%",)), set()),
    ],
)
def test_a_filter_lets_through_what_it_says(indexed: Any, filter: Filter, found: set[str]) -> None:
    """By word, by meaning, in lists and in counts: letter case and width ignored, all title parts needed."""
    assert set(indexed.found("pump", filter=filter)) == found
    assert set(indexed.found("pump", mode="dense", filter=filter)) == found
    assert {document.uri.partition("/")[2] for document in indexed.brain.recent(filter=filter)} == found
    assert indexed.brain.facets(filter=filter).documents == len(found)


def test_facets_count_documents(indexed: Any) -> None:
    """The most frequent first, months and years newest first, tags as they are compared."""
    assert indexed.brain.facets() == Facets(
        documents=3,
        sources=(("notes", 3),),
        projects=(("notes", 3),),
        kinds=(("markdown", 3),),
        types=(("Runbook", 1), ("log", 1), ("note", 1)),
        languages=(("en", 2), ("ja", 1)),
        tags=(("ops", 2), ("ops/pumps", 1), ("urgent", 1)),
        months=(("2031-05", 1), ("2031-04", 1), ("2030-04", 1)),
        years=(("2031", 2), ("2030", 1)),
        privacies=(("personal", 2), ("secret", 1)),
    )


def test_facets_of_a_query_count_documents_with_one_of_its_telling_words(indexed: Any) -> None:
    """However many a search shows; a word that most passages hold counts only when there is no other."""
    assert indexed.brain.facets("valve or pump").types == (("Runbook", 1),)
    assert indexed.brain.facets("pump").documents == 3
    assert indexed.brain.facets("valve replaced").types == (("Runbook", 1), ("log", 1))
    assert indexed.brain.facets("valve replaced", filter=Filter(types=("log",))).documents == 1
    assert indexed.brain.facets("heron").documents == 0
    assert indexed.brain.facets("type:log").types == indexed.brain.facets("type:log pump").types == (("log", 1),)
    assert indexed.brain.facets(" ") == indexed.brain.facets()


def test_facets_know_nothing_above_the_clearance(indexed: Any) -> None:
    """Neither values nor counts, with and without a query."""
    view = indexed.brain.seen_by("personal")
    for facets in (view.facets(), view.facets("pump")):
        assert (facets.documents, facets.languages, facets.years) == (2, (("en", 2),), (("2031", 2),))
    assert view.facets(filter=Filter(privacy=("secret",))).documents == 0


def test_a_time_of_day_counts_by_the_readers_clock(indexed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A note's bare day is that day everywhere; a moment is in the month that it is here."""
    import time

    indexed.index({"late.md": "---\ndate: 2031-06-30T23:30:00Z\ntype: late\n---\nx\n"})
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert indexed.brain.facets(filter=Filter(types=("late",))).months == (("2031-07", 1),)
        assert indexed.brain.facets(filter=Filter(types=("Runbook",))).months == (("2031-05", 1),)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert indexed.brain.recent(filter=Filter(types=("late",)))[0].date == datetime(2031, 6, 30, 23, 30, tzinfo=UTC)


def test_a_view_never_sees_more_than_the_one_that_it_was_made_from(indexed: Any) -> None:
    """Views share the index; the label of a view is an upper bound for its own views."""
    view = indexed.brain.seen_by("public")
    assert [len(brain.recent()) for brain in (indexed.brain, view, view.seen_by("secret"))] == [3, 0, 0]
    with Brain.open(indexed.home, environment={}, clearance="personal") as brain:
        assert (brain.clearance, len(brain.recent()), brain.seen_by("secret").clearance) == ("personal", 2, "personal")
        assert brain.seen_by("work").settings.sources == ()
    with Brain.open(indexed.home, environment={}, clearance="secret") as brain:
        assert (brain.clearance, len(brain.recent())) == ("", 3)
