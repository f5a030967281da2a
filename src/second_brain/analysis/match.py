"""Query terms to the words of SQLite's FTS5, and the tokenizer that both agree on."""

from __future__ import annotations

import string
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from .queries import QueryTerms
from .scripts import is_syllable
from .terms import stems


def _string(text: str, quote: str = '"') -> str:
    return quote + text.replace(quote, quote * 2) + quote


FTS5_TOKENIZE: Final = _string(f"ascii tokenchars {_string(string.punctuation, chr(39))}")
"""The value of ``tokenize=`` in ``CREATE VIRTUAL TABLE``, quotes included: splits at spaces only.

Letters, digits and all of Unicode beyond ASCII are token characters of ``ascii`` already.
"""

MATCHES_NOTHING: Final = '""'
"""A valid expression without a term; FTS5 refuses the empty string."""

_ENDINGS: Final = """
    s es ies ied y ed edly ing ings ingly er ers est eed eedly e l
    tional enci anci abli entli izer izers ization izations ational ation ations ator ators alism aliti alli
    fulness ousli ousness iveness iviti biliti bli ogi fulli lessli li ly
    alize alizes alized alizing icate iciti ical ically ful fully less ness ative ativeness ality ity
    al ally ance ence ences ances ic able ably ible ibly ability ibility ant ement ment ments ent ents ently
    ism isms ate ates ated ating iti ous ously ive ively ize izes ized izing ion ions ies ily ier iest
"""
"""What Snowball's English rules take off, and their common combinations."""


def _rests() -> dict[str, list[str]]:
    rests: dict[str, list[str]] = {}
    for ending in _ENDINGS.split():
        for taken in range(len(ending) + 1):
            rests.setdefault(ending[:taken], []).append(ending[taken:])
    return rests


_RESTS: Final = _rests()
"""For each beginning of an ending, what may follow: ``i`` is followed by ``ng``, ``zation`` ..."""
_LONGEST_ENDING: Final = max(map(len, _RESTS))


def match_expression(query: QueryTerms, *, prefix_last: bool = False, prefixed: Collection[str] = ()) -> str:
    """The MATCH string that finds rows with any of the terms or phrases; valid FTS5 whatever the query.

    Args:
        query: terms and phrases. Every one is quoted, so that nothing in it is syntax.
        prefix_last: search while typing: the word at the end of the text stands for all words that begin so.
            The rows found for ``run``, ``runn``, ``runni``, ``running`` (each word alone) never grow, though
            the index holds stems only: the stems that a word beginning so could have are looked for too.
        prefixed: those of ``query.terms`` to look for as prefixes in the same way. Meant for terms of three
            letters or more that the index does not hold.

    A single kana, hangul or letter of another syllabic script is always looked for as a prefix, because the
    index holds pairs. A query without terms gives ``""``, which matches nothing.
    """
    typing = query.typing if prefix_last else ()
    terms = query.settled if typing else query.terms
    pieces = (*_pieces(typing, typing), *_pieces(terms, prefixed))
    wanted = [f"{_string(word)}*" if beginning else _string(word) for word, beginning in pieces]
    wanted += map(phrase_expression, query.phrases)
    return " OR ".join(dict.fromkeys(wanted)) or MATCHES_NOTHING


def words_and_beginnings(
    terms: Sequence[str], *, prefixed: Collection[str] = ()
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What ``match_expression`` looks for: whole terms, and beginnings that stand for all terms that begin so."""
    pieces = dict.fromkeys(_pieces(terms, prefixed))
    return tuple(word for word, beginning in pieces if not beginning), tuple(
        word for word, beginning in pieces if beginning
    )


def phrase_expression(terms: Sequence[str]) -> str:
    """The MATCH string that finds the rows in which these terms stand next to each other."""
    return _string(" ".join(terms))


def _pieces(terms: Sequence[str], prefixed: Collection[str]) -> Iterator[tuple[str, bool]]:
    """Each term to look for, and whether it is a beginning."""
    for term in terms:
        yield term, term in prefixed or is_syllable(term)
        if term in prefixed:
            yield from ((stem, False) for stem in sorted(_shorter_stems(term)))


def _shorter_stems(word: str) -> set[str]:
    """Stems of words that begin with ``word``, where the stem itself does not: ``runni`` gives ``run``.

    Completes the word by what may be left of an ending. For 1,500 words of two corpora, each prefix of a word
    led to the word's stem, and the stems found grew at 1 of 11,662 letters typed. Cost: some 0.05 ms.
    """
    if not (word.isascii() and word.isalpha()):
        return set()
    begun = {word[len(word) - taken :] for taken in range(min(_LONGEST_ENDING, len(word)) + 1)}
    completed = [word, *(word + rest for beginning in begun for rest in _RESTS.get(beginning, ()))]
    return {term for term in stems(completed) if not term.startswith(word)}
