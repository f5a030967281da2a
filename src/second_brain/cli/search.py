"""``brain search``: the passages that answer."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import PurePath
from typing import TYPE_CHECKING, Unpack

import click

from .exits import Exit
from .moments import local, shown
from .options import Filters, Invocation, WrongUsage, filter_options, json_option, make_filter, mode_option
from .output import Piece, clean, say, say_json, tell
from .quote import quote, word_pattern

if TYPE_CHECKING:
    from ..types import Hit, Mode, SearchResult

QUOTE_LINES = 3
PLAIN_WIDTH = 100
MAX_WIDTH = 120
"""Longer lines are hard to read, however wide the window."""


class _Question(click.Command):
    """Takes pasted text that begins with a dash for what it is: no option holds white space."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put such arguments behind the options."""
        pasted = [arg for arg in args if arg.startswith("-") and any(char.isspace() for char in arg)]
        if pasted:
            args = [arg for arg in args if arg not in pasted]
            args += pasted if "--" in args else ["--", *pasted]
        return super().parse_args(ctx, args)


@click.command(cls=_Question)
@click.argument("words", metavar="QUERY...", nargs=-1, required=True)
@click.option(
    "-n", "--limit", metavar="N", type=click.IntRange(min=1), default=10, show_default=True, help="How many hits."
)
@mode_option
@filter_options
@click.option(
    "--per-document",
    metavar="N",
    type=click.IntRange(min=0),
    default=2,
    show_default=True,
    help="At most so many hits of one document; 0 for no cap.",
)
@click.option("--explain", is_flag=True, help="Show how each score came to be.")
@json_option
@click.pass_obj
def search(
    invocation: Invocation,
    words: tuple[str, ...],
    limit: int,
    mode: Mode,
    per_document: int,
    explain: bool,
    as_json: bool,
    **filters: Unpack[Filters],
) -> int:
    """Find passages by word and by meaning.

    Several words need no quotes. A lone - reads the query from standard input. WHEN is a date (2031-05-02),
    a time (2031-05-02T09:30), 7d, 2w, 3m, 1y, today or yesterday, in your time zone.

    \b
    Examples:
      brain search why did the pump fail
      brain search 排水ポンプ --since 3m --type meeting
      brain search atomic_write_json --mode lexical --json
    """  # noqa: D301
    query = sys.stdin.buffer.read().decode("utf-8", "replace") if words == ("-",) else " ".join(words)
    if not query.strip():
        raise WrongUsage("the query is empty", "type what you look for: brain search valve torque")
    wanted = make_filter(filters)
    with invocation.open_brain() as brain:
        result = brain.search(query, limit=limit, mode=mode, filter=wanted, per_document=per_document or None)
        nothing_indexed = not result.hits and not brain.recent(limit=1)
    if as_json:
        say_json(
            {
                "query": result.query,
                "mode": result.mode,
                "hits": [hit_as_json(hit, explain=explain) for hit in result.hits],
                "notices": result.notices,
            }
        )
        return Exit.DONE
    pattern = word_pattern(query)
    width = min(shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns, MAX_WIDTH)
    for hit in result.hits:
        if hit.rank > 1:
            say()
        _say_hit(hit)
        for line in quote(clean(_below_headings(hit)), pattern, width=max(width - 6, 20), lines=QUOTE_LINES):
            say("    ", *(Piece(text, "match" if matched else "plain") for text, matched in line))
        for note in hit.notes:
            say("    ", Piece(f"note: {note}", "warning"))
        if explain:
            _say_explanation(hit)
    for notice in result.notices:
        tell(Piece(f"note: {notice}", "dim"))
    told = result.notices and (pattern is None or nothing_indexed)
    if not result.hits and not told:
        for advice in _advice(result, filtered=wanted != type(wanted)()):
            tell(advice)
    if invocation.verbose:
        tell(Piece(" ".join(f"{stage} {ms:.0f} ms" for stage, ms in result.timings_ms.items()), "dim"))
    return Exit.DONE


def hit_as_json(hit: Hit, *, explain: bool) -> dict[str, object]:
    """A hit as an object; the signals of its score only on request."""
    fields: dict[str, object] = asdict(hit)
    fields["date"] = local(hit.date).isoformat()
    del fields["explanation"]
    if explain:
        fields["explanation"] = [asdict(signal) for signal in hit.explanation.signals]
    return fields


def _say_hit(hit: Hit) -> None:
    headings = hit.heading_path[1:] if hit.heading_path[:1] == (hit.title,) else hit.heading_path
    say(f"{hit.rank}. ", Piece(hit.title, "title"), *(f" › {heading}" for heading in headings))
    about = [shown(hit.date), f"{hit.source}/{hit.type}" if hit.type else hit.source, hit.status]
    about.extend(f"#{tag}" for tag in hit.tags[:5])
    say(
        "   ",
        Piece(f"{hit.path}:{hit.line}", "dim", _file_uri(hit.path)),
        Piece("  " + "  ".join(part for part in about if part), "dim"),
    )


def _below_headings(hit: Hit) -> str:
    """The passage without the headings that it begins with, as the line above shows them."""
    text = hit.text
    while True:
        line, _, rest = text.lstrip("\n").partition("\n")
        if not (rest.strip() and line.startswith("#") and line.strip("# ") in hit.heading_path):
            return text
        text = rest


def _file_uri(path: str) -> str:
    try:
        return PurePath(path).as_uri()
    except ValueError:  # not absolute, as records of other sources may be
        return ""


def _say_explanation(hit: Hit) -> None:
    from ..types import Explanation
    from .display import say_table

    signals = hit.explanation.signals
    say_table(
        ("signal", "", "value", "score", "detail"),
        [
            (
                signal.name,
                "+" if signal.operation == "add" else "×",
                f"{signal.value:.4f}",
                f"{Explanation(signals[: position + 1]).replay():.4f}",
                signal.detail,
            )
            for position, signal in enumerate(signals)
        ],
        indent=4,
    )


def _advice(result: SearchResult, *, filtered: bool) -> Iterator[str]:
    """What could be done about an empty answer. That vectors are missing is among its notices."""
    yield "nothing found"
    if filtered:
        yield "  try it without the filters (--source, --type, --tag, --since, --until, --path-prefix)"
    if result.mode == "lexical":
        yield "  try other words, or fewer"
    yield "  `brain index` reads what is new; `brain status` shows what is indexed"
