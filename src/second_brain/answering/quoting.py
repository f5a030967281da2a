"""Which lines of a passage show why it was found, and where the query's words stand in them.

For the eye only: it knows nothing of how the index understood the query, and changes no order.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

Span = tuple[int, int]
"""Start and end in a text, half open."""

QuoteLine = list[tuple[str, bool]]
"""Parts of a line, each with whether it is a word of the query."""

_RUNS = re.compile(r"[々〆一-鿿]+|[ァ-ヺー]+|[ぁ-ゖ]+|[^\W_々〆一-鿿ァ-ヺーぁ-ゖ]+")
_HIRAGANA = re.compile(r"[ぁ-ゖ]+")
_ENDING = re.compile(r"(?<=[a-z]{3})(?:ing|ed|es|s|e)$")
_FREQUENT = frozenset(
    "a about an and are as at be by can did do does for from had has have how i in is it me my of on or our"  # noqa: SIM905
    " that the this to was we were what when where which who why will with you your".split()
)


def word_pattern(query: str) -> re.Pattern[str] | None:
    """Matches the words of the query in a text, letter case and English endings ignored; None without words.

    Frequent English words and Japanese particles count only if there is nothing else. Each word is a group.
    """
    words = dict.fromkeys(
        word for form in (query, unicodedata.normalize("NFKC", query)) for word in _RUNS.findall(form.lower())
    )
    telling = [word for word in words if word not in _FREQUENT and not _HIRAGANA.fullmatch(word)]
    patterns = [f"({_word(word)})" for word in sorted(telling or words, key=len, reverse=True)[:32]]
    return re.compile("|".join(patterns), re.IGNORECASE) if patterns else None


def _word(word: str) -> str:
    if not word.isascii():
        return re.escape(word)
    return rf"(?<![^\W_]){re.escape(_ENDING.sub('', word))}[^\W_]*"


def quote(text: str, pattern: re.Pattern[str] | None, *, width: int, lines: int) -> list[QuoteLine]:
    """At most ``lines`` lines of ``width`` cells: those that hold the most different words, the first among equals.

    '…' marks where text was left out. ``text`` must be free of control characters.
    """
    wrapped = list(_wrapped(text, width))
    matches = list(pattern.finditer(text)) if pattern else []
    first = _fullest(wrapped, matches, lines)
    chosen = wrapped[first : first + lines]
    quoted = [_marked(text, line, [match.span() for match in matches]) for line in chosen]
    if quoted and first > 0:
        quoted[0].insert(0, ("… ", False))
    if quoted and first + lines < len(wrapped):
        quoted[-1].append((" …", False))
    return quoted


def _fullest(wrapped: Sequence[Span], matches: Sequence[re.Match[str]], lines: int) -> int:
    """The index of the first line of the window that holds the most different words."""
    if len(wrapped) <= lines or not matches:
        return 0
    found = [
        {match.lastindex for match in matches if match.start() < end and match.end() > start} for start, end in wrapped
    ]
    windows = range(len(wrapped) - lines + 1)
    return max(windows, key=lambda first: (len(set().union(*found[first : first + lines])), -first))


def _marked(text: str, line: Span, matches: Sequence[Span]) -> QuoteLine:
    parts: QuoteLine = []
    position, end = line
    for start, stop in matches:
        start, stop = max(start, position), min(stop, end)
        if start < stop:
            if position < start:
                parts.append((text[position:start], False))
            parts.append((text[start:stop], True))
            position = stop
    if position < end:
        parts.append((text[position:end], False))
    return parts


def _wrapped(text: str, width: int) -> Iterator[Span]:
    """The lines of the text that are not blank, cut to ``width`` cells at spaces or between wide characters."""
    for match in re.finditer(r"[^\n]*\S", text):
        start, end = match.span()
        while start < end:
            stop = _fit(text, start, end, width)
            yield start, stop
            start = stop
            while start < end and text[start] == " ":
                start += 1


def _fit(text: str, start: int, end: int, width: int) -> int:
    """Where a line that begins at ``start`` must end; always further than ``start``."""
    used = 0
    best = 0
    for position in range(start, end):
        size = cells(text[position])
        if used + size > width and position > start:
            return best if best > start else position
        if text[position] == " " and position > start:
            best = position
        elif size == 2:
            best = position + 1
        used += size
    return end


def cells(char: str) -> int:
    """How many cells of a terminal a character takes: 0, 1 or 2."""
    if char.isascii():
        return 1
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
