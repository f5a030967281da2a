"""Lines over time as coordinates for an SVG: the arithmetic of a small plot."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

WIDTH = 640
HEIGHT = 180
LEFT = 34
RIGHT = 96
TOP = 12
BOTTOM = 24


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its name, the number of its colour, where each piece runs, its points, and where its name stands."""

    name: str
    colour: int
    pieces: tuple[str, ...]
    points: tuple[tuple[float, float, str], ...]
    label_y: float


@dataclass(frozen=True, slots=True)
class Plot:
    """Lines with the marks of the axes as (place, text)."""

    lines: tuple[Line, ...]
    y_marks: tuple[tuple[float, str], ...]
    x_marks: tuple[tuple[float, str], ...]


def plot(values: Mapping[str, Sequence[float | None]], dates: Sequence[str], breaks: Sequence[int] = ()) -> Plot:
    """Lines of values between 0 and 1, one value a run, evenly spaced; None where a run has none.

    Args:
        values: by name of the line.
        dates: of each run, for the axis and the points.
        breaks: runs before which lines are interrupted: what came before is not to be compared.
    """
    known = [value for line in values.values() for value in line if value is not None]
    low = math.floor(min(known, default=0.0) * 10 - 1e-9) / 10
    high = math.ceil(max(known, default=1.0) * 10 + 1e-9) / 10
    low, high = max(0.0, low), min(1.0, max(high, low + 0.1))

    def x(run: int) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * (run / (len(dates) - 1) if len(dates) > 1 else 0.5), 1)

    def y(value: float) -> float:
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - (value - low) / (high - low)), 1)

    lines = []
    taken: list[float] = []
    for colour, (name, own) in enumerate(values.items()):
        points = [(run, value) for run, value in enumerate(own) if value is not None]
        if not points:
            continue
        pieces: list[list[str]] = [[]]
        for run, value in points:
            if run in breaks and pieces[-1]:
                pieces.append([])
            pieces[-1].append(f"{x(run)},{y(value)}")
        label = y(points[-1][1])
        while any(abs(label - other) < 12 for other in taken):
            label += 3
        taken.append(label)
        told = tuple((x(run), y(value), f"{dates[run]}: {name} {value:.3f}") for run, value in points)
        lines.append(Line(name, colour, tuple(" ".join(piece) for piece in pieces), told, label))
    tenths = range(round(low * 10), round(high * 10) + 1)
    steps = [tenth / 10 for tenth in tenths if len(tenths) <= 6 or tenth % 2 == 0]
    ends = {0: dates[0], len(dates) - 1: dates[-1]} if dates else {}
    return Plot(
        tuple(lines),
        tuple((y(step), f"{step:.1f}") for step in steps),
        tuple((x(run), text) for run, text in ends.items()),
    )
