from __future__ import annotations

import pytest

from second_brain.answering.quoting import cells, quote, word_pattern


def plain(query: str, text: str, width: int = 40, lines: int = 3) -> list[str]:
    """The quote as text, with the words of the query in [brackets]."""
    return [
        "".join(f"[{part}]" if matched else part for part, matched in line)
        for line in quote(text, word_pattern(query), width=width, lines=lines)
    ]


def test_a_short_passage_is_quoted_whole() -> None:
    """Nothing is cut and no ellipsis is set where everything fits."""
    assert plain("valve", "The valve is open.\n\nAll is well.") == ["The [valve] is open.", "All is well."]


@pytest.mark.parametrize(
    ("query", "marked"),
    [
        ("pump", "[Pumps] were [pumped]: [pumping]"),
        ("pumping", "[Pumps] were [pumped]: [pumping]"),
        ("PUMPED", "[Pumps] were [pumped]: [pumping]"),
        ("ump", "Pumps were pumped: pumping"),
    ],
)
def test_words_are_marked_whatever_their_case_and_ending(query: str, marked: str) -> None:
    """English endings do not matter, but a word must begin where the query's word begins."""
    assert plain(query, "Pumps were pumped: pumping") == [marked]


def test_frequent_words_are_not_marked() -> None:
    """In a question only the telling words show why a passage was found."""
    assert plain("how did we fix the pump", "We fix the old pump.") == ["We [fix] the old [pump]."]


def test_frequent_words_count_when_there_is_nothing_else() -> None:
    """'to be or not' may be what was looked for."""
    assert plain("who was it", "It was I.") == ["[It] [was] I."]


def test_parts_of_identifiers_are_marked() -> None:
    """An underscore ends a word."""
    assert plain("write json", "call atomic_write_json()") == ["call atomic_[write]_[json]()"]


def test_japanese_words_are_found_inside_a_sentence() -> None:
    """Kanji and katakana runs are words; the particles between them are not."""
    assert plain("排水ポンプの交換", "第二倉庫の排水ポンプを月曜に交換した") == [
        "第二倉庫の[排水][ポンプ]を月曜に[交換]した"
    ]


def test_full_width_words_are_found_in_either_form() -> None:
    """A query typed in full width marks the plain form."""
    assert plain("ＡＰＩ", "The API and the ＡＰＩ") == ["The [API] and the [ＡＰＩ]"]


def test_the_lines_with_most_words_are_quoted() -> None:
    """Not the beginning of a long passage, but where its words are; '…' stands for the rest."""
    text = "\n".join([*(f"line {n}" for n in range(20)), "the valve", "and torque", "end", "more"])
    assert plain("valve torque", text, lines=2) == ["… the [valve]", "and [torque] …"]


def test_without_a_match_the_beginning_is_quoted() -> None:
    """A hit by meaning may hold none of the words."""
    assert plain("zebra", "one\ntwo\nthree\nfour", lines=2) == ["one", "two …"]
    assert plain("??", "one") == ["one"]


def test_long_lines_break_at_spaces() -> None:
    """A line is never wider than asked, and no word is cut that fits."""
    assert plain("zebra", "alpha beta gamma delta", width=11) == ["alpha beta", "gamma delta"]


def test_wide_characters_take_two_cells() -> None:
    """Japanese text, which has no spaces, is cut between characters, by what a terminal shows."""
    assert plain("zebra", "あいうえおかきく", width=9) == ["あいうえ", "おかきく"]
    assert [cells(char) for char in ("a", "あ", "é", "\u0301", "ﾊ", "🙂")] == [1, 2, 1, 0, 1, 2]


def test_a_word_longer_than_the_line_is_cut() -> None:
    """Bounded work and width on one giant line."""
    quoted = plain("zebra", "x" * 100_000, width=10)
    assert quoted == ["x" * 10, "x" * 10, "x" * 10 + " …"]


def test_a_word_broken_over_two_lines_is_marked_in_both() -> None:
    """The mark follows the word over the end of the line."""
    assert plain("排水ポンプ", "あああ排水ポンプ", width=8) == ["あああ[排]", "[水][ポンプ]"]


def test_an_empty_passage_has_no_quote() -> None:
    """Nothing to show is nothing, not an error."""
    assert plain("valve", "  \n\n ") == []
