"""The gate: no change makes the search worse unnoticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from second_brain.evals.baseline import changes, falls, matched, read_evaluations
from second_brain.evals.golden import run_golden
from second_brain.evals.systems import Plan
from second_brain.evals.tables import format_changes

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_no_measure_of_a_mode_falls_below_the_baseline() -> None:
    """Golden questions, shipped settings and model; 0.01 is allowed. `make baseline` moves it, in its own commit."""
    plan = Plan(steps=False, timed=False)
    measured = run_golden(ROOT / "eval" / "golden.jsonl", ROOT / "example-vault", plan=plan)
    pairs = matched(read_evaluations(ROOT / "eval" / "baseline.json"), [measured])
    fallen = [change for before, after in pairs for change in falls(changes(before, after))]
    assert fallen == [], format_changes(pairs)
