"""Full-text queries: faults met in such products, as far as analyzer and FTS5 go."""

from __future__ import annotations

import apsw
import pytest

from second_brain.analysis import FTS5_TOKENIZE, index_terms, match_expression, query_terms

NOTE = "Don't use multi-agent mode: why? see std::map & 50% (v2)"


def table(*notes: str) -> apsw.Connection:
    db = apsw.Connection(":memory:")
    db.execute(f"CREATE VIRTUAL TABLE terms USING fts5(body, content='', tokenize={FTS5_TOKENIZE})")
    for note in notes:
        db.execute("INSERT INTO terms(body) VALUES (?)", (index_terms(note),))
    return db


def found(db: apsw.Connection, asked: str) -> list[int]:
    expression = match_expression(query_terms(asked))
    return [
        rowid for (rowid,) in db.execute("SELECT rowid FROM terms WHERE terms MATCH ? ORDER BY rank", (expression,))
    ]


@pytest.mark.parametrize("asked", [*(word for word in NOTE.split() if word != "&"), NOTE])
def test_fq_1_each_word_of_a_note_finds_it(asked: str) -> None:
    """Apostrophe, hyphen, colon, question mark, percent sign and brackets are no syntax."""
    assert found(table(NOTE, "another note"), asked) == [1]


@pytest.mark.parametrize(
    "asked",
    [
        *("multi-agent", "a:b", "don't", "why?", "@x", "#tag", "*", "^", "NEAR(", "quick OR", "NOT found", "AND gate"),
        *("to be or not", "a AND", "(", '"open', "body:x", "-x", "+", "{a}", "x*", "^x", "NEAR(a b, 2)", "' OR 1=1 --"),
    ],
)
def test_fq_1_nothing_typed_is_syntax(asked: str) -> None:
    """Operators of FTS5 raise no error, and a note that holds the words is found."""
    db = table(f"before {asked} after")
    assert found(db, asked) == ([1] if query_terms(asked).terms else [])
    assert bool(query_terms(asked).terms) == any(character.isalpha() for character in asked)


def test_fq_1_capital_operators_are_words() -> None:
    """AND, OR and NOT neither join nor exclude."""
    db = table("the gate of the yard", "an or gate and a not gate", "pump")
    assert set(found(db, "NOT gate OR pump")) == {1, 2, 3}
    assert found(db, "NOT") == [2]


@pytest.mark.parametrize("asked", ["", "   ", "???", "。、", "🙂", '"'])
def test_fq_4_blank_and_punctuation_find_nothing(asked: str) -> None:
    """No terms, no error, no rows; the caller sees that there were no terms and can say so."""
    assert query_terms(asked).terms == ()
    assert found(table("a note 🙂 ???"), asked) == []


@pytest.mark.parametrize("notes", [(), ("kelp farm", "a refused connection", "other")])
def test_fq_5_a_pasted_log_as_query(notes: tuple[str, ...]) -> None:
    """Of 200 KB a bounded part is read, and few terms are looked for, on an empty table and on one with rows."""
    line = '2031-05-01T12:00:{:06d} ERROR worker-{:x} /srv/app/{}.py parseHttp{}Response "connection refused"\n'
    log = "".join(line.format(n, n * 7919, n, n) for n in range(2200))
    assert len(log) > 200_000
    db = table(*notes)
    assert found(db, log) == ([2] if notes else [])
    assert len(query_terms(log).terms) <= 64
    assert query_terms(log) == query_terms(f"{log[:12_000]}\n{log[-4_000:]}")  # no more of it is read
