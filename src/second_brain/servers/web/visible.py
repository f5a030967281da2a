"""What is not seen, shown: direction marks, zero-width and control characters as the name of the character.

A reader must see what stands there; a title must not turn the line around that it stands in.
"""

from __future__ import annotations

import re
from urllib.parse import quote

_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
"""Joiners (U+200C, U+200D) are spelling in many scripts and in emoji; they turn nothing around."""


def visible(text: str) -> str:
    """The text with ``⟨U+202E⟩`` for each character that would not be seen or would change the order of others."""
    return _UNSEEN.sub(_named, text)


def encoded(address: str) -> str:
    """An address with such characters percent-encoded: it leads where it led."""
    return _UNSEEN.sub(lambda match: quote(match[0], errors="replace"), address)


def _named(match: re.Match[str]) -> str:
    return f"⟨U+{ord(match[0]):04X}⟩"
