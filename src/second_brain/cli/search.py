"""``brain search``: the passages that answer."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import PurePath
from typing import TYPE_CHECKING, Unpack

import click

from ..answering.quoting import quote, word_pattern
from ..moments import local, shown
from .exits import Exit
from .facets import facets_as_json, say_facets
from .options import Filters, Invocation, WrongUsage, filter_options, json_option, make_filter, mode_option
from .output import Piece, clean, say, say_json, say_verbatim, tell
from .remote import open_asked, remote_option, with_address

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
        return super().parse_args(ctx, with_address(args))


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
    help="At most so many hits of one document; 0 for every passage by itself, none merged or folded.",
)
@click.option("--strict", is_flag=True, help="Leave out what is deprecated, superseded, obsolete or archived.")
@click.option(
    "--budget",
    metavar="TOKENS",
    type=click.IntRange(min=1),
    help="As text for an agent, of at most so many tokens (estimated).",
)
@click.option("--cursor", metavar="CURSOR", default="", help="The next page of the same search.")
@click.option("--facets", "with_facets", is_flag=True, help="Also count the notes that hold words of the query.")
@click.option("--explain", is_flag=True, help="Show how each score came to be.")
@remote_option("Ask the brain on another machine.")
@json_option
@click.pass_obj
def search(
    invocation: Invocation,
    words: tuple[str, ...],
    limit: int,
    mode: Mode,
    per_document: int,
    strict: bool,
    budget: int | None,
    cursor: str,
    with_facets: bool,
    explain: bool,
    remote: str | None,
    as_json: bool,
    **filters: Unpack[Filters],
) -> int:
    """Find passages by word and by meaning.

    Several words need no quotes. A lone - reads the query from standard input. WHEN is a date (2031-05-02),
    a time (2031-05-02T09:30), 7d, 2w, 3m, 1y, today or yesterday, in your time zone. The query itself may hold
    fields (type:meeting tag:ops after:2031-03) and words of time (last week, 先月).

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
    with open_asked(invocation, remote) as brain:
        result = brain.search(
            query,
            limit=limit,
            mode=mode,
            filter=wanted,
            per_document=per_document or None,
            condensed=per_document > 0,
            strict=strict,
            cursor=cursor,
        )
        counted = brain.facets(query, filter=wanted) if with_facets else None
        nothing_indexed = not result.hits and not brain.recent(limit=1)
    if budget is not None:
        return _say_packed(result, budget, as_json=as_json)
    if as_json:
        say_json(
            {
                "query": result.query,
                "mode": result.mode,
                "generation": result.generation,
                "understood": result.understood,
                "confidence": result.confidence,
                "hits": [hit_as_json(hit, explain=explain) for hit in result.hits],
                "rolled_up": [hit_as_json(hit, explain=explain) for hit in result.rolled_up],
                "notices": result.notices,
                "cursor": result.cursor,
                **({"facets": facets_as_json(counted)} if counted else {}),
            }
        )
        return Exit.DONE
    for reading in result.understood:
        tell(Piece(reading, "dim"))
    say_hits(result, explain=explain)
    if counted:
        say()
        say_facets(counted)
    for notice in result.notices:
        tell(Piece(f"note: {notice}", "dim"))
    told = result.notices and (word_pattern(query) is None or nothing_indexed)
    if not result.hits and not told:
        for advice in _advice(result, filtered=wanted != type(wanted)()):
            tell(advice)
    if result.cursor and (cursor or invocation.verbose):
        tell(Piece(f"more: the same search with --cursor {result.cursor}", "dim"))
    if invocation.verbose:
        tell(Piece(" ".join(f"{stage} {ms:.0f} ms" for stage, ms in result.timings_ms.items()), "dim"))
    return Exit.DONE


def say_hits(result: SearchResult, *, explain: bool = False) -> None:
    """Each hit with its place, what is known of its document, and the lines that hold words of the question."""
    pattern = word_pattern(result.query)
    width = min(shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns, MAX_WIDTH)
    for position, hit in enumerate((*result.hits, *result.rolled_up)):
        if position:
            say()
        _say_hit(hit, _hub_title(hit, result))
        for line in quote(clean(_below_headings(hit)), pattern, width=max(width - 6, 20), lines=QUOTE_LINES):
            say("    ", *(Piece(text, "match" if matched else "plain") for text, matched in line))
        for note in hit.notes:
            say("    ", Piece(f"note: {note}", "warning"))
        if hit.also_in:
            say("    ", Piece(f"the same also in: {', '.join(dict.fromkeys(hit.also_in))}", "dim"))
        if explain:
            _say_explanation(hit)


def hit_as_json(hit: Hit, *, explain: bool) -> dict[str, object]:
    """A hit as an object; the signals of its score only on request."""
    fields: dict[str, object] = asdict(hit)
    fields["date"] = local(hit.date).isoformat()
    del fields["explanation"]
    if explain:
        fields["explanation"] = [asdict(signal) for signal in hit.explanation.signals]
    return fields


def _say_packed(result: SearchResult, budget: int, *, as_json: bool) -> int:
    """The answer within a budget of tokens: as text, or its excerpts as an object."""
    from ..answering.packing import packed

    answer = packed(result, budget_tokens=budget)
    if not as_json:
        say_verbatim(answer.text)
        return Exit.DONE
    say_json(
        {
            "query": result.query,
            "mode": result.mode,
            "generation": result.generation,
            "understood": result.understood,
            "confidence": result.confidence,
            "excerpts": [asdict(excerpt) for excerpt in answer.excerpts],
            "shown": answer.shown,
            "tokens": answer.tokens,
            "notices": result.notices,
            "cursor": answer.cursor,
        }
    )
    return Exit.DONE


def _hub_title(hit: Hit, result: SearchResult) -> str:
    """The title of the hub that brought a hit, '' for what was found itself."""
    return next((hub.title for hub in result.hits if hub.uri == hit.via), hit.via)


def _say_hit(hit: Hit, hub: str) -> None:
    headings = hit.heading_path[1:] if hit.heading_path[:1] == (hit.title,) else hit.heading_path
    via = (Piece(f"  via {hub}", "dim"),) if hub else ()
    say(f"{hit.rank}. ", Piece(hit.title, "title"), *(f" › {heading}" for heading in headings), *via)
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
        yield "  try it without the filters (--source, --type, --tag, --since, ...)"
    if result.mode == "lexical":
        yield "  try other words, or fewer"
    yield "  `brain index` reads what is new; `brain status` shows what is indexed"
