"""Summaries and tables of evaluations."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from second_brain import evals
from second_brain.evals.measures import Difference
from second_brain.evals.questions import half
from second_brain.evals.results import Evaluation, Provenance, commit_of, digest, summarize
from second_brain.evals.sizes import Cost, Size
from second_brain.evals.tables import format_table

MADE = Provenance(
    version="0.1.0",
    commit="",
    data="d" * 32,
    embedder="hashing/1",
    analyzer="1",
    settings="s" * 32,
    fusion={"method": "convex", "dense_weight": 0.5},
    machine="Linux x86_64, 2 processors, Python 3.11.7",
)
EVALUATION = Evaluation(
    name="tiny",
    documents=1_200,
    chunks=1_300,
    primary="nDCG@10",
    values={
        "grep": {"nDCG@10": {"q0": 0.0, "q1": 0.0, "q2": 0.0}},
        "lexical": {"nDCG@10": {"q0": 1.0, "q1": 0.5, "q2": 0.0}},
        "dense": {"nDCG@10": {"q0": 0.0, "q1": 0.5, "q2": 1.0}},
        "hybrid": {"nDCG@10": {"q0": 1.0, "q1": 1.0, "q2": 0.4}},
    },
    groups={"q0": ("plain", "en"), "q1": ("hard", "en"), "q2": ("hard", "ja")},
    provenance=MADE,
)


def test_summary_has_the_means_of_each_group_and_the_regret() -> None:
    """The better arm is chosen for each group; regret is positive where hybrid lost against it."""
    summaries = {summary.group: summary for summary in summarize(EVALUATION)}
    assert [(name, summary.questions) for name, summary in summaries.items()] == [
        ("all", 3), ("plain", 1), ("hard", 2), ("en", 2), ("ja", 1),
    ]  # fmt: skip
    assert summaries["all"].means["hybrid"]["nDCG@10"] == pytest.approx(0.8)
    assert summaries["en"].better_arm == "lexical"
    assert summaries["en"].regrets["hybrid"].mean == pytest.approx(-0.25)
    assert summaries["ja"].better_arm == "dense"
    assert summaries["ja"].regrets == {"hybrid": Difference(0.6, 0.6, 0.6, 1)}


def test_halves_part_the_questions() -> None:
    """What is in one half is not in the other; together they are all."""
    tune, held = (summarize(EVALUATION, wanted)[0] for wanted in ("tune", "held"))
    assert tune.questions == sum(half(id) == "tune" for id in EVALUATION.groups)
    assert tune.questions + held.questions == 3


def test_half_without_questions_is_a_summary_of_none() -> None:
    """A small set may lie in one half."""
    only = next(id for id in ("q0", "q1", "q2") if half(id) == "held")
    small = replace(EVALUATION, groups={only: ()})
    (summary,) = summarize(small, "tune")
    assert (summary.questions, summary.means["hybrid"]["nDCG@10"]) == (0, 0.0)


def test_evaluation_is_ready_for_json() -> None:
    """Every question's values are in it."""
    loaded = json.loads(json.dumps(asdict(EVALUATION)))
    assert loaded["values"]["hybrid"]["nDCG@10"] == {"q0": 1.0, "q1": 1.0, "q2": 0.4}
    assert loaded["provenance"]["fusion"] == {"method": "convex", "dense_weight": 0.5}


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_commit_is_that_of_the_checkout_which_tracks_the_code(tmp_path: Path) -> None:
    """A '+' tells that files differ; code that merely lies below a checkout (an environment in it) is not of it."""

    def git(*arguments: str) -> str:
        identity = ["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
        command = ["git", *identity, *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.strip()

    tracked, other = tmp_path / "code.py", tmp_path / "other.py"
    for file in (tracked, other):
        file.write_text("x = 1\n", encoding="utf-8")
    git("init", "--quiet")
    git("add", "code.py")
    git("commit", "--quiet", "--message", "first")
    head = git("rev-parse", "HEAD")
    assert commit_of(tracked) == head
    assert commit_of(other) == ""
    tracked.write_text("x = 2\n", encoding="utf-8")
    assert commit_of(tracked) == head + "+"


def test_parts_of_a_digest_are_told_apart() -> None:
    """Moving a byte from one file to the next is other data."""
    assert digest([b"ab", b"c"]) != digest([b"a", b"bc"])
    assert len(digest([])) == 32


def test_table_shows_means_groups_regrets_and_conditions() -> None:
    """What a terminal shows can be pasted into a page as it is; without groups there is no table of them."""
    some = replace(EVALUATION, groups={"q0": ("plain",), "q1": ("hard",), "q2": ("hard",)}, notices=("it rains",))
    assert format_table([some]) == (
        "## tiny: 3 questions (both halves), 1,200 documents, 1,300 chunks\n"
        "\n"
        "| system  | nDCG@10 |\n"
        "| ------- | ------: |\n"
        "| grep    |   0.000 |\n"
        "| lexical |   0.500 |\n"
        "| dense   |   0.500 |\n"
        "| hybrid  |   0.800 |\n"
        "\n"
        "nDCG@10 by group:\n"
        "\n"
        "| group | questions |  grep | lexical | dense | hybrid |\n"
        "| ----- | --------: | ----: | ------: | ----: | -----: |\n"
        "| all   |         3 | 0.000 |   0.500 | 0.500 |  0.800 |\n"
        "| plain |         1 | 0.000 |   1.000 | 0.000 |  1.000 |\n"
        "| hard  |         2 | 0.000 |   0.250 | 0.750 |  0.700 |\n"
        "\n"
        "Regret in nDCG@10 (the better arm minus the mode; 95 % interval):\n"
        "\n"
        "| group | better arm |                     hybrid |\n"
        "| ----- | ---------- | -------------------------: |\n"
        "| all   | lexical    | -0.3000 [-0.5000, +0.0000] |\n"
        "| plain | lexical    | +0.0000 [+0.0000, +0.0000] |\n"
        "| hard  | dense      | +0.0500 [-0.5000, +0.6000] |\n"
        "\n"
        "Note: it rains.\n"
        "second-brain 0.1.0, commit unknown, data dddddddddddd, embedder hashing/1, analyzer 1,"
        " fusion method convex, dense_weight 0.5; Linux x86_64, 2 processors, Python 3.11.7.\n"
    )
    bare = replace(EVALUATION, groups=dict.fromkeys(EVALUATION.groups, ()))
    assert "by group" not in format_table([bare])


def test_table_shows_what_an_answer_costs() -> None:
    """Where it was measured; a system that was not timed has empty cells."""
    cost = Cost(questions=3, p50_ms=1.25, p95_ms=1_200.0, tokens=1_850.4, bytes=6_000.0)
    text = format_table([replace(EVALUATION, costs={"hybrid": cost})])
    assert "| system  | nDCG@10 | p50 ms |  p95 ms | tokens |\n" in text
    assert "| hybrid  |   0.800 |    1.2 | 1,200.0 |  1,850 |\n" in text
    assert "| grep    |   0.000 |        |         |        |\n" in text
    assert "Time (warm, 3 questions" in text


def test_table_shows_what_an_agent_reads() -> None:
    """Mean bytes and tokens by way, the median, and how many searches that is worth."""
    readings = {
        "one search": {"q0": Size(100, 20), "q1": Size(200, 40)},
        "grep: all files": {"q0": Size(1_000, 300), "q1": Size(3_000, 900)},
    }
    text = format_table([replace(EVALUATION, readings=readings)])
    assert "| way             | bytes | tokens | median | times one search |\n" in text
    assert "| one search      |   150 |     30 |     30 |              1.0 |\n" in text
    assert "| grep: all files | 2,000 |    600 |    600 |             20.0 |\n" in text


def test_table_of_a_half_says_so() -> None:
    """A number without its half cannot be judged."""
    assert "(half 'held')" in format_table([EVALUATION], half="held")


def test_public_names_are_there() -> None:
    """Each name of the room is found in its module, and no other is."""
    for name in evals.__all__:
        assert getattr(evals, name) is not None
    assert dir(evals) == sorted(evals.__all__)
    with pytest.raises(AttributeError, match="no attribute 'run_nothing'"):
        evals.run_nothing  # noqa: B018
