"""What evaluations of one's own golden questions leave beside the index."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

from second_brain.config import Settings
from second_brain.evals.history import FILE, record, runs
from second_brain.evals.results import Evaluation, Provenance
from second_brain.evals.sizes import Cost

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def evaluated(*, name: str = "mine") -> Evaluation:
    """Two questions, one mode that is told and one system that is not."""
    provenance = Provenance("0.1.0", "", "d" * 32, "hashing-64", "4", "s", {}, "here")
    values = {system: {"nDCG@5": {"a": 1.0, "b": 0.5}} for system in ("grep", "lexical", "dense", "hybrid")}
    groups: dict[str, tuple[str, ...]] = {"a": ("plain",), "b": ()}
    costs = {"grep": Cost(2, 1, 1, 1, 1), "hybrid": Cost(2, 20.5, 31.0, 400, 900)}
    return Evaluation(name, 3, 5, "nDCG@5", values, groups, provenance, costs=costs)


def settings(folder: Path) -> Settings:
    return Settings(home=folder, index=folder / "index.db", model_cache=folder / "models")


def test_a_run_is_read_as_it_was_recorded(tmp_path: Path) -> None:
    """Means of the modes over all questions, in UTC, with what they were measured on."""
    tokyo = NOON.astimezone(timezone(timedelta(hours=9)))
    recorded = record(settings(tmp_path), evaluated(), tokyo, generation="g2")
    assert runs(settings(tmp_path)) == [recorded]
    assert (recorded.when, recorded.generation, recorded.questions) == (NOON, "g2", 2)
    assert recorded.values == {mode: {"nDCG@5": 0.75} for mode in ("hybrid", "lexical", "dense")}
    assert recorded.latency_ms == {"hybrid": (20.5, 31.0)}


def test_runs_follow_one_another(tmp_path: Path) -> None:
    """The oldest first; where none was recorded there is none."""
    assert runs(settings(tmp_path)) == []
    for day in range(3):
        record(settings(tmp_path), evaluated(name=f"mine-{day}"), NOON + timedelta(days=day))
    assert [run.golden for run in runs(settings(tmp_path))] == ["mine-0", "mine-1", "mine-2"]


def test_a_line_cut_short_costs_nothing_but_itself(tmp_path: Path) -> None:
    """Neither what stands before it nor what is recorded after it, and a line of another form is passed over."""
    first = record(settings(tmp_path), evaluated(), NOON)
    file = tmp_path / FILE
    file.write_bytes(file.read_bytes() + b'[]\n{"latency_ms": 3}\n{"when": "2026-0')
    second = record(settings(tmp_path), replace(evaluated(), documents=4), NOON)
    assert runs(settings(tmp_path)) == [first, second]


def test_the_file_is_its_owners(tmp_path: Path) -> None:
    """Like the index beside it."""
    record(settings(tmp_path), evaluated(), NOON)
    assert (tmp_path / FILE).stat().st_mode & 0o077 == 0
