"""What failed for a moment is tried again, with waits that differ."""

from __future__ import annotations

import pytest

from second_brain.index.qdrant.retrying import Patience, retried


class Flaky:
    """Fails so many times, then answers."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.calls = 0

    def __call__(self) -> str:
        self.calls += 1
        if self.calls <= self.failures:
            raise OSError("reset")
        return "answer"


def passes(error: Exception) -> float | None:
    return 0.0


def test_a_failure_that_passes_is_tried_again_with_growing_jittered_waits():
    """Each wait is a random part of a ceiling that doubles, up to the longest."""
    waits: list[float] = []
    call = Flaky(4)
    patience = Patience(tries=5, first_s=1.0, longest_s=3.0, within_s=100.0)
    assert retried(call, passes, patience, sleep=waits.append, chance=lambda: 0.5) == "answer"
    assert waits == [0.5, 1.0, 1.5, 1.5]


def test_what_does_not_pass_is_raised_at_once():
    """A refusal is not repeated."""
    call = Flaky(1)
    with pytest.raises(OSError, match="reset"):
        retried(call, lambda error: None, sleep=lambda wait: pytest.fail("waited"))
    assert call.calls == 1


def test_the_last_failure_is_raised_after_the_last_try():
    """No more calls than asked for."""
    call = Flaky(9)
    with pytest.raises(OSError, match="reset"):
        retried(call, passes, Patience(tries=3), sleep=lambda wait: None)
    assert call.calls == 3


def test_the_other_side_may_ask_for_a_longer_wait():
    """Retry-After is a minimum."""
    waits: list[float] = []
    retried(Flaky(1), lambda error: 7.0, sleep=waits.append, chance=lambda: 0.5)
    assert waits == [7.0]


def test_no_try_begins_after_the_time_is_over():
    """Somebody waits: a wait that leads beyond the end is not begun."""
    call = Flaky(5)
    with pytest.raises(OSError, match="reset"):
        retried(call, lambda error: 2.0, Patience(tries=5, within_s=1.0), sleep=lambda wait: pytest.fail("waited"))
    assert call.calls == 1
