"""Group RK of the failure cases: scores, ties and times, as answers show them.

RK-2 is in ``tests/unit/ranking``, RK-7 beside the measures; RK-5 needs a reranker, which there is not yet.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from second_brain.types import MODES, Filter

TOKYO = timezone(timedelta(hours=9))


def test_rk_1_more_of_the_word_in_a_shorter_note_scores_higher(notes):
    """Five times in a short note is above once in a long one; scores differ, and larger means better."""
    notes.index(
        {
            "long.md": "The weir was mended. " * 40 + "A gannet passed. " + "The weir was mended. " * 40,
            "short.md": "gannet, gannet, gannet, gannet and gannet\n",
            **{f"other-{number}.md": f"nothing of the sort {number}" for number in range(10)},
        }
    )
    hits = notes.brain.search("gannet", mode="lexical").hits
    assert [hit.title for hit in hits] == ["short", "long"]
    assert hits[0].score > hits[1].score > 0


@pytest.mark.parametrize("mode", MODES)
def test_rk_4_ties_come_in_one_order(notes, mode):
    """Twenty notes of one text: the same order in every call, after a rebuild in another order, on every page."""
    text = "The gannet dives.\n"
    names = [f"{number:02}/note.md" for number in range(20)]
    for name in names:
        notes.index({name: text})
    every = [hit.id for hit in notes.brain.search("gannet", mode=mode, limit=20).hits]
    assert len(set(every)) == 20
    for _ in range(20):
        assert [hit.id for hit in notes.brain.search("gannet", mode=mode, limit=20).hits] == every
    for last in (5, 10, 15, 20):
        assert [hit.id for hit in notes.brain.search("gannet", mode=mode, limit=last).hits] == every[:last]
    notes.brain.index.remove_source("notes")
    for name in names:
        (notes.root / name).unlink()
    for name in reversed(names):
        notes.index({name: text})
    assert [hit.id for hit in notes.brain.search("gannet", mode=mode, limit=20).hits] == every


def test_rk_9_a_day_is_the_readers_day(notes):
    """What was written at 21:30 UTC on 1 May is of 2 May for a reader in Tokyo, and not for one in London."""
    notes.index(
        {
            "late.md": "---\ndate: 2031-05-01T21:30:00Z\n---\ngannet\n",
            "early.md": "---\ndate: 2031-05-01T14:59:59Z\n---\ngannet\n",
            "zoned.md": "---\ndate: 2031-05-02T06:30:00+09:00\n---\ngannet\n",
        }
    )
    tokyo = Filter(since=datetime(2031, 5, 2, tzinfo=TOKYO))
    london = Filter(since=datetime(2031, 5, 2, tzinfo=UTC))
    for mode in MODES:
        assert sorted(notes.found("gannet", mode=mode, filter=tokyo)) == ["late.md", "zoned.md"]
        assert notes.found("gannet", mode=mode, filter=london) == []
    assert [document.uri for document in notes.brain.recent(filter=tokyo)] == ["notes/late.md", "notes/zoned.md"]
    (hit,) = (hit for hit in notes.brain.search("gannet").hits if hit.title == "late")
    assert hit.date.astimezone(TOKYO).isoformat() == "2031-05-02T06:30:00+09:00"


def test_rk_9_a_note_of_a_bare_day_is_of_that_day_everywhere(notes):
    """A note that names a day and no time is found under that day, whatever the reader's zone, and no other."""
    notes.index({"day.md": "---\ndate: 2031-05-02\n---\ngannet\n", "2031-05-02 walk.md": "gannet\n"})
    for hours in (-11, -4, 0, 9, 14):
        first = datetime(2031, 5, 2, tzinfo=timezone(timedelta(hours=hours)))
        day = timedelta(days=1)
        assert len(notes.found("gannet", filter=Filter(since=first, until=first + day))) == 2
        assert notes.found("gannet", filter=Filter(until=first)) == []
        assert notes.found("gannet", filter=Filter(since=first + day)) == []


def test_rk_9_until_leaves_out_its_own_moment(notes):
    """A day from midnight to midnight holds its first moment and not the next day's."""
    notes.index({f"{hour:02}.md": f"---\ndate: 2031-05-02T{hour:02}:00:00Z\n---\ngannet\n" for hour in (0, 12, 23)})
    day = Filter(since=datetime(2031, 5, 2, tzinfo=UTC), until=datetime(2031, 5, 2, 23, tzinfo=UTC))
    assert sorted(notes.found("gannet", filter=day)) == ["00.md", "12.md"]
