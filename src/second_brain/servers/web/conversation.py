"""A session as a conversation: who said what, with what the agent did folded in between.

The text of a session is written by ``parsing.transcript``: ``## <number> · <time> · <question>`` begins an exchange,
``**User:**`` and ``**Assistant:**`` what somebody said, ``$ ``, ``edit `` and ``error: `` what was done.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

_EXCHANGE = re.compile(r"^## (\d+)(?: · (\d{4}-\d\d-\d\d(?: \d\d:\d\d)?))?(?: · (.*))?$", re.MULTILINE)
_SPEAKER = re.compile(r"\*\*(User|Assistant):\*\*[ \n]?")
_DEED = re.compile(r"(?:\$ |edit \S|error: )")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class Turn:
    """What was said (``user``, ``assistant``) or done (``deeds``); ``text[start:end]`` of the session.

    ``count``: of deeds, how many.
    """

    who: Literal["user", "assistant", "deeds"]
    start: int
    end: int
    count: int = 0


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and all that followed. ``time`` is as written, in UTC, '' where it is not known."""

    number: int
    time: str
    question: str
    start: int
    end: int
    turns: tuple[Turn, ...]


def exchanges(text: str) -> list[Exchange]:
    """The exchanges of a session's text, in order. A heading counts only with the number that is next: what looks
    like one within what was said does not.
    """
    heads: list[re.Match[str]] = []
    for found in _EXCHANGE.finditer(text):
        if int(found[1]) == len(heads) + 1:
            heads.append(found)
    ends = [head.start() for head in heads[1:]] + [len(text)]
    return [
        Exchange(int(head[1]), head[2] or "", head[3] or "", head.start(), end, tuple(_turns(text, head.end(), end)))
        for head, end in zip(heads, ends, strict=True)
    ]


def _turns(text: str, start: int, end: int) -> Iterator[Turn]:
    """The turns between two places; blocks of one speaker are one turn, deeds in a row are folded into one."""
    last: Turn | None = None
    who: Literal["user", "assistant"] = "user"
    for begin, stop in _blocks(text, start, end):
        if _DEED.match(text, begin):
            lines = text.count("\n", begin, stop) + 1
            turn = Turn("deeds", begin, stop, lines)
        else:
            if speaker := _SPEAKER.match(text, begin):
                who = "user" if speaker[1] == "User" else "assistant"
                begin = speaker.end()
            turn = Turn(who, begin, stop)
        if last is not None and last.who == turn.who:
            last = Turn(last.who, last.start, turn.end, last.count + turn.count)
            continue
        if last is not None:
            yield last
        last = turn
    if last is not None:
        yield last


def _blocks(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Spans between blank lines; code between fences is within one."""
    begin = stop = -1
    fence = ""
    position = start
    while position < end:
        line_end = text.find("\n", position, end)
        line_end = end if line_end < 0 else line_end
        line = text[position : min(line_end, position + 200)]
        if found := _FENCE.match(line):
            fence = "" if fence and found[1].startswith(fence) else fence or found[1]
        if line.strip() or fence:
            begin = position if begin < 0 else begin
            stop = line_end
        elif begin >= 0:
            yield begin, stop
            begin = -1
        position = line_end + 1
    if begin >= 0:
        yield begin, stop
