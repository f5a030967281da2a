from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import click
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
    assert evaluation["costs"]["hybrid"]["questions"] == 1
    assert not (tmp_path / "home" / "index.db").exists()


def test_people_get_a_table(brain: Brain, vault: Path, golden: Path, tmp_path: Path) -> None:
    """On stdout, ready for a Markdown page; peers and what an agent reads where they are asked for."""
    outcome = brain("eval", "--golden", golden, "--vault", vault, "--cache", tmp_path / "c", "--peers", "--tokens")
    assert outcome.code == 0
    for start in ("| hybrid ", "| bm25s ", "| grep: all files "):
        assert start in outcome.out


def test_questions_without_a_vault_are_about_ones_own_index(brain: Brain, indexed: Path, golden: Path) -> None:
    """Nothing is indexed for it."""
    outcome = brain("eval", "--golden", golden, "--json")
    (evaluation,) = json.loads(outcome.out)["evaluations"]
    assert (evaluation["documents"], evaluation["values"]["hybrid"]["hit@8"]) == (3, {"g01": 1.0})


def test_questions_about_ones_own_index_leave_their_means_beside_it(
    brain: Brain, indexed: Path, vault: Path, golden: Path, tmp_path: Path
) -> None:
    """Those about a folder do not, nor does half of the questions."""
    history = tmp_path / "home" / "eval-history.jsonl"
    assert brain("eval", "--golden", golden, "--vault", vault, "--cache", tmp_path / "cache").code == 0
    assert brain("eval", "--golden", golden, "--half", "held").code == 0
    assert not history.exists()
    assert brain("eval", "--golden", golden).code == 0
    (line,) = history.read_text().splitlines()
    assert json.loads(line)["values"]["hybrid"]["hit@8"] == 1.0


