"""A folder that tells about an evaluation: a page, its numbers, two pictures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .baseline import changes
from .pictures import latency_picture, stages_picture
from .questions import Half
from .results import Evaluation, summarize
from .tables import format_changes, format_table

PAGE, NUMBERS, STAGES, LATENCY = "report.md", "report.json", "stages.svg", "quality-latency.svg"

Pairs = Sequence[tuple[Evaluation, Evaluation]]


def as_json(evaluations: Sequence[Evaluation], half: Half | None = None, compared: Pairs = ()) -> dict[str, Any]:
    """Everything that was measured, every question's values, the means of each group, and what changed."""
    return {
        "evaluations": [
            {**asdict(evaluation), "summaries": [asdict(summary) for summary in summarize(evaluation, half)]}
            for evaluation in evaluations
        ],
        "changes": {
            after.name: [asdict(change) for change in changes(before, after, half)] for before, after in compared
        },
    }


def write_report(
    folder: Path, evaluations: Sequence[Evaluation], half: Half | None = None, compared: Pairs = ()
) -> list[Path]:
    """Write ``report.md``, ``report.json``, ``stages.svg`` and, where answers were timed, ``quality-latency.svg``.

    ``compared`` are pairs of before and after. Returns the files. Raises OSError.
    """
    texts = {STAGES: stages_picture(evaluations, half)}
    if any(evaluation.costs for evaluation in evaluations):
        texts[LATENCY] = latency_picture(evaluations, half)
    alternatives = {STAGES: "Quality by system", LATENCY: "Quality against the time of an answer"}
    pictures = [f"![{alternatives[name]}]({name})" for name in texts]
    parts = [
        "# Evaluation",
        *pictures,
        format_table(evaluations, half),
        *([format_changes(compared, half)] * bool(compared)),
    ]
    texts[PAGE] = "\n\n".join(part.rstrip() for part in parts) + "\n"
    texts[NUMBERS] = json.dumps(as_json(evaluations, half, compared), ensure_ascii=False) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    return [folder / name for name in texts]
