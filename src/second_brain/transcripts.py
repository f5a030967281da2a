"""What is kept of the conversations with agents: one small schema for the logs of all of them.

Agents write logs of many forms, and most of their bytes are tool output, file snapshots and pictures. A source reads
such a log once, keeps what was said and done, and hands it on in this form, which is also what the archive keeps.

A transcript is JSON Lines. The first line is a ``Head``, every other an ``Entry`` (something said or done, in order)
or a ``Fact`` (something known of the session). Fields that are empty are left out. Readers skip lines that they do not
know, so that a later version may add to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import msgspec

MEDIA_TYPE = "application/x-transcript+jsonl"

EntryKind: TypeAlias = Literal["user", "answer", "assistant", "command", "edit", "error"]
"""``user`` begins an exchange, ``answer`` is the user's too but does not (a choice, a word on a refused tool).

The text of a ``command`` is what was typed into the shell, of an ``edit`` the path of the file, of an ``error`` the
first lines of what a failed tool said.
"""

FactName: TypeAlias = Literal[
    "custom-title",
    "agent-name",
    "ai-title",
    "summary",
    "cwd",
    "project",
    "branch",
    "model",
    "pr",
    "parent-title",
    "unread",
]
"""The first four are titles, best first. ``unread`` counts records of a type that the source does not know."""


class Head(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="is", tag="head"):
    """Whose log it is. ``session`` and ``subagent`` are those that the file is named by, if it holds one session.

    ``archived``: the agent's own file is gone. ``warnings`` name what could not be read of it.
    """

    agent: str
    session: str = ""
    subagent: str = ""
    archived: bool = False
    warnings: tuple[str, ...] = ()


class Entry(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="is", tag="entry"):
    """Something said or done. ``time`` is ISO 8601 in UTC or ''; ``id`` is the message's, the same in every copy."""

    kind: EntryKind
    text: str
    time: str = ""
    id: str = ""
    session: str = ""
    subagent: str = ""


class Fact(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="is", tag="fact"):
    """Something known of a session. Of several titles of a name the last holds, of other facts the first."""

    name: FactName
    value: str
    session: str = ""
    subagent: str = ""


@dataclass(frozen=True, slots=True)
class Transcript:
    """A log of one or several sessions, condensed."""

    head: Head
    lines: tuple[Entry | Fact, ...]


def encode(transcript: Transcript) -> bytes:
    """The transcript as JSON Lines."""
    return msgspec.json.Encoder().encode_lines([transcript.head, *transcript.lines])


_HEAD = msgspec.json.Decoder(Head)
_LINE = msgspec.json.Decoder(Entry | Fact)


def decode(data: bytes) -> Transcript:
    """The transcript in these bytes. Raises ValueError when the first line is no head."""
    first, *rest = data.split(b"\n")
    try:
        head = _HEAD.decode(first)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"not a transcript: {error}") from error
    return Transcript(head, tuple(_known(rest)))


def _known(lines: Iterable[bytes]) -> Iterable[Entry | Fact]:
    for line in lines:
        try:
            yield _LINE.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
