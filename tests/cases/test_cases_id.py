"""Code search: faults met in such products, as far as analyzer and FTS5 go."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import apsw
import pytest

from second_brain.analysis import FTS5_TOKENIZE, index_terms, match_expression, query_terms
from second_brain.chunking.code import CodeChunker
from second_brain.parsing.code import CodeParser
from second_brain.testing.parser_contract import make_blob

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


# -- the same in a folder of code ------------------------------------------------------------------------------------

FILLING = {f"src/{letter}.py": f"def kelp_{letter}(valve):\n    return pump(valve)\n" for letter in "defghijk"}


@pytest.fixture
def search(tmp_path: Path, make_notes: Any) -> Iterator[Callable[[Mapping[str, str], str], list[str]]]:
    """Writes files into a folder of code; the paths that a search by word finds there, best first."""
    notes = make_notes(tmp_path)
    code = tmp_path / "code"
    with notes.brain as brain:

        def found(files: Mapping[str, str], asked: str) -> list[str]:
            for name, text in {**FILLING, **files}.items():
                path = code / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            if not brain.sources()[1:]:
                brain.add(code, kind="code")
            brain.sync(["code"])
            hits = brain.search(asked, mode="lexical").hits
            return list(dict.fromkeys(hit.uri.partition("/")[2] for hit in hits))

        yield found


SNAKE = {
    "src/files.py": "def atomic_write_json(path, value):\n    replace(path, encode(value))\n",
    "src/atomic.md": "# Atomic\n\nWhat atomic means here.\n",
    "src/writing.py": '"""How to write json by hand."""\nX = 1\n',
}


@pytest.mark.parametrize("asked", ["atomic_write_json", "atomic_write", "write_json"])
def test_id_1_snake_case_in_code(asked: str, search: Callable[[Mapping[str, str], str], list[str]]) -> None:
    """The file that defines the name comes first, files that share a part of it after it."""
    order = search(SNAKE, asked)
    assert order[0] == "src/files.py"
    assert set(order) <= set(SNAKE)


CAMEL = {
    "web/parser.ts": "export function parseHttpResponse(raw: string): Reply {\n  return split(raw)\n}\n",
    "web/server.go": "package web\n\n// HTTPServerV2 serves.\ntype HTTPServerV2 struct {\n\tport int\n}\n",
}


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("HttpResp", "web/parser.ts"),
        ("http response", "web/parser.ts"),
        ("parsehttpresponse", "web/parser.ts"),
        ("parseHttp", "web/parser.ts"),
        ("server v2", "web/server.go"),
    ],
)
def test_id_2_camel_case_in_code(asked: str, first: str, search: Callable[[Mapping[str, str], str], list[str]]) -> None:
    """Parts, the lower-case whole, and parts cut short find the definition."""
    assert search(CAMEL, asked)[0] == first


@pytest.mark.parametrize(
    ("asked", "right", "near"),
    [
        ("os.path.join", "p = os.path.join(a, b)", "# join the os group, its path is long\nq = 1"),
        ("3.50.7", "NEEDED = '3.50.7'", "# 7 of 50 took 3 days\nq = 1"),
        ("--dry-run", "option('--dry-run')", "# a dry river; run home\nq = 1"),
        ("C++", "# the C++ way\nq = 1", "# the C way\nq = 1"),
        ("node.js", "# written for node.js only\nq = 1", "# a node of the js graph\nq = 1"),
        ("std::map", "# as std::map does\nq = 1", "# a map of the std of people\nq = 1"),
        ("/usr/lib", "p = '/usr/lib'", "# the lib that users usr\nq = 1"),
    ],
)
def test_id_3_dots_flags_and_symbols_in_code(
    asked: str, right: str, near: str, search: Callable[[Mapping[str, str], str], list[str]]
) -> None:
    """The file that holds the very form comes first."""
    assert search({"near.py": f"{near}\n", "right.py": f"{right}\n"}, asked)[0] == "right.py"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", "# → 温度計算 🙂\n\ndef togglePause(self):\n    return 1\n\ndef update(): pass\n"),
        ("a.js", "// → 温度計算 🙂\n\nfunction togglePause(self) {\n  return 1\n}\n\nfunction update() {}\n"),
        ("a.go", "// → 温度計算 🙂\npackage a\n\nfunc togglePause(s T) int {\n\treturn 1\n}\n\nfunc update() {}\n"),
    ],
)
def test_id_5_letters_of_several_bytes_shift_no_symbol(name: str, text: str) -> None:
    """A parser counts bytes, we count characters: each passage begins at its definition, whatever stands above."""
    (document,) = CodeParser().parse(make_blob(text, f"code/{name}"))
    *_, pause, update = document.sections
    assert "togglePause" in pause.path[0]
    assert "update" in update.path[0]
    keyword = pause.path[0].split()[0]
    assert text[pause.start :].startswith(f"{keyword} togglePause(")
    assert text[update.start :].startswith(f"{keyword} update(")
    *_, one, other = CodeChunker().chunk(document)
    assert f"{keyword} togglePause(" in one.text
    assert other.text.startswith(f"{keyword} update(")
