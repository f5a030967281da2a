"""The two halves of a set."""

from __future__ import annotations

from second_brain.evals.questions import half, in_half


def test_half_of_a_question_never_changes() -> None:
    """These ids were in these halves when the first results were reported: a change would mix the halves."""
    halves = {id: half(id) for id in ("q0", "q1", "q2", "q3", "g01", "cosqa-train-8333", "東京-7")}
    assert halves == {
        "q0": "held",
        "q1": "tune",
        "q2": "held",
        "q3": "tune",
        "g01": "held",
        "cosqa-train-8333": "tune",
        "東京-7": "tune",
    }


def test_halves_are_about_equal() -> None:
    """Of 2,000 ids between 900 and 1,100 are held back."""
    assert 900 < sum(half(f"q{n}") == "held" for n in range(2_000)) < 1_100


def test_no_half_wanted_means_both() -> None:
    """Every question is in exactly one half, and in None."""
    for n in range(20):
        assert in_half(f"q{n}", None)
        assert in_half(f"q{n}", "tune") != in_half(f"q{n}", "held")
