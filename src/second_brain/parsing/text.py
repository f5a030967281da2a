"""Bytes to clean text: one encoding, one kind of newline, no pictures.

Every offset of a document refers to the text that ``decode`` returns.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable

INLINE_LIMIT = 200
"""Characters of base64 that may stay. An icon in a badge is below it, a picture far above."""

# Payloads are one run, or lines of a mail-like 60 and more characters that hold nothing else.
_INLINE_DATA = re.compile(
    r"(data:[^\s,\"'()<>]{0,200};base64,)"
    r"([\w+/%=-]+(?:\n[ \t]*[\w+/%=-]{60,}(?=[ \t]*(?:[\n\"')>]|\Z)))*)",
    re.ASCII,
)


def decode(data: bytes) -> tuple[str, tuple[str, ...]]:
    """The text of a file, and warnings.

    UTF-8, or UTF-16 with its byte-order mark; a mark is removed. Bytes that are neither become U+FFFD, with
    one warning that names the first line. NULs go, CRLF and CR become LF. Base64 of more than
    ``INLINE_LIMIT`` characters in a ``data:`` address becomes the word ``omitted``, wherever it stands:
    nobody searches for it, and it would be thousands of chunks.
    """
    text, warnings = _decoded(data)
    if "\0" in text:
        text = text.replace("\0", "")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if ";base64," in text:
        text = _INLINE_DATA.sub(_placeholder, text)
    return text, warnings


def code_points(text: str, base: int, offsets: Iterable[int]) -> Callable[[int], int]:
    """Turns these byte offsets of ``text`` into code points counted from ``base``; one pass, none for ASCII.

    For readers that count bytes of UTF-8.
    """
    if text.isascii():
        return base.__add__
    data = text.encode()
    table: dict[int, int] = {}
    before, place = 0, base
    for offset in sorted(set(offsets)):
        place += len(data[before:offset].decode())
        before = offset
        table[offset] = place
    return table.__getitem__


def _decoded(data: bytes) -> tuple[str, tuple[str, ...]]:
    encoding = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    try:
        return data.decode(encoding), ()
    except UnicodeDecodeError as error:
        name = error.encoding.upper()
        line = data.count(b"\n", 0, error.start) + 1
        found = data[error.start : error.start + 1].hex()
        return data.decode(encoding, "replace"), (
            f"line {line}: byte 0x{found} is not {name}; what could not be read is shown as U+FFFD",
        )


def _placeholder(match: re.Match[str]) -> str:
    return f"{match[1]}omitted" if len(match[2]) > INLINE_LIMIT else match[0]
