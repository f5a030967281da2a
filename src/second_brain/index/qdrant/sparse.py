"""A passage's terms as a sparse vector, whose product with a query's is the score that FTS5's ``bm25()`` gives.

    score(d) = sum over terms t of  idf(t) * w(t, d)
    w(t, d)  = f * (k1 + 1) / (f + k1 * (1 - b + b * |d| / avgdl)),   k1 = 1.2, b = 0.75
    idf(t)   = ln((N - n + 0.5) / (n + 0.5)), at least 1e-6

``f`` counts ``t`` in the fields of ``d``, each times the field's weight; ``|d|`` counts all terms, unweighted. ``w`` is
the passage's side and is sent, ``idf`` the query's, from the counts of the catalogue: so scores are those of SQLite and
can be compared across collections. (Robertson and Zaragoza 2009; ``fts5_aux.c`` of SQLite.)
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import TypeAlias

from ..sqlite.connection import Database

K1, B = 1.2, 0.75
LEAST_IDF = 1e-6

Sparse: TypeAlias = "tuple[list[int], list[float]]"
"""Indices, ascending, and the value of each."""


@lru_cache(maxsize=200_000)
def term_id(term: str) -> int:
    """The index of a term, 32 bits of a hash: Qdrant has no words.

    Two terms share one with probability 2**-32. In an index of a million different terms one query term in 4,300
    meets another there, and then finds passages with that one too, in places that their one term deserves.
    """
    return int.from_bytes(blake2b(term.encode("utf-8"), digest_size=4).digest(), "big")


def passage_vector(fields: Sequence[str], field_weights: Sequence[float], average: float) -> Sparse:
    """The weights ``w`` of a passage whose fields are given as terms with spaces between, with ``average`` as avgdl."""
    frequencies: Counter[str] = Counter()
    length = 0
    for field, weight in zip(fields, field_weights, strict=True):
        terms = field.split(" ") if field else []
        length += len(terms)
        for term, count in Counter(terms).items():
            frequencies[term] += weight * count  # type: ignore[assignment]  # weighted counts are not whole
    damping = K1 * (1 - B + B * length / average) if average else K1
    return _summed((term, f * (K1 + 1) / (f + damping)) for term, f in frequencies.items())


def query_vector(frequencies: Mapping[str, int], total: int) -> Sparse:
    """The idf of each term, from how many of the ``total`` passages hold it; one that none holds is left out."""
    return _summed((term, idf(n, total)) for term, n in frequencies.items() if n)


def idf(n: int, total: int) -> float:
    """How much a term tells that ``n`` of ``total`` passages hold."""
    return max(math.log((total - n + 0.5) / (n + 0.5)), LEAST_IDF)


def average_length(database: Database) -> float:
    """How many terms a passage has on average, from the record that FTS5 keeps for the same purpose; 0 for none."""
    numbers = _varints(database.value("SELECT block FROM terms_data WHERE id = 1") or b"")
    passages, *totals = numbers or [0]
    return sum(totals) / passages if passages else 0.0


def _summed(weighted: Iterable[tuple[str, float]]) -> Sparse:
    values: dict[int, float] = {}
    for term, value in weighted:
        index = term_id(term)
        values[index] = values.get(index, 0.0) + value
    return sorted(values), [values[index] for index in sorted(values)]


def _varints(data: bytes) -> list[int]:
    """The numbers of a block: seven bits a byte, highest first, the top bit set on all but the last byte of each."""
    numbers, number = [], 0
    for byte in data:
        number = (number << 7) | (byte & 0x7F)
        if not byte & 0x80:
            numbers.append(number)
            number = 0
    return numbers
