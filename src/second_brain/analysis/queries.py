"""A typed or pasted text to the terms worth looking for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from .normalization import compose, normalize
from .scripts import is_hiragana
from .stopwords import STOPWORDS
from .terms import LONGEST_WHOLE, Form, Token, forms, index_terms, tokens

_HEAD, _TAIL = 12_000, 4_000
"""Characters read of a longer text: people put their question before or after what they paste."""
_OUTER: Final = 24
"""Terms at either end of a text that go first when there are too many."""
_MOST_PHRASES, _LONGEST_PHRASE = 8, 32

_QUOTED: Final = re.compile('"([^"]+)"')
_TYPED: Final = re.compile("`([^`]+)`")
_MESSAGE: Final = re.compile(r"(?<![\w.:/])[\w.]{2,80}: +(\S.*)")
"""What follows a label, to the end of the line: a program may have written it."""
_CLAUSE_END: Final = re.compile(r"[,;?!、。，？！]\s*|\.\s+|\n")
_SHORTEST_CLAUSE: Final = 4
"""Terms of a part of a message that is looked for whole; shorter ones occur by chance."""
_HYPHENED: Final = re.compile(r"[^\W\d_]+(?:[-'][^\W\d_]+)+")
_HAS_DIGIT: Final = re.compile("[0-9]")
_NO_LETTER: Final = re.compile(r"[\W\d_]+$")


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """What to look for, in the order of the text, as terms of the index.

    ``terms`` has no term twice and no stop word, unless there is nothing else. ``phrases`` are the quoted
    parts, each the terms that stand next to each other in a text that holds it; their terms are among ``terms`` as
    well. ``wholes`` are what else is worth more in one piece, in the same form: compounds as they were typed, what
    stands in backticks, clauses of a message (``x509: certificate has expired``). ``identifiers`` are those of
    ``terms`` that stand for a compound (``parseHttpResponse``, ``os.path``, ``C++``), or for two parts that follow
    one another in it: rarer than single parts, and worth more.
    ``normalized`` is the text as ``normalize`` spells it.

    ``typing`` is the last word as typed so far, folded but not stemmed: whole, then its last part; empty when
    the text does not end in a word of letters. ``settled`` are the ``terms`` that other words account for.
    """

    terms: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...] = ()
    wholes: tuple[tuple[str, ...], ...] = ()
    identifiers: tuple[str, ...] = ()
    normalized: str = ""
    typing: tuple[str, ...] = ()
    settled: tuple[str, ...] = ()


def query_terms(text: str, *, limit: int = 64) -> QueryTerms:
    """What to look for when somebody asks ``text``.

    Straight and curly double quotes mark a phrase; nothing else is an operator. A text without words
    (blank, punctuation, emoji) has no terms.

    A text of more than ``limit`` terms keeps those that tell most: compounds (at most half), words and pairs of
    Han or katakana before terms with digits, those before pairs with hiragana, those before single Han; in each
    class the first and last of the text, then the longest. Of more than 16,000 characters only the first 12,000
    and last 4,000 are read. On jsquad-ja 24 terms so chosen lose at most 0.001 nDCG@10, the
    first 24 lose 0.005 to 0.008.

    A caller that knows the frequencies may ask for more and drop the common ones: FTS5's bm25 gives nothing
    to a term that half of the rows hold. A term that the index lacks (``resp``) is worth looking for as a
    prefix, see ``match_expression``.

    Cost: a tenth of a millisecond for a question, at most some 20 ms for 200 KB.
    """
    if len(text) > _HEAD + _TAIL:
        text = f"{text[:_HEAD]}\n{text[-_TAIL:]}"
    composed = compose(text)
    read = list(tokens(composed))
    found = [form for token in dict.fromkeys(read) for form in forms(token)]
    telling = [form for form in found if form.whole or form.text not in STOPWORDS] or found
    terms, identifiers = _most_telling(telling, limit)
    typing = _typing(composed, read[-1]) if read else ()
    settled = {form.term for form in found if form.text not in typing}
    return QueryTerms(
        terms=terms,
        phrases=_sequences(_QUOTED.findall(composed)),
        wholes=_wholes(composed, read),
        identifiers=identifiers,
        normalized=normalize(text),
        typing=typing,
        settled=tuple(term for term in terms if term in settled),
    )


def _typing(composed: str, last: Token) -> tuple[str, ...]:
    if last.unspaced or len(last.text) > LONGEST_WHOLE or _NO_LETTER.match(last.text):
        return ()
    if not composed.endswith(last.text):
        return ()
    folded = last.text.casefold()
    return tuple(dict.fromkeys(form.text for form in forms(last) if folded.endswith(form.text)))


def _wholes(composed: str, read: Sequence[Token]) -> tuple[tuple[str, ...], ...]:
    compounds = [token.text for token in read if not token.unspaced and not _HYPHENED.fullmatch(token.text)]
    single = dict.fromkeys(
        (form.term,) for text in compounds for form in [next(forms(Token(text, False)))] if form.whole
    )
    clauses = [clause for said in _MESSAGE.findall(composed) for clause in _CLAUSE_END.split(said)]
    long = _sequences(clauses, _SHORTEST_CLAUSE)
    return tuple(dict.fromkeys((*_sequences(_TYPED.findall(composed)), *long, *single)))[:_MOST_PHRASES]


def _sequences(texts: Sequence[str], shortest: int = 1) -> tuple[tuple[str, ...], ...]:
    """The terms of each text, in order, of those with enough of them."""
    found = (index_terms(text).split()[:_LONGEST_PHRASE] for text in texts)
    return tuple(dict.fromkeys(tuple(terms) for terms in found if len(terms) >= shortest))[:_MOST_PHRASES]


def _most_telling(found: Sequence[Form], limit: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Terms and, among them, identifiers, both in the order found."""
    whole = {form.term for form in found if form.whole}
    terms = list(dict.fromkeys(form.term for form in found))
    if len(terms) > limit:
        outer = {form.term for form in (*found[:_OUTER], *found[-_OUTER:])}
        ranked = sorted(terms, key=lambda term: (_dullness(term), term not in outer, -len(term)))
        compounds = [term for term in ranked if term in whole][: limit // 2]
        words = [term for term in ranked if term not in whole][: limit - len(compounds)]
        chosen = {*compounds, *words}
        terms = [term for term in terms if term in chosen]
    return tuple(terms), tuple(term for term in terms if term in whole)


def _dullness(term: str) -> int:
    if term.isascii():
        return 1 if _HAS_DIGIT.search(term) else 0
    return 3 if len(term) == 1 else (0, 2, 3)[min(sum(map(is_hiragana, term)), 2)]
