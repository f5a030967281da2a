"""How well chunks cover an answer: questions whose answers are spans of long Markdown files.

A set is a folder of ``corpora/*.md`` and ``questions.csv`` with the columns ``question``, ``corpus_id`` (a file's
stem) and ``references``: a JSON list of ``content``, ``start_index`` and ``end_index``, in characters.
Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval", Chroma 2024.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from ..config import Settings
from ..errors import UsageError
from ..protocols import Progress
from .answers import Answers, Asking
from .peers import passages_of
from .questions import Question
from .results import Evaluation, digest
from .systems import Plan, QuestionSet, evaluate
from .vaults import bring_up_to_date, vault_brain

TOP = 5
"""How many chunks are compared with the answer."""

COVERAGE = f"coverage@{TOP}"
PRECISION = f"precision@{TOP}"

Spans: TypeAlias = "Sequence[tuple[str, int, int]]"
"""(file, start, end), half open, in characters."""


@dataclass(frozen=True, slots=True)
class SpanQuestion:
    """A question and the spans that answer it."""

    question: Question
    spans: tuple[tuple[str, int, int], ...]


def load_spans(folder: Path) -> tuple[SpanQuestion, ...]:
    """The questions of a set; their group is the file that answers them.

    Raises:
        UsageError: a row is not as described above, or the file does not hold what the row quotes.
    """
    file = folder / "questions.csv"
    texts = {path.stem: _read(path) for path in sorted((folder / "corpora").glob("*.md"))}
    rows = csv.DictReader(io.StringIO(_read(file), newline=""))
    found = []
    for number, row in enumerate(rows, start=1):
        try:
            corpus = row["corpus_id"]
            text = texts[corpus]
            spans = [
                (reference["content"], reference["start_index"], reference["end_index"])
                for reference in json.loads(row["references"])
            ]
            question = Question(f"{corpus}-{number}", row["question"], {corpus: 1}, (corpus,))
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(
                f"{file}: question {number} is not understood ({type(error).__name__}: {error})",
                hint="expected the columns question, references, corpus_id, and a file corpora/<corpus_id>.md",
            ) from error
        for content, start, end in spans:
            if text[start:end] != content:
                raise UsageError(
                    f"{file}: question {number} quotes '{content[:40]}', where {corpus}.md has"
                    f" '{text[start:end][:40]}'",
                    hint="correct start_index and end_index, which count characters",
                )
        found.append(SpanQuestion(question, tuple((corpus, start, end) for _, start, end in spans)))
    return tuple(found)


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", hint="expected a text file in UTF-8") from error


def run_spans(folder: Path, cache: Path, settings: Settings, plan: Plan, progress: Progress) -> Evaluation:
    """Ask the questions of a span set and compare the first passages with the answers.

    The files are indexed as notes of one vault; a document may fill the whole list. Grep's passages are the
    product's.

    Raises:
        UsageError: the set is not well formed.
    """
    spans = load_spans(folder)
    name = folder.name
    answering = {
        entry.question.id: [(f"{name}/{file}.md", start, end) for file, start, end in entry.spans] for entry in spans
    }
    place = cache / name / digest([str(settings.models.embedder).encode("utf-8")])[:8] / "index.db"

    def judge(questions: Sequence[Question], answers: Answers) -> dict[str, dict[str, float]]:
        overlaps = {question.id: overlap(answering[question.id], answers[question.id]) for question in questions}
        return {
            COVERAGE: {id: covered for id, (covered, _) in overlaps.items()},
            PRECISION: {id: precise for id, (_, precise) in overlaps.items()},
        }

    with vault_brain(name, folder / "corpora", place, settings) as brain:
        notices = bring_up_to_date(brain, progress)
        files = sorted((folder / "corpora").glob("*.md"))
        asked = QuestionSet(
            name=name,
            questions=[entry.question for entry in spans],
            texts={passage.place: passage.text for passage in passages_of(brain.index)},
            documents=len(files),
            primary=COVERAGE,
            data=digest(path.read_bytes() for path in (folder / "questions.csv", *files)),
            asking=Asking(TOP, per_document=None),
            judge=judge,
            notices=notices,
        )
        return evaluate(asked, brain.settings, brain.embedder(), replace(plan, readings=False), progress)


def overlap(answer: Spans, retrieved: Spans) -> tuple[float, float]:
    """The share of the answer's characters that were retrieved, and of the retrieved ones that answer.

    A character that several spans hold counts once.
    """
    wanted, got = _characters(answer), _characters(retrieved)
    shared = len(wanted & got)
    return shared / len(wanted) if wanted else 0.0, shared / len(got) if got else 0.0


def _characters(spans: Spans) -> set[tuple[str, int]]:
    return {(file, position) for file, start, end in spans for position in range(start, end)}
