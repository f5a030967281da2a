"""Again, a little later: what failed for a moment is tried anew, with waits that no two processes share."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Patience:
    """``tries`` at most, none begun later than ``within_s`` after the first; between them a random wait below
    ``first_s``, doubled each time up to ``longest_s``.

    Full jitter (Brooker, "Exponential Backoff and Jitter", 2015): workers that failed together do not return together.
    """

    tries: int = 5
    first_s: float = 0.2
    longest_s: float = 5.0
    within_s: float = 60.0


def retried(
    call: Callable[[], T],
    passing: Callable[[Exception], float | None],
    patience: Patience = Patience(),
    *,
    sleep: Callable[[float], None] = time.sleep,
    chance: Callable[[], float] = random.random,
) -> T:
    """What ``call`` returns, tried again while its failures pass.

    Args:
        call: must be safe to repeat.
        passing: seconds that a failure asks to wait at least (0 for as we like), None for one that will not pass.
        patience: how often and how long.
        sleep: waits so many seconds.
        chance: a number from 0 to 1, for the jitter.

    Raises:
        Exception: the last failure.
    """
    ends = time.monotonic() + patience.within_s
    attempt = 0
    while True:
        try:
            return call()
        except Exception as error:
            asked = passing(error)
            wait = max(asked or 0.0, chance() * min(patience.first_s * 2**attempt, patience.longest_s))
            attempt += 1
            if asked is None or attempt == patience.tries or time.monotonic() + wait > ends:
                raise
        sleep(wait)
