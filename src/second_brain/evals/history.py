"""What each evaluation of the user's own golden questions found, one line a run, in a file beside the index.

For the page of the index's health, and for whoever wants to know since when answers are worse. Values are means over
all questions; those of each question are kept with ``brain eval --save``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..config import Settings
from ..errors import StorageError
from ..types import MODES
from .results import Evaluation, summarize

FILE = "eval-history.jsonl"
"""Beside the index."""


@dataclass(frozen=True, slots=True)
class Run:
    """One evaluation: when, of what, by what, and the means.

    ``values`` by mode and measure, ``primary`` the measure that modes are compared by. ``latency_ms`` by mode: median
    and 95th percentile of an answer as an agent asks; empty where nothing was timed. ``data`` is the hash of questions
    and documents: runs with another one are not of the same task. ``generation`` is '' where it is not known.
    """

    when: datetime
    version: str
    generation: str
    embedder: str
    golden: str
    data: str
    questions: int
    documents: int
    primary: str
    values: Mapping[str, Mapping[str, float]]
    latency_ms: Mapping[str, tuple[float, float]]


def record(settings: Settings, evaluation: Evaluation, when: datetime, *, generation: str = "") -> Run:
    """Append the summary of an evaluation, in UTC to the second; returns it.

    Raises:
        StorageError: the file cannot be written.
    """
    (whole, *_) = summarize(evaluation)
    run = Run(
        when=when.astimezone(UTC).replace(microsecond=0),
        version=evaluation.provenance.version,
        generation=generation,
        embedder=evaluation.provenance.embedder,
        golden=evaluation.name,
        data=evaluation.provenance.data,
        questions=whole.questions,
        documents=evaluation.documents,
        primary=evaluation.primary,
        values={
            mode: {name: round(value, 4) for name, value in whole.means[mode].items()}
            for mode in MODES
            if mode in whole.means
        },
        latency_ms={
            mode: (evaluation.costs[mode].p50_ms, evaluation.costs[mode].p95_ms)
            for mode in MODES
            if mode in evaluation.costs
        },
    )
    _append(settings.index.with_name(FILE), _written(run))
    return run


def runs(settings: Settings) -> list[Run]:
    """All runs that were recorded beside the index, the oldest first; a line that is no run is passed over."""
    try:
        lines = settings.index.with_name(FILE).read_bytes().splitlines()
    except OSError:
        return []
    return [run for run in map(_read, lines) if run]


def _written(run: Run) -> bytes:
    fields: dict[str, Any] = {name: getattr(run, name) for name in Run.__slots__}
    return json.dumps({**fields, "when": run.when.isoformat()}, ensure_ascii=False).encode("utf-8", "replace")


def _read(line: bytes) -> Run | None:
    """The run in a line; None for what another version wrote otherwise, or what was cut short."""
    try:
        fields = json.loads(line)
        latency = {mode: (float(p50), float(p95)) for mode, (p50, p95) in fields.pop("latency_ms").items()}
        return Run(**{**fields, "when": datetime.fromisoformat(fields["when"]), "latency_ms": latency})
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _append(file: Path, line: bytes) -> None:
    """Add a line in one write, so that two runs at once do not mix; one that was cut short before is ended first."""
    try:
        with os.fdopen(os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), "r+b", buffering=0) as opened:
            size = opened.seek(0, os.SEEK_END)
            opened.seek(max(0, size - 1))
            ended = not size or opened.read(1) == b"\n"
            opened.write((b"" if ended else b"\n") + line + b"\n")
    except OSError as error:
        raise StorageError(
            f"{file}: the evaluation cannot be recorded ({error.strerror})",
            hint="check the folder's permissions and free space",
        ) from error
