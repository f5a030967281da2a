"""Evaluations in a file, and what changed since: the gate that a change of the search must pass."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..types import MODES
from .measures import Difference, difference, mean
from .questions import Half, in_half
from .results import Evaluation, Provenance
from .sizes import Cost, Size

TOLERANCE = 0.01
"""A measure that falls by more below the baseline fails the gate: another machine's rounding moves less."""


@dataclass(frozen=True, slots=True)
class Change:
    """A measure of one system, before and after, over the questions that both have."""

    system: str
    measure: str
    before: float
    after: float
    difference: Difference


def save_evaluations(file: Path, evaluations: Sequence[Evaluation]) -> None:
    """Write what a later evaluation is compared with: every question's values, without what differs between two runs.

    One line for each system and measure, so that a difference between two files can be read.
    """
    told = [asdict(replace(evaluation, costs={}, readings={})) for evaluation in evaluations]
    kept = json.loads(json.dumps(told), parse_float=lambda digits: round(float(digits), 6))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(_lines({"evaluations": kept}, levels=5) + "\n", encoding="utf-8", newline="\n")


def _lines(value: Any, levels: int, indent: str = "") -> str:
    """JSON whose outer objects, and lists of them, are broken into lines."""
    inner = indent + " "
    if levels and isinstance(value, dict) and value:
        pairs = ((json.dumps(key, ensure_ascii=False), _lines(part, levels - 1, inner)) for key, part in value.items())
        return "{\n" + ",\n".join(f"{inner}{key}: {part}" for key, part in pairs) + f"\n{indent}}}"
    if levels and isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(inner + _lines(part, levels - 1, inner) for part in value) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=False)


def read_evaluations(file: Path) -> list[Evaluation]:
    """The evaluations that ``brain eval --save`` or ``--json`` wrote.

    Raises:
        UsageError: the file is something else.
    """
    names = [field.name for field in fields(Evaluation)]
    try:
        written = json.loads(file.read_text(encoding="utf-8"))["evaluations"]
        return [
            Evaluation(
                **{name: entry[name] for name in names}
                | {
                    "groups": {question: tuple(groups) for question, groups in entry["groups"].items()},
                    "provenance": Provenance(**entry["provenance"]),
                    "notices": tuple(entry["notices"]),
                    "costs": {system: Cost(**cost) for system, cost in entry["costs"].items()},
                    "readings": {
                        way: {question: Size(**size) for question, size in sizes.items()}
                        for way, sizes in entry["readings"].items()
                    },
                }
            )
            for entry in written
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(
            f"{file} holds no evaluations ({type(error).__name__}: {error})",
            hint=f"write it with `brain eval --save {file}`",
        ) from error


def changes(before: Evaluation, after: Evaluation, half: Half | None = None) -> tuple[Change, ...]:
    """What became of every measure of every system that both evaluations have, each with its interval.

    A mode that is not measured any more has fallen to 0.
    """
    found = []
    for system, measures in before.values.items():
        if system not in after.values and system not in MODES:
            continue
        for measure, old in measures.items():
            values = after.values[system].get(measure, {}) if system in after.values else dict.fromkeys(old, 0.0)
            new = {question: value for question, value in values.items() if question in old and in_half(question, half)}
            if new:
                means = mean(old[question] for question in new), mean(new.values())
                found.append(Change(system, measure, *means, difference(new, old)))
    return tuple(found)


def falls(found: Sequence[Change], tolerance: float = TOLERANCE) -> list[Change]:
    """The changes that fail the gate: a mode lost more than ``tolerance``. Stages before it and peers may change."""
    return [change for change in found if change.system in MODES and change.before - change.after > tolerance]


def matched(baseline: Sequence[Evaluation], evaluations: Sequence[Evaluation]) -> list[tuple[Evaluation, Evaluation]]:
    """(before, after) for each evaluation whose set, by name, the baseline has.

    Raises:
        UsageError: it has none of them.
    """
    before = {evaluation.name: evaluation for evaluation in baseline}
    pairs = [(before[evaluation.name], evaluation) for evaluation in evaluations if evaluation.name in before]
    if not pairs:
        raise UsageError(
            f"the baseline is of {', '.join(before) or 'nothing'}, measured was"
            f" {', '.join(evaluation.name for evaluation in evaluations)}",
            hint="compare with a baseline of the same questions",
        )
    return pairs


def doubts(before: Evaluation, after: Evaluation) -> list[str]:
    """Why a comparison may not mean what it seems to: other data, another embedder."""
    old, new = before.provenance, after.provenance
    found = []
    if old.data != new.data:
        shared = len(before.groups.keys() & after.groups.keys())
        found.append(f"questions or documents changed since the baseline: {shared} questions are compared")
    if old.embedder != new.embedder:
        found.append(f"the baseline was measured with embedder {old.embedder}, this with {new.embedder}")
    return found
