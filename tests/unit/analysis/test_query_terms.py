"""Questions to terms worth looking for."""

from __future__ import annotations

import time

import pytest

from second_brain.analysis import QueryTerms, index_terms, query_terms


def test_a_question_becomes_its_telling_terms() -> None:
    """Every field of a small question."""
    assert query_terms("How does parseHttp find “the Pump room”?") == QueryTerms(
        terms=("parsehttp", "pars", "http", "find", "pump", "room"),
        phrases=(("the", "pump", "room"),),
        wholes=(("parsehttp",),),
        identifiers=("parsehttp",),
        normalized='how does parsehttp find "the pump room"?',
        typing=(),
        settled=("parsehttp", "pars", "http", "find", "pump", "room"),
    )


@pytest.mark.parametrize("text", ["", "   ", "???", "。、", "🙂", '"', '""', "\x00", "\ud800", "-", "_"])
def test_a_query_without_words_has_no_terms(text: str) -> None:
    """Blank, punctuation and emoji give no terms and no error."""
    assert query_terms(text).terms == ()
    assert query_terms(text).phrases == ()


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("what is the pump", ("pump",)),
        ("ポンプはどこですか", ("ポン", "ンプ", "プは", "はど", "こで")),
        ("泵在哪里", ("泵", "泵在", "在", "在哪", "里")),
        ("and", ("and",)),
        ("to be", ("to", "be")),
        ("です", ("です",)),
        ("to_list", ("to_list", "list")),
        ("if not found", ("if", "not", "found")),
    ],
)
def test_stop_words_go_unless_nothing_else_is_left(text: str, terms: tuple[str, ...]) -> None:
    """English, Japanese and Chinese words that only ask are dropped; words that are also keywords are not."""
    assert query_terms(text).terms == terms


def test_terms_are_not_repeated() -> None:
    """A term counts once, at its first place."""
    assert query_terms("pump room, Pumps and rooms: pump").terms == ("pump", "room")


def test_only_double_quotes_mark_phrases() -> None:
    """Straight and curly double quotes; Japanese brackets, guillemets and apostrophes are no operators."""
    text = '"one two" “three 四五” 「六七」 «eight nine» \'ten eleven\' "" " " "open'
    assert query_terms(text).phrases == (("one", "two"), ("three", "四", "四五", "五"))


def test_a_phrase_has_the_terms_of_the_text_that_holds_it() -> None:
    """Stop words, identifiers and parts of a run included."""
    (phrase,) = query_terms('"to be in os.path の議事"').phrases
    held = index_terms("not to be in os.path の議事 now").split(" ")
    assert any(tuple(held[at : at + len(phrase)]) == phrase for at in range(len(held)))


def test_identifiers_are_the_compounds() -> None:
    """Whole names and neighbouring parts, among the terms, spelt as the index spells them."""
    query = query_terms("atomic_write in parseHttpResponse, C++ and .env")
    assert query.identifiers == ("atomic_write", "parsehttprespons", "parsehttp", "httprespons", "c++", ".env")
    assert set(query.identifiers) <= set(query.terms)


@pytest.mark.parametrize(
    ("text", "typing", "settled"),
    [
        ("pump runn", ("runn",), ("pump",)),
        ("HttpRe", ("httpre", "re"), ("http",)),
        ("--dry-ru", ("--dry-ru", "dry-ru", "ru"), ("dri",)),
        ("the Caff", ("caff",), ()),
        ("pump ", (), ("pump",)),
        ("pump?", (), ("pump",)),
        ("会議", (), ("会", "会議", "議")),
        ("version 3.5", (), ("version", "3.5", "3", "5")),
    ],
)
def test_the_word_being_typed_is_known(text: str, typing: tuple[str, ...], settled: tuple[str, ...]) -> None:
    """The last word, as typed, apart from the terms of the others; a space or a mark ends it."""
    query = query_terms(text)
    assert (query.typing, query.settled) == (typing, settled)


def test_a_short_query_keeps_all_and_a_long_one_the_telling_terms() -> None:
    """Names and kanji before numbers, mixed pairs, single Han and hiragana; order is the text's."""
    text = "12 のこぎりを倉庫に置いた parseHttp"
    assert query_terms(text).terms == (
        *("12", "のこ", "こぎ", "ぎり", "りを", "を倉", "倉", "倉庫", "庫", "庫に", "に置", "置", "置い", "いた"),
        *("parsehttp", "pars", "http"),
    )
    assert query_terms(text, limit=5).terms == ("12", "倉庫", "parsehttp", "pars", "http")


def test_whole_identifiers_leave_room_for_words() -> None:
    """A pasted log full of unique names still asks for its words."""
    log = " ".join(f"req-{n:08x}-end" for n in range(500)) + " pump failure"
    query = query_terms(log)
    assert len(query.terms) == 64
    assert len(query.identifiers) == 32
    assert {"pump", "failur"} <= set(query.terms)


@pytest.mark.parametrize(
    "unit",
    ["2031-05-01T12:00:01 ERROR /var/log/x parseHttp failed ", "第12回の議事録を確認する。", "a&", "“q w”", "\x00"],
)
def test_a_pasted_log_is_capped(unit: str) -> None:
    """200 KB take milliseconds (bound here: a quarter of a second) and give at most ``limit`` terms."""
    text = f"kelp question first {unit * (200_000 // len(unit))} asked last osprey"
    start = time.process_time()
    query = query_terms(text)
    assert time.process_time() - start < 0.25
    assert len(query.terms) <= 64
    assert {"kelp", "osprey"} <= set(query.terms)
    assert len(query.normalized) <= 17_000


@pytest.mark.parametrize(
    ("text", "wholes"),
    [
        ("what does `brain index --prune` do", {("brain", "index", "--prune", "prune"), ("--prune",)}),
        ("os.path.join or parseHttpResponse", {("os.path.join",), ("parsehttprespons",)}),
        (
            "x509: certificate has expired or is not yet valid, on a boat",
            {("certif", "has", "expir", "or", "is", "not", "yet", "valid")},
        ),
        ("FATAL: sorry, too many clients already\nwhat now?", {("too", "mani", "client", "alreadi")}),
        ("a first-century well-known don't", set()),
        ("What is this: a note", set()),
        ("https://example.org/a", {("example.org/a",)}),
    ],
)
def test_what_is_worth_more_in_one_piece(text: str, wholes: set[tuple[str, ...]]) -> None:
    """Compounds as typed, what stands in backticks, clauses of a message; not plain words joined by hyphens."""
    found = query_terms(text).wholes
    assert len(found) == len(set(found))
    assert set(found) == wholes
