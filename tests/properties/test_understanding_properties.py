"""What holds for any question."""

from __future__ import annotations

import time
from collections import Counter
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from second_brain.types import Filter
from second_brain.understanding import Known, Understanding, understand

KNOWN = Known(("notes",), ("markdown",), ("meeting",), ("kotori",), ("ja",), ("pump/bilge", "会議"))
ENGLISH = """
    since from to until before after in on during over the last past this previous two 10 10days a few week month
    year days weeks ago yesterday today may May march March 3 2026 2026-03-05 2024 recent latest lately Friday 's
    , . ? ( ) pump type:meeting source:notes title:x path:a after:2026 after:"last week" before:x TypeError: error:
    std::map http://x/y --since `
"""
JAPANESE = """
    昨日 今日 先週 先々月 去年 昨年度 半年前 三日前 数週間前 ここ一週間 直近 最近 最新の の に は から まで までに 以降
    3月 5日 2026年 令和8年 １０月 月曜 ポンプ 会議 tag:会議 before:先週 lang： “ ” 「 」
"""
WORDS = [*ENGLISH.split(), *JAPANESE.split()]
QUESTION = st.lists(st.sampled_from(WORDS) | st.text(max_size=4), max_size=14).flatmap(
    lambda words: st.sampled_from((" ", "", "\n")).map(lambda joint: joint.join(words))
) | st.text(max_size=60)
NOW = st.datetimes(datetime(1900, 1, 1), datetime(9998, 1, 1)).flatmap(
    lambda moment: st.integers(-14, 14).map(lambda hours: moment.replace(tzinfo=timezone(timedelta(hours=hours))))
)


@settings(max_examples=400, deadline=None)
@given(QUESTION, NOW)
def test_a_question_loses_only_what_is_said(text: str, now: datetime) -> None:
    """Every letter and digit taken out stands in a sentence; the rest is in its order; twice is the same."""
    understood = understand(text, now, known=KNOWN)
    assert understood == understand(text, now, known=KNOWN)
    left = iter(char for char in text if char.isalnum())
    assert all(char in left for char in understood.text if char.isalnum())
    lost = Counter(filter(str.isalnum, text)) - Counter(filter(str.isalnum, understood.text))
    assert not lost - Counter("".join(understood.said))
    if not understood.said:
        assert (understood.text, understood.filter) == (text, Filter())


@settings(max_examples=400, deadline=None)
@given(QUESTION, NOW)
def test_times_are_aware_and_in_order(text: str, now: datetime) -> None:
    """Bounds are midnights of the asker; a window has a day in it."""
    understood = understand(text, now, known=KNOWN)
    for since, until in (understood.when, (understood.filter.since, understood.filter.until)):
        assert all(edge.utcoffset() == now.utcoffset() for edge in (since, until) if edge)
        assert not (since and until) or since < until
    assert understood.when[0] is None or understood.when[0] <= now


@pytest.mark.parametrize(
    "text", ["", " ", "\n\n", "???", "。、", "🙂", '"', "「", "\x00", "\ud800", "-", "_", ":", "：", "何"]
)
def test_what_holds_nothing_to_read_is_unchanged(text: str) -> None:
    """Blank, punctuation, emoji, one character."""
    assert understand(text, datetime(2026, 12, 1, tzinfo=UTC), known=KNOWN) == Understanding(text)


PIECES = ("a", " ", "1", "“", '"', "「", ":", "tag:", 'title:"', "in ", "last ", "the last ", "error", "Error: ")
PIECES += ("from 2024 to ", "-x ", "......", "(", "ここ", "3月", "最近", "三", "2026年", "一", "yesterday ", "\n")


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("length", [990, 5_000, 200_000])
def test_no_text_takes_long(piece: str, length: int) -> None:
    """No expression blows up on repetition, short of the length where reading stops or far beyond it."""
    text = (piece * length)[:length]
    started = time.perf_counter()
    understand(text, datetime(2026, 12, 1, tzinfo=UTC), known=KNOWN)
    assert time.perf_counter() - started < 0.5
