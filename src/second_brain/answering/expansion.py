"""Other words for a question, from the vault itself: names of what it names, and what the first results say.

Used where a question finds fewer passages than were asked for: what the wider search adds comes after them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

from ..analysis import index_terms, query_terms
from ..index.sqlite.lookups import names_of
from ..index.sqlite.store import SqliteIndex
from ..types import Filter, Hit

FEEDBACK: Final = 3
"""Hits whose words are taken."""

MOST_WORDS: Final = 8


def wider(index: SqliteIndex, text: str, named: Sequence[str], hits: Sequence[Hit], filter: Filter) -> str:
    """The question with more words: other names of the documents that it names, headings and telling words of hits.

    Args:
        index: whose notes they are.
        text: the question.
        named: uris of documents that it names.
        hits: the first results, best first.
        filter: what the asker may see.

    Source:
        Rocchio 1971, in the form of RM3 without weights: the words of the first hits by frequency times idf.
    """
    asked = set(query_terms(text).terms)
    words = [name for name in names_of(index.database, named, filter) if name not in text]
    first = hits[:FEEDBACK]
    words.extend(hit.heading_path[-1] for hit in first if hit.heading_path)
    counts: Counter[str] = Counter()
    for hit in first:
        counts.update({term for term in index_terms(hit.text).split() if len(term) > 1 and not term.isdigit()})
    telling = [term for term, _ in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])) if term not in asked]
    frequencies = index.terms.frequencies(telling[:64], Filter(sources=filter.sources, privacy=filter.privacy))
    total = index.terms.count()
    weights = {term: counts[term] * math.log1p(total / (1 + count)) for term, count in frequencies.items() if count > 1}
    words.extend(sorted(weights, key=lambda term: (-weights[term], term))[:MOST_WORDS])
    return " ".join(dict.fromkeys((text, *words)))
