"""The MATCH expression and the tokenizer, against a real FTS5."""

from __future__ import annotations

import string
from collections.abc import Iterator
from itertools import pairwise

import apsw
import pytest

from second_brain.analysis import FTS5_TOKENIZE, QueryTerms, index_terms, match_expression, query_terms


@pytest.fixture
def db() -> Iterator[apsw.Connection]:
    """An empty table as the index makes it, with a view of its vocabulary."""
    connection = apsw.Connection(":memory:")
    connection.execute(
        "CREATE VIRTUAL TABLE terms USING fts5(title, body, content='', contentless_delete=1,"
        f" tokenize={FTS5_TOKENIZE})"
    )
    connection.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab(terms, instance)")
    yield connection
    connection.close()


def add(db: apsw.Connection, rowid: int, body: str) -> None:
    db.execute("INSERT INTO terms(rowid, body) VALUES (?, ?)", (rowid, index_terms(body)))


def found(db: apsw.Connection, expression: str) -> set[int]:
    return {rowid for (rowid,) in db.execute("SELECT rowid FROM terms WHERE terms MATCH ?", (expression,))}


def test_fts5_splits_at_spaces_only(db: apsw.Connection) -> None:
    """Every ASCII mark, alone, inside and at the ends, and letters of all scripts, stay in their term."""
    marks = string.punctuation
    terms = [*marks, *(f"a{mark}b" for mark in marks), *(f"{mark}c{mark}" for mark in marks), marks]
    terms += ["é", "漢字", "か\u3099", "ไทย", "हिन्दी", "🙂", "\u00a0", "\u3000", "𠮷", "\u2028", "x9"]
    db.execute("INSERT INTO terms(rowid, body) VALUES (1, ?)", (" ".join(terms),))
    stored = db.execute("SELECT term FROM vocabulary ORDER BY offset").fetchall()
    assert [term for (term,) in stored] == terms


def test_terms_are_joined_by_or_and_quoted() -> None:
    """Terms, then phrases, each a string of FTS5; doubled quotes, no term twice."""
    query = QueryTerms(terms=("pump", 'a"b', "pump"), phrases=(("valve", "room"),))
    assert match_expression(query) == '"pump" OR "a""b" OR "valve room"'


def test_nothing_to_look_for_matches_nothing(db: apsw.Connection) -> None:
    """The expression for no terms is valid."""
    add(db, 1, "pump")
    for text in ["", "🙂", "???"]:
        assert found(db, match_expression(query_terms(text))) == set()
        assert found(db, match_expression(query_terms(text), prefix_last=True)) == set()


def test_a_phrase_lifts_the_row_that_holds_it(db: apsw.Connection) -> None:
    """Rows with the words apart are found too, below."""
    add(db, 1, "room for a large pump and more pump and room")
    add(db, 2, "the pump room is below the stairs and dark")
    for rowid in range(3, 12):
        add(db, rowid, "nothing of the kind")
    order = db.execute(
        "SELECT rowid FROM terms WHERE terms MATCH ? ORDER BY rank", (match_expression(query_terms('"pump room"')),)
    ).fetchall()
    assert order == [(2,), (1,)]


def test_results_shrink_while_typing(db: apsw.Connection) -> None:
    """Each letter typed keeps or removes rows, and the whole word still finds its other forms."""
    words = ["run", "runs", "running", "runner", "runway", "rust", "walk", "happily", "happiness", "happy", "harp"]
    for rowid, word in enumerate(words):
        add(db, rowid, word)

    def typed(text: str) -> set[str]:
        return {words[rowid] for rowid in found(db, match_expression(query_terms(text), prefix_last=True))}

    for word in words:
        steps = [typed(word[:length]) for length in range(1, len(word) + 1)]
        assert all(after <= before for before, after in pairwise(steps))
        assert word in steps[-1]
    assert typed("ru") == {"run", "runs", "running", "runner", "runway", "rust"}
    assert typed("run") == {"run", "runs", "running", "runner", "runway"}
    assert typed("runn") == {"run", "runs", "running", "runner"}
    assert typed("runni") == typed("running") == {"run", "runs", "running"}


def test_only_the_last_word_is_a_prefix(db: apsw.Connection) -> None:
    """A finished word is looked for as it is."""
    add(db, 1, "pumpkin")
    add(db, 2, "valve")
    assert found(db, match_expression(query_terms("pump val"), prefix_last=True)) == {2}
    assert found(db, match_expression(query_terms("pump val"))) == set()


def test_terms_that_the_index_lacks_can_be_prefixes(db: apsw.Connection) -> None:
    """A caller that knows the vocabulary names them; the others are looked for as they are."""
    add(db, 1, "parseHttpResponse")
    add(db, 2, "httpd")
    query = query_terms("HttpResp")
    assert query.terms == ("httpresp", "http", "resp")
    assert found(db, match_expression(query, prefixed={"resp", "httpresp"})) == {1}


def test_a_single_syllable_finds_words_that_begin_with_it(db: apsw.Connection) -> None:
    """The index holds pairs of hangul and kana; one of them alone is looked for as a prefix."""
    add(db, 1, "물을 끓인다")
    add(db, 2, "ノート")
    add(db, 3, "불")
    assert found(db, match_expression(query_terms("물"))) == {1}
    assert found(db, match_expression(query_terms("ノ"))) == {2}
    assert found(db, match_expression(query_terms("불"))) == {3}
