"""Why a hit was found: the steps of its score as bars, each as long as its part of the score."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from ...types import Explanation, Signal

FULL = 100.0
"""The length of the whole bar."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One step. The bar lies from ``left``, ``width`` long, both 0 to 100; ``lost``: it is what the step took away.

    ``effect`` is the step as a number (``+0.298``, ``×0.85``), ``score`` the score after it.
    """

    name: str
    effect: str
    detail: str
    score: float
    left: float
    width: float
    lost: bool


def bars(explanation: Explanation) -> list[Bar]:
    """A bar for each step, in order; drawn on one scale, on which the highest score on the way is 100."""
    signals = explanation.signals
    scores = list(accumulate(signals, _step, initial=0.0))
    scale = FULL / max(max(map(abs, scores)), 1e-9)
    return list(_drawn(signals, scores, scale))


def _drawn(signals: tuple[Signal, ...], scores: list[float], scale: float) -> Iterator[Bar]:
    for signal, before, after in zip(signals, scores, scores[1:], strict=False):
        left, right = sorted((max(before, 0.0) * scale, max(after, 0.0) * scale))
        effect = f"{signal.value:+.3f}" if signal.operation == "add" else f"×{signal.value:.3g}"
        yield Bar(signal.name, effect, signal.detail, after, round(left, 2), round(right - left, 2), after < before)


def _step(score: float, signal: Signal) -> float:
    return score + signal.value if signal.operation == "add" else score * signal.value
