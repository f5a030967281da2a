"""Text to index terms."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from second_brain.analysis import ANALYZER_VERSION, index_terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Running runners ran", "run runner ran"),
        ("café Straße mémoires", "cafe strass memoir"),
        ("don't Newton's we’ll", "don't newton we'll"),
        ("L’homme O'Brien", "l'homme l homm o'brien o brien"),
        ("U.S. policy, e.g. this", "u.s us u s polici e.g eg e g this"),
        ("It ends here.Then", "it end here.then here then"),
        ("हिन्दी Ελλάδα", "हिन्दी ελλαδα"),
    ],
)
def test_words_are_folded_and_stemmed(text: str, terms: str) -> None:
    """A word is one term, its stem; a contraction is one word, a possessive its owner."""
    assert index_terms(text) == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("atomic_write_json", "atomic_write_json atomic_write write_json atom write json"),
        ("parseHttpResponse", "parsehttprespons parsehttp httprespons pars http respons"),
        ("HTTPServerV2", "httpserverv2 httpserver serverv2 http server v2"),
        ("PDFs GitHub's", "pdfs github git hub"),
        ("python3 10km", "python3 python 3 10km 10 km"),
        ("os.path.join node.js", "os.path.join os.path path.join os path join node.js node js"),
        ("a->b x::y", "a->b a b x::y x y"),
        ("multi-agent", "multi-agent multi agent"),
        ("--dry-run -v", "--dry-run dry-run dri run -v v"),
        (".env /usr/lib ~/.ssh/id", ".env env /usr/lib usr/lib usr lib ~/.ssh/id ssh/id ssh id"),
        ("@x #tag/sub $HOME", "@x x #tag/sub tag/sub tag sub $home home"),
        ("C++ C# F#", "c++ c c# c f# f"),
        ("__init__ _private _emphasis_", "__init__ init _private privat emphasi"),
        (
            "src/db/atomic_write.py",
            "src/db/atomic_write.py src/db db/atomic_write.py src db atomic_write.py atomic_write atom write py",
        ),
        (r"C:\Users\me", r"c users\me user me"),
        ("me@example.com", "me@example.com me example.com exampl com"),
        ("Q&A", "q&a q a"),
    ],
)
def test_identifiers_are_kept_whole_and_in_parts(text: str, terms: str) -> None:
    """The whole comes first, then neighbouring parts, then each part stemmed like a word; sigils make a form."""
    assert index_terms(text) == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("3.50.7", "3.50.7 3.50 50.7 3 50 7"),
        ("2031-05-01 10:30", "2031-05-01 2031-05 05-01 2031 05 01 10:30 10 30"),
        ("1,000 items; 1,2", "1000 item 1 2"),
        ("-5", "5"),
    ],
)
def test_numbers_are_kept_whole_and_in_parts(text: str, terms: str) -> None:
    """Versions, dates and times are compounds; commas of thousands are dropped."""
    assert index_terms(text) == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("議事録", "議 議事 事 事録 録"),
        ("データ", "デー ータ"),
        ("鍵", "鍵"),
        ("あ", "あ"),
        ("人々の〆切", "人 人々 々 々の の〆 〆 〆切 切"),
        ("行く。来る", "行 行く 来 来る"),
        ("서버에 물", "서버 버에 물"),
        ("ไทย", "ไท ทย"),
        ("𠮷野", "𠮷 𠮷野 野"),
        ("ジョン・レノン", "ジョ ョン レノ ノン"),
    ],
)
def test_scripts_without_spaces_become_pairs_and_single_han(text: str, terms: str) -> None:
    """Each position yields its character if it is Han, then the pair; a lone character yields itself."""
    assert index_terms(text) == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("50件", "50 50件 件"),
        ("第12回", "第 第12 12 12回 回"),
        ("１，０００円", "1000 1000円 円"),
        ("2.5倍", "2.5 2.5倍 倍"),
        ("平成30", "平 平成 成 成30 30"),
        ("数量：50個", "数 数量 量 50 50個 個"),
        ("版3.50.7を", "版 3.50.7 3.50 50.7 3 50 7 を"),
    ],
)
def test_a_number_in_a_run_pairs_with_its_neighbours(text: str, terms: str) -> None:
    """12回 is a term, so that it is told from 12 elsewhere; versions stay with the rules for numbers."""
    assert index_terms(text) == terms


def test_words_stuck_to_japanese_are_cut_at_the_border() -> None:
    """An identifier inside a Japanese sentence has the same terms as one between spaces."""
    terms = index_terms("再実行gen-zk42後に").split(" ")
    assert terms[5:10] == index_terms("gen-zk42").split(" ") == ["gen-zk42", "gen", "zk42", "zk", "42"]


@pytest.mark.parametrize("text", ["", "  ", "???", "。、", "🙂", '"', "____", "---", "| --- |", "…", "🚰🔥"])
def test_marks_and_emoji_have_no_terms(text: str) -> None:
    """Punctuation, rules, table frames and emoji are not terms."""
    assert index_terms(text) == ""


@pytest.mark.parametrize("operator", ["->", "=>", "::", ":=", "!=", "<=", "&&", "||", "<<"])
def test_operators_standing_alone_are_terms(operator: str) -> None:
    """The operators of programming languages can be looked for."""
    assert index_terms(f"the {operator} sign") == f"the {operator} sign"


def test_terms_belong_to_the_version() -> None:
    """When this fails, raise the number in ANALYZER_VERSION: indexes out there hold the old terms."""
    assert ANALYZER_VERSION.split("+snowball-")[0] == "2"
    text = (
        "第12回『Café』でAPI設計を確認 — run `brain sync --all` in ~/a/2031-05-01.md (C++ v3.50.7), parseHTTPResponses!"
    )
    assert index_terms(text) == (
        "第 第12 12 12回 回 cafe で api 設 設計 計 計を を確 確 確認 認 run brain sync --all all in "
        "~/a/2031-05-01.md a/2031-05-01.md a 2031-05-01.md 2031-05-01 2031-05 05-01 2031 05 01 md "
        "c++ c v3.50.7 v3.50 50.7 v3 50 7 parsehttprespons parsehttp httprespons pars http respons"
    )


def test_long_words_are_cut_and_long_compounds_kept_in_parts() -> None:
    """A blob yields terms of bounded length, in time that grows with its length only."""
    assert index_terms("x" * 100_000) == "x" * 64
    assert index_terms("1" * 100_000 + "年") == f"{'1' * 64} {'1' * 64}年 年"
    chain = "/".join(["part"] * 1000)
    assert set(index_terms(chain).split(" ")) == {"part"}


@pytest.mark.parametrize("unit", ["_", "a.", "a_", "-a", '"', "1,", "1.", "'", "あ1", "\u0301", "\x1b[", "aB"])
def test_time_grows_with_length_only(unit: str) -> None:
    """No input makes the expressions backtrack: 100,000 characters take less than a second."""
    start = time.process_time()
    index_terms(unit * (100_000 // len(unit)))
    assert time.process_time() - start < 1.0


def test_threads_get_the_same_terms() -> None:
    """The analyzer may be used from many threads."""
    texts = [f"stemming{n} running_{n} 第{n}回の確認" for n in range(300)]
    expected = [index_terms(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(index_terms, texts * 4)) == expected * 4
