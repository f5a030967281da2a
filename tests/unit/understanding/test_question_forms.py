"""The words with which people ask, in English and Japanese, on their way from a question to terms."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from second_brain.analysis import query_terms
from second_brain.understanding import Known, understand

NOW = datetime(2026, 12, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "silent"),
    [
        ("How do I change the bilge pump?", {"how", "do", "i", "the"}),
        ("What was the torque of the valve last week?", {"what", "was", "the", "of", "last", "week"}),
        ("排水ポンプの交換はどうやって?", {"は", "どう"}),
        ("排水ポンプについて教えて", {"につ", "つい"}),
        ("排水ポンプについて教えてください", {"につ", "つい", "くだ", "ださ", "さい"}),
        ("排水ポンプはいつ交換したっけ", {"いつ", "した"}),
        ("先週の排水ポンプの交換はどこでしたか", {"先週", "先", "週", "どこ", "した"}),
        ("最近の排水ポンプの不具合は何ですか", {"最近", "最", "近", "です", "すか"}),
    ],
)
def test_words_that_ask_are_left_to_meaning_alone(text: str, silent: set[str]) -> None:
    """The text keeps question words for the model that reads meaning; the terms have none of them."""
    understood = understand(text, NOW, known=Known())
    terms = set(query_terms(understood.text).terms)
    assert not terms & silent
    assert terms & {"pump", "valv", "排水", "ポン"}
    assert not text.startswith("How") or understood.text == text


@pytest.mark.parametrize("text", ["鍵", "会議", "x", "C", "pump", "何", "です"])
def test_one_word_is_searched_as_it_is(text: str) -> None:
    """One character or two are a question as well."""
    assert understand(text, NOW, known=Known()).text == text
    assert query_terms(text).terms
