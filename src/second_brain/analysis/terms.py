"""Text to index terms.

A text is cut into tokens; each token yields its terms, in this order:

    word             running           run
    identifier       parseHttpResponse parsehttprespons pars http respons
                     os.path.join      os.path.join os path join
                     --dry-run         --dry-run dry-run dry run
    symbol           C++               c++ c
    number           3.50.7            3.50.7 3 50 7
    unspaced script  議事録を          議 議事 事 事録 録 録を
                     第12回            第 第12 12 12回 回

Each position of an unspaced run yields its character, if that is Han, then the pair that begins there; a
number counts as one character. So the terms of any part of a run stand in the same order, without a gap,
among the terms of the whole run, and phrases work.

Measured against the variants named, nDCG@10 on two halves of the questions, FTS5 bm25: pairs alone
0.952/0.947 (jsquad-ja), with single Han 0.956/0.950, numbers not paired 0.954/0.946; identifiers in parts only
0.384/0.364 (cosqa-dev), whole and in parts 0.386/0.379; inflected forms stored beside the stem were worse by
0.002-0.007 there and no better elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from operator import add
from threading import Lock
from typing import Final, NamedTuple

import Stemmer

from .normalization import compose
from .scripts import MARKS, UNSPACED, is_han

ANALYZER_VERSION: Final = f"1+snowball-{Stemmer.version()}"
"""Changes whenever the same text may yield other terms: an index made by another version must be rebuilt."""

LONGEST_WORD: Final = 64
"""Characters; longer words (keys, blobs) are cut there, on both sides."""
LONGEST_WHOLE: Final = 128
"""Characters; longer compounds (URLs, blobs) are kept in parts only."""
_LONGEST_CAMEL: Final = 48
_MEMO_SIZE: Final = 1 << 16

_NUMBER = r"(?>[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?)"
_RUN: Final = re.compile(
    rf"((?:(?<!\w)(?<![0-9A-Za-z_][-.,:/\\@&']){_NUMBER})?[{UNSPACED}]+(?:{_NUMBER}[{UNSPACED}]+)*"
    rf"(?:{_NUMBER}(?!\w|[-.,:/\\@&']\w))?)"
)
"""A run of unspaced script with the numbers in it (第12回, 50件, 平成30), but for parts of 3.50.7 or 2031-05-01."""
_UNIT: Final = re.compile(f"{_NUMBER}|[^0-9]")
_DIGIT: Final = re.compile("[0-9]")

_WORD = rf"(?:[^\W_]|(?<!_)_+[^\W_])\w*(?:[{MARKS}]+\w*)*"
_TOKEN: Final = re.compile(
    rf"""
      (?: (?<![\w.~/]) (?: ~?/\.? | \.{{1,2}}/\.? | \. ) (?=\w)    # /usr  ./a  ~/.b  .env
        | (?<![\w-]) --? (?=[A-Za-z])                             # -v  --dry-run
        | (?<!\w) [@\#$] (?=\w) )?                                 # @x  #tag  $HOME
      {_WORD}
      (?: (?: :: | -> | /[.@]? | [-.\\@&'] | (?<=[0-9]):(?=[0-9]) | (?<=[0-9]),(?=[0-9]{{3}}(?![0-9])) )
          _*{_WORD} )*
      (?: \+\+ | \#(?!\w) )?                                      # C++  C#
    | (?<![-=<>:&|+!]) (?: -> | => | <- | :: | := | != | <= | >= | && | \|\| | << | >> ) (?![-=<>:&|+!])
    """,
    re.VERBOSE,
)
"""A word, number, identifier, path, flag, tag or operator, in text without unspaced script."""

_SIGILS: Final = re.compile(r"(\W*)(.*?)(\+\+|#)?", re.DOTALL)
_CONTRACTION: Final = re.compile(r"[a-z]+'(?:t|re|ve|ll|d|m)", re.IGNORECASE)
_INITIALS: Final = re.compile(r"[A-Za-z](?:\.[A-Za-z])+")
_BORDERS: Final = tuple(
    re.compile(border)
    for border in (
        r"[/\\@]+",
        r"::|->|[.:&']",
        r"[-_]+",
        # aB, 2Bc, and ABc but not the plural of an acronym, ABs
        r"(?<=[a-z])(?=[A-Z])|(?<=[0-9])(?=[A-Z][a-z])|(?<=[A-Z])(?=[A-Z](?:[a-rt-z]|s[a-z]))",
        r"(?<=[A-Za-z]{2})(?=[0-9]+$)|(?<=[0-9])(?=[A-Za-z]{2,}$)",
    )
)
_FIRST_BORDER_IN_A_WORD: Final = 3

_snowball: Final = Stemmer.Stemmer("english", 0)
_snowball_lock: Final = Lock()  # a stemmer has one buffer


class Token(NamedTuple):
    """A piece of text and whether it is a run of unspaced script."""

    text: str
    unspaced: bool


class Form(NamedTuple):
    """One term of a token: the index's ``term``, the folded text it stands for, whether that is a compound."""

    term: str
    text: str
    whole: bool


def stem(word: str) -> str:
    """The index term of a folded word. English rules (Snowball) whatever the language; it may be no word."""
    with _snowball_lock:
        result: str = _snowball.stemWord(word)
    return result


def index_terms(text: str) -> str:
    """The terms of a text, in its order, each repeated as often as it occurs, joined by single spaces.

    Cost: some 8 MB/s of English, 5 million characters/s of Japanese.
    """
    text = compose(text)
    if text.isascii():
        return " ".join(map(_terms_of.__getitem__, _TOKEN.findall(text)))
    terms: list[str] = []
    for between, run in _stretches(text):
        terms.extend(map(_terms_of.__getitem__, _TOKEN.findall(between)))
        if run:
            terms.append(_terms_of_run(run))
    return " ".join(terms)


def tokens(composed: str) -> Iterator[Token]:
    """The tokens of a composed text, in its order."""
    for between, run in _stretches(composed):
        for token in _TOKEN.findall(between):
            yield Token(token, False)
        if run:
            yield Token(run, True)


def _stretches(composed: str) -> Iterator[tuple[str, str]]:
    """What stands before a run of unspaced script, and the run; the last run is empty."""
    pieces = [*_RUN.split(composed), ""]
    return zip(pieces[::2], pieces[1::2], strict=True)


def forms(token: Token) -> Iterator[Form]:
    """What a token stands for, the longest form first; for a run, all its terms in order."""
    if token.unspaced:
        yield from (Form(term, term, False) for term in _terms_of_run(token.text).split(" "))
    else:
        yield from _forms(token.text)


def _forms(token: str) -> Iterator[Form]:
    if token.isalpha() and (token.islower() or token.istitle()):
        yield _word(token)
        return
    lead, core, trail = _SIGILS.fullmatch(token).groups(default="")  # type: ignore[union-attr]  # matches all
    if not core:
        yield Form(token, token, False)  # an operator
        return
    bare = core.strip("_")
    dunder = bare != core and core != f"_{bare}_"  # _x_ is Markdown's emphasis
    if (lead or trail or dunder) and len(token) <= LONGEST_WHOLE:
        whole = token.casefold()
        yield Form(whole, whole, True)
    if bare[0].isdigit():
        bare = bare.replace(",", "")
    elif bare.endswith(("'s", "'S")):
        bare = bare[:-2]
    if _CONTRACTION.fullmatch(bare):
        yield _word(bare)
    else:
        yield from _parts(bare, 0)


def _parts(text: str, level: int) -> Iterator[Form]:
    for border in range(level, len(_BORDERS)):
        if border == _FIRST_BORDER_IN_A_WORD and len(text) > _LONGEST_CAMEL:
            break
        parts = [part for part in _BORDERS[border].split(text) if part]
        if len(parts) == 1:
            text = parts[0]
            continue
        if border >= _FIRST_BORDER_IN_A_WORD:
            yield _word(text)._replace(whole=True)
        elif len(text) <= LONGEST_WHOLE:
            whole = text.casefold()
            yield Form(whole, whole, True)
            if _INITIALS.fullmatch(text):
                yield _word(text.replace(".", ""))  # U.S. is US
        for part in parts:
            yield from _parts(part, border + 1)
        return
    yield _word(text)


def _word(text: str) -> Form:
    folded = text.casefold()[:LONGEST_WORD]
    return Form(stem(folded), folded, False)


def _terms_of_run(run: str) -> str:
    units: Sequence[str] = run
    if _DIGIT.search(run):
        units = [unit.replace(",", "")[:LONGEST_WORD] for unit in _UNIT.findall(run)]
    last = units[-1]
    if len(units) == 1:
        return last
    pairs = " ".join(map(add, map(_begin_of_pair.__getitem__, units), units[1:]))
    return f"{pairs} {last}" if _stands_alone(last) else pairs


def _stands_alone(unit: str) -> bool:
    return is_han(unit) or unit.isascii()


class _BeginOfPair(dict[str, str]):
    """What a character or number adds to the terms of its run, short of the next: 会 gives ``会 会``."""

    def __missing__(self, unit: str) -> str:
        if len(self) >= _MEMO_SIZE:
            self.clear()
        self[unit] = begin = f"{unit} {unit}" if _stands_alone(unit) else unit
        return begin


class _TermsOf(dict[str, str]):
    """The terms of a token that is no run, joined. Words come again, so they are remembered."""

    def __missing__(self, token: str) -> str:
        terms = " ".join([form.term for form in _forms(token)])
        if len(token) <= LONGEST_WORD:
            if len(self) >= _MEMO_SIZE:
                self.clear()
            self[token] = terms
        return terms


_begin_of_pair: Final = _BeginOfPair()
_terms_of: Final = _TermsOf()
