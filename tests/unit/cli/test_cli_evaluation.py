from __future__ import annotations

import json
from pathlib import Path

import pytest
from running_brain import Brain


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """One question about the three notes."""
    file = tmp_path / "golden.jsonl"
    question = {
        "id": "g01",
        "query": "valve torque",
        "lang": "en",
        "class": "plain",
        "relevant": [{"path": "ops/pump.md", "grade": 2}],
    }
    file.write_text(json.dumps(question) + "\n", encoding="utf-8")
    return file


def test_answers_are_measured_with_the_users_models(brain: Brain, vault: Path, golden: Path, tmp_path: Path) -> None:
    """Every mode is measured; the user's own index is not touched."""
    outcome = brain("eval", "--golden", golden, "--vault", vault, "--cache", tmp_path / "cache", "--json")
    assert outcome.code == 0
    (evaluation,) = json.loads(outcome.out)["evaluations"]
    assert evaluation["provenance"]["embedder"].startswith("hashing")
    assert evaluation["values"]["hybrid"]["nDCG@5"] == {"g01": 1.0}
    assert not (tmp_path / "home" / "index.db").exists()


def test_people_get_a_table(brain: Brain, vault: Path, golden: Path, tmp_path: Path) -> None:
    """On stdout, ready for a Markdown page."""
    outcome = brain("eval", "--golden", golden, "--vault", vault, "--cache", tmp_path / "cache")
    assert outcome.code == 0
    assert "| hybrid" in outcome.out


def test_a_missing_golden_set_is_named(brain: Brain, vault: Path, tmp_path: Path) -> None:
    """Exit code 1, and which file was looked for."""
    outcome = brain("eval", "--golden", tmp_path / "gone.jsonl", "--vault", vault)
    assert outcome.code == 1
    assert "gone.jsonl" in outcome.err


def test_a_set_needs_its_folder(brain: Brain) -> None:
    """--set chooses among --sets."""
    assert brain("eval", "--set", "x").code == 2
