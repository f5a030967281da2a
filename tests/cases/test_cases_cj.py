"""Japanese, Chinese, Korean, Thai and accents: faults met in such products, as far as analyzer and FTS5 go."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import apsw
import pytest

from second_brain.analysis import FTS5_TOKENIZE, index_terms, match_expression, normalize, query_terms


def found(notes: list[str], asked: str, *, prefix_last: bool = False) -> list[str]:
    """The notes that a search finds, best first."""
    db = apsw.Connection(":memory:")
    db.execute(f"CREATE VIRTUAL TABLE terms USING fts5(body, content='', tokenize={FTS5_TOKENIZE})")
    db.executemany("INSERT INTO terms(rowid, body) VALUES (?, ?)", [(n, index_terms(x)) for n, x in enumerate(notes)])
    expression = match_expression(query_terms(asked), prefix_last=prefix_last)
    rows = db.execute("SELECT rowid FROM terms WHERE terms MATCH ? ORDER BY rank, rowid", (expression,))
    return [notes[rowid] for (rowid,) in rows]


@pytest.mark.parametrize("asked", ["排水ポンプ", "倉庫", "交換", "第二倉庫の排水ポンプを月曜に交換した"])
def test_cj_1_words_within_a_sentence_without_spaces(asked: str) -> None:
    """A word in the middle of a Japanese sentence is found by word alone."""
    note = "第二倉庫の排水ポンプを月曜に交換した"
    assert found([note, "別の記録"], asked) == [note]


@pytest.mark.parametrize(
    ("note", "asked"),
    [
        ("来週の会議は中止", "会議"),
        ("地下の排水を確認", "排水"),
        ("서버를 다시 시작했다", "서버"),
        ("检查设备状态", "设备"),
        ("金庫の鍵を替えた", "鍵"),
        ("鍵", "鍵"),
        ("ปั๊มน้ำเสียแล้ว", "น้ำ"),
    ],
)
def test_cj_2_words_of_one_or_two_characters(note: str, asked: str) -> None:
    """Two characters of any script, and a single Han character, are enough."""
    assert found([note, "関係のない文章", "unrelated"], asked) == [note]


@pytest.mark.parametrize("asked", ["gen-zk42", "zk42", "50件", "再実行", "確認"])
def test_cj_4_identifiers_stuck_to_japanese(asked: str) -> None:
    """An ASCII identifier is cut off at the script border; a number keeps its counter."""
    note = "再実行gen-zk42後に50件を確認"
    assert found(["別の記録", note], asked) == [note]


def test_cj_4_a_number_with_its_counter_beats_the_number_alone() -> None:
    """50件 is more than 50 and 件 apart."""
    notes = ["全部で50件を確認した", "50個の部品と3件の報告", *("別の記録" for _ in range(9))]
    assert found(notes, "50件") == notes[:2]


@pytest.mark.parametrize(
    ("one", "other"), [("ＡＰＩ設計書", "api"), ("ﾃﾞｰﾀ移行", "データ"), ("第１２回", "12回"), ("ｻｰﾊﾞ", "サーバ")]
)
def test_cj_5_full_width_and_half_width(one: str, other: str) -> None:
    """Either form finds the other."""
    assert found([one], other) == [one]
    assert found([other], one) == [other]


@pytest.mark.parametrize("word", ["impôt", "ガス", "café", "パンプ"])
def test_cj_7_composed_and_decomposed(word: str) -> None:
    """NFC and NFD notes are both found by either form."""
    notes = [unicodedata.normalize(form, f"{word} x") for form in ("NFC", "NFD")]
    for form in ("NFC", "NFD"):
        assert found(notes, unicodedata.normalize(form, word)) == notes


@pytest.mark.parametrize(("note", "asked"), [("São", "sao"), ("caffè", "caffe"), ("Straße", "strasse")])
def test_cj_9_accents_are_folded(note: str, asked: str) -> None:
    """Accents do not matter, ß is ss, in both directions."""
    assert found([note, "other"], asked) == [note]
    assert found([asked, "other"], note) == [asked]


def test_cj_9_voicing_is_no_accent() -> None:
    """が and か stay different."""
    assert normalize("がき") != normalize("かき")
    assert found(["かき", "がき"], "がき") == ["がき"]


def test_cj_9_results_shrink_steadily_while_typing() -> None:
    """From run to running no letter typed brings a note back, and the stem is found to the end."""
    notes = ["run", "runs", "running", "runner", "runnable", "rung", "walk"]
    steps = [set(found(notes, typed, prefix_last=True)) for typed in ("run", "runn", "runni", "running")]
    assert all(later <= earlier for earlier, later in pairwise(steps))
    assert steps[0] == set(notes) - {"walk"}
    assert steps[-1] == set(found(notes, "running")) == {"run", "runs", "running"}
