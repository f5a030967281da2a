"""When is a burst of changes over? No clock and no thread: times are given, in seconds."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """How patiently changes are followed.

    ``quiet_s``: a burst is over when nothing happened for so long. ``patience_s``: one that does not end is compared
    in its midst. ``rest``: after a run so many times its duration pass before the next. ``longest_rest_s`` bounds what
    runs that find nothing add to that, each twice the one before. ``poll_s``: where the system tells of no changes.
    ``recheck_s``: everything is compared, whatever was told. ``look_s``: how often disks and settings are looked at.
    """

    quiet_s: float = 1.0
    patience_s: float = 5.0
    rest: float = 4.0
    longest_rest_s: float = 60.0
    poll_s: float = 60.0
    recheck_s: float = 900.0
    look_s: float = 2.0


@dataclass(slots=True)
class _Burst:
    first: float
    last: float


class Pacing:
    """Which sources changed, and when each is to be compared."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._bursts: dict[str, _Burst] = {}
        self._rests: dict[str, float] = {}
        self._in_vain: dict[str, int] = {}

    def touch(self, source: str, now: float) -> None:
        """Something happened in a source."""
        burst = self._bursts.setdefault(source, _Burst(now, now))
        burst.last = max(burst.last, now)

    def due_at_once(self, source: str) -> None:
        """Compare a source now, whatever happened last."""
        self._bursts[source] = _Burst(-math.inf, -math.inf)
        self._rests.pop(source, None)

    def due(self, now: float) -> list[str]:
        """The sources that are to be compared now."""
        return sorted(source for source in self._bursts if self._at(source) <= now)

    def wait_s(self, now: float) -> float:
        """How long until one is due, infinite while nothing happened."""
        return max(0.0, min(map(self._at, self._bursts), default=math.inf) - now)

    def begin(self, source: str) -> None:
        """A source is being compared: what happens from now on is a burst of its own."""
        self._bursts.pop(source, None)

    def end(self, source: str, *, began: float, ended: float, found: bool) -> None:
        """A source was compared, and something was ``found`` or not.

        Who is told of changes in vain, again and again, listens to what is none: it is heard less and less often.
        """
        vain = 0 if found else min(self._in_vain.get(source, -1) + 1, 30)
        self._in_vain[source] = vain
        rest = self._pace.rest * (ended - began)
        if vain:
            rest = min(max(rest, self._pace.quiet_s) * 2**vain, max(rest, self._pace.longest_rest_s))
        self._rests[source] = ended + rest

    def forget(self, source: str) -> None:
        """There is no such source any more."""
        for known in (self._bursts, self._rests, self._in_vain):
            known.pop(source, None)

    def _at(self, source: str) -> float:
        burst = self._bursts[source]
        over = min(burst.last + self._pace.quiet_s, burst.first + self._pace.patience_s)
        return max(over, self._rests.get(source, -math.inf))
