"""The two halves of a set, and asking."""

from __future__ import annotations

import pytest

from second_brain.errors import UsageError
from second_brain.evals.questions import Question, ask, half, in_half
from second_brain.types import Mode, SearchResult


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


def answer(mode: Mode, *notices: str) -> SearchResult:
    return SearchResult("?", mode, (), notices)


def test_answers_come_by_question_id_and_progress_is_told() -> None:
    """Each question is asked once, in order."""
    told: list[tuple[str, int, int | None]] = []
    questions = [Question("a", "first", {}), Question("b", "second", {})]
    answers = ask(
        lambda text, mode: SearchResult(text, mode, (), ()), questions, "dense", "set", lambda *step: told.append(step)
    )
    assert {id: result.query for id, result in answers.items()} == {"a": "first", "b": "second"}
    assert told == [("set dense", 1, 2), ("set dense", 2, 2)]


def test_answer_in_another_mode_is_an_error() -> None:
    """A dense search that fell back to words must not be reported as dense."""
    with pytest.raises(UsageError, match=r"set: question 'a'.*mode dense.*mode lexical: no vectors yet"):
        ask(
            lambda text, mode: answer("lexical", "no vectors yet"),
            [Question("a", "?", {})],
            "dense",
            "set",
            lambda *step: None,
        )
