"""One spelling for all ways to write the same."""

from __future__ import annotations

import pytest

from second_brain.analysis import normalize


@pytest.mark.parametrize(
    ("written", "spelt"),
    [
        ("ＡＰＩ設計書", "api設計書"),
        ("第１２回", "第12回"),
        ("ﾃﾞｰﾀ移行", "データ移行"),
        ("ｶﾞｽ", "ガス"),
        ("カ\u3099ス", "ガス"),
        ("か゛", "が"),
        ("①", "1"),
        ("㎏", "kg"),
        ("ｻｰﾊﾞ", "サーバ"),
    ],
)
def test_width_and_composition_do_not_matter(written: str, spelt: str) -> None:
    """Full-width, half-width, decomposed and circled forms have one spelling."""
    assert normalize(written) == spelt


@pytest.mark.parametrize(
    ("written", "spelt"),
    [
        ("São Café impôt caffè", "sao cafe impot caffe"),
        ("Cafe\u0301", "cafe"),
        ("Straße STRASSE Maẞ", "strasse strasse mass"),
        ("Øresund Łódź Đà ÆON Œuvre", "oresund lodz da aeon oeuvre"),
        ("İstanbul ISPARTA ışık", "istanbul isparta isik"),
        ("Ἀθῆναι Σίσυφος", "αθηναι σισυφοσ"),
        ("Йод ёж", "иод еж"),
        ("שָׁלוֹם", "שלום"),
        ("مُحَمَّد", "محمد"),
    ],
)
def test_letter_case_and_accents_are_folded(written: str, spelt: str) -> None:
    """Case folding is full (ß is ss); Latin, Greek, Cyrillic accents and Semitic points go."""
    assert normalize(written) == spelt


def test_kana_keep_their_voicing() -> None:
    """が and か, ぱ and は, ガ and カ are different letters, composed or not."""
    for plain, voiced in [("か", "が"), ("は", "ぱ"), ("カ", "ガ"), ("ウ", "ヴ")]:
        assert normalize(plain) == plain
        assert normalize(voiced) == voiced


def test_marks_that_are_vowels_stay() -> None:
    """Hindi, Tamil and Thai vowel signs are spelling, not accents."""
    for word in ["हिन्दी", "தமிழ்", "ภาษาไทย"]:
        assert normalize(word) == word


@pytest.mark.parametrize(
    ("written", "spelt"),
    [
        ("a\x00b", "a b"),
        ("a\ud83db", "a b"),
        ("soft\u00adhyphen zero\u200bwidth", "softhyphen zerowidth"),
        ("葛\U000e0100城", "葛城"),
        ("\ufeffTitle", "title"),
        ("\x1b[1;31mError\x1b[0m: x", "error: x"),
        ("  two \t\n　lines\r\n", "two lines"),
        ("multi\u2011agent don\u2019t \u201cq\u201d", 'multi-agent don\'t "q"'),
        ("Foo™", "foo"),
    ],
)
def test_what_cannot_be_seen_is_no_difference(written: str, spelt: str) -> None:
    """Controls and white space part words, invisible characters and terminal colours vanish."""
    assert normalize(written) == spelt
