"""How much an agent has to read, and how long it waits: for a search, a note, the lines that grep prints, whole files.

Tokens are estimated as those of an answer's budget are (``answering.packing``), without a model's tokenizer.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from ..answering.packing import tokens
from ..protocols import Progress
from .answers import Engine, Place
from .grep import matching_lines
from .measures import mean
from .questions import Question

SAMPLE = 60
"""So many questions of a set are timed."""

SEARCH = "one search"
"""The first of the readings, with which the others are compared."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a question costs: wall time of its answer (median, 95th percentile), and the mean of what is read of it."""

    questions: int
    p50_ms: float
    p95_ms: float
    tokens: float
    bytes: float


@dataclass(frozen=True, slots=True)
class Size:
    """Bytes in UTF-8, and tokens."""

    bytes: int
    tokens: int

    def __add__(self, other: Size) -> Size:
        return Size(self.bytes + other.bytes, self.tokens + other.tokens)


def size(text: str) -> Size:
    """How long a text is."""
    return Size(len(text.encode("utf-8", "replace")), tokens(text))


def costs(
    engines: Mapping[str, Engine], questions: Sequence[Question], name: str, progress: Progress
) -> dict[str, Cost]:
    """What a question costs in each system, one at a time, warm.

    Up to ``SAMPLE`` questions, spread evenly over the list, are asked again for this, after one that is not timed.
    """
    asked = questions[:: -(-len(questions) // SAMPLE)] if questions else []
    known: dict[Engine, Cost] = {}
    for system, engine in engines.items():
        if engine in known or not asked:
            continue
        engine(name)  # loads what is loaded once
        spent, read = [], []
        for done, question in enumerate(asked, start=1):
            started = time.perf_counter()
            found = engine(question.text)
            spent.append((time.perf_counter() - started) * 1000)
            read.append(size(found.text()))
            progress(f"{name} {system}, timed", done, len(asked))
        p50, p95 = (round(float(part), 2) for part in np.quantile(spent, (0.5, 0.95)))
        known[engine] = Cost(len(asked), p50, p95, mean(s.tokens for s in read), mean(s.bytes for s in read))
    return {system: known[engine] for system, engine in engines.items() if engine in known}


def readings(
    search: Engine, grep: Engine, texts: Mapping[Place, str], questions: Sequence[Question], progress: Progress
) -> dict[str, dict[str, Size]]:
    """How much an agent reads for each question, by the way in which it looks; each by question id.

        one search                  the text of the answer
        and its best note           the same, and then the whole document of the first hit
        grep: lines, ten files      lines with a telling word, of the ten files that hold most of the question's words
        grep: ten files             these files whole
        grep: lines, all files      every line with a telling word
        grep: all files             every file that has one

    Telling words are those of the question without stop words; a line is printed with its file and number.
    """
    whole = {place.document: text for place, text in texts.items()}
    sized = cache(lambda document: size(whole[document]))
    lines = cache(lambda question, document: size(matching_lines(question, document, whole[document])))
    found: dict[str, dict[str, Size]] = {}
    for done, question in enumerate(questions, start=1):
        answer = search(question.text)
        once = size(answer.text())
        best = answer.places[:1]
        first = [place.document for place in grep(question.text).places]
        named = [document for document in whole if lines(question.text, document).bytes]
        none = Size(0, 0)
        sizes = {
            SEARCH: once,
            "and its best note": sum((sized(place.document) for place in best), once),
            "grep: lines, ten files": sum((lines(question.text, document) for document in first), none),
            "grep: ten files": sum(map(sized, first), none),
            "grep: lines, all files": sum((lines(question.text, document) for document in named), none),
            "grep: all files": sum(map(sized, named), none),
        }
        for way, amount in sizes.items():
            found.setdefault(way, {})[question.id] = amount
        progress("tokens", done, len(questions))
    return found
