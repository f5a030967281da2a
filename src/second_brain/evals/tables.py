"""Evaluations as tables that a terminal and a Markdown page both show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .questions import Half
from .results import Evaluation, Summary, summarize


def format_table(evaluations: Sequence[Evaluation], half: Half | None = None) -> str:
    """One Markdown section for each evaluation: its means by group and system, the regrets, the conditions.

    ``half`` limits the questions to one half; None takes both.
    """
    return "\n\n".join("\n".join(_section(evaluation, half)) for evaluation in evaluations) + "\n"


def _section(evaluation: Evaluation, half: Half | None) -> Iterator[str]:
    summaries = summarize(evaluation, half)
    taken = "both halves" if half is None else f"half '{half}'"
    yield (
        f"## {evaluation.name}: {summaries[0].questions:,} questions ({taken}), {evaluation.documents:,} documents,"
        f" {evaluation.chunks:,} chunks"
    )
    yield ""
    yield from _aligned(list(_rows(summaries)))
    yield ""
    yield f"Regret of hybrid in {evaluation.primary} (the better arm minus hybrid; 95 % interval):"
    yield ""
    yield from _aligned(list(_regrets(summaries)))
    yield ""
    for notice in evaluation.notices:
        yield f"Note: {notice}."
    yield _conditions(evaluation)


def _rows(summaries: Sequence[Summary]) -> Iterator[list[str]]:
    measures = list(next(iter(summaries[0].means.values())))
    yield ["group", "questions", "system", *measures]
    for summary in summaries:
        for system, means in summary.means.items():
            yield [summary.group, f"{summary.questions:,}", system, *(f"{means[name]:.3f}" for name in measures)]


def _regrets(summaries: Sequence[Summary]) -> Iterator[list[str]]:
    yield ["group", "better arm", "regret", "low", "high"]
    for summary in summaries:
        regret = summary.regret
        numbers = (f"{number:+.4f}" for number in (regret.mean, regret.low, regret.high))
        yield [summary.group, summary.better_arm, *numbers]


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The rows of a Markdown table; the first one is the head, columns of numbers stand to the right."""
    widths = [max(3, *(len(row[column]) for row in rows)) for column in range(len(rows[0]))]
    right = [all(row[column][-1:].isdigit() for row in rows[1:]) for column in range(len(rows[0]))]
    for position, row in enumerate(rows):
        cells = (
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, right, strict=True)
        )
        yield f"| {' | '.join(cells)} |"
        if position == 0:
            rules = ["-" * (width - number) + ":" * number for width, number in zip(widths, right, strict=True)]
            yield f"| {' | '.join(rules)} |"


def _conditions(evaluation: Evaluation) -> str:
    made = evaluation.provenance
    fusion = ", ".join(f"{key} {value}" for key, value in made.fusion.items())
    return (
        f"second-brain {made.version}, commit {made.commit[:12] or 'unknown'}{made.commit[40:]}, data {made.data[:12]},"
        f" embedder {made.embedder}, analyzer {made.analyzer}, fusion {fusion}; {made.machine}."
    )
