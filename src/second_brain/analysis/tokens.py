"""How many tokens a text is to a language model, near enough to keep a budget, without any model's tokenizer."""

from __future__ import annotations

import re

from .scripts import UNSPACED

_UNSPACED = re.compile(f"[{UNSPACED}]")
_WORD = re.compile(r"[A-Za-z]+|[0-9]{1,3}|[^\sA-Za-z0-9]")

LETTERS_A_TOKEN = 6
"""Latin letters of one word that are one token; what is longer is several."""


def estimated_tokens(text: str) -> int:
    """An estimate on the high side: a word or a sign is a token, and so is a character of Japanese or Chinese."""
    return sum(1 + (len(word) - 1) // LETTERS_A_TOKEN if word[0].isalpha() else 1 for word in _WORD.findall(text))
