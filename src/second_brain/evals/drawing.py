"""What pictures of evaluations are made of: a page of panels, one for each set of questions, light and dark.

SVG by hand. Colours say what a system is: the delivered modes, the stages before them, the two arms, what others have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from ..types import MODES
from .questions import Half, in_half
from .results import Evaluation
from .stages import ARMS

WIDTH = 460
"""Of a panel. Texts stay legible where a page shows two panels at three quarters of their size."""

HEAD = 46
"""Height of a panel's title."""

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
_MARGIN, _GAP, _LEGEND = 20, 28, 34


def kind(system: str) -> str:
    """What a system is, as the class of its colour."""
    if system in ARMS:
        return "arm"
    if system in MODES:
        return "mode"
    return "stage" if system in _STAGES else "other"


def page(panels: Sequence[list[str]], heights: Sequence[int], title: str) -> str:
    """An SVG document of panels, which are lines of elements in a frame ``WIDTH`` wide: one column, or two."""
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
        yield label(left + 16, _MARGIN + 10, meaning, "small dim")


def heading(evaluation: Evaluation, half: Half | None) -> Iterator[str]:
    """A panel's title: the set, its primary measure, how many questions."""
    asked = sum(in_half(question, half) for question in evaluation.groups)
    which = f", half '{half}'" if half else ""
    yield label(0, 14, evaluation.name, "title")
    yield label(0, 32, f"{evaluation.primary}, {asked:,} questions{which}", "small dim")


def primary_values(evaluation: Evaluation, system: str, half: Half | None) -> dict[str, float]:
    """A system's values of the primary measure, by question id."""
    values = evaluation.values[system][evaluation.primary]
    return {question: value for question, value in values.items() if in_half(question, half)}


def label(x: float, y: float, text: str, style: str = "") -> str:
    """A text; ``style`` are classes: title, small, dim; end or middle is where x lies in it."""
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'
