"""Bytes to clean text."""

from __future__ import annotations

import pytest

from second_brain.parsing.text import INLINE_LIMIT, decode


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        ("会議\n".encode(), "会議\n"),
        (b"\xef\xbb\xbfKelp", "Kelp"),
        ("\ufeff海\r\nb".encode("utf-16-le"), "海\nb"),
        ("\ufeff海\r\nb".encode("utf-16-be"), "海\nb"),
        (b"a\r\nb\rc\n", "a\nb\nc\n"),
        (b"a\0b\0", "ab"),
        ("line\u2028same line\x85".encode(), "line\u2028same line\x85"),
    ],
)
def test_text_is_clean(data: bytes, text: str) -> None:
    """No mark, no NUL, one kind of newline; nothing to warn of."""
    assert decode(data) == (text, ())


def test_bytes_of_another_encoding_are_replaced_and_told() -> None:
    """The rest of the note is read; the warning names the line and the byte."""
    text, warnings = decode(b"first\ntariff \x96 42\nlast \xff\n")
    assert text == "first\ntariff \ufffd 42\nlast \ufffd\n"
    assert warnings == ("line 2: byte 0x96 is not UTF-8; what could not be read is shown as U+FFFD",)


def test_half_a_utf_16_unit_is_replaced_and_told() -> None:
    """A cut file in UTF-16 is read as far as it goes."""
    text, warnings = decode("\ufeffab".encode("utf-16-le") + b"\x61")
    assert text == "ab\ufffd"
    assert warnings == ("line 1: byte 0x61 is not UTF-16-LE; what could not be read is shown as U+FFFD",)


BLOB = "QUJD" * 100
LINES = "\n".join(["QUJD" * 19] * 5)


@pytest.mark.parametrize(
    ("before", "payload", "after"),
    [
        ("![p](data:image/png;base64,", BLOB, ") and text"),
        ('<img src="data:image/svg+xml;charset=utf-8;base64,', BLOB + "==", '" alt="x">'),
        ("[p]: <data:image/png;base64,", BLOB, ">"),
        ("<img src='data:image/png;base64,", LINES, "'>\ntext"),
        ("cover: data:image/webp;base64,", BLOB.replace("Q", "-_"), "\nnext: line"),
        ("data:;base64,", BLOB, ""),
    ],
)
def test_inline_pictures_become_a_word(before: str, payload: str, after: str) -> None:
    """Base64 goes wherever it stands, also over several lines; all around it stays."""
    assert decode(f"{before}{payload}{after}".encode())[0] == f"{before}omitted{after}"


@pytest.mark.parametrize(
    "text",
    [
        f"![icon](data:image/png;base64,{'Q' * INLINE_LIMIT})",
        "The prefix data:image/png;base64, is explained in many words, none of which are base64.",
        "data:image/png;base64,QUJD\n" + "Longer words follow on lines of their own and stay where they are.\n" * 9,
        BLOB,
    ],
)
def test_other_text_stays(text: str) -> None:
    """Small icons, prose about pictures, and base64 that is no picture are left alone."""
    assert decode(text.encode())[0] == text
