"""Text to index terms.

A text is cut into tokens; each token yields its terms, in this order:

    word             running             run
    identifier       parseHttpResponse   parsehttprespons parsehttp httprespons pars http respons
                     os.path.join        os.path.join os.path path.join os path join
                     --dry-run           --dry-run dry-run dry run
    symbol           C++                 c++ c
    number           3.50.7              3.50.7 3.50 50.7 3 50 7
    unspaced script  議事録を            議 議事 事 事録 録 録を
                     第12回              第 第12 12 12回 回

A compound yields itself, each two parts that follow one another, then its parts, which may be compounds.
Each position of an unspaced run yields its character, if that is Han, then the pair that begins there; a
number counts as one character. So the terms of any part of a run stand in the same order, without a gap,
among the terms of the whole run, and phrases work.

Chosen by measurement: nDCG@10 of FTS5's bm25, two halves of the questions of each set. (On cosqa-dev less than
0.008 is chance; there, compounds are for those who type a name, which no question of that set does.)

                                            jsquad-ja    xquad-zh     xquad-en     cosqa-dev
    as it is                                .956 .950    .983 .962    .978 .961    .390 .393
    pairs without single Han                .951 .948    .978 .953
    single Han in the index, not queried    .950 .948    .978 .953
    numbers not paired with characters      .954 .946    .981 .962
    identifiers in parts only                                         .979 .960    .393 .378
    inflected forms stored, not queried                               .978 .960    .390 .395
    inflected forms stored and queried                                .976 .959    .380 .364

The stem alone is stored, then: the cheapest, and nothing is better. Search while typing manages without the
inflected forms too, see ``match_expression``.
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

ANALYZER_VERSION: Final = f"2+snowball-{Stemmer.version()}"
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


def stems(words: list[str]) -> list[str]:
    """The index terms of folded words. English rules (Snowball) whatever the language; they may be no words."""
    with _snowball_lock:
        result: list[str] = _snowball.stemWords(words)
    return result


def index_terms(text: str) -> str:
    """The terms of a text, in its order, each repeated as often as it occurs, joined by single spaces.

    Cost: some 8 MB/s of English, 3.5 million characters/s of Japanese.
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
        yield _compound(token)
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
        if len(text) <= LONGEST_WHOLE:
            form = _compound if border < _FIRST_BORDER_IN_A_WORD else _word
            yield form(text)._replace(whole=True)
            if len(parts) > 2:
                yield from (form(pair)._replace(whole=True) for pair in _pairs(text, _BORDERS[border]))
            if _INITIALS.fullmatch(text):
                yield _word(text.replace(".", ""))  # U.S. is US
        for part in parts:
            yield from _parts(part, border + 1)
        return
    yield _word(text)


def _pairs(text: str, border: re.Pattern[str]) -> Iterator[str]:
    """Each two parts that follow one another, with the border between them: ``b_c`` of ``a_b_c``."""
    borders = [found.span() for found in border.finditer(text)]
    starts = [0, *(end for _, end in borders)]
    ends = [*(start for start, _ in borders), len(text)]
    return (text[start:end] for start, end in zip(starts, ends[1:], strict=False))


def _compound(text: str) -> Form:
    folded = text.casefold()
    return Form(folded, folded, True)


def _word(text: str) -> Form:
    folded = text.casefold()[:LONGEST_WORD]
    (term,) = stems([folded])
    return Form(term, folded, False)


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
