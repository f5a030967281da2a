"""The search page, and what it fetches as one types: the same answer without the frame around it.

A search by word is there at once, one by meaning when typing stops (``typing=1`` asks for the first). Both go through
``Brain.search`` in the visitor's view.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.responses import HTMLResponse, Response

from ...answering.answerer import NOTHING_WELL
from ...answering.confidence import DOUBTFUL
from ...answering.quoting import QuoteLine, cells, quote, word_pattern
from ...retrieval import NO_WORDS
from ...types import Filter, Hit
from .asking import DAYS, Asked, asked
from .page import Page, Visit
from .signals import Bar, bars
from .strings import WORDS

if TYPE_CHECKING:
    from ...records import Counts, Facets
    from ...types import SearchResult

LIMIT = 10
RECENT = 12
QUOTE_WIDTH = 110
QUOTE_LINES = 3
LONGEST_QUOTED = 20_000
"""Characters of a passage in which the quote is looked for."""

FEW = 6
"""So many values of a facet are shown at once, the others on request."""

MOST = 40
SURE = 0.7
WAIT_S = 1.5
"""How long a search waits for the model before it goes by word alone."""

_MARKUP = re.compile(
    r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]"  # [[note|text]]
    r"|!?\[([^\[\]]*)\]\([^()\s]*\)"  # [text](address)
    r"|\*{1,3}|__|~~|==|^ {0,3}(?:>[ \t]?)+(?:\[![\w-]+\][+-]?)?|^ {0,3}#{1,6} "
    r"|^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?|^[ \t|:-]+$|\[\^[^\]]*\]",
    re.MULTILINE,
)

_ROW_END = re.compile(r"^[ \t]*\|[ \t]*|[ \t]*\|[ \t]*$", re.MULTILINE)
_CELL = re.compile(r"[ \t]+\|[ \t]+")


@dataclass(frozen=True, slots=True)
class Shown:
    """A hit as it is shown. ``quote`` is its text in parts, words marked. ``hub`` is the title of what brought it."""

    hit: Hit
    headings: tuple[str, ...]
    quote: QuoteLine
    bars: list[Bar]
    hub: str = ""

    @property
    def span(self) -> str:
        """Where the passage stands in the note, for its address."""
        return f"{self.hit.start}-{self.hit.end}"


@dataclass(frozen=True, slots=True)
class Choice:
    """A value of a facet: choosing it leads to ``address``. ``label`` is what a reader sees."""

    value: str
    label: str
    count: int
    address: str


@dataclass(frozen=True, slots=True)
class Facet:
    """What a search can be narrowed by. ``more`` are the choices that are not shown at once."""

    name: str
    few: list[Choice]
    more: list[Choice]


def show_search(visit: Visit) -> Response:
    """The whole page."""
    return visit.show("search.html", **_answer(visit, asked(visit.request.query_params)))


def show_found(visit: Visit) -> Response:
    """What the page holds below its search field."""
    question = asked(visit.request.query_params)
    typing = bool(visit.argument("typing"))
    if typing and question.mode != "dense":
        question = replace(question, mode="lexical")
    template = "hits.html" if question.cursor else "found.html"
    return HTMLResponse(visit.filled(template, **_answer(visit, question, typing=typing)))


def _answer(visit: Visit, question: Asked, *, typing: bool = False) -> dict[str, Any]:
    """What the templates need."""
    brain = visit.brain
    begun = time.perf_counter()
    filter = question.filter
    shared: dict[str, Any] = {"question": question, "typing": typing, "signal_name": partial(_signal_name, visit)}
    if not question.text and not question.chosen:
        visit.house.brains.has_model(brain, wait_s=0)  # whoever looks at the page is about to ask
        return {
            **shared,
            "result": None,
            "recent": brain.recent(limit=RECENT),
            "facets": _facets(question, brain.facets()),
            "notices": [told for told in brain.search("", mode="lexical", limit=1).notices if told != NO_WORDS],
        }
    ready = question.mode == "lexical" or visit.house.brains.has_model(brain, wait_s=WAIT_S)
    result = brain.search(
        question.text,
        limit=LIMIT,
        mode=question.mode if ready else "lexical",
        filter=filter,
        condensed=True,
        cursor=question.cursor,
    )
    counted = brain.facets(question.text, filter=filter)
    if not counted.documents and result.hits:
        counted = brain.facets(filter=filter)
    return {
        **shared,
        "result": result,
        "shown": list(_shown(result, word_pattern(question.text))),
        "facets": _facets(question, counted),
        "loading": not ready,
        "sure": _words_for(result.confidence),
        "notices": [notice for notice in result.notices if not notice.startswith(NOTHING_WELL)],
        "milliseconds": (time.perf_counter() - begun) * 1000,
        "hidden": 0 if result.hits else _left_out(visit, question),
    }


def _shown(result: SearchResult, pattern: re.Pattern[str] | None) -> Iterator[Shown]:
    titles = {hit.uri: hit.title for hit in result.hits}
    for hit in (*result.hits, *result.rolled_up):
        headings = hit.heading_path[1:] if hit.heading_path[:1] == (hit.title,) else hit.heading_path
        lines = quote(_readable(hit), pattern, width=QUOTE_WIDTH, lines=QUOTE_LINES)
        yield Shown(hit, headings, _joined(lines), bars(hit.explanation), titles.get(hit.via, hit.via))


def _joined(lines: list[QuoteLine]) -> QuoteLine:
    """Lines as one, with a blank where one ended; none between characters of scripts without blanks."""
    parts: QuoteLine = []
    for line in lines:
        if parts and line and not (cells(parts[-1][0][-1]) == cells(line[0][0][0]) == 2):
            parts.append((" ", False))
        parts += line
    return parts


def _readable(hit: Hit) -> str:
    """The passage without the headings that it begins with, and without what is only markup."""
    text = hit.text[:LONGEST_QUOTED]
    while True:
        line, _, rest = text.lstrip("\n").partition("\n")
        if not (rest.strip() and line.startswith("#") and line.strip("# ") in hit.heading_path):
            break
        text = rest
    text = _MARKUP.sub(lambda match: match[1] or match[2] or "", text)
    return _CELL.sub(" · ", _ROW_END.sub("", text)).replace("\t", " ")


def _signal_name(visit: Visit, name: str) -> str:
    """What a step of a score is called; steps that have no words keep their name."""
    return visit.t(f"signal.{name}") if f"signal.{name}" in WORDS else name


def _words_for(confidence: float | None) -> str:
    """The name of the words for a confidence."""
    if confidence is None:
        return ""
    return "doubtful" if confidence < DOUBTFUL else "sure" if confidence >= SURE else "perhaps"


def _facets(question: Asked, counted: Facets) -> list[Facet]:
    """What the search can still be narrowed by, without what is chosen already."""
    found: tuple[tuple[str, Counts], ...] = (
        ("source", counted.sources),
        ("type", counted.types),
        ("tag", counted.tags),
        ("project", counted.projects),
        ("language", counted.languages),
        ("privacy", counted.privacies),
    )
    facets = []
    for name, counts in found:
        choices = [
            Choice(value, value, count, question.with_(name, value).address())
            for value, count in counts[:MOST]
            if not question.has(name, value)
        ]
        if len(choices) > 1 or (choices and any(name == field for field, _ in question.chosen)):
            facets.append(Facet(name, choices[:FEW], choices[FEW:]))
    if not any(field in DAYS for field, _ in question.chosen):
        periods = counted.years if len(counted.years) > 2 else counted.months
        choices = [Choice(when, when, count, question.in_month(when).address()) for when, count in periods[:MOST]]
        facets.append(Facet("date", choices[:FEW], choices[FEW:]))
    return [facet for facet in facets if facet.few]


def _left_out(visit: Visit, question: Asked) -> int:
    """How many notes the filters leave out of a search that found nothing."""
    if not question.chosen:
        return 0
    return visit.brain.facets(question.text, filter=Filter()).documents


PAGES = (
    Page("/", show_search),
    Page("/found", show_found, part=True),
)
