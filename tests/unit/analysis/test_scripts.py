"""In which script is a text written?"""

from __future__ import annotations

import pytest

from second_brain.analysis.scripts import SCRIPTS, script_of


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("The weir gate", "latin"),
        ("Ÿpres, naïve", "latin"),
        ("ＡＰＩ", "latin"),
        ("第二倉庫の排水ポンプ", "cjk"),
        ("ﾃﾞｰﾀ", "cjk"),
        ("々", "cjk"),
        ("ㄅㄆ", "cjk"),
        ("서버", "hangul"),
        ("насос", "cyrillic"),
        ("αντλία", "greek"),
        ("مضخة", "arabic"),
        ("משאבה", "hebrew"),
        ("पंप", "devanagari"),
        ("ปั๊ม", "thai"),
        ("", ""),
        ("42 -- !?", ""),
        ("🙂 …", ""),
    ],
)
def test_each_script_is_told(text: str, script: str) -> None:
    """By the names of its characters, whatever their width."""
    assert SCRIPTS[script_of(text)] == script


def test_a_character_of_japanese_counts_as_three_letters() -> None:
    """A sentence with an identifier is Japanese still, a program with a word of it is not."""
    assert SCRIPTS[script_of("os.path を使う")] == "cjk"
    assert SCRIPTS[script_of("def atomic_write(path, value): 書く")] == "latin"


def test_a_long_text_is_told_by_a_sample() -> None:
    """What most of it is written in, wherever that stands."""
    assert SCRIPTS[script_of("é" + "a" * 2_000 + "鷺" * 20_000)] == "cjk"
    assert SCRIPTS[script_of("鷺" * 100 + "ä" * 20_000)] == "latin"
