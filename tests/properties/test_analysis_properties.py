"""What holds for any text that is analysed, against a real FTS5."""

from __future__ import annotations

import unicodedata

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from second_brain.analysis import (
    FTS5_TOKENIZE,
    QueryTerms,
    index_terms,
    match_expression,
    normalize,
    query_terms,
)

MIXED = st.text(
    st.sampled_from(
        "abzABZéßİσςйø09 \t\n\r\x00\x1b\x85\u00a0\u3000.,:;-_/\\@#$%&+'\"“”’|<>=!?*^(){}[]~`"
        "会議第回々〆ーのをガがか\u3099゛ﾃﾞＡ１，서버물ไทยहिन्दी\u0301\u200b\ufe0f\U000e0100🙂𠮷\ud800①½ŉǰΐᾳ"
    ),
    max_size=60,
)
ANY = st.text(st.characters(codec=None), max_size=40)
TEXT = MIXED | ANY
RUN = st.text(st.sampled_from("会議録第回々〆ーのをガがサバ서버물ไทย12"), min_size=2, max_size=20)


@pytest.fixture(scope="module")
def db() -> apsw.Connection:
    """A table with one row, and a view of its vocabulary."""
    connection = apsw.Connection(":memory:")
    options = f"content='', contentless_delete=1, tokenize={FTS5_TOKENIZE}"
    connection.execute(f"CREATE VIRTUAL TABLE terms USING fts5(title, body, {options})")
    connection.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab(terms, instance)")
    return connection


def put(db: apsw.Connection, terms: str) -> None:
    db.execute("DELETE FROM terms")
    db.execute("INSERT INTO terms(rowid, body) VALUES (1, ?)", (terms,))


def hits(db: apsw.Connection, expression: str) -> bool:
    return bool(db.execute("SELECT rowid FROM terms WHERE terms MATCH ?", (expression,)).fetchall())


@settings(deadline=None)
@given(TEXT)
def test_normalize_twice_is_normalize_once(text: str) -> None:
    """Its result is a fixed point, in NFKC, without controls or doubled spaces."""
    once = normalize(text)
    assert normalize(once) == once
    assert unicodedata.is_normalized("NFKC", once)
    assert once == " ".join(once.split())
    assert not any(unicodedata.category(character) in {"Cc", "Cs"} for character in once)


@settings(deadline=None)
@given(TEXT)
def test_composed_and_decomposed_text_have_the_same_terms(text: str) -> None:
    """NFC and NFD of a text are analysed alike."""
    assert index_terms(unicodedata.normalize("NFD", text)) == index_terms(unicodedata.normalize("NFC", text))


@settings(deadline=None)
@given(TEXT)
def test_terms_are_apart_by_single_spaces_and_fts5_sees_the_same(db: apsw.Connection, text: str) -> None:
    """What ``index_terms`` joins is what FTS5 stores: nothing split, dropped or changed."""
    joined = index_terms(text)
    terms = joined.split(" ") if joined else []
    assert all(terms)
    categories = {unicodedata.category(character) for character in joined.replace(" ", "")}
    assert categories.isdisjoint({"Cc", "Cf", "Cs", "Zs", "Zl", "Zp"})
    put(db, joined)
    stored = db.execute("SELECT term FROM vocabulary ORDER BY offset").fetchall()
    assert [term for (term,) in stored] == terms


@settings(deadline=None)
@given(TEXT)
def test_a_query_asks_for_terms_of_its_own_text(text: str) -> None:
    """Query and index share one analyzer: a text finds itself, and only in its own terms."""
    query = query_terms(text, limit=1000)
    held = index_terms(text).split(" ")
    assert set(query.terms) <= set(held)
    assert len(set(query.terms)) == len(query.terms)
    assert set(query.identifiers) <= set(query.terms)
    assert set(query.settled) <= set(query.terms)
    assert bool(query.terms) == (held != [""])


@settings(deadline=None)
@given(TEXT, st.integers(1, 8))
def test_the_limit_holds(text: str, limit: int) -> None:
    """Never more terms than asked for, in the order of the text."""
    terms = query_terms(text, limit=limit).terms
    assert len(terms) <= limit
    every = query_terms(text, limit=1000).terms
    assert [term for term in every if term in terms] == list(terms)


@settings(deadline=None)
@given(TEXT, TEXT)
def test_no_text_is_a_syntax_error(db: apsw.Connection, text: str, other: str) -> None:
    """Every expression made from a text is accepted by FTS5, and the text finds itself by it."""
    put(db, index_terms(text))
    for asked in (text, other, f'"{text}" {other}'):
        query = query_terms(asked)
        for expression in (
            match_expression(query),
            match_expression(query, prefix_last=True),
            match_expression(query, prefixed=query.terms),
        ):
            hits(db, expression)
    own = query_terms(text, limit=1000)
    assert hits(db, match_expression(own)) == bool(own.terms)
    assert hits(db, match_expression(own, prefix_last=True)) == bool(own.terms)


@settings(deadline=None)
@given(st.lists(ANY), st.lists(st.lists(ANY, min_size=1)), st.lists(ANY))
def test_terms_made_elsewhere_are_no_syntax_error_either(
    db: apsw.Connection, terms: list[str], phrases: list[list[str]], typing: list[str]
) -> None:
    """Any strings that SQLite can hold may stand as terms, phrases and words being typed."""

    def storable(text: str) -> str:
        return text.encode("utf-8", "replace").decode().replace("\x00", "")

    query = QueryTerms(
        terms=tuple(map(storable, terms)),
        phrases=tuple(tuple(map(storable, phrase)) for phrase in phrases),
        typing=tuple(map(storable, typing)),
    )
    found = hits(db, match_expression(query, prefix_last=True))
    assert not found or query.terms or query.phrases or query.typing
    hits(db, match_expression(query, prefixed=query.terms))


@settings(deadline=None)
@given(RUN, st.data())
def test_any_part_of_a_run_is_found_in_it(db: apsw.Connection, run: str, data: st.DataObject) -> None:
    """Whatever two or more characters of an unspaced run are asked for, quoted or not, hit the run."""
    start = data.draw(st.integers(0, len(run) - 2))
    end = data.draw(st.integers(start + 2, len(run)))
    part = run[start:end]
    if part.isdigit() or run[start - 1 : start].isdigit() or run[end : end + 1].isdigit():
        part = run  # half a number is another number
    put(db, index_terms(run))
    assert hits(db, match_expression(query_terms(part)))
    (phrase,) = query_terms(f'"{part}"').phrases
    assert hits(db, '"' + " ".join(phrase) + '"')


@settings(deadline=None)
@given(st.from_regex(r"[a-z]{1,12}", fullmatch=True))
def test_every_beginning_of_a_word_finds_it_while_typing(db: apsw.Connection, word: str) -> None:
    """From its first letter to its last a word being typed leads to the text that holds it, bare or inflected."""
    for held in (word, f"{word}s", f"{word}ing", f"{word}ly"):
        put(db, index_terms(held))
        for length in range(1, len(word) + 1):
            assert hits(db, match_expression(query_terms(word[:length]), prefix_last=True))
