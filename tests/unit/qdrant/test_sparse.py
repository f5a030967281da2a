"""Terms as sparse vectors whose products are FTS5's scores."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from second_brain.analysis import index_terms
from second_brain.index.qdrant import sparse
from second_brain.index.qdrant.points import read_points
from second_brain.index.sqlite.store import SqliteIndex
from second_brain.records import Removal
from second_brain.testing.index_contract import WORDS, fill, ids_by_key, put, write
from second_brain.types import Filter


def product(query: sparse.Sparse, passage: dict[str, list[float]]) -> float:
    weights = dict(zip(passage["indices"], passage["values"], strict=True))
    return sum(value * weights.get(index, 0.0) for index, value in zip(*query, strict=True))


@pytest.mark.parametrize("field_weights", [{}, {"title": 2.0}, {"title": 3.0, "body": 0.5}])
def test_products_are_the_scores_of_fts5(field_weights: dict[str, float], tmp_path: Path):
    """To nine digits, for every passage and word, with any weights of fields, also after deletions."""
    with closing(SqliteIndex(tmp_path / "index.db", field_weights=field_weights)) as index:
        fill(index)
        write(index, "notes", Removal("notes/many/07.md"))
        average = sparse.average_length(index.database)
        ids = ids_by_key(index)
        points = read_points(index.database, list(ids.values()), index.terms.weights, average)
        passages = {point["id"]: point["vector"]["terms"] for _, point in points}
        assert len(passages) == len(ids)
        for word in ("pump", "walnut", "same", "42", "nobody", *WORDS):
            terms = index_terms(word).split()
            ranking = index.searching().lexical(terms, Filter(), 1000)
            query = sparse.query_vector(index.terms.frequencies(terms), index.terms.count())
            expected = sorted(score for _, score in ranking.entries)
            assert sorted(filter(None, (product(query, one) for one in passages.values()))) == pytest.approx(
                expected, rel=1e-9
            )


def test_the_average_length_is_the_one_that_fts5_keeps(tmp_path: Path):
    """All terms of all fields over all passages; nothing for an empty index."""
    with closing(SqliteIndex(tmp_path / "index.db")) as index:
        assert sparse.average_length(index.database) == 0.0
        put(index, "notes/a.md", "one two three", title="t")
        put(index, "notes/b.md", "four " * 300, title="t")
        # Title, heading (the same word) and the file's stem are fields too.
        assert sparse.average_length(index.database) == (3 + 3 + 300 + 3) / 2


def test_a_term_has_the_same_index_for_ever():
    """It is stored in Qdrant: another hash would find nothing there."""
    assert [sparse.term_id(term) for term in ("pump", "排水", "c++")] == [746_596_696, 2_345_296_494, 4_108_097_864]


def test_terms_that_share_an_index_are_added_up(monkeypatch: pytest.MonkeyPatch):
    """A vector names each index once, whatever the hash does."""
    monkeypatch.setattr(sparse, "term_id", lambda term: 7)
    indices, values = sparse.query_vector({"a": 1, "b": 2, "unknown": 0}, 10)
    assert indices == [7]
    assert values == [sparse.idf(1, 10) + sparse.idf(2, 10)]


def test_a_term_that_most_passages_hold_tells_nothing_but_counts_above_zero():
    """As in FTS5: its weight is a millionth, never negative."""
    assert sparse.idf(9, 10) == 1e-6