def test_the_missing_extra_is_told_before_anything_else(
    brain: Brain, golden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not after minutes of embedding: the notes that the questions ask for are not even there."""
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    outcome = brain("eval", "--golden", golden)
    assert (outcome.code, "second-brain[eval]" in outcome.err) == (1, True)
    monkeypatch.delitem(sys.modules, "ir_measures")
    monkeypatch.setitem(sys.modules, "bm25s", None)
    assert "brain eval --peers needs the extra 'eval'" in brain("eval", "--golden", golden, "--peers").err


def test_note_that_ones_own_index_lacks_is_named(brain: Brain, golden: Path) -> None:
    """With the way to name a folder of notes."""
    outcome = brain("eval", "--golden", golden)
    assert outcome.code == 1
    assert "'ops/pump.md'" in outcome.err
    assert "--vault" in outcome.err


def test_two_vaults_do_not_share_an_index(brain: Brain, vault: Path, golden: Path, tmp_path: Path) -> None:
    """Also where their folders have one name."""
    other = tmp_path / "other" / vault.name
    (other / "ops").mkdir(parents=True)
    (other / "ops" / "pump.md").write_text("# Valves\n\nThe valve torque is 13 Nm.\n", encoding="utf-8")
    options = ("--golden", golden, "--cache", tmp_path / "cache", "--json")
    counts = [
        json.loads(brain("eval", *options, "--vault", where).out)["evaluations"] for where in (vault, other, vault)
    ]
    assert [evaluation["documents"] for (evaluation,) in counts] == [3, 1, 3]


def test_a_fall_below_the_baseline_fails(brain: Brain, vault: Path, golden: Path, tmp_path: Path) -> None:
    """With --fail-below only; the table of changes is shown either way."""
    options = ("--golden", golden, "--vault", vault, "--cache", tmp_path / "cache")
    baseline = tmp_path / "baseline.json"
    assert brain("eval", *options, "--save", baseline).code == 0
    same = brain("eval", *options, "--baseline", baseline, "--fail-below", "0.01")
    assert same.code == 0
    assert "since the baseline" in same.out
    (vault / "ops" / "pump.md").write_text("# Pump room\n\nNothing of it is left.\n", encoding="utf-8")
    assert brain("eval", *options, "--baseline", baseline).code == 0
    worse = brain("eval", *options, "--baseline", baseline, "--fail-below", "0.01")
    assert worse.code == 1
    assert re.search(r"golden: nDCG@5 of lexical fell from 1\.0000 to 0\.", worse.err)


def test_a_report_is_written(brain: Brain, vault: Path, golden: Path, tmp_path: Path) -> None:
    """A page, numbers, two pictures."""
    options = ("--golden", golden, "--vault", vault, "--cache", tmp_path / "cache")
    assert brain("eval", *options, "--report", tmp_path / "report").code == 0
    assert {file.name for file in (tmp_path / "report").iterdir()} == {
        "report.md", "report.json", "stages.svg", "quality-latency.svg",
    }  # fmt: skip


def test_a_missing_golden_set_is_named(brain: Brain, vault: Path, tmp_path: Path) -> None:
    """Exit code 1, and which file was looked for."""
    outcome = brain("eval", "--golden", tmp_path / "gone.jsonl", "--vault", vault)
    assert outcome.code == 1
    assert "gone.jsonl" in outcome.err


def test_options_that_need_another_say_so(brain: Brain) -> None:
    """--set chooses among --sets, --fail-below compares with --baseline."""
    assert brain("eval", "--set", "x").code == 2
    assert brain("eval", "--fail-below", "0.01").code == 2


# -- mine ----------------------------------------------------------------------------------------------------


@pytest.fixture
def log(indexed: Path, tmp_path: Path) -> Path:
    """A session with two questions, each with a note that was read."""
    records = []
    for text, name in (("How tight is the valve?", "pump.md"), ("When was the pump replaced?", "log.md")):
        call = {"type": "tool_use", "id": name, "name": "Read", "input": {"file_path": str(indexed / "ops" / name)}}
        records.append(
            {"type": "user", "message": {"role": "user", "content": text}, "timestamp": "2031-05-02T09:00:00Z"}
        )
        records.append({"type": "assistant", "message": {"role": "assistant", "content": [call]}})
    file = tmp_path / "session.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return file


def test_mined_questions_are_listed(brain: Brain, log: Path, tmp_path: Path) -> None:
    """As JSON; nothing is written."""
    outcome = brain("eval", "mine", log, "--json")
    found = json.loads(outcome.out)
    assert [proposal["query"] for proposal in found["proposals"]] == [
        "How tight is the valve?",
        "When was the pump replaced?",
    ]
    assert found["proposals"][0]["relevant"] == [{"path": "notes/ops/pump.md", "grade": 2}]
    assert not Path(found["golden"]).exists()


def test_one_key_adds_a_question(
    brain: Brain, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    """y adds, n passes on, q ends, other keys do nothing; what was added can be measured with."""
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    golden = tmp_path / "mine.jsonl"

    def typed(keys: str) -> str:
        left = iter(keys)
        monkeypatch.setattr(click, "getchar", lambda: next(left))
        outcome = brain("eval", "mine", log, "--golden", golden)
        assert outcome.code == 0
        assert next(left, None) is None
        return outcome.out

    assert "no question was added" in typed("q")
    assert "no question was added" in typed("nn")
    assert "When was the pump replaced?" in typed("xny")
    assert "How tight is the valve?" in typed("Y")
    assert len(golden.read_text(encoding="utf-8").splitlines()) == 2
    outcome = brain("eval", "--golden", golden, "--json")
    (evaluation,) = json.loads(outcome.out)["evaluations"]
    assert set(evaluation["values"]["hybrid"]["hit@8"].values()) == {1.0}


def test_all_are_added_without_asking(brain: Brain, log: Path, tmp_path: Path) -> None:
    """With --yes; once only. The default file lies beside the settings."""
    assert "2 questions added" in brain("eval", "mine", log, "--yes").out
    assert len((tmp_path / "home" / "golden.jsonl").read_text(encoding="utf-8").splitlines()) == 2
    assert "no question was added" in brain("eval", "mine", log, "--yes").out


def test_without_a_terminal_one_must_say_how(brain: Brain, log: Path) -> None:
    """Nobody could press a key."""
    outcome = brain("eval", "mine", log)
    assert outcome.code == 2
    assert "--json" in outcome.err
