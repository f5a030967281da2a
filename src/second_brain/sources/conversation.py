"""Collects what was said and done while a log is read, each thing once and in a form that can be shown."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from ..transcripts import Entry, EntryKind, Fact, FactName, Head, Transcript

LONGEST = {"user": 20_000, "answer": 20_000, "assistant": 40_000, "command": 600, "edit": 1_000, "error": 2_000}
"""Characters that are kept of an entry. What is pasted into a question may be a whole log."""

MOST_LINES = {"command": 10, "error": 20}

RECALL_TAG = "second-brain-recall"
"""The element around what our own hook put into a conversation: nobody said it there."""

OUR_TOOL = re.compile(r"mcp__.*(?:brain|second_brain).*", re.IGNORECASE)
"""Names under which agents know our own tools."""

OUR_COMMAND = re.compile(r"\s*(?:\S*/)?brain\s")
"""How our own command is called in a shell."""

_RECALLED = re.compile(rf"<{RECALL_TAG}\b.*?(?:</{RECALL_TAG}>|\Z)", re.DOTALL)
_REMINDER = re.compile(r"^[ \t]*<system-reminder>.*?</system-reminder>[ \t]*$", re.DOTALL | re.MULTILINE)
_ESCAPE = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)?")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_ENCODED = re.compile(r"(?:data:[\w/+.;=-]{0,100}base64,)?[A-Za-z0-9+/]{256,}={0,2}")
_CITED = re.compile("\ue200[^\ue201]{0,500}\ue201")


class Conversation:
    """The transcript of one log in the making."""

    def __init__(self, agent: str) -> None:
        self.agent = agent
        self._lines: list[Entry | Fact] = []
        self._asides: list[int] = []
        self._seen: set[tuple[str, ...]] = set()
        self._parts: dict[tuple[str, ...], list[int]] = {}

    def say(
        self, kind: EntryKind, text: str, *, time: str = "", id: str = "", session: str = "", subagent: str = ""
    ) -> None:
        """Add an entry, unless it is empty or was there before.

        Copies are known by kind, text and time; those of one message also by its id, whatever their time. A part of a
        message that goes on where an earlier one stopped (as it was streamed) takes its place.
        """
        text = shown(kind, text)
        if not text:
            return
        entry = Entry(kind, text, time, id, session, subagent)
        of = (session, subagent, kind)
        if id:
            parts = self._parts.setdefault((*of, id), [])
            for at in parts:
                earlier = self._lines[at]
                if isinstance(earlier, Entry) and earlier.text.startswith(text):
                    return
                if isinstance(earlier, Entry) and text.startswith(earlier.text):
                    self._lines[at] = Entry(kind, text, earlier.time, id, session, subagent)
                    return
        if time:
            if (*of, text, time) in self._seen:
                return
            self._seen.add((*of, text, time))
        if id:
            parts.append(len(self._lines))
        self._lines.append(entry)

    def aside(self, text: str, *, time: str = "", session: str = "", subagent: str = "") -> None:
        """Add a word of the user that may be recorded a second time, then with its own place: this one goes then."""
        text = shown("user", text)
        if text:
            self._asides.append(len(self._lines))
            self._lines.append(Entry("user", text, time, "", session, subagent))

    def note(self, name: FactName, value: str, *, session: str = "", subagent: str = "") -> None:
        """Add a fact, unless it is empty or was the last of its name."""
        value = " ".join(_CONTROL.sub(" ", value).split())[:1_000]
        key = (session, subagent, name)
        if not value or (name in ("cwd", "branch", "model", "project") and (*key, value) in self._seen):
            return
        self._seen.add((*key, value))
        self._lines.append(Fact(name, value, session, subagent))

    def transcript(self, *, session: str = "", subagent: str = "", warnings: tuple[str, ...] = ()) -> Transcript:
        """What was collected, under a head of these."""
        asides = set(self._asides)
        said = {_whose(line) for at, line in enumerate(self._lines) if at not in asides}
        lines = []
        for at, line in enumerate(self._lines):
            if at in asides:
                if _whose(line) in said:
                    continue
                said.add(_whose(line))
            lines.append(line)
        return Transcript(Head(self.agent, session, subagent, warnings=warnings), tuple(lines))


def _whose(line: Entry | Fact) -> tuple[str, ...]:
    return (line.session, line.subagent, line.kind, line.text) if isinstance(line, Entry) else ()


def shown(kind: EntryKind, text: str) -> str:
    """A text as it is kept: without what hooks put in, escape sequences, encoded data, and what is too long."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if RECALL_TAG in text:
        text = _RECALLED.sub("", text)
    if "<system-reminder>" in text:
        text = _REMINDER.sub("", text)
    if "\x1b" in text:
        text = _ESCAPE.sub("", text)
    if "\ue200" in text:
        text = _CITED.sub("", text)
    text = _CONTROL.sub("", text)
    if len(text) > 256:
        text = _ENCODED.sub("[encoded data]", text)
    text = text.strip()
    most = MOST_LINES.get(kind)
    if most and text.count("\n") >= most:
        text = "\n".join(text.split("\n")[:most]) + "\n…"
    return _shortened(text, LONGEST[kind])


def _shortened(text: str, limit: int) -> str:
    """The beginning and the end: a question often stands behind what was pasted."""
    if len(text) <= limit:
        return text
    left_out = len(text) - limit
    return f"{text[: limit - limit // 4]}\n… {left_out:,} characters left out …\n{text[-(limit // 4) :]}"


def moment(value: object) -> str:
    """A time as ISO 8601 in UTC, from such a text or from seconds (or milliseconds) since 1970; '' when it is none."""
    try:
        if isinstance(value, str):
            read = datetime.fromisoformat(value)
            when = read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            when = datetime.fromtimestamp(value / 1_000 if value > 1e11 else value, UTC)
        else:
            return ""
    except (ValueError, OverflowError, OSError):
        return ""
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")
