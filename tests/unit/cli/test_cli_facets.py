"""`brain facets`, `brain search --facets`, and the options that narrow a search."""

from __future__ import annotations

import json
from pathlib import Path

from running_brain import Brain


def test_facets_are_counted_below_the_hits_and_alone(brain: Brain, indexed: Path) -> None:
    """In lines for people, as an object for programs; an empty answer says so."""
    assert brain("facets", "pump").out.splitlines()[:3] == ["documents 2", "sources   notes 2", "projects  notes 2"]
    searched = brain("search", "pump", "--facets")
    assert "\n\ndocuments 2\n" in searched.out
    found = json.loads(brain("search", "pump", "--facets", "--json").out)["facets"]
    assert found == json.loads(brain("facets", "pump", "--json").out)
    assert found["types"] == {"log": 1, "runbook": 1}
    assert "facets" not in json.loads(brain("search", "pump", "--json").out)
    assert "nothing found" in brain("facets", "heron").err


def test_every_filter_of_the_command_line_narrows(brain: Brain, indexed: Path) -> None:
    """`--kind`, `--project`, `--lang` and `--title` each leave what they name."""

    def found(*options: str) -> set[str]:
        return {hit["title"] for hit in json.loads(brain("search", "pump ポンプ", *options, "--json").out)["hits"]}

    everything = {"Pump room", "Log", "三月一日"}
    assert found() == found("--kind", "markdown") == found("--project", "notes") == everything
    assert found("--kind", "code") == found("--project", "other") == set()
    assert found("--lang", "ja") == {"三月一日"}
    assert found("--title", "pump", "--title", "ROOM") == {"Pump room"}


def test_doctor_names_where_secrets_were_masked(brain: Brain, indexed: Path) -> None:
    """Document, rule and number, never the secret; of many documents the first twenty unless all are asked for."""
    for number in range(25):
        (indexed / f"key{number:02}.md").write_text(f"password = 'Tr0ub4dor&{number}'\n")
    assert brain("index", "--quiet").code == 0
    outcome = brain("doctor")
    assert outcome.code == 0
    assert outcome.out.count("masked password 1") == 20
    assert "and in 5 more documents" in outcome.out
    assert brain("--verbose", "doctor").out.count("masked password 1") == 25
    assert len([f for f in json.loads(brain("doctor", "--json").out)["findings"] if f["name"] == "secrets"]) == 25
    assert "Tr0ub" not in outcome.out
