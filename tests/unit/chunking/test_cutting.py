"""Where a long text may be cut."""

from __future__ import annotations

import pytest

from second_brain.chunking.cutting import cut, fits, reach


@pytest.mark.parametrize(
    ("text", "budget", "piece"),
    [
        ("abcdef", 4, "abcd"),
        ("abc", 9, "abc"),
        ("会議の議事録", 9, "会議の"),
        ("ab会議cd", 7, "ab会"),
        ("ab会議cd", 8, "ab会議"),
        ("ab会議cd", 9, "ab会議c"),
        ("データ移行", 6, "デー"),
        ("会ababab会", 5, "会ab"),
        ("회의실", 6, "회의"),
        ("ประชุม", 6, "ประชุม"),
        ("会議", 1, "会"),
        ("ab", 0, "a"),
        ("", 5, ""),
    ],
)
def test_dense_characters_weigh_three(text: str, budget: float, piece: str) -> None:
    """Han, kana and Hangul; at least one character is always taken."""
    assert text[: reach(text, 0, len(text), budget)] == piece
    assert fits(piece, 0, len(piece), budget) or len(piece) == 1


def cut_of(text: str, stop: int, *borders: int) -> str:
    return text[: cut(text, 0, stop, borders)]


def test_a_border_between_blocks_is_best() -> None:
    """The last one in the last three quarters, even if there are lines behind it."""
    text = "x" * 10 + "\n" + "y" * 5 + "\n" + "z" * 20
    assert cut_of(text, 20, 0, 11, 30) == text[:11]
    assert cut_of(text, 20, 0, 4, 30) == text[:17]
    assert cut_of(text, 20, 0, 20) == text[:20]


@pytest.mark.parametrize(
    ("text", "stop", "piece"),
    [
        ("one two.\nthree four. five", 22, "one two.\nthree four."),
        ("one two three.\nfour. five", 22, "one two three.\n"),
        ("first one. 'Second?' third thing", 24, "first one. 'Second?'"),
        ("version 3.5 of it and on and", 18, "version 3.5 of it "),
        ("水を止めた。弁を閉めた。次に", 13, "水を止めた。弁を閉めた。"),
        ("「水を止めた。」と言った後で", 11, "「水を止めた。」"),
        ("one two three", 11, "one two "),
        ("a" * 30, 11, "a" * 11),
    ],
)
def test_then_lines_then_sentences_then_blanks(text: str, stop: int, piece: str) -> None:
    """Each in the last half of the reach."""
    assert cut_of(text, stop) == piece


@pytest.mark.parametrize(
    "cluster", ["e\u0301", "か\u3099", "👨\u200d👩\u200d👧", "👍🏽", "❤\ufe0f", "🇯🇵", "\u1112\u1161\u11ab", "น้ำ"]
)
def test_a_character_as_readers_see_it_is_never_split(cluster: str) -> None:
    """Marks, joined emoji, skin tones, flags and syllables stay with what they belong to."""
    text = cluster * 20
    for stop in range(len(cluster), 8 * len(cluster)):
        assert cut(text, 0, stop, ()) % len(cluster) == 0


def test_a_pile_of_marks_is_cut_somewhere() -> None:
    """A thousand marks on one letter are no writing."""
    assert cut("a" + "\u0301" * 1000, 0, 500, ()) == 500
