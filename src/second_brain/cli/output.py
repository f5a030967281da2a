"""Writes text and JSON so that no stream, no reader and no note can break it.

Notes are foreign text. Nothing of them reaches a terminal before ``clean`` has made control characters, escape
sequences and overrides of the writing direction visible and harmless. Results go to stdout, everything
else to stderr, and JSON is UTF-8 whatever the locale says.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path, PurePath
from typing import Literal, NamedTuple, TextIO, TypeAlias

import click

Style: TypeAlias = Literal["plain", "title", "dim", "match", "warning", "error"]

_ANSI: dict[Style, dict[str, bool | str]] = {
    "plain": {},
    "title": {"bold": True},
    "dim": {"dim": True},
    "match": {"bold": True, "fg": "yellow"},
    "warning": {"fg": "yellow"},
    "error": {"bold": True, "fg": "red"},
}

_SURROGATES = re.compile("[\ud800-\udfff]")
_OVERRIDES = "\u202a-\u202e\u2066-\u2069"
"""They reorder what stands behind them (Unicode TR 36, bidirectional text spoofing)."""

_HARMFUL = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff{_OVERRIDES}]")
_ESCAPED_IN_JSON = re.compile(f"[\x7f-\x9f\u2028\u2029{_OVERRIDES}]")
_LINE_BREAKS = re.compile(r"[\t\n\v\f\r\u2028\u2029]+")

_LINKING_TERMINALS = ("KITTY_WINDOW_ID", "WT_SESSION", "WEZTERM_PANE", "GHOSTTY_RESOURCES_DIR", "KONSOLE_VERSION")
_LINKING_PROGRAMS = ("iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper")


class Piece(NamedTuple):
    """A part of a line that looks different. ``link`` is a URI that it opens, or ''."""

    text: str
    style: Style = "plain"
    link: str = ""


# -- streams -------------------------------------------------------------------------------------------------


def prepare_streams() -> None:
    """Make writing never fail for want of a character or a stream.

    '?' stands for what the stream's encoding lacks; a stream that the caller closed (``>&-``) leads nowhere.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - for the whole process
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def came_from_writing(error: OSError) -> bool:
    """Whether it was stdout or stderr that could not be written: a full disk, a device that is gone.

    Only the place where it was raised tells it from other errors: click writes help and version by itself.
    """
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code.co_filename in (__file__, click.utils.__file__)


def give_up_streams() -> None:
    """Lead both streams nowhere: what is still in their buffers must not fail at exit, where nobody could catch it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            os.dup2(nowhere, stream.fileno())


def is_terminal(stream: TextIO) -> bool:
    """Whether a person looks at it, on something that understands escape sequences."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def in_color(stream: TextIO) -> bool:
    """Whether to style text: a terminal, and nobody set ``NO_COLOR`` (no-color.org)."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR")


def _opens_links() -> bool:
    """Whether the terminal is known to show OSC 8 links; others may print them as rubbish."""
    environment = os.environ
    vte = environment.get("VTE_VERSION", "")
    return (
        any(environment.get(name) for name in _LINKING_TERMINALS)
        or environment.get("TERM_PROGRAM") in _LINKING_PROGRAMS
        or (vte.isdecimal() and int(vte) >= 5000)
    )


# -- text ----------------------------------------------------------------------------------------------------


def clean(text: str) -> str:
    """The text with every character that could steer a terminal made visible; tabs and newlines stay.

    Control characters become their pictures (ESC is U+241B), the rest U+FFFD.
    """
    return _HARMFUL.sub(_picture, text)


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"


def one_line(text: str) -> str:
    """``clean`` text without line breaks and tabs."""
    return clean(_LINE_BREAKS.sub(" ", text))


def say(*parts: str | Piece) -> None:
    """One line of the result, on stdout."""
    _write(sys.stdout, parts)


def tell(*parts: str | Piece) -> None:
    """One line about the result (notes, progress, errors), on stderr."""
    _write(sys.stderr, parts)


def _write(stream: TextIO, parts: Sequence[str | Piece]) -> None:
    colored = in_color(stream)
    pieces = (Piece(part) if isinstance(part, str) else part for part in parts)
    line = "".join(_styled(piece) if colored else one_line(piece.text) for piece in pieces)
    click.echo(line.rstrip(), file=stream, color=colored)


def _styled(piece: Piece) -> str:
    text = one_line(piece.text)
    if piece.style != "plain":
        text = click.style(text, **_ANSI[piece.style])  # type: ignore[arg-type]  # a dict of keywords
    if piece.link and _opens_links():
        text = f"\x1b]8;;{one_line(piece.link)}\x1b\\{text}\x1b]8;;\x1b\\"
    return text


def say_verbatim(text: str) -> None:
    """A note's own text on stdout: exactly into a file or pipe, harmless on a terminal."""
    if sys.stdout.isatty():
        text = clean(text)
    # color=True: what looks like an escape sequence in a note's text must not be stripped from a file.
    click.echo(_SURROGATES.sub("\ufffd", text), file=sys.stdout, nl=not text.endswith("\n"), color=True)


# -- JSON ----------------------------------------------------------------------------------------------------


def say_json(value: object) -> None:
    """One JSON object on one line of stdout, in UTF-8. Dataclasses become objects, times ISO 8601 with offset."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain, separators=(", ", ": "))
    text = _SURROGATES.sub("\ufffd", text)
    text = _ESCAPED_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    data = text.encode("utf-8") + b"\n"
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        from ..moments import local

        return local(value).isoformat()
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def report_error(kind: str, message: str, hint: str, *, as_json: bool, candidates: Sequence[str] = ()) -> None:
    """An error on stderr as ``error: ...`` and ``hint: ...``; with ``--json`` also as an object on stdout."""
    tell(Piece("error:", "error"), " ", message)
    for candidate in candidates:
        tell("  ", candidate)
    if hint:
        tell(Piece("  hint:", "dim"), " ", hint)
    if as_json:
        error: dict[str, object] = {"type": kind, "message": message, "hint": hint}
        if candidates:
            error["candidates"] = list(candidates)
        say_json({"error": error})
