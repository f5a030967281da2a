from __future__ import annotations

import json
from pathlib import Path

import pytest
from running_brain import Brain

from second_brain.cli.health import size


def test_status_says_what_is_indexed(brain: Brain, indexed: Path) -> None:
    """Counts, vectors made of those wanted, and each source."""
    outcome = brain("status")
    assert (outcome.code, outcome.err) == (0, "")
    fields = {line.split()[0]: line.split()[1] for line in outcome.out.splitlines()[1:8]}
    assert fields["documents"] == "3"
    assert fields["vectors"] == f"{fields['passages']}/{fields['passages']}"
    assert outcome.out.splitlines()[-1].split()[:2] == ["notes", "3"]


def test_status_as_json_holds_the_same(brain: Brain, indexed: Path, tmp_path: Path) -> None:
    """Paths and times are plain text."""
    status = json.loads(brain("status", "--json").out)
    assert (status["documents"], status["waiting"], status["notices"]) == (3, 0, [])
    assert status["home"] == str(tmp_path / "home")
    assert status["sources"][0]["synced"][-6] in "+-"


def test_status_of_nothing_says_how_to_begin(brain: Brain) -> None:
    """No sources, no notes, no table."""
    outcome = brain("status")
    assert outcome.code == 0
    assert "last run   never" in outcome.out
    assert "type `brain add ~/notes`" in outcome.err


def test_waiting_vectors_are_a_notice(brain: Brain, vault: Path) -> None:
    """Until they are made, search by meaning is partial."""
    brain("add", vault)
    brain("index", "--no-embed")
    assert "wait for a vector; run `brain embed`" in brain("status").err


def test_a_sound_index_is_well(brain: Brain, indexed: Path) -> None:
    """Every check is listed; exit code 0."""
    outcome = brain("doctor")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.endswith("no damage found\n")


def test_a_damaged_index_is_found_and_mended(brain: Brain, indexed: Path, tmp_path: Path) -> None:
    """Exit code 3 with the remedy; --fix applies it, and no note is lost."""
    file = tmp_path / "home" / "index.db"
    data = bytearray(file.read_bytes())
    data[8192:16384] = b"\xa5" * 8192
    file.write_bytes(data)
    found = brain("doctor")
    assert found.code == 3
    assert "brain doctor --fix" in found.out
    fixed = json.loads(brain("doctor", "--fix", "--json").out)["findings"]
    assert not [finding for finding in fixed if finding["severity"] in ("warning", "error")]
    assert brain("index", "--quiet").code == 0
    assert json.loads(brain("status", "--json").out)["documents"] == 3


def test_compacting_says_what_it_gained(brain: Brain, indexed: Path) -> None:
    """Sizes before and after."""
    before, after = brain("compact").out.removesuffix(" after\n").split(" before, ")
    assert before.endswith("kB")
    assert after.endswith("kB")


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1_000, "1.0 kB"), (12_345_678, "12.3 MB"), (5 * 10**12, "5000.0 GB")],
)
def test_sizes_are_readable(count: int, text: str) -> None:
    """Powers of 1000, one digit behind the point."""
    assert size(count) == text
