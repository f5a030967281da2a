"""Adjusts scores by what a document is: its source's weight, its age, its status. Each step is a signal."""

from __future__ import annotations

from ..types import Signal

DAY_S = 86_400.0
DEPRECATED = frozenset({"deprecated", "superseded", "obsolete", "archived"})
DEPRECATED_FACTOR = 0.5


def source_weight(weight: float) -> tuple[Signal, ...]:
    """Multiply by the source's weight."""
    return () if weight == 1.0 else (Signal("source weight", "multiply", weight),)


def decay(age_s: float, half_life_days: float | None) -> tuple[Signal, ...]:
    """Halve the score with every half-life: ``0.5 ** (age / half-life)``; a future date counts as now."""
    if half_life_days is None:
        return ()
    age_days = max(0.0, age_s) / DAY_S
    factor = 0.5 ** (age_days / half_life_days)
    return (Signal("age", "multiply", factor, f"{age_days:.0f} days, half-life {half_life_days:g}"),)


def status(value: str) -> tuple[Signal, ...]:
    """Halve what its author has withdrawn."""
    if value.lower() not in DEPRECATED:
        return ()
    return (Signal("status", "multiply", DEPRECATED_FACTOR, value),)
