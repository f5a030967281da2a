"""How well chunks cover the spans that answer."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from second_brain.config import ModelSettings, Settings
from second_brain.errors import UsageError
from second_brain.evals.sets import run_sets
from second_brain.evals.spans import load_spans, overlap
from second_brain.types import MODES

TEXT = "# Report\n\nThe pump failed in May — 部品が壊れた。\n\n# Costs\n\nThe repair cost 300 crowns.\n"


def write_set(folder: Path, start: int = TEXT.index("The repair"), corpus: str = "report") -> Path:
    (folder / "corpora").mkdir(parents=True)
    (folder / "corpora" / "report.md").write_text(TEXT, encoding="utf-8")
    (folder / "corpora" / "other.md").write_text("# Other\n\nA tale of cats and kettles.\n", encoding="utf-8")
    answer = "The repair cost 300 crowns."
    references = [{"content": answer, "start_index": start, "end_index": start + len(answer)}]
    with (folder / "questions.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["question", "references", "corpus_id"])
        writer.writerow(["how much did the repair cost", json.dumps(references), corpus])
    return folder


def test_overlap_counts_characters() -> None:
    """Coverage is over the answer, precision over what was retrieved."""
    assert overlap([("a", 10, 20)], [("a", 15, 35)]) == (0.5, 0.25)


def test_overlap_counts_a_character_once() -> None:
    """Chunks that overlap, and spans that do, gain nothing."""
    assert overlap([("a", 0, 10), ("a", 5, 10)], [("a", 0, 10), ("a", 0, 10)]) == (1.0, 1.0)


def test_the_same_place_in_another_file_is_no_answer() -> None:
    """Files are told apart; what was retrieved in vain lowers the precision."""
    assert overlap([("a", 0, 10)], [("b", 0, 10)]) == (0.0, 0.0)
    assert overlap([("a", 0, 10)], [("b", 0, 10), ("a", 0, 10)]) == (1.0, 0.5)


def test_nothing_retrieved_covers_nothing() -> None:
    """And divides by nothing."""
    assert overlap([("a", 0, 10)], []) == (0.0, 0.0)


def test_questions_are_read_with_their_spans(tmp_path: Path) -> None:
    """Offsets count characters, not bytes: the text before holds Japanese."""
    (entry,) = load_spans(write_set(tmp_path / "spans"))
    start = TEXT.index("The repair")
    assert entry.spans == (("report", start, start + 27),)
    assert (entry.question.id, entry.question.groups) == ("report-1", ("report",))


def test_quote_that_the_file_does_not_hold_there_is_named(tmp_path: Path) -> None:
    """Shifted offsets would measure noise."""
    with pytest.raises(UsageError, match=r"questions\.csv: question 1 quotes 'The repair"):
        load_spans(write_set(tmp_path / "spans", start=3))


def test_question_about_an_unknown_file_is_named(tmp_path: Path) -> None:
    """With what was expected."""
    with pytest.raises(UsageError, match=r"question 1 is not understood \(KeyError: 'missing'\)") as caught:
        load_spans(write_set(tmp_path / "spans", corpus="missing"))
    assert "corpora/<corpus_id>.md" in caught.value.hint


def test_span_set_is_asked_in_every_mode(tmp_path: Path) -> None:
    """The chunk with the answer covers all of it; five chunks of so small a corpus hold much else."""
    write_set(tmp_path / "sets" / "spans")
    settings = Settings(
        home=tmp_path, index=tmp_path / "i", model_cache=tmp_path / "m", models=ModelSettings(embedder="hashing")
    )
    (result,) = run_sets(tmp_path / "sets", cache=tmp_path / "cache", settings=settings)
    assert list(result.values) == ["grep", "lexical", "dense", "fused", "adjusted", *MODES[2:]]
    assert (result.name, result.documents, result.primary) == ("spans", 2, "coverage@5")
    assert result.values["grep"]["coverage@5"] == {"report-1": 1.0}
    for mode in MODES:
        values = result.values[mode]
        assert values["coverage@5"] == {"report-1": 1.0}
        assert 0.1 < values["precision@5"]["report-1"] < 1.0
    assert not (tmp_path / "i").exists()
