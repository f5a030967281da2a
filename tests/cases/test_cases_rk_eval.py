"""Faults of other evaluations: group RK, the part about measures."""

from __future__ import annotations

import pytest

from second_brain.evals.measures import measure


def test_rk_7_chunks_of_one_note_are_one_hit() -> None:
    """Recall stays within 1 when several chunks of a note answer: gold {A}, results A#1, A#2, B."""
    values = measure({"q": {"A": 1}}, {"q": ["A", "A", "B"]})
    assert {name: value["q"] for name, value in values.items()} == {
        "nDCG@5": 1.0,
        "nDCG@10": 1.0,
        "MRR@10": 1.0,
        "Recall@5": 1.0,
        "hit@8": 1.0,
    }


def test_rk_7_the_same_note_twice_is_half_of_two() -> None:
    """Gold {A, B} with results A, A: recall 0.5, nDCG below 1."""
    values = measure({"q": {"A": 1, "B": 1}}, {"q": ["A", "A"]})
    assert values["Recall@5"]["q"] == 0.5
    assert values["nDCG@5"]["q"] == pytest.approx(1 / (1 + 1 / 1.584962500721156))


def test_rk_7_repeats_do_not_take_the_place_of_others() -> None:
    """Nine chunks of one note and then the answer: it stands second, not tenth."""
    values = measure({"q": {"B": 1}}, {"q": ["A"] * 9 + ["B"]})
    assert values["MRR@10"]["q"] == 0.5
    assert values["Recall@5"]["q"] == 1.0


def test_rk_7_no_measure_passes_one() -> None:
    """However often graded documents repeat."""
    values = measure({"q": {"A": 3, "B": 1}}, {"q": ["A", "A", "A", "B", "B"]})
    assert max(value["q"] for value in values.values()) == 1.0
