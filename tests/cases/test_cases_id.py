"""Code search: faults met in such products, as far as analyzer and FTS5 go."""

from __future__ import annotations

import apsw
import pytest

from second_brain.analysis import FTS5_TOKENIZE, index_terms, match_expression, query_terms

OTHERS = [f"unrelated note {letter}{letter} about kelp, pumps and valves" for letter in "defghijklmnopqr"]


def found(notes: list[str], asked: str, *, expand: bool = False) -> list[str]:
    """The notes that a search finds, best first; ``expand``: terms that no note holds count as prefixes."""
    db = apsw.Connection(":memory:")
    db.execute(f"CREATE VIRTUAL TABLE terms USING fts5(body, content='', tokenize={FTS5_TOKENIZE})")
    db.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab(terms, row)")
    db.executemany("INSERT INTO terms(rowid, body) VALUES (?, ?)", [(n, index_terms(x)) for n, x in enumerate(notes)])
    query = query_terms(asked)
    known = {term for (term,) in db.execute("SELECT term FROM vocabulary")}
    expression = match_expression(query, prefixed=set(query.terms) - known if expand else ())
    rows = db.execute("SELECT rowid FROM terms WHERE terms MATCH ? ORDER BY rank, rowid", (expression,))
    return [notes[rowid] for (rowid,) in rows]


@pytest.mark.parametrize("asked", ["atomic_write_json", "atomic_write", "write_json"])
def test_id_1_snake_case(asked: str) -> None:
    """The file that holds the whole name comes first, notes that share a part come after."""
    exact = "def atomic_write_json(path, value):\n    replace(path, encode(value))"
    notes = ["how to write json by hand", "atomic bombs", exact, *OTHERS]
    order = found(notes, asked)
    assert order[0] == exact
    assert set(order) <= set(notes[:3])


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ("HttpResp", ["parseHttpResponse", "HTTPServerV2"]),
        ("http response", ["parseHttpResponse", "HTTPServerV2"]),
        ("parsehttpresponse", ["parseHttpResponse"]),
        ("parseHttp", ["parseHttpResponse", "HTTPServerV2"]),
        ("HttpResponse", ["parseHttpResponse", "HTTPServerV2"]),
        ("server v2", ["HTTPServerV2"]),
        ("httpserver", ["HTTPServerV2"]),
    ],
)
def test_id_2_camel_case(asked: str, names: list[str]) -> None:
    """Parts, the lower-case whole, and parts cut short are found once unknown terms are taken as prefixes."""
    assert found(["HTTPServerV2", "parseHttpResponse", *OTHERS], asked, expand=True) == names


@pytest.mark.parametrize(
    ("asked", "right", "near"),
    [
        ("os.path.join", "call os.path.join on it", "join the os group, its path is long"),
        ("3.50.7", "needs SQLite 3.50.7 at least", "7 of 50 took 3 days"),
        ("--dry-run", "try it with --dry-run first", "a dry river; run home"),
        ("C++", "the C++ way", "the C way"),
        ("C#", "the C# way", "the C way"),
        (".env", "put it into .env please", "the env of the shell"),
        ("node.js", "written for node.js only", "a node of the js graph"),
        ("a->b", "follow a->b here", "from a to b here"),
        ("x::y", "call x::y here", "plot x over y here"),
        ("/usr/lib", "look into /usr/lib first", "the lib in usr"),
        ("@x", "decorate with @x here", "the x axis here"),
        ("#tag", "marked with #tag here", "a tag here"),
    ],
)
def test_id_3_dots_flags_and_symbols(asked: str, right: str, near: str) -> None:
    """The note that holds the very form comes first, one with its bare parts after it."""
    order = found([near, right, *OTHERS], asked)
    assert order[0] == right
    assert set(order) <= {right, near}


@pytest.mark.parametrize("asked", ["->", "::", "=>", "!="])
def test_id_3_an_operator_alone(asked: str) -> None:
    """An operator between spaces is found by itself."""
    assert found(["nothing", f"what {asked} means", *OTHERS], asked) == [f"what {asked} means"]
