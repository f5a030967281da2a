"""Measures of a ranked list against known answers, as trec_eval defines them, and intervals of differences.

The numbers come from ir-measures, which this module alone imports: nobody need trust our arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TypeAlias

import numpy as np

from ..errors import MissingExtra

Run: TypeAlias = "Mapping[str, Sequence[str]]"
"""By question id, the documents that were found, best first."""

Values: TypeAlias = "Mapping[str, float]"
"""A measure's value by question id."""

DEPTH = 10
"""Only so many documents of a list count; for the reciprocal rank too, hence MRR@10."""

MEASURES = {
    "nDCG@5": "nDCG@5",
    "nDCG@10": "nDCG@10",
    "MRR@10": "RR",
    "Recall@5": "R@5",
    "hit@8": "Success@8",
}
"""Our name of each measure, and the one that ir-measures gives it."""

RESAMPLES = 2_000


def check_installed(*, peers: bool = False) -> None:
    """Ask for the extra before anything is indexed or asked.

    Raises:
        MissingExtra: ir-measures is not installed, or, with ``peers``, bm25s.
    """
    for package, feature in (("ir_measures", "brain eval"), *((("bm25s", "brain eval --peers"),) if peers else ())):
        if find_spec(package) is None:
            raise MissingExtra(feature, "eval")


def unique(documents: Iterable[str]) -> list[str]:
    """Each document once, where it stands first: two chunks of one note are one answer."""
    return list(dict.fromkeys(documents))


def measure(qrels: Mapping[str, Mapping[str, int]], run: Run) -> dict[str, dict[str, float]]:
    """Every measure of ``MEASURES``, by its name and then by question id.

    A document that is listed again is ignored, so that no value passes 1. A question that the run lacks, or for
    which it found nothing, gets 0. The gain of nDCG is the grade itself (linear), the discount
    ``1 / log2(rank + 1)``, as in trec_eval.

    Args:
        qrels: by question id, the grade of each relevant document.
        run: by question id, documents best first; those beyond ``DEPTH`` are ignored.

    Raises:
        MissingExtra: ir-measures is not installed.

    Source:
        Järvelin and Kekäläinen, TOIS 2002 (nDCG); the definitions are those of trec_eval 9.
    """
    try:
        import ir_measures
    except ImportError as error:
        raise MissingExtra("brain eval", "eval") from error
    names = {ir_measures.parse_measure(theirs): ours for ours, theirs in MEASURES.items()}
    # trec_eval orders by score and then by document id; distinct scores keep our order.
    scored = {
        question: {document: -float(rank) for rank, document in enumerate(unique(documents)[:DEPTH], start=1)}
        for question, documents in run.items()
        if question in qrels
    }
    judged = {question: dict(grades) for question, grades in qrels.items()}
    values = {name: dict.fromkeys(qrels, 0.0) for name in MEASURES}
    for found in ir_measures.iter_calc(list(names), judged, scored) if judged else ():
        values[names[found.measure]][found.query_id] = float(found.value)
    return values


def mean(values: Iterable[float]) -> float:
    """The arithmetic mean; of nothing it is 0."""
    collected = list(values)
    return sum(collected) / len(collected) if collected else 0.0


@dataclass(frozen=True, slots=True)
class Difference:
    """How much higher one run's mean is than another's, with the 95 % interval ``low`` to ``high``."""

    mean: float
    low: float
    high: float
    questions: int


def difference(first: Values, second: Values, *, seed: int = 0) -> Difference:
    """The mean of ``first - second`` over the questions that both answer, with a paired bootstrap interval.

    The questions are drawn anew, with replacement, ``RESAMPLES`` times; the interval holds the middle 95 % of the
    means. The seed is fixed, so that the same runs give the same interval.

    Source:
        Efron and Tibshirani, "An Introduction to the Bootstrap", 1993 (percentile interval); Sakai, SIGIR 2006,
        for its use on retrieval measures.
    """
    shared = sorted(first.keys() & second.keys())
    if not shared:
        return Difference(0.0, 0.0, 0.0, 0)
    gaps = np.array([first[question] - second[question] for question in shared])
    random = np.random.default_rng(seed)
    means = gaps[random.integers(0, gaps.size, (RESAMPLES, gaps.size))].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return Difference(float(gaps.mean()), float(low), float(high), gaps.size)
