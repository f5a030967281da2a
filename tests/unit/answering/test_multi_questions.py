"""The questions that are several in one: their labels lead to notes, and the rules take most of them apart."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from second_brain.answering.decomposition import decompose

ROOT = Path(__file__).parents[3]
LINES = (ROOT / "eval" / "multi.jsonl").read_text(encoding="utf-8").splitlines()
QUESTIONS = [json.loads(line) for line in LINES]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["id"])
def test_labels_lead_to_notes_and_headings(question):
    """Each note exists once, and a heading stands in it."""
    paths = [entry["path"] for entry in question["relevant"]]
    assert len(paths) == len(set(paths)) > 0
    for entry in question["relevant"]:
        text = (ROOT / "example-vault" / entry["path"]).read_text(encoding="utf-8")
        headings = [line.lstrip("# ").strip() for line in text.splitlines() if line.startswith("#")]
        assert entry.get("heading") in (None, *headings)
        assert entry["grade"] in (1, 2)


def test_the_counts_are_those_of_the_readme():
    """Classes and languages, and an id for each."""
    assert Counter(question["class"] for question in QUESTIONS) == {
        "several": 17, "comparison": 17, "people": 8, "time": 6
    }  # fmt: skip
    assert Counter(question["lang"] for question in QUESTIONS) == {"en": 29, "ja": 19}
    assert [question["id"] for question in QUESTIONS] == [f"m{number:02}" for number in range(1, 49)]


def test_the_rules_take_most_of_them_apart():
    """Without knowing a single name, forty of forty-eight."""
    assert sum(len(decompose(question["query"])) > 1 for question in QUESTIONS) >= 40
