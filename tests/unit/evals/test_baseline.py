"""What changed since a baseline, and the gate."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from second_brain.errors import UsageError
from second_brain.evals.baseline import changes, doubts, falls, matched, read_evaluations, save_evaluations
from second_brain.evals.measures import Difference
from second_brain.evals.questions import half
from second_brain.evals.results import Evaluation, Provenance
from second_brain.evals.sizes import Cost, Size
from second_brain.evals.tables import format_changes

MADE = Provenance("0.1.0", "c" * 40, "d" * 32, "hashing/1", "1", "s" * 32, {"method": "convex"}, "Linux")
BEFORE = Evaluation(
    name="tiny",
    documents=3,
    chunks=4,
    primary="nDCG@5",
    values={
        "grep": {"nDCG@5": {"q0": 0.5, "q1": 0.5}},
        "fused": {"nDCG@5": {"q0": 0.5, "q1": 0.5}},
        "hybrid": {"nDCG@5": {"q0": 1.0, "q1": 0.5}, "hit@8": {"q0": 1.0, "q1": 1.0}},
    },
    groups={"q0": ("plain", "en"), "q1": ("my own  class", "ja")},
    provenance=MADE,
)


def changed(system: str, **values: float) -> Evaluation:
    """The same, but for the values of a system's primary measure."""
    measures = {**BEFORE.values[system], "nDCG@5": {**BEFORE.values[system]["nDCG@5"], **values}}
    return replace(BEFORE, values={**BEFORE.values, system: measures})


def test_change_is_told_for_every_measure_of_every_system() -> None:
    """After minus before, question by question."""
    found = {(change.system, change.measure): change for change in changes(BEFORE, changed("hybrid", q1=0.9))}
    assert found.keys() == {("grep", "nDCG@5"), ("fused", "nDCG@5"), ("hybrid", "nDCG@5"), ("hybrid", "hit@8")}
    assert found["grep", "nDCG@5"].difference == Difference(0.0, 0.0, 0.0, 2)
    hybrid = found["hybrid", "nDCG@5"]
    assert (hybrid.before, hybrid.after) == (0.75, pytest.approx(0.95))
    assert hybrid.difference.mean == pytest.approx(0.2)


def test_only_questions_of_both_are_compared() -> None:
    """A new question has no value before, and a half may be asked for alone."""
    more = changed("hybrid", q1=0.0, q2=0.0)
    hybrid = next(change for change in changes(BEFORE, more) if change.system == "hybrid")
    assert (hybrid.before, hybrid.after, hybrid.difference.questions) == (0.75, 0.5, 2)
    assert half("q0") == "held"
    held = next(change for change in changes(BEFORE, more, "held") if change.system == "hybrid")
    assert (held.before, held.after, held.difference.questions) == (1.0, 1.0, 1)


def test_mode_that_fell_fails_the_gate() -> None:
    """By more than the tolerance only; a stage, a peer or grep may fall."""
    (fallen,) = falls(changes(BEFORE, changed("hybrid", q1=0.47)))
    assert (fallen.system, fallen.measure) == ("hybrid", "nDCG@5")
    assert falls(changes(BEFORE, changed("hybrid", q1=0.49))) == []
    assert falls(changes(BEFORE, changed("hybrid", q1=0.47)), 0.02) == []
    assert falls(changes(BEFORE, changed("hybrid", q1=0.9))) == []
    assert falls(changes(BEFORE, changed("fused", q0=0.0))) == []
    assert falls(changes(BEFORE, changed("grep", q0=0.0))) == []


def test_mode_that_is_gone_fails_the_gate() -> None:
    """What is not measured any more has fallen to nothing."""
    without = replace(BEFORE, values={"grep": BEFORE.values["grep"]})
    assert [(fallen.system, fallen.measure, fallen.after) for fallen in falls(changes(BEFORE, without))] == [
        ("hybrid", "nDCG@5", 0.0),
        ("hybrid", "hit@8", 0.0),
    ]


def test_evaluations_are_matched_by_name() -> None:
    """What the baseline lacks is not compared; a baseline of something else altogether is an error."""
    other = replace(BEFORE, name="other")
    assert matched([BEFORE], [other, BEFORE]) == [(BEFORE, BEFORE)]
    with pytest.raises(UsageError, match="the baseline is of tiny, measured was other"):
        matched([BEFORE], [other])


def test_doubts_are_told() -> None:
    """Other data and another embedder: a difference may be theirs."""
    made = replace(MADE, data="e" * 32, embedder="e5/1")
    assert doubts(BEFORE, BEFORE) == []
    assert doubts(BEFORE, replace(BEFORE, provenance=made)) == [
        "questions or documents changed since the baseline: 2 questions are compared",
        "the baseline was measured with embedder hashing/1, this with e5/1",
    ]


def test_saved_evaluations_are_read_back_without_what_differs_from_run_to_run(tmp_path: Path) -> None:
    """A line for each measure of a system, so that a change of the file can be read."""
    file = tmp_path / "eval" / "baseline.json"
    timed = replace(BEFORE, costs={"grep": Cost(2, 1.0, 2.0, 3.0, 4.0)}, readings={"way": {"q0": Size(1, 2)}})
    save_evaluations(file, [timed])
    assert read_evaluations(file) == [BEFORE]
    lines = file.read_text(encoding="utf-8").splitlines()
    assert '     "nDCG@5": {"q0": 1.0, "q1": 0.5},' in lines
    assert '    "q1": ["my own  class", "ja"]' in lines


def test_json_of_an_evaluation_is_read_back_whole(tmp_path: Path) -> None:
    """What ``brain eval --json`` wrote, with summaries beside."""
    file = tmp_path / "before.json"
    timed = replace(BEFORE, costs={"grep": Cost(2, 1.0, 2.0, 3.0, 4.0)}, readings={"way": {"q0": Size(1, 2)}})
    file.write_text(json.dumps({"evaluations": [{**asdict(timed), "summaries": []}]}), encoding="utf-8")
    assert read_evaluations(file) == [timed]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"evaluations": [{"name": "x"}]}', '{"evaluations": [3]}'])
def test_file_of_something_else_is_named(tmp_path: Path, text: str) -> None:
    """With the command that writes the right one."""
    file = tmp_path / "before.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"before\.json holds no evaluations") as caught:
        read_evaluations(file)
    assert "brain eval --save" in caught.value.hint


def test_changes_of_the_modes_are_a_table() -> None:
    """Stages and grep are in the JSON."""
    text = format_changes([(BEFORE, changed("hybrid", q1=0.9))])
    assert text.startswith("## tiny: since the baseline (commit cccccccccccc)\n")
    assert "| hybrid | nDCG@5  |  0.750 | 0.950 | +0.2000 [+0.0000, +0.4000] |\n" in text
    assert "grep" not in text
