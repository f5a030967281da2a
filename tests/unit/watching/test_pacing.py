"""A burst of changes is one run, and who cries wolf is heard less often."""

from __future__ import annotations

import math
from itertools import pairwise

from second_brain.watching.pacing import Pace, Pacing

PACE = Pace(quiet_s=1.0, patience_s=5.0, rest=4.0, longest_rest_s=60.0)


def runs(pacing: Pacing, touched: list[float], *, until: float, takes: float = 0.0, found: bool = True) -> list[float]:
    """When a source is compared that is touched at these times, looked at 16 times a second."""
    at, waiting = [], sorted(touched)
    now, look = 0.0, 0
    while now < until:
        while waiting and waiting[0] <= now:
            pacing.touch("s", waiting.pop(0))
        if pacing.due(now):
            pacing.begin("s")
            at.append(round(now, 2))
            began, now = now, now + takes
            pacing.end("s", began=began, ended=now, found=found)
        while look / 16 <= now:
            look += 1
        now = look / 16
    return at


def test_a_single_change_is_compared_when_it_has_been_quiet():
    """A second after it, and not again."""
    assert runs(Pacing(PACE), [1.0], until=30) == [2.0]


def test_a_burst_that_does_not_end_is_compared_in_its_midst():
    """Every five seconds while it lasts, and once after its end."""
    touched = [number / 8 for number in range(96)]
    assert runs(Pacing(PACE), touched, until=40) == [5.0, 10.12, 12.88]


def test_a_run_is_followed_by_four_times_its_length_of_rest():
    """So that no more than a fifth of the time is spent in comparing."""
    touched = [number / 8 for number in range(800)]
    at = runs(Pacing(PACE), touched, until=100, takes=3.0)
    gaps = [later - earlier for earlier, later in pairwise(at)]
    assert gaps
    assert all(gap >= 15.0 for gap in gaps)


def test_runs_in_vain_come_less_and_less_often():
    """Down to one a minute; the first that finds something is followed by the next at once."""
    pacing = Pacing(PACE)
    touched = [number / 8 for number in range(4800)]
    at = runs(pacing, touched, until=600, found=False)
    assert len(at) < 25
    assert max(later - earlier for earlier, later in pairwise(at)) <= 66
    pacing.due_at_once("s")
    pacing.begin("s")
    pacing.end("s", began=700, ended=700, found=True)
    pacing.touch("s", 701)
    assert pacing.due(702) == ["s"]


def test_a_single_run_in_vain_costs_no_patience():
    """An editor that touches a file is common; what follows is seen as soon as ever."""
    pacing = Pacing(PACE)
    pacing.touch("s", 0.0)
    pacing.begin("s")
    pacing.end("s", began=1.0, ended=1.1, found=False)
    pacing.touch("s", 1.2)
    assert pacing.due(2.25) == ["s"]


def test_what_happens_during_a_run_is_a_burst_of_its_own():
    """It is not lost, whatever the run saw of it."""
    pacing = Pacing(PACE)
    pacing.touch("s", 0.0)
    pacing.begin("s")
    pacing.touch("s", 1.5)
    pacing.end("s", began=1.0, ended=2.0, found=True)
    assert pacing.due(6.1) == ["s"]


def test_sources_are_paced_by_themselves():
    """One that never rests keeps no other from its turn; a forgotten one is never due."""
    pacing = Pacing(PACE)
    pacing.touch("busy", 0.0)
    pacing.touch("busy", 4.9)
    pacing.touch("calm", 0.0)
    assert pacing.due(1.0) == ["calm"]
    pacing.forget("calm")
    assert pacing.due(5.0) == ["busy"]
    pacing.forget("busy")
    assert pacing.wait_s(5.0) == math.inf
