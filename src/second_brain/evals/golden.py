"""Golden questions: about a folder of notes, or about what the user's own index holds, and where the answers are.

One JSON object a line; ``eval/README.md`` describes it:

    {"id": "g01", "query": "...", "lang": "en", "class": "plain",
     "relevant": [{"path": "garden/compost.md", "heading": "Turning", "grade": 2}], "note": "..."}

``path`` is below the vault or source, or a whole uri; ``grade`` is 1 or more. ``lang`` and ``class`` may be missing.
Results are counted by document: ``heading`` and ``note`` are for the reader. A folder in BEIR form will do too
(``queries.jsonl``, ``qrels.tsv``), its document ids being such paths.
"""

from __future__ import annotations

import json
import tempfile
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from ..config import Settings
from ..errors import UsageError
from ..library import Brain
from ..protocols import Progress
from ..records import StoredDocument
from ..types import Filter
from .answers import Asking, Place
from .beir import load_questions
from .questions import NOW, Question, read_lines, silent
from .results import Evaluation, digest
from .systems import Plan, QuestionSet, evaluate
from .vaults import bring_up_to_date, default_settings, vault_brain

KEYS = ("id", "query", "lang", "class", "relevant", "note")
CLASSES = ("plain", "hard", "named", "identifier", "cross")
"""In this order they stand in a table, others behind them. ``eval/README.md`` says how questions of each were made."""

SOURCE = "vault"


def load_golden(golden: Path) -> tuple[Question, ...]:
    """The questions of a golden set; their groups are class and language, where the set names them.

    Raises:
        UsageError: the file cannot be read, or a line is not as described above; the message names it.
    """
    if golden.is_dir():
        return load_questions(golden)
    questions: dict[str, Question] = {}
    for number, line in read_lines(golden):
        try:
            question = _question(json.loads(line))
        except ValueError as error:
            raise UsageError(f"{golden}:{number}: {error}", hint="correct that line") from error
        if question.id in questions:
            raise UsageError(f"{golden}:{number}: a question before is '{question.id}' too", hint="rename one of them")
        questions[question.id] = question
    if not questions:
        raise UsageError(f"{golden} holds no question", hint="expected one JSON object a line")
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
    groups = tuple(_string(value, key) for key in ("class", "lang") if key in value)
    return Question(_string(value, "id"), _string(value, "query"), relevant, groups)


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


def run_golden(
    golden: Path,
    vault: Path,
    *,
    index: Path | None = None,
    settings: Settings | None = None,
    plan: Plan = Plan(),
    progress: Progress = silent,
) -> Evaluation:
    """Ask golden questions about a folder of notes.

    Args:
        golden: the questions, see above.
        vault: the folder of notes that they are about.
        index: where the vault is indexed; kept, and brought up to date the next time. None: a temporary file.
        settings: whose models and fusion are measured; None means the defaults. Its sources and index are not
            touched.
        plan: what is wanted.
        progress: told what is being done.

    Raises:
        UsageError: a question or the note it asks for is wrong.
        MissingExtra: ir-measures, or a peer, is not installed.
    """
    load_golden(golden)  # what is wrong with them is said before anything is indexed
    with (
        tempfile.TemporaryDirectory(prefix="brain-eval-") as folder,
        vault_brain(SOURCE, vault, index or Path(folder) / "index.db", settings or default_settings()) as brain,
    ):
        notices = bring_up_to_date(brain, progress)
        return _run(golden, brain, str(vault), NOW, plan, progress, notices)


def run_own(
    golden: Path, brain: Brain, *, now: datetime, plan: Plan = Plan(), progress: Progress = silent
) -> Evaluation:
    """Ask golden questions about what the user's own index holds. Nothing is read again, and nothing written.

    Args:
        golden: the questions; a path must be that of one document in all sources, else it is to be a uri.
        brain: the user's.
        now: when the questions are asked, as age counts there.
        plan: what is wanted.
        progress: told what is being done.

    Raises:
        UsageError: a question or the document it asks for is wrong.
        MissingExtra: ir-measures, or a peer, is not installed.
    """
    return _run(golden, brain, str(brain.settings.index), now, plan, progress)


def _run(
    golden: Path,
    brain: Brain,
    where: str,
    now: datetime,
    plan: Plan,
    progress: Progress,
    notices: Sequence[str] = (),
) -> Evaluation:
    documents = brain.index.documents("d.uri != ''", (), Filter(), limit=-1)
    texts = {document.uri: brain.index.text(document.key) for document in documents}
    questions = _labelled(golden, load_golden(golden), documents, where)
    asked = QuestionSet(
        name=golden.stem,
        questions=sorted(questions, key=_place),
        texts={Place(uri, 0, len(text)): text for uri, text in texts.items()},
        documents=len(documents),
        primary="nDCG@5",
        data=digest([*_files(golden), *(part.encode("utf-8", "replace") for pair in texts.items() for part in pair)]),
        asking=Asking(now=now),
        notices=tuple(notices),
    )
    return evaluate(asked, brain.settings, brain.embedder(), plan, progress)


def _files(golden: Path) -> list[bytes]:
    files = [golden / name for name in ("queries.jsonl", "qrels.tsv")] if golden.is_dir() else [golden]
    return [file.read_bytes() for file in files]


def _place(question: Question) -> tuple[tuple[int, str], ...]:
    """Where the groups of a question stand in a table."""
    return tuple((CLASSES.index(group) if group in CLASSES else len(CLASSES), group) for group in question.groups)


def _labelled(
    golden: Path, questions: Iterable[Question], documents: Sequence[StoredDocument], where: str
) -> list[Question]:
    """The questions with uris in place of paths.

    Raises:
        UsageError: a path is that of no document, or of several.
    """
    named: dict[str, list[str]] = defaultdict(list)
    for document in documents:
        for name in {document.uri, document.uri.partition("/")[2]}:
            named[name].append(document.uri)
    labelled = []
    for question in questions:
        relevant: dict[str, int] = {}
        for path, grade in question.relevant.items():
            uris = named.get(path, [])
            if len(uris) != 1:
                found = (
                    f"is several of the notes of {where}: {', '.join(uris)}"
                    if uris
                    else (f"is not among the {len(documents)} notes of {where}")
                )
                raise UsageError(
                    f"{golden}: question '{question.id}' is answered by '{path}', which {found}",
                    hint="name a uri (source/path)"
                    if uris
                    else "correct the path, which is as below the vault or source;"
                    " or name the folder of notes with --vault",
                )
            relevant[uris[0]] = max(grade, relevant.get(uris[0], 0))
        labelled.append(replace(question, relevant=relevant))
    return labelled
