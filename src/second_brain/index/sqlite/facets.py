"""How documents spread over sources, projects, kinds and the like: counted of those that a filter lets through."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

from ...analysis import match_expression, query_terms
from ...records import Counts, Facets
from ...types import Filter
from .connection import Database
from .filters import DOCUMENTS, condition
from .terms import TermIndex

DAY = "d.date, 'unixepoch', iif(d.own_date % 86400 = 0, '+0 days', 'localtime')"
"""A bare day is that day everywhere; other times are those of the clock on the reader's wall."""


def count_facets(database: Database, filter: Filter, match: str | None = None) -> Facets:
    """Count the documents that the filter lets through; with an FTS5 expression, those of which a chunk matches it.

    Tags are counted as they are compared, each by itself: a document with ``a/b`` counts for ``a/b`` only.
    Cost: one walk over these documents.
    """
    where, values = condition(filter)
    parts = [where] if where else []
    if match is not None:
        parts.append("d.key IN (SELECT c.document FROM terms JOIN chunk c ON c.key = terms.rowid WHERE terms MATCH ?)")
        values = [*values, match]
    chosen = f"SELECT d.key FROM {DOCUMENTS}" + (f" WHERE {' AND '.join(parts)}" if parts else "")
    with database.snapshot():  # all counts are of one moment
        keys = [key for (key,) in database.rows(chosen, values)]
        return _count(database, keys)


def telling_match(terms: TermIndex, text: str, filter: Filter) -> str:
    """The FTS5 expression for the words of a text of which most that the asker may see does not hold each."""
    asked = query_terms(text)
    seen = Filter() if filter.privacy is None else Filter(sources=filter.sources, privacy=filter.privacy)
    frequencies, total = terms.frequencies(asked.terms, seen), terms.count(seen)
    telling = tuple(term for term, count in frequencies.items() if count * 2 <= total)
    return match_expression(replace(asked, terms=telling) if telling else asked)


def _count(database: Database, documents: list[int]) -> Facets:
    listed = json.dumps(documents)

    def counts(value: str, order: str = "2 DESC, 1", tables: str = "") -> Counts:
        rows = database.rows(
            f"SELECT {value}, count(*) FROM json_each(?) chosen JOIN document d ON d.key = chosen.value"
            f" JOIN source s ON s.key = d.source {tables} WHERE {value} != '' GROUP BY 1 ORDER BY {order}",
            (listed,),
        )
        return tuple((str(found), int(count)) for found, count in rows)

    def folded(value: str) -> Counts:
        """The same, with spellings that filters do not tell apart counted as one, under the most frequent."""
        spelled: dict[str, str] = {}
        totals: Counter[str] = Counter()
        for found, count in counts(value):
            totals[spelled.setdefault(_ascii_lower(found), found)] += count
        return tuple(sorted(totals.items(), key=lambda entry: (-entry[1], entry[0])))

    return Facets(
        documents=len(documents),
        sources=counts("s.name"),
        projects=folded("d.project"),
        kinds=folded("d.kind"),
        types=folded("d.type"),
        languages=folded("d.language"),
        tags=counts("t.tag", tables="JOIN tag t ON t.document = d.key"),
        months=counts(f"strftime('%Y-%m', {DAY})", "1 DESC"),
        years=counts(f"strftime('%Y', {DAY})", "1 DESC"),
        privacies=counts("d.privacy"),
    )


def _ascii_lower(text: str) -> str:
    """As SQLite's ``lower`` folds."""
    return text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")
