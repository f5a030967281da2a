"""Evaluations as pictures: bars for each system, and quality against waiting time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .drawing import HEAD, WIDTH, heading, kind, label, page, primary_values
from .measures import difference, mean
from .questions import Half
from .results import Evaluation

_LABEL, _VALUE, _ROW, _BAR = 114, 46, 22, 14

FAR = 16
"""A text that stands further above or below its points is tied to them by a line."""

CLOSE = 3
"""Points with less between them share a text: the stages of one search often do."""

TALL = 330
"""Of a panel with points."""


def stages_picture(evaluations: Sequence[Evaluation], half: Half | None = None) -> str:
    """A bar for each system: the mean of the primary measure, with its 95 % interval (bootstrap)."""
    panels = [_bars(evaluation, half) for evaluation in evaluations]
    return page(panels, [len(evaluation.values) * _ROW + HEAD + 26 for evaluation in evaluations], "Quality by system")


def latency_picture(evaluations: Sequence[Evaluation], half: Half | None = None) -> str:
    """A point for each system: the primary measure against the median time of an answer, on a logarithmic scale.

    A system that is far below all others stands at the lower edge, with its value.
    """
    timed = [evaluation for evaluation in evaluations if evaluation.costs]
    return page([_points(evaluation, half) for evaluation in timed], [TALL] * len(timed), "Quality against time")


def _bars(evaluation: Evaluation, half: Half | None) -> list[str]:
    width = WIDTH - _LABEL - _VALUE
    bottom = HEAD + len(evaluation.values) * _ROW
    lines = list(heading(evaluation, half))
    for tick in (0, 0.25, 0.5, 0.75, 1):
        x = _LABEL + tick * width
        lines.append(f'<line class="grid" x1="{x:.1f}" y1="{HEAD}" x2="{x:.1f}" y2="{bottom}"/>')
        lines.append(label(x, bottom + 15, f"{tick:g}", "small dim middle"))
    for row, system in enumerate(evaluation.values):
        values = primary_values(evaluation, system, half)
        spread = difference(values, dict.fromkeys(values, 0.0))
        y = HEAD + row * _ROW + (_ROW - _BAR) / 2
        middle = y + _BAR / 2
        low, high = (_LABEL + part * width for part in (spread.low, spread.high))
        lines += [
            label(_LABEL - 8, middle + 4, system, "end"),
            f'<rect class="{kind(system)}" x="{_LABEL}" y="{y:.1f}" width="{spread.mean * width:.1f}" height="{_BAR}"'
            ' rx="2"/>',
            f'<line class="whisker" x1="{low:.1f}" y1="{middle:.1f}" x2="{high:.1f}" y2="{middle:.1f}"/>',
            label(WIDTH, middle + 4, f"{spread.mean:.3f}", "end"),
        ]
    return lines


class _Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2

    def lies_in(self, frame: _Box) -> bool:
        across = self.left >= frame.left and self.right <= frame.right
        return across and self.top >= frame.top and self.bottom <= frame.bottom

    def meets(self, other: _Box) -> bool:
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom

    def around(self, other: _Box) -> _Box:
        return _Box(
            min(self.left, other.left),
            min(self.top, other.top),
            max(self.right, other.right),
            max(self.bottom, other.bottom),
        )


@dataclass(slots=True)
class _Cluster:
    """Points that share a text, and the box around them."""

    box: _Box
    names: list[str]


def _points(evaluation: Evaluation, half: Half | None) -> list[str]:
    left, top, right, bottom = 40, HEAD + 4, WIDTH - 8, 280
    means = {system: mean(primary_values(evaluation, system, half).values()) for system in evaluation.costs}
    times = {system: max(cost.p50_ms, 0.01) for system, cost in evaluation.costs.items()}
    low, high, step = _span(_without_outliers(list(means.values())))
    first = math.floor(math.log10(min(times.values())) + 1e-9)
    last = max(math.ceil(math.log10(max(times.values())) - 1e-9), first + 1)

    def x(ms: float) -> float:
        return left + (math.log10(ms) - first) / (last - first) * (right - left)

    def y(value: float) -> float:
        return bottom - (max(value, low) - low) / (high - low) * (bottom - top)

    lines = list(heading(evaluation, half))
    for number in range(round((high - low) / step) + 1):
        value = low + number * step
        lines.append(f'<line class="grid" x1="{left}" y1="{y(value):.1f}" x2="{right}" y2="{y(value):.1f}"/>')
        lines.append(label(left - 6, y(value) + 4, f"{value:.{2 if step >= 0.01 else 3}f}", "small dim end"))
    for power in range(first, last + 1):
        at = x(10**power)
        lines.append(f'<line class="grid" x1="{at:.1f}" y1="{top}" x2="{at:.1f}" y2="{bottom}"/>')
        lines.append(label(at, bottom + 16, f"{10**power:g}", "small dim middle"))
    lines.append(label((left + right) / 2, bottom + 34, "median milliseconds of an answer, warm", "small dim middle"))
    clusters: list[_Cluster] = []
    for system, value in means.items():
        px, py = x(times[system]), y(value)
        lines.append(f'<circle class="{kind(system)}" cx="{px:.1f}" cy="{py:.1f}" r="5"/>')
        named = system if value >= low else f"{system} {value:.3f} \u2193"
        _join(clusters, _Cluster(_Box(px - 5, py - 5, px + 5, py + 5), [named]))
    taken = [cluster.box for cluster in clusters]
    for cluster in clusters:
        text = ", ".join(cluster.names)
        box, style = _free(cluster.box, text, taken, _Box(left, top - 12, right + 6, bottom + 6))
        taken.append(box)
        anchor = {"end": box.right, "middle": (box.left + box.right) / 2}.get(style, box.left)
        if abs(box.middle - cluster.box.middle) > FAR:
            centre = (cluster.box.left + cluster.box.right) / 2
            edge = box.top if box.middle > cluster.box.middle else box.bottom
            lines.append(
                f'<line class="whisker" x1="{centre:.1f}" y1="{cluster.box.middle:.1f}" x2="{anchor:.1f}"'
                f' y2="{edge:.1f}"/>'
            )
        lines.append(label(anchor, box.bottom - 3, text, f"small {style}".strip()))
    return lines


def _join(clusters: list[_Cluster], new: _Cluster) -> None:
    """Add a point, and merge it with all that it lies close to."""
    reach = _Box(new.box.left - CLOSE, new.box.top - CLOSE, new.box.right + CLOSE, new.box.bottom + CLOSE)
    near = [cluster for cluster in clusters if cluster.box.meets(reach)]
    for cluster in near:
        clusters.remove(cluster)
        new = _Cluster(cluster.box.around(new.box), [*cluster.names, *new.names])
    clusters.append(new)


def _free(points: _Box, text: str, taken: Sequence[_Box], frame: _Box) -> tuple[_Box, str]:
    """Where a text fits beside its points without lying on others, and on which side it begins."""
    width = 6.2 * len(text)
    centre = (points.left + points.right - width) / 2
    sides = {"": points.right + 4, "end": points.left - 4 - width}
    high, deep = points.top - 8 - points.middle, points.bottom + 8 - points.middle
    near = [(start, shift, style) for shift in (0, -12, 12) for style, start in sides.items()]
    over = [(centre, shift, "middle") for shift in (high, deep)]
    far = [
        (start, shift, style)
        for distance in range(24, 120, 12)
        for shift in (-distance, distance)
        for style, start in (*sides.items(), ("middle", centre))
    ]
    boxes = [
        (_Box(start, points.middle + shift - 7, start + width, points.middle + shift + 7), style)
        for start, shift, style in (*near, *over, *far)
    ]
    inside = [(box, style) for box, style in boxes if box.lies_in(frame)]
    free = [(box, style) for box, style in inside if not any(box.meets(other) for other in taken)]
    return (free or inside or boxes)[0]


def _without_outliers(values: Sequence[float]) -> list[float]:
    """The values without those so low that more than half of an axis would lie between them and the next."""
    kept = sorted(values)
    while len(kept) > 2 and kept[1] - kept[0] > (kept[-1] - kept[0]) / 2:
        kept = kept[1:]
    return kept


def _span(values: Sequence[float]) -> tuple[float, float, float]:
    """(low, high, step) of an axis whose ends are steps and hold all values."""
    spread = max(max(values) - min(values), 0.02)
    step = next(step for step in (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if spread / step <= 6)
    low = max(0.0, math.floor(min(values) / step + 1e-9) * step)
    high = max(math.ceil(max(values) / step - 1e-9) * step, low + step)
    return low, high, step
