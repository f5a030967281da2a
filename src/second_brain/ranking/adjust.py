"""Adjusts scores by what a document is: its weight, its age, its status. Each step is a signal."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from ..types import Signal

DAY_S = 86_400.0
DEPRECATED = frozenset({"deprecated", "superseded", "obsolete", "archived"})

DAILY = "daily"
"""The type of a note of one day: it says so, or its title or file name is a date."""

_DATE = re.compile(r"\d{4}(?P<mark>[-_./]?)\d{2}(?P=mark)\d{2}")

WEIGHTS: Mapping[str, float] = {"session-summary": 1.15, "session": 1.0, "subagent": 0.9, "code": 0.8}
HALF_LIVES: Mapping[str, float] = {"session-summary": 180.0, "session": 180.0, "subagent": 180.0, DAILY: 365.0}


@dataclass(frozen=True, slots=True)
class Traits:
    """What the adjustments look at. ``date`` in seconds since the epoch, ``stale_after`` as the document writes it."""

    kind: str
    type: str
    title: str
    uri: str
    date: float
    status: str
    stale_after: str


@dataclass(frozen=True, slots=True)
class SourceRules:
    """What the settings say of one source, before what they say of kinds and types; None: nothing.

    ``half_life_days`` infinite: its documents do not age.
    """

    weight: float | None = None
    half_life_days: float | None = None


@dataclass(frozen=True, slots=True)
class Adjustments:
    """How scores follow from what a document is.

    ``weights`` and ``half_lives`` (days) are looked up by type, then by kind; what is in neither counts 1 and does not
    age. ``withdrawn`` and ``stale`` multiply the score of what its author marked deprecated or superseded, and of what
    has passed its own ``stale_after``: that one may still be right, so it loses less.
    """

    weights: Mapping[str, float] = field(default_factory=lambda: WEIGHTS)
    half_lives: Mapping[str, float] = field(default_factory=lambda: HALF_LIVES)
    withdrawn: float = 0.5
    stale: float = 0.8

    def signals(self, traits: Traits, rules: SourceRules, now: datetime) -> tuple[Signal, ...]:
        """The steps for a document, none for what stays as it is."""
        names = (traits.type.lower(), DAILY if is_daily(traits) else "", traits.kind)
        weight, half_life = rules.weight, rules.half_life_days
        if weight is None:
            weight = next((self.weights[name] for name in names if name in self.weights), 1.0)
        if half_life is None:
            half_life = next((self.half_lives[name] for name in names if name in self.half_lives), math.inf)
        return (
            *multiplied("source weight" if rules.weight is not None else "kind weight", weight),
            *decay(now.timestamp() - traits.date, half_life),
            *multiplied("status", self.withdrawn if is_withdrawn(traits.status) else 1.0, traits.status),
            *multiplied("stale", self.stale if is_stale(traits.stale_after, now) else 1.0, traits.stale_after),
        )


def multiplied(name: str, factor: float, detail: str = "") -> tuple[Signal, ...]:
    """A factor as a step; none where it changes nothing."""
    return () if factor == 1.0 else (Signal(name, "multiply", factor, detail),)


def decay(age_s: float, half_life_days: float) -> tuple[Signal, ...]:
    """Halve the score with every half-life: ``0.5 ** (age / half-life)``; a future date counts as now."""
    if math.isinf(half_life_days):
        return ()
    age_days = max(0.0, age_s) / DAY_S
    factor = 0.5 ** (age_days / half_life_days)
    return (Signal("age", "multiply", factor, f"{age_days:.0f} days, half-life {half_life_days:g}"),)


def is_withdrawn(status: str) -> bool:
    """Whether the author took a document back: ``deprecated``, ``Superseded by 0007``."""
    return status.lower().partition(" ")[0].rstrip(",:;") in DEPRECATED


def is_daily(traits: Traits) -> bool:
    """Whether a document is the note of one day."""
    if traits.type.lower() == DAILY:
        return True
    names = (traits.title.strip(), traits.uri.rpartition("/")[2].partition(".")[0])
    return any(name[:1].isdigit() and _DATE.fullmatch(name) for name in names)


def is_stale(stale_after: str, now: datetime) -> bool:
    """Whether the moment or day that a document names as its end has come; what cannot be read has not."""
    if not stale_after:
        return False
    try:
        moment = datetime.fromisoformat(stale_after)
    except ValueError:
        return False
    if moment.tzinfo is None:  # a day, or a time of nowhere
        return moment.date() <= now.date()
    return moment <= now
