"""Evaluations as tables that a terminal and a Markdown page both show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..types import MODES
from .baseline import Change, changes, doubts
from .measures import Difference, mean
from .questions import Half
from .results import Evaluation, Summary, summarize
from .sizes import SEARCH


def format_table(evaluations: Sequence[Evaluation], half: Half | None = None) -> str:
    """One Markdown section for each evaluation: its means by system and by group, regrets, costs, the conditions.

    ``half`` limits the questions to one half; None takes all that were asked.
    """
    return "\n\n".join("\n".join(_section(evaluation, half)) for evaluation in evaluations) + "\n"


def format_changes(pairs: Sequence[tuple[Evaluation, Evaluation]], half: Half | None = None) -> str:
    """What became of the modes since a baseline, as a Markdown section for each (before, after)."""
    return "\n\n".join("\n".join(_changed(before, after, half)) for before, after in pairs) + "\n"


def _section(evaluation: Evaluation, half: Half | None) -> Iterator[str]:
    summaries = summarize(evaluation, half)
    taken = "both halves" if half is None else f"half '{half}'"
    yield (
        f"## {evaluation.name}: {summaries[0].questions:,} questions ({taken}), {evaluation.documents:,} documents,"
        f" {evaluation.chunks:,} chunks"
    )
    yield ""
    yield from _aligned(list(_means(evaluation, summaries[0])))
    yield ""
    if len(summaries) > 1:
        yield f"{evaluation.primary} by group:"
        yield ""
        yield from _aligned(list(_groups(evaluation, summaries)))
        yield ""
    yield f"Regret in {evaluation.primary} (the better arm minus the mode; 95 % interval):"
    yield ""
    yield from _aligned(list(_regrets(summaries)))
    yield ""
    if evaluation.readings:
        yield "What an agent reads for a question, by the way in which it looks:"
        yield ""
        yield from _aligned(list(_readings(evaluation)))
        yield ""
    for notice in evaluation.notices:
        yield f"Note: {notice}."
    if evaluation.costs:
        asked = max(cost.questions for cost in evaluation.costs.values())
        yield (
            f"Time (warm, {asked} questions, one after the other) and tokens (estimated) of an answer as an agent asks"
            " and reads it."
        )
    yield _conditions(evaluation)


def _means(evaluation: Evaluation, summary: Summary) -> Iterator[list[str]]:
    measures = list(next(iter(summary.means.values())))
    yield ["system", *measures, *(("p50 ms", "p95 ms", "tokens") if evaluation.costs else ())]
    for system, means in summary.means.items():
        row = [system, *(f"{means[name]:.3f}" for name in measures)]
        if cost := evaluation.costs.get(system):
            row += [f"{cost.p50_ms:,.1f}", f"{cost.p95_ms:,.1f}", f"{cost.tokens:,.0f}"]
        yield row


def _groups(evaluation: Evaluation, summaries: Sequence[Summary]) -> Iterator[list[str]]:
    yield ["group", "questions", *summaries[0].means]
    for summary in summaries:
        means = (measures[evaluation.primary] for measures in summary.means.values())
        yield [summary.group, f"{summary.questions:,}", *(f"{value:.3f}" for value in means)]


def _regrets(summaries: Sequence[Summary]) -> Iterator[list[str]]:
    yield ["group", "better arm", *summaries[0].regrets]
    for summary in summaries:
        yield [summary.group, summary.better_arm, *map(with_interval, summary.regrets.values())]


def _readings(evaluation: Evaluation) -> Iterator[list[str]]:
    yield ["way", "bytes", "tokens", "median", f"times {SEARCH}"]
    once = mean(size.tokens for size in evaluation.readings[SEARCH].values())
    for way, sizes in evaluation.readings.items():
        tokens = [size.tokens for size in sizes.values()]
        row = (mean(size.bytes for size in sizes.values()), mean(tokens), float(np.median(tokens)))
        yield [way, *(f"{number:,.0f}" for number in row), f"{row[1] / (once or 1.0):.1f}"]


def _changed(before: Evaluation, after: Evaluation, half: Half | None) -> Iterator[str]:
    made = before.provenance
    yield f"## {after.name}: since the baseline (commit {made.commit[:12] or 'unknown'}{made.commit[40:]})"
    yield ""
    yield from _aligned(list(_differences([c for c in changes(before, after, half) if c.system in MODES])))
    yield ""
    for doubt in doubts(before, after):
        yield f"Note: {doubt}."


def _differences(found: Sequence[Change]) -> Iterator[list[str]]:
    yield ["system", "measure", "before", "after", "after - before"]
    for change in found:
        means = (f"{change.before:.3f}", f"{change.after:.3f}")
        yield [change.system, change.measure, *means, with_interval(change.difference)]


def with_interval(difference: Difference) -> str:
    """``+0.0130 [-0.0040, +0.0300]``."""
    middle, low, high = (round(part, 4) + 0.0 for part in (difference.mean, difference.low, difference.high))  # no -0
    return f"{middle:+.4f} [{low:+.4f}, {high:+.4f}]"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The rows of a Markdown table; the first one is the head, columns of numbers stand to the right."""
    rows = [[*row, *[""] * (len(rows[0]) - len(row))] for row in rows]
    widths = [max(3, *(len(row[column]) for row in rows)) for column in range(len(rows[0]))]
    right = [all(row[column][:1] in "+-0123456789" for row in rows[1:]) for column in range(len(rows[0]))]
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
