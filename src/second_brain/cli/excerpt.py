"""The part of a note that was asked for: lines by number, or sections by heading."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from ..errors import NotFound, UsageError
from .options import WrongUsage

_RANGE = re.compile(r"(?P<first>\d*)(?P<dash>-?)(?P<last>\d*)")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


class Excerpt(NamedTuple):
    """``text`` begins at ``line``, counted from 1."""

    text: str
    line: int


class _Heading(NamedTuple):
    level: int
    title: str
    line: int


def of_lines(text: str, wanted: str) -> Excerpt:
    """Lines ``12-40``, ``12-`` (to the end), ``-40`` (from the start) or ``12``, inclusive, from 1.

    Raises:
        WrongUsage: another form, or the last line before the first.
        UsageError: the note is shorter.
    """
    match = _RANGE.fullmatch(wanted.replace(" ", ""))
    if not match or not (match["first"] or match["last"]):
        raise WrongUsage(f"'{wanted}' is no range of lines", "forms: 12-40, 12-, -40, 12")
    lines = _lines(text)
    first = int(match["first"] or 1)
    last = int(match["last"] or len(lines)) if match["dash"] else first
    if match["last"] and match["first"] and first > last:
        raise WrongUsage(f"the first line ({first}) lies after the last ({last})", f"--lines {last}-{first}")
    if not 1 <= first <= last or first > len(lines):
        raise UsageError(f"lines {wanted} do not exist: the note has {len(lines)} lines")
    return Excerpt("".join(lines[first - 1 : last]), first)


def of_section(text: str, heading: str) -> Excerpt:
    """The sections with this heading, each down to the next heading of its level or above.

    Letter case and '#' marks do not matter. If no heading is equal, those that contain the words count.

    Raises:
        NotFound: no heading matches.
    """
    lines = _lines(text)
    headings = list(_headings(lines))
    wanted = _folded(heading.lstrip("# "))
    found = [entry for entry in headings if _folded(entry.title) == wanted]
    found = found or [entry for entry in headings if wanted and wanted in _folded(entry.title)]
    if not found:
        known = ", ".join(f"'{entry.title}'" for entry in headings[:20]) or "none"
        raise NotFound(f"no heading is named '{heading}'", hint=f"headings: {known}")
    parts = []
    covered = 0
    for entry in found:
        if entry.line <= covered:
            continue  # inside a section that is already shown
        ends = (other.line - 1 for other in headings if other.line > entry.line and other.level <= entry.level)
        covered = next(ends, len(lines))
        parts.append("".join(lines[entry.line - 1 : covered]))
    return Excerpt("".join(parts), found[0].line)


def _lines(text: str) -> list[str]:
    """Lines with their newline; other separators, as U+2028, do not end a line."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _headings(lines: list[str]) -> Iterator[_Heading]:
    """ATX headings outside of fences and frontmatter."""
    fence = ""
    start = 0
    if lines and lines[0].rstrip() == "---":
        start = next((i + 1 for i, line in enumerate(lines) if i and line.rstrip() == "---"), 0)
    for number, line in enumerate(lines[start:], start=start + 1):
        line = line.rstrip("\n")
        opening = _FENCE.fullmatch(line)
        if fence:
            if opening and opening[1].startswith(fence) and not opening[2].strip():
                fence = ""
        elif opening:
            fence = opening[1]
        elif heading := _HEADING.fullmatch(line):
            yield _Heading(len(heading[1]), heading[2], number)


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
