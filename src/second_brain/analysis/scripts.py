"""Sets of characters: as the inside of a regular expression's brackets, and as questions about one character."""

from __future__ import annotations

from collections import Counter
from typing import Final
from unicodedata import name

HAN: Final = "\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
"""Chinese characters of all countries, with 々 〆 〇: one of them alone can be a word."""

_KANA = "\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff"
_HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97f\uac00-\ud7ff"
_THAI_LAO = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0ece\u0edc-\u0edf"
_BURMESE_KHMER = "\u1000-\u103f\u1050-\u108f\uaa60-\uaa7f\u1780-\u17d3\u17d7\u17dc\u17dd"

SYLLABIC: Final = _KANA + _HANGUL + _THAI_LAO + _BURMESE_KHMER
"""Kana (with ー), bopomofo, hangul, Thai, Lao, Burmese, Khmer: a single one of them rarely means anything."""

UNSPACED: Final = HAN + SYLLABIC
"""Scripts whose words are not set apart by spaces, or, as in Korean, carry their particles with them."""

MARKS: Final = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u06d6-\u06ed\u0711\u0730-\u074a"
    "\u0900-\u0963\u0966-\u0df3\u0f18-\u0fbc"
)
r"""Vowel signs and points that belong to the word before them though ``\w`` leaves them out (Hindi, Tamil,
Tibetan, Syriac ...). Holds letters of the same blocks too: only for use after a letter."""


def is_han(character: str) -> bool:
    """Whether a character of ``UNSPACED`` is one of ``HAN``. Comparisons: such a set is dear to compile."""
    return "\u3400" <= character <= "\u9fff" or "\u3005" <= character <= "\u303b" or character >= "\uf900"


def is_syllable(term: str) -> bool:
    """Whether a term is a single character of a syllabic script."""
    return len(term) == 1 and term >= "\u0e01" and not is_han(term)


def is_hiragana(character: str) -> bool:
    """Whether a character is hiragana."""
    return "\u3041" <= character <= "\u309f"


SCRIPTS: Final = (
    "", "latin", "cjk", "hangul", "cyrillic", "greek", "arabic", "hebrew", "devanagari", "thai", "georgian", "armenian"
)  # fmt: skip
"""The scripts that are told apart, by number; indexes keep the numbers, so that new ones go to the end."""

_SAMPLE: Final = 256
_DENSITY: Final = 3
"""A character of Chinese, Japanese or Korean says as much as so many letters."""
_TOLD: Final = {script: number for number, script in enumerate(SCRIPTS) if script} | {
    "hiragana": 2, "katakana": 2, "katakana-hiragana": 2, "ideographic": 2, "bopomofo": 2
}  # fmt: skip


def script_of(text: str) -> int:
    """The number in ``SCRIPTS`` of the script in which most of a text is written; 0 for none of them.

    Looks at some 256 characters, spread over the text. Cost: 30 microseconds, one for ASCII.
    """
    if text.isascii():
        return 1 if any(map(str.isalpha, text)) else 0
    weights: Counter[int] = Counter()
    for character in text[:: len(text) // _SAMPLE + 1]:
        if number := _number_of[character]:
            weights[number] += _DENSITY if SCRIPTS[number] in ("cjk", "hangul") else 1
    return max(weights, key=lambda number: (weights[number], -number), default=0)


class _NumberOf(dict[str, int]):
    """The script of a character: the first word of its name that is one."""

    def __missing__(self, character: str) -> int:
        words = name(character, "").lower().split()[:2] if character.isalpha() else []
        self[character] = number = next((_TOLD[word] for word in words if word in _TOLD), 0)
        return number


_number_of: Final = _NumberOf()
