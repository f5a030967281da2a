"""Evaluations as pictures: bars for each system, and quality against waiting time. SVG by hand, light and dark.

Every picture is a grid of panels, one for each set of questions. Colours say what a system is: the delivered modes,
the stages before them, the two arms, and what others have.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from ..types import MODES
from .measures import difference, mean
from .questions import Half, in_half
from .results import Evaluation
from .stages import ARMS

WIDTH = 460
"""Of a panel. Texts stay legible where a page shows two panels at three quarters of their size."""

_STYLE = """
    text { font: 13px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #24292f; }
    .title { font-size: 15px; font-weight: 600; }
    .dim { fill: #57606a; }
    .small { font-size: 11px; }
    .end { text-anchor: end; }
    .middle { text-anchor: middle; }
    .paper { fill: #ffffff; }
    .grid { stroke: #d8dee4; }
    .whisker { stroke: #24292f; stroke-opacity: 0.55; }
    .mode { fill: #1a7f5a; }
    .stage { fill: #7cc4a4; }
    .arm { fill: #5b8fd6; }
    .other { fill: #afb8c1; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3; }
      .dim { fill: #9198a1; }
      .paper { fill: #0d1117; }
      .grid { stroke: #30363d; }
      .whisker { stroke: #e6edf3; }
      .mode { fill: #3fb984; }
      .stage { fill: #23694d; }
      .arm { fill: #4478bf; }
      .other { fill: #57606a; }
    }
"""

_KINDS = {"mode": "delivered modes", "stage": "stages of hybrid", "arm": "arms of fusion", "other": "grep and peers"}
_STAGES = ("fused", "late", "adjusted", "reranked")
_MARGIN, _GAP, _LEGEND, _HEAD = 20, 28, 34, 46
_LABEL, _VALUE, _ROW, _BAR = 114, 46, 22, 14


def kind(system: str) -> str:
    """What a system is, as the class of its colour."""
    if system in ARMS:
        return "arm"
    if system in MODES:
        return "mode"
    return "stage" if system in _STAGES else "other"


def stages_picture(evaluations: Sequence[Evaluation], half: Half | None = None) -> str:
    """A bar for each system: the mean of the primary measure, with its 95 % interval (bootstrap)."""
    panels = [_bars(evaluation, half) for evaluation in evaluations]
    return _page(
        panels, [len(evaluation.values) * _ROW + _HEAD + 26 for evaluation in evaluations], "Quality by system"
    )


def latency_picture(evaluations: Sequence[Evaluation], half: Half | None = None) -> str:
    """A point for each system: the primary measure against the median time of an answer, on a logarithmic scale."""
    timed = [evaluation for evaluation in evaluations if evaluation.costs]
    return _page([_points(evaluation, half) for evaluation in timed], [330] * len(timed), "Quality against time")


def _page(panels: Sequence[list[str]], heights: Sequence[int], title: str) -> str:
    columns = 1 if len(panels) < 2 else 2
    rows = [max(heights[start : start + columns]) for start in range(0, len(heights), columns)]
    width = columns * WIDTH + (columns - 1) * _GAP + 2 * _MARGIN
    height = sum(rows) + max(len(rows) - 1, 0) * _GAP + 2 * _MARGIN + _LEGEND
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        f' role="img" aria-label="{escape(title)}">',
        f"<style>{_STYLE}</style>",
        f'<rect class="paper" width="{width}" height="{height}" rx="8"/>',
        *_legend(width),
    ]
    for place, panel in enumerate(panels):
        row, column = divmod(place, columns)
        left = _MARGIN + column * (WIDTH + _GAP)
        top = _MARGIN + _LEGEND + sum(rows[:row]) + row * _GAP
        lines += [f'<g transform="translate({left} {top})">', *panel, "</g>"]
    return "\n".join((*lines, "</svg>", ""))


def _legend(width: int) -> Iterator[str]:
    """What the colours say, on one line."""
    step = (width - 2 * _MARGIN) / len(_KINDS)
    for place, (name, meaning) in enumerate(_KINDS.items()):
        left = _MARGIN + place * step
        yield f'<rect class="{name}" x="{left:.0f}" y="{_MARGIN}" width="11" height="11" rx="2"/>'
        yield _text(left + 16, _MARGIN + 10, meaning, "small dim")


def _heading(evaluation: Evaluation, half: Half | None) -> Iterator[str]:
    asked = sum(in_half(question, half) for question in evaluation.groups)
    which = f", half '{half}'" if half else ""
    yield _text(0, 14, evaluation.name, "title")
    yield _text(0, 32, f"{evaluation.primary}, {asked:,} questions{which}", "small dim")


def _values(evaluation: Evaluation, system: str, half: Half | None) -> dict[str, float]:
    values = evaluation.values[system][evaluation.primary]
    return {question: value for question, value in values.items() if in_half(question, half)}


def _bars(evaluation: Evaluation, half: Half | None) -> list[str]:
    width = WIDTH - _LABEL - _VALUE
    bottom = _HEAD + len(evaluation.values) * _ROW
    lines = list(_heading(evaluation, half))
    for tick in (0, 0.25, 0.5, 0.75, 1):
        x = _LABEL + tick * width
        lines.append(f'<line class="grid" x1="{x:.1f}" y1="{_HEAD}" x2="{x:.1f}" y2="{bottom}"/>')
        lines.append(_text(x, bottom + 15, f"{tick:g}", "small dim middle"))
    for row, system in enumerate(evaluation.values):
        values = _values(evaluation, system, half)
        spread = difference(values, dict.fromkeys(values, 0.0))
        y = _HEAD + row * _ROW + (_ROW - _BAR) / 2
        middle = y + _BAR / 2
        low, high = (_LABEL + part * width for part in (spread.low, spread.high))
        lines += [
            _text(_LABEL - 8, middle + 4, system, "end"),
            f'<rect class="{kind(system)}" x="{_LABEL}" y="{y:.1f}" width="{spread.mean * width:.1f}" height="{_BAR}"'
            ' rx="2"/>',
            f'<line class="whisker" x1="{low:.1f}" y1="{middle:.1f}" x2="{high:.1f}" y2="{middle:.1f}"/>',
            _text(WIDTH, middle + 4, f"{spread.mean:.3f}", "end"),
        ]
    return lines


class _Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: _Box) -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


def _points(evaluation: Evaluation, half: Half | None) -> list[str]:
    left, top, right, bottom = 40, _HEAD + 4, WIDTH - 8, 280
    means = {system: mean(_values(evaluation, system, half).values()) for system in evaluation.costs}
    times = {system: max(cost.p50_ms, 0.01) for system, cost in evaluation.costs.items()}
    low, high, step = _span(list(means.values()))
    first = math.floor(math.log10(min(times.values())) + 1e-9)
    last = max(math.ceil(math.log10(max(times.values())) - 1e-9), first + 1)

    def x(ms: float) -> float:
        return left + (math.log10(ms) - first) / (last - first) * (right - left)

    def y(value: float) -> float:
        return bottom - (value - low) / (high - low) * (bottom - top)

    lines = list(_heading(evaluation, half))
    for number in range(round((high - low) / step) + 1):
        value = low + number * step
        lines.append(f'<line class="grid" x1="{left}" y1="{y(value):.1f}" x2="{right}" y2="{y(value):.1f}"/>')
        lines.append(_text(left - 6, y(value) + 4, f"{value:.2f}", "small dim end"))
    for power in range(first, last + 1):
        at = x(10**power)
        lines.append(f'<line class="grid" x1="{at:.1f}" y1="{top}" x2="{at:.1f}" y2="{bottom}"/>')
        lines.append(_text(at, bottom + 16, f"{10**power:g}", "small dim middle"))
    lines.append(_text((left + right) / 2, bottom + 34, "median milliseconds of an answer, warm", "small dim middle"))
    places: dict[tuple[float, float], list[str]] = {}
    for system in means:
        places.setdefault((round(x(times[system]), 1), round(y(means[system]), 1)), []).append(system)
    taken = [_Box(px - 6, py - 6, px + 6, py + 6) for px, py in places]
    for (px, py), systems in places.items():
        # Stages that are the same search share a point, which has the colour of what is delivered.
        lines.append(f'<circle class="{kind(systems[-1])}" cx="{px}" cy="{py}" r="5"/>')
        box, style = _free(px, py, ", ".join(systems), taken, _Box(left, top - 8, right + 6, bottom))
        taken.append(box)
        anchor = box.right if style == "end" else box.left
        lines.append(_text(anchor, box.bottom - 3, ", ".join(systems), f"small {style}".strip()))
    return lines


def _free(px: float, py: float, label: str, taken: Sequence[_Box], frame: _Box) -> tuple[_Box, str]:
    """Where a label fits beside its point without lying on another, and on which side its text begins."""
    width, height = 6.2 * len(label), 14.0
    tried = []
    for shift in (0, -12, 12, -24, 24, -36, 36, -48, 48):
        for style, start in (("", px + 9), ("end", px - 9 - width)):
            tried.append((_Box(start, py - 7 + shift, start + width, py - 7 + shift + height), style))
    inside = [
        entry
        for entry in tried
        if entry[0].left >= frame.left
        and entry[0].right <= frame.right
        and entry[0].top >= frame.top
        and entry[0].bottom <= frame.bottom
    ]
    free = [entry for entry in inside if not any(entry[0].meets(other) for other in taken)]
    return (free or inside or tried)[0]


def _span(values: Sequence[float]) -> tuple[float, float, float]:
    """(low, high, step) of an axis whose ends are steps and hold all values."""
    spread = max(max(values) - min(values), 0.02)
    step = next(step for step in (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if spread / step <= 6)
    low = max(0.0, math.floor(min(values) / step + 1e-9) * step)
    high = max(math.ceil(max(values) / step - 1e-9) * step, low + step)
    return low, high, step


def _text(x: float, y: float, text: str, style: str = "") -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'
