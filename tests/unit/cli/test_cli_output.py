from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from second_brain.cli import output

NASTY = "a\x1b[31mred\x1b]0;title\x07\x9b2J\x7f\u202egnp\u202c\u2066\r\x00\ud83d z"


@given(st.text())
def test_nothing_that_steers_a_terminal_survives(text: str) -> None:
    """Whatever a note holds, what is printed has no control character and no override of direction."""
    left = output.one_line(text)
    assert not [char for char in left if unicodedata.category(char) in ("Cc", "Cs")]
    assert not set(left) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029")


@given(st.text(st.characters(exclude_categories=["C", "Z"])))
def test_ordinary_text_is_left_alone(text: str) -> None:
    """Letters, marks and signs of every language come out as they are."""
    assert output.clean(text) == text


def test_escape_sequences_become_visible() -> None:
    """A reader sees that something was there."""
    assert output.clean("a\x1b[31mb\x7f\x9b") == "a\u241b[31mb\u2421\ufffd"
    assert output.clean("tab\tand\nline") == "tab\tand\nline"
    assert output.one_line("tab\tand\r\nline") == "tab and line"


def test_text_on_stdout_remarks_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    """Results can be piped without what is said about them; where nobody looks, there is no style."""
    output.say(output.Piece("title", "title"), " rest\nhere  ")
    output.tell(output.Piece("note", "warning", "file:///x"))
    assert capsys.readouterr() == ("title rest here\n", "note\n")


def test_json_is_one_line_of_utf_8(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Times carry an offset, paths and dataclasses are plain, and what could harm a terminal is escaped."""

    @dataclass(frozen=True, slots=True)
    class Value:
        text: str
        when: datetime
        path: Path

    output.say_json({"value": Value(NASTY, datetime(2031, 5, 2, tzinfo=UTC), Path("/a/会議"))})
    raw = capfdbinary.readouterr().out
    assert raw.count(b"\n") == 1
    text = raw.decode("utf-8").rstrip("\n")
    assert text.isprintable()
    assert json.loads(text) == {
        "value": {
            "text": NASTY.replace("\ud83d", "\ufffd"),
            "when": "2031-05-02T00:00:00+00:00",
            "path": "/a/会議",
        }
    }


def test_a_note_is_written_exactly_into_a_pipe(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """``brain get x > file`` gives the text as it is indexed, with a newline at its end."""
    output.say_verbatim("a\x1b[31mb\n")
    output.say_verbatim("c")
    assert capfdbinary.readouterr().out == b"a\x1b[31mb\nc\n"


def test_an_error_is_told_to_people_and_to_programs(capsys: pytest.CaptureFixture[str]) -> None:
    """Message, candidates and hint on stderr; with --json the same as an object on stdout."""
    output.report_error("Ambiguous", "two notes", "use one", as_json=True, candidates=["a.md", "b.md"])
    out, err = capsys.readouterr()
    assert err == "error: two notes\n  a.md\n  b.md\n  hint: use one\n"
    assert json.loads(out) == {
        "error": {"type": "Ambiguous", "message": "two notes", "hint": "use one", "candidates": ["a.md", "b.md"]}
    }
