"""The golden set: questions about the example vault, worded differently from its notes, and where the answers are.

One JSON object a line; ``eval/README.md`` describes it:

    {"id": "g01", "query": "...", "lang": "en", "class": "plain",
     "relevant": [{"path": "garden/compost.md", "heading": "Turning", "grade": 2}], "note": "..."}

``path`` is below the vault, ``grade`` is 1 or more. Results are counted by note: ``heading`` and ``note`` are for
the reader.
"""

from __future__ import annotations

import json
import tempfile
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..config import Settings
from ..errors import UsageError
from ..protocols import Progress
from ..types import MODES, Mode, SearchResult
from .grep import Grep
from .measures import DEPTH, Run, measure
from .questions import NOW, Question, ask, read_lines, silent
from .results import Evaluation, digest, provenance
from .vaults import bring_up_to_date, default_settings, vault_brain

KEYS = ("id", "query", "lang", "class", "relevant", "note")
CLASSES = ("plain", "hard", "named", "identifier", "cross")
"""What makes a question hard or easy; ``eval/README.md`` says how they were made."""

LANGUAGES = ("en", "ja")
SOURCE = "vault"


def load_golden(file: Path) -> tuple[Question, ...]:
    """The questions of a golden set; their groups are class and language.

    Raises:
        UsageError: the file cannot be read, or a line is not as described above; the message names it.
    """
    questions: dict[str, Question] = {}
    for number, line in read_lines(file):
        try:
            question = _question(json.loads(line))
        except ValueError as error:
            raise UsageError(f"{file}:{number}: {error}", hint="correct that line") from error
        if question.id in questions:
            raise UsageError(f"{file}:{number}: a question before is '{question.id}' too", hint="rename one of them")
        questions[question.id] = question
    if not questions:
        raise UsageError(f"{file} holds no question", hint="expected one JSON object a line")
    return tuple(questions.values())


def _question(value: Any) -> Question:
    """One line's object as a question; raises ValueError for what is wrong with it."""
    if not isinstance(value, dict):
        raise ValueError(f"expected an object, found {type(value).__name__}")
    unknown = value.keys() - set(KEYS)
    if unknown:
        raise ValueError(f"unknown key '{min(unknown)}'; keys are {', '.join(KEYS)}")
    relevant: dict[str, int] = {}
    entries = value.get("relevant")
    if not isinstance(entries, list) or not entries:
        raise ValueError("'relevant' is not a list of at least one note")
    for entry in entries:
        path, grade = _relevant(entry)
        relevant[path] = max(grade, relevant.get(path, 0))
    return Question(
        _string(value, "id"),
        _string(value, "query"),
        relevant,
        (_one_of(value, "class", CLASSES), _one_of(value, "lang", LANGUAGES)),
    )


def _relevant(entry: Any) -> tuple[str, int]:
    if not isinstance(entry, dict) or entry.keys() - {"path", "heading", "grade"}:
        raise ValueError("an entry of 'relevant' is not an object of path, heading (may be missing) and grade")
    grade = entry.get("grade")
    if not isinstance(grade, int) or isinstance(grade, bool) or grade < 1:
        raise ValueError(f"'grade' is {json.dumps(grade)}, expected 1 or more")
    if "heading" in entry:
        _string(entry, "heading")
    return unicodedata.normalize("NFC", _string(entry, "path")), grade


def _string(value: Mapping[str, Any], key: str) -> str:
    found = value.get(key)
    if not isinstance(found, str) or not found.strip():
        raise ValueError(f"'{key}' is {json.dumps(found)}, expected some text")
    return found


def _one_of(value: Mapping[str, Any], key: str, allowed: Sequence[str]) -> str:
    found = value.get(key)
    if found not in allowed:
        raise ValueError(f"'{key}' is {json.dumps(found)}, expected one of: {', '.join(allowed)}")
    return str(found)


def run_golden(
    golden: Path,
    vault: Path,
    *,
    index: Path | None = None,
    settings: Settings | None = None,
    progress: Progress = silent,
) -> Evaluation:
    """Ask the golden questions of the vault in every mode, and of grep.

    Args:
        golden: the questions, see above.
        vault: the folder of notes that they are about.
        index: where the vault is indexed; kept, and brought up to date the next time. None: a temporary file.
        settings: whose models and fusion are measured; None means the defaults. Its sources and index are not
            touched.
        progress: told what is being done.

    Raises:
        UsageError: a question or the note it asks for is wrong.
        MissingExtra: ir-measures is not installed.
    """
    questions = load_golden(golden)
    settings = settings or default_settings()
    with (
        tempfile.TemporaryDirectory(prefix="brain-eval-") as folder,
        vault_brain(SOURCE, vault, index or Path(folder) / "index.db", settings) as brain,
    ):
        notices = bring_up_to_date(brain, progress)
        items = brain.index.items(SOURCE)
        notes = {uri.partition("/")[2]: Path(state.path) for uri, state in items.items() if state.hash}
        _check_notes(golden, questions, notes, vault)

        def search(text: str, mode: Mode) -> SearchResult:
            return brain.search(text, limit=DEPTH, mode=mode, now=NOW, per_document=1)

        grep = Grep({note: path.read_text(encoding="utf-8", errors="replace") for note, path in notes.items()})
        runs: dict[str, Run] = {"grep": {question.id: grep.search(question.text) for question in questions}}
        for mode in MODES:
            answers = ask(search, questions, mode, "golden", progress)
            runs[mode] = {id: [hit.uri.partition("/")[2] for hit in answer.hits] for id, answer in answers.items()}
        qrels = {question.id: question.relevant for question in questions}
        data = digest([golden.read_bytes(), *(f"{uri} {items[uri].hash}".encode() for uri in sorted(items))])
        return Evaluation(
            name="golden",
            documents=len(notes),
            chunks=brain.index.chunk_count(),
            primary="nDCG@5",
            values={system: measure(qrels, run) for system, run in runs.items()},
            groups={question.id: question.groups for question in sorted(questions, key=_place)},
            provenance=provenance(settings, brain.embedder().identity, data),
            notices=notices,
        )


def _place(question: Question) -> tuple[int, int]:
    """Where the groups of a question stand in a table."""
    return CLASSES.index(question.groups[0]), LANGUAGES.index(question.groups[1])


def _check_notes(golden: Path, questions: Sequence[Question], notes: Mapping[str, Path], vault: Path) -> None:
    for question in questions:
        for path in question.relevant:
            if path not in notes:
                raise UsageError(
                    f"{golden}: question '{question.id}' is answered by '{path}', which is not among the"
                    f" {len(notes)} notes of {vault}",
                    hint="correct the path, which is written as below the vault, with '/'",
                )
