"""Measures against an independent computation, and intervals of differences."""

from __future__ import annotations

import math
import random
import sys

import pytest

from second_brain.errors import MissingExtra
from second_brain.evals.measures import DEPTH, MEASURES, Difference, difference, mean, measure, unique


def independent(grades: dict[str, int], found: list[str]) -> dict[str, float]:
    """The five measures of one question, written out from their definitions."""

    def dcg(gains: list[int], cutoff: int) -> float:
        return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains[:cutoff], start=1))

    gains = [grades.get(document, 0) for document in found]
    ideal = sorted(grades.values(), reverse=True)
    ranks = [rank for rank, gain in enumerate(gains, start=1) if gain]
    return {
        "nDCG@5": dcg(gains, 5) / dcg(ideal, 5),
        "nDCG@10": dcg(gains, 10) / dcg(ideal, 10),
        "MRR@10": 1 / ranks[0] if ranks else 0.0,
        "Recall@5": sum(rank <= 5 for rank in ranks) / len(grades),
        "hit@8": float(any(rank <= 8 for rank in ranks)),
    }


def test_measures_equal_their_definitions_on_random_rankings() -> None:
    """Every measure of every question is the one that its definition yields."""
    dice = random.Random(5)
    documents = [f"d{number}" for number in range(30)]
    qrels = {f"q{n}": {document: dice.randint(1, 3) for document in dice.sample(documents, 4)} for n in range(40)}
    run = {question: dice.sample(documents, DEPTH) for question in qrels}
    values = measure(qrels, run)
    assert values.keys() == MEASURES.keys()
    for question, grades in qrels.items():
        expected = independent(grades, run[question])
        assert {name: values[name][question] for name in values} == pytest.approx(expected)


def test_gain_is_the_grade_itself() -> None:
    """A grade of 3 weighs three times a grade of 1, as in trec_eval: not 7 times."""
    values = measure({"q": {"best": 3, "fair": 1}}, {"q": ["fair", "best"]})
    assert values["nDCG@5"]["q"] == pytest.approx((1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3)))


def test_order_of_the_list_counts_and_not_the_names() -> None:
    """trec_eval breaks ties by document id; a list has none."""
    qrels = {"q": {"a": 1}}
    assert measure(qrels, {"q": ["z", "a"]})["MRR@10"]["q"] == 0.5
    assert measure(qrels, {"q": ["a", "z"]})["MRR@10"]["q"] == 1.0


def test_question_without_an_answer_counts_as_nothing_found() -> None:
    """A question that the run lacks, or for which it is empty, gets 0 and stays in the mean."""
    qrels = {"found": {"a": 1}, "empty": {"a": 1}, "lacking": {"a": 1}}
    values = measure(qrels, {"found": ["a"], "empty": []})
    assert values["Recall@5"] == {"found": 1.0, "empty": 0.0, "lacking": 0.0}


def test_only_the_first_ten_documents_count() -> None:
    """The reciprocal rank ends at ten like everything else."""
    run = {"q": [f"other{rank}" for rank in range(DEPTH)] + ["a"]}
    assert measure({"q": {"a": 1}}, run)["MRR@10"]["q"] == 0.0


def test_question_without_a_judgement_is_left_out() -> None:
    """Nothing can be said about a question whose answer nobody knows."""
    assert measure({"q": {"a": 1}}, {"q": ["a"], "unjudged": ["a"]})["hit@8"] == {"q": 1.0}


def test_unique_keeps_the_first_of_each() -> None:
    """A document stands where it stands first."""
    assert unique(["a", "b", "a", "c", "b"]) == ["a", "b", "c"]


def test_mean_of_nothing_is_zero() -> None:
    """An empty group has no value above 0."""
    assert mean([]) == 0.0
    assert mean(iter([0.0, 0.5, 1.0])) == 0.5


def test_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without ir-measures the error says what to install."""
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(MissingExtra) as caught:
        measure({"q": {"a": 1}}, {"q": ["a"]})
    assert caught.value.hint == "pip install 'second-brain[eval]'"


def test_difference_of_equal_runs_is_nothing() -> None:
    """A run does not differ from itself."""
    values = {f"q{n}": n / 10 for n in range(10)}
    assert difference(values, values) == Difference(0.0, 0.0, 0.0, 10)


def test_difference_that_every_question_shares_is_certain() -> None:
    """The interval of a constant gap has no width."""
    first = {f"q{n}": n / 10 + 0.25 for n in range(10)}
    second = {f"q{n}": n / 10 for n in range(10)}
    found = difference(first, second)
    assert (found.mean, found.low, found.high) == pytest.approx((0.25, 0.25, 0.25))


def test_interval_is_that_of_the_normal_approximation_when_questions_are_many() -> None:
    """With 2,000 questions the bootstrap and 1.96 standard errors agree to a twentieth of the width."""
    dice = random.Random(3)
    gaps = {f"q{n}": dice.gauss(0.1, 1.0) for n in range(2_000)}
    found = difference(gaps, dict.fromkeys(gaps, 0.0))
    deviation = math.sqrt(mean((gap - found.mean) ** 2 for gap in gaps.values()) / len(gaps))
    tolerance = 0.1 * 1.96 * deviation
    assert found.low == pytest.approx(found.mean - 1.96 * deviation, abs=tolerance)
    assert found.high == pytest.approx(found.mean + 1.96 * deviation, abs=tolerance)


def test_interval_is_the_same_every_time() -> None:
    """The seed is fixed, and the order of the questions does not matter."""
    dice = random.Random(4)
    first = {f"q{n}": dice.random() for n in range(50)}
    second = {f"q{n}": dice.random() for n in range(50)}
    assert difference(first, second) == difference(dict(reversed(first.items())), second)


def test_difference_takes_the_questions_that_both_answer() -> None:
    """What only one run has tells nothing about the other."""
    assert difference({"a": 1.0, "b": 0.0}, {"a": 0.5, "c": 9.0}) == Difference(0.5, 0.5, 0.5, 1)
    assert difference({"a": 1.0}, {"b": 1.0}) == Difference(0.0, 0.0, 0.0, 0)
