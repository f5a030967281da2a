"""Fusion keeps to the definitions that it cites."""

from __future__ import annotations

import random

import pytest

from second_brain.ranking.diversity import cap
from second_brain.ranking.fusion import (
    FusionSettings,
    Scale,
    convex_combination,
    observed_scale,
    reciprocal_rank_fusion,
)
from second_brain.types import Explanation, Ranking, Signal


def scores(signals: dict[int, tuple[Signal, ...]]) -> dict[int, float]:
    return {key: Explanation(parts).replay() for key, parts in signals.items()}


def test_rrf_counts_ranks_from_one_and_gives_absent_candidates_nothing() -> None:
    """A candidate in both lists beats the first of one list (RK-2)."""
    X, a, Y, b, c = range(5)
    dense = Ranking("dense", ((X, 0.9), (a, 0.8), (Y, 0.7)))
    sparse = Ranking("lexical", ((b, 9.0), (c, 8.0), (Y, 7.0)))
    merged = scores(reciprocal_rank_fusion([dense, sparse]))
    assert max(merged, key=lambda key: merged[key]) == Y
    assert merged == pytest.approx({X: 1 / 61, a: 1 / 62, Y: 2 / 63, b: 1 / 61, c: 1 / 62})


def test_rrf_weights_multiply_each_ranking() -> None:
    """A ranking without an entry weighs one."""
    merged = scores(
        reciprocal_rank_fusion(
            [Ranking("dense", ((1, 0.5),)), Ranking("lexical", ((1, 3.0),))], weights=lambda _: {"lexical": 0.1}, k=10
        )
    )
    assert merged == pytest.approx({1: 1 / 11 + 0.1 / 11})


def test_convex_combination_is_the_weighted_mean_of_scaled_scores() -> None:
    """Weights are divided by their sum; a missing score counts nothing."""
    merged = scores(
        convex_combination(
            [Ranking("lexical", ((1, 10.0), (2, 5.0))), Ranking("dense", ((2, 0.9), (3, 0.5)))],
            weights=lambda _: {"lexical": 1.0, "dense": 3.0},
            scales={"lexical": Scale(0.0, 20.0), "dense": Scale(0.5, 0.9)},
        )
    )
    assert merged == pytest.approx({1: 0.25 * 0.5, 2: 0.25 * 0.25 + 0.75 * 1.0, 3: 0.0})


def test_fusion_does_not_depend_on_the_order_of_rankings() -> None:
    """The same lists in another order give the same scores."""
    rng = random.Random(7)
    lists = [
        Ranking(name, tuple((key, 1.0 - i / 50) for i, key in enumerate(rng.sample(range(60), 40))))
        for name in ("a", "b", "c")
    ]

    def weights(key: int) -> dict[str, float]:
        return {"a": 0.2, "b": 0.5, "c": 0.3} if key % 2 else {"a": 1.0}

    assert scores(reciprocal_rank_fusion(lists, weights=weights)) == pytest.approx(
        scores(reciprocal_rank_fusion(lists[::-1], weights=weights))
    )
    assert scores(convex_combination(lists, weights=weights, scales={})) == pytest.approx(
        scores(convex_combination(lists[::-1], weights=weights, scales={}))
    )


def test_a_scale_without_length_makes_all_scores_zero() -> None:
    """One candidate, or equal scores, carry no information by themselves."""
    ranking = Ranking("lexical", ((1, 3.0), (2, 3.0)))
    assert observed_scale(ranking).normalize(3.0) == 0.0
    assert observed_scale(Ranking("lexical", ())).normalize(1.0) == 0.0


def test_cap_keeps_the_order_and_the_first_of_each_group() -> None:
    """Two a document at most; None lifts the cap."""
    entries = [("a1", "a"), ("b1", "b"), ("a2", "a"), ("a3", "a"), ("b2", "b")]
    assert list(cap(entries, 2)) == ["a1", "b1", "a2", "b2"]
    assert list(cap(entries, None)) == ["a1", "b1", "a2", "a3", "b2"]


def test_the_weights_of_a_candidate_add_up_to_one() -> None:
    """Whatever its kind, and whether its tokens were compared or not."""
    settings = FusionSettings(dense_weight=0.3, code_dense_weight=0.6, late_weight=0.6, dense_weight_beside_late=0.125)
    assert settings.weights("note") == pytest.approx({"lexical": 0.7, "dense": 0.3})
    assert settings.weights("note", late=True) == pytest.approx({"lexical": 0.35, "dense": 0.05, "late": 0.6})
    assert settings.weights("code") == pytest.approx({"lexical": 0.4, "dense": 0.6})
    assert settings.weights("code", late=True) == pytest.approx({"lexical": 0.34, "dense": 0.51, "late": 0.15})
