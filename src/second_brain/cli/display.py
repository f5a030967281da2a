"""Progress and tables: all that needs rich, which costs 0.1 s to import and is imported only when it is used."""

from __future__ import annotations

import io
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

import click

from .output import in_color, is_terminal, one_line, tell

if TYPE_CHECKING:
    from rich.progress import TaskID

Progress: TypeAlias = Callable[[str, int, int | None], None]
"""``progress(stage, done, total)``, as ``protocols.Progress``, which would import numpy."""

LINE_EVERY_S = 5.0
"""Into a file or a pipe, progress writes one line at most so often."""

STAGES = {"embed": "vectors"}
"""How the stages of the library are called in front of people; others are names of sources."""


@contextmanager
def progress(*, quiet: bool) -> Iterator[Progress]:
    """Something that shows progress on stderr: bars on a terminal, else a line every few seconds, or nothing."""
    if quiet:
        yield _nothing
    elif is_terminal(sys.stderr):
        with _bars() as show:
            yield show
    else:
        yield _lines()


def _nothing(stage: str, done: int, total: int | None) -> None:
    """Progress that nobody wants to see."""


def _lines() -> Progress:
    last = time.monotonic()
    begun: dict[str, tuple[float, int]] = {}

    def show(stage: str, done: int, total: int | None) -> None:
        nonlocal last
        now = time.monotonic()
        first = stage not in begun
        since, before = begun.setdefault(stage, (now, done))
        if total is None and first:
            tell(stage)
        elif total is None:
            return
        elif done < total and now - last >= LINE_EVERY_S:
            pace = _pace(done - before, now - since, total - done)
            tell(f"{STAGES.get(stage, stage)}: {done:,} of {total:,}{pace}")
        else:
            return
        last = now

    return show


def _pace(done: int, seconds: float, left: int) -> str:
    """``, 6.8 a second, about 12 min left``; '' before anything was done."""
    if not done or seconds <= 0:
        return ""
    rate = done / seconds
    minutes = left / rate / 60
    if minutes < 1:
        rest = "less than a minute"
    else:
        rest = f"about {minutes:.0f} min" if minutes < 90 else f"about {minutes / 60:.1f} h"
    return f", {rate:,.{1 if rate < 10 else 0}f} a second, {rest} left"


@contextmanager
def _bars() -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bars = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(file=sys.stderr),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    tasks: dict[str, TaskID] = {}

    def show(stage: str, done: int, total: int | None) -> None:
        if stage not in tasks:
            for waiting in [name for name, task in tasks.items() if bars.tasks[task].total is None]:
                bars.update(tasks[waiting], visible=False)
            tasks[stage] = bars.add_task(one_line(STAGES.get(stage, stage)), total=total)
        bars.update(tasks[stage], completed=done, total=total)

    with bars:
        yield show


def say_table(columns: Sequence[str], rows: Sequence[Sequence[object]], *, indent: int = 0) -> None:
    """A table on stdout: as wide as it needs, on a terminal folded to fit. Numbers are right-aligned."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    if not rows:
        return
    table = Table(box=None, pad_edge=False, show_edge=False, header_style="dim")
    for position, column in enumerate(columns):
        number = all(isinstance(row[position], (int, float)) for row in rows)
        table.add_column(Text(column), justify="right" if number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(one_line(f"{cell:,}" if isinstance(cell, int) else str(cell))) for cell in row))
    colored = in_color(sys.stdout)
    console = Console(
        file=io.StringIO(),
        width=shutil.get_terminal_size().columns if is_terminal(sys.stdout) else 1000,
        force_terminal=colored,
        color_system="standard" if colored else None,
        legacy_windows=False,
    )
    with console.capture() as capture:
        console.print(Padding(table, (0, 0, 0, indent), expand=False))
    for line in capture.get().splitlines():
        # The cells are clean; what is left of escape sequences is rich's own.
        click.echo(line.rstrip(), file=sys.stdout, color=colored)
