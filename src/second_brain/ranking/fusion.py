"""Merges rankings of different retrievers into one.

Scores tell more than ranks where their scale is known: a convex combination beats reciprocal rank fusion on four
of six sets, by up to 0.05, and loses 0.003 at most on the others (docs/evaluation.md). Both are here, and the
settings choose.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ..types import Ranking, Signal


@dataclass(frozen=True, slots=True)
class FusionSettings:
    """How rankings become one.

    ``method`` 'convex' adds normalized scores. By words and vectors alone the dense one weighs ``dense_weight`` of 1.
    Where a candidate was also compared token by token, that weighs ``late_weight``, and of the rest the dense one
    ``dense_weight_beside_late``: both judge meaning, the tokens better. Of code, where a question shares few words
    with its answer, it is ``code_late_weight`` and, always, ``code_dense_weight``.
    'rrf' adds reciprocal ranks with ``rrf_k`` and the same weights.
    The defaults were chosen on one half of each set (docs/evaluation.md).
    """

    method: Literal["convex", "rrf"] = "convex"
    dense_weight: float = 0.3
    code_dense_weight: float = 0.6
    late_weight: float = 0.54
    dense_weight_beside_late: float = 0.22
    code_late_weight: float = 0.15
    rrf_k: int = 60

    def weights(self, kind: str, *, late: bool = False) -> dict[str, float]:
        """The weights of the rankings for a document of this kind, summing to 1; ``late``: its tokens were compared."""
        if kind == "code":
            dense, tokens = self.code_dense_weight, self.code_late_weight
        else:
            dense, tokens = self.dense_weight_beside_late if late else self.dense_weight, self.late_weight
        if not late:
            return {"lexical": 1.0 - dense, "dense": dense}
        return {"lexical": (1.0 - tokens) * (1.0 - dense), "dense": (1.0 - tokens) * dense, "late": tokens}


@dataclass(frozen=True, slots=True)
class Scale:
    """The line on which a retriever's scores lie: ``low`` becomes 0, ``high`` becomes 1, nothing is clipped above."""

    low: float
    high: float

    def normalize(self, score: float) -> float:
        """The score on this scale; below ``low`` it is 0, and a scale without length makes all scores 0."""
        if self.high <= self.low:
            return 0.0
        return max(0.0, (score - self.low) / (self.high - self.low))


def observed_scale(ranking: Ranking) -> Scale:
    """Min-max: from the lowest to the highest score that the ranking lists."""
    scores = [score for _, score in ranking.entries]
    return Scale(min(scores), max(scores)) if scores else Scale(0.0, 0.0)


def convex_combination(
    rankings: Sequence[Ranking], *, weights: Callable[[int], Mapping[str, float]], scales: Mapping[str, Scale]
) -> dict[int, tuple[Signal, ...]]:
    """Add the normalized scores of each candidate, weighted; a candidate's weights are divided by their sum.

        score(d) = sum over rankings r that list d of  w_r(d) * (s_r(d) - low_r) / (high_r - low_r)

    Args:
        rankings: a candidate that a ranking does not list gets nothing from it.
        weights: for a candidate, by ranking name; a ranking without an entry weighs 0.
        scales: by ranking name; without an entry the observed minimum and maximum are used.

    Returns:
        By candidate, the signals that make its score, one for each ranking that lists it.

    Source:
        Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", TOIS 2023.
    """
    signals: dict[int, tuple[Signal, ...]] = {}
    for ranking in rankings:
        scale = scales.get(ranking.name) or observed_scale(ranking)
        for key, score in ranking.entries:
            shares = weights(key)
            weight = shares.get(ranking.name, 0.0) / (sum(shares.values()) or 1.0)
            part = scale.normalize(score)
            signal = Signal(ranking.name, "add", weight * part, f"{weight:.2f} x {part:.3f} (score {score:.3f})")
            signals[key] = (*signals.get(key, ()), signal)
    return signals


def reciprocal_rank_fusion(
    rankings: Sequence[Ranking], *, weights: Callable[[int], Mapping[str, float]] | None = None, k: int = 60
) -> dict[int, tuple[Signal, ...]]:
    """Merge rankings by the reciprocal of each candidate's rank.

        score(d) = sum over rankings r that list d of  w_r / (k + rank_r(d))

    Ranks start at 1. Only ranks are used, so scores of different scales can be merged.

    Args:
        rankings: best candidate first in each.
        weights: for a candidate, by ranking name; a ranking without an entry weighs 1.
        k: damps the lead of the first ranks. 60 as in the source.

    Returns:
        By candidate, the signals that make its score, one for each ranking that lists it.

    Source:
        Cormack, Clarke and Buettcher, SIGIR 2009.
    """
    signals: dict[int, tuple[Signal, ...]] = {}
    for ranking in rankings:
        for rank, (key, _) in enumerate(ranking.entries, start=1):
            weight = weights(key).get(ranking.name, 1.0) if weights else 1.0
            signal = Signal(ranking.name, "add", weight / (k + rank), f"{weight:g} / ({k} + rank {rank})")
            signals[key] = (*signals.get(key, ()), signal)
    return signals
