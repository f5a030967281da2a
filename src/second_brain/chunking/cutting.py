"""Where a text that is too long for one passage may be cut.

Lengths are weights, so that one budget holds for every script: a character weighs 1, one of Han, kana or
Hangul weighs ``DENSE_WEIGHT``. 1,200 is then about 280 tokens of multilingual-e5, in English as in Japanese.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence

DENSE_WEIGHT = 3.0
"""Tokens of a Han, kana or Hangul character over those of a Latin one, with e5's vocabulary.

Measured on 400 paragraphs each of XQuAD (English 4.34 characters a token, Chinese 1.49) and JSQuAD
(Japanese 1.56, a tenth of it not dense): 3.0 for Japanese, 3.3 for Chinese. Thai, Khmer and Burmese have no
blanks between words either, but come to 3 to 4 characters a token, like Russian or Arabic: they weigh 1.
"""

_DENSE = re.compile(
    "[\u2e80-\u30ff\u3100-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\uff00-\uffef\U00020000-\U0003ffff]+"
)
_SENTENCE_END = re.compile(r"(?<![.!?])[.!?]++[\"'”’)\]]*+(?=\s)|[。！？．…]+[」』）】”’]*")
_CLUSTER_REACH = 64
"""Code points that a cut looks back for the beginning of a cluster; longer ones are no writing."""


def reach(text: str, start: int, end: int, budget: float) -> int:
    """The largest stop up to ``end`` for which ``text[start:stop]`` weighs no more than ``budget``.

    Cost: the budget, not the text. At least one character is always within reach.
    """
    least = min(start + 1, end)
    stop = min(end, start + int(budget))
    if text[start:stop].isascii():
        return max(stop, least)
    at, room = start, budget
    for run in _DENSE.finditer(text, start, stop):
        room -= run.start() - at
        if room <= 0:
            return max(run.start() + int(room), least)
        affordable = int(room / DENSE_WEIGHT)
        if affordable < run.end() - run.start():
            return max(run.start() + affordable, least)
        room -= (run.end() - run.start()) * DENSE_WEIGHT
        at = run.end()
    return max(min(stop, at + int(room)), least)


def fits(text: str, start: int, end: int, budget: float) -> bool:
    """Whether ``text[start:end]`` weighs no more than ``budget``."""
    return end - start <= budget and reach(text, start, end, budget) == end


def cut(text: str, start: int, stop: int, borders: Sequence[int]) -> int:
    """The best place in ``(start, stop]`` at which to end a passage that cannot reach beyond ``stop``.

    In this order: the last of the ``borders`` (sorted: where blocks begin) in the last three quarters; the
    last line break, sentence end, or blank in the last half; else the last place that splits no cluster.
    """
    at = bisect_right(borders, stop) - 1
    if at >= 0 and borders[at] > start + (stop - start) // 4:
        return borders[at]
    middle = start + (stop - start) // 2
    if (line := text.rfind("\n", middle, stop)) >= 0:
        return line + 1
    sentence = 0
    for found in _SENTENCE_END.finditer(text, middle, stop):
        sentence = found.end()
    if sentence:
        return sentence
    for at in range(stop - 1, middle, -1):
        if text[at].isspace():
            return at + 1
    return _cluster_border(text, start, stop)


def _cluster_border(text: str, start: int, stop: int) -> int:
    """The last place up to ``stop`` with a whole character, as readers see it, on either side."""
    for at in range(stop, max(start, stop - _CLUSTER_REACH), -1):
        if at == len(text) or not _joins(text, at):
            return at
    return stop


def _joins(text: str, at: int) -> bool:
    """Whether ``text[at]`` is one with what stands before it: a mark, part of an emoji or flag, a vowel."""
    after, before = text[at], text[at - 1]
    if after < "\u0300":
        return False
    if unicodedata.category(after)[0] == "M" or after == "\u200d" or before == "\u200d":
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or after in "\u0e33\u0eb3":  # skin tones; Thai and Lao am
        return True
    if _is_flag_letter(after):
        letters = 0
        while letters < min(at, _CLUSTER_REACH) and _is_flag_letter(text[at - 1 - letters]):
            letters += 1
        return letters % 2 == 1
    return "\u1160" <= after <= "\u11ff" and ("\u1100" <= before <= "\u11ff" or "\uac00" <= before <= "\ud7a3")


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
