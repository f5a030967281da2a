"""A transcript as documents: one a session, in a form that is pleasant to read and can be cited turn by turn."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import zip_longest

from ..errors import ParseError
from ..transcripts import Entry, Fact, Head, Transcript, decode
from ..types import Blob, Block, Document, Item, Json, Section

TITLES = ("custom-title", "agent-name", "ai-title", "summary")
"""Names of facts that are titles, best first."""

SPEAKERS = {"user": "User", "answer": "User", "assistant": "Assistant"}
MOST_FILES = 200
_HEADING = 80
_TITLE = 100
_QUESTION = 300

_BARE_COMMAND = re.compile(r"/\S+")
_MARKUP = re.compile(r"\s*(?:[#>|]|[-*+] |\d+[.)] |```|~~~)")
_COMPACT = ("command", "edit")


class TranscriptParser:
    """Reads what the sources of sessions make of a log (see `transcripts`).

    - A section an exchange: a prompt of the user and all that followed until the next. Its heading is
      ``## <number> · <time in UTC> · <first line of the prompt>``.
    - Blocks: ``heading``, ``user``, ``assistant``, ``command`` (``$ pytest -q``), ``edit`` (``edit src/a.py``), each
      file once an exchange, ``error``.
    - Title: that of the user, else the agent's, else the first prompt. ``type`` is ``session`` or ``subagent``.
    - ``origins``: an exchange that a resumed or forked session brought along has the same as in the first one.
    - ``metadata``: agent, session, subagent and parent, cwd, branch, model, started, ended, first_question, turns,
      files, pr_links, archived, unread; each only where something is known.

    A session in which nothing was said is no document. Cost: some 20 MB of transcript a second.
    """

    def parse(self, blob: Blob) -> Iterator[Document]:
        """Yield the sessions of a transcript, in order of their first line. Raises ParseError."""
        try:
            transcript = decode(blob.data)
        except ValueError as error:
            raise ParseError(f"{blob.item.uri}: {error}") from error
        warnings = transcript.head.warnings
        for session in _sessions(transcript):
            if session.exchanges:
                yield session.document(blob, warnings)
                warnings = ()


@dataclass(slots=True)
class _Exchange:
    entries: list[Entry] = field(default_factory=list)

    @property
    def prompt(self) -> str:
        """What the user asked; '' before the first prompt."""
        return self.entries[0].text if self.entries[0].kind == "user" else ""

    @property
    def time(self) -> str:
        return next((entry.time for entry in self.entries if entry.time), "")

    @property
    def said(self) -> bool:
        """Whether it is more than a command that the agent's own program answered."""
        return len(self.entries) > 1 or not _BARE_COMMAND.fullmatch(self.entries[0].text)

    def origin(self) -> str:
        """The same in every copy: from the prompt and the first answer's id, which copies keep, else from the time."""
        answer = next((entry.id for entry in self.entries if entry.kind == "assistant" and entry.id), "")
        digest = hashlib.blake2b(digest_size=8)
        for part in (self.prompt, answer or self.time):
            digest.update(part.encode() + b"\0")
        return digest.hexdigest()


@dataclass(slots=True)
class _Session:
    """The lines of one session (or sub-agent) in a transcript."""

    head: Head
    session: str
    subagent: str
    entries: list[Entry] = field(default_factory=list)
    facts: dict[str, list[str]] = field(default_factory=dict)

    @property
    def exchanges(self) -> list[_Exchange]:
        made: list[_Exchange] = []
        for entry in self.entries:
            if entry.kind == "user" and made and [entry.text] == [earlier.text for earlier in made[-1].entries]:
                made.pop()  # the same prompt once more, after the first was interrupted or refused
            if entry.kind == "user" or not made:
                made.append(_Exchange())
            made[-1].entries.append(entry)
        return [exchange for exchange in made if exchange.said]

    def fact(self, name: str) -> str:
        """The first value of a fact; of a title the last."""
        values = self.facts.get(name, [""])
        return values[-1] if name in TITLES else values[0]

    def document(self, blob: Blob, warnings: tuple[str, ...]) -> Document:
        exchanges = self.exchanges
        page = _Page()
        for number, exchange in enumerate(exchanges, start=1):
            page.add_exchange(number, exchange)
        times = [entry.time for entry in self.entries if entry.time]
        started = _read_time(min(times)) if times else None
        folder = self.fact("cwd")
        own = (self.session, self.subagent) == (self.head.session, self.head.subagent)
        key = "/".join(filter(None, (self.session, self.subagent)))
        return Document(
            uri=blob.item.uri if own else f"{blob.item.uri}#{key}",
            source=blob.item.source,
            kind="session",
            type="subagent" if self.subagent else "session",
            title=self._title(exchanges),
            text=page.text(),
            modified=blob.item.modified,
            sections=tuple(page.sections),
            blocks=tuple(page.blocks),
            date=started,
            created=started,
            aliases=self._aliases(key, blob.item),
            project=re.split(r"[/\\]", folder.rstrip("/\\"))[-1] or self.fact("project"),
            origins=tuple(exchange.origin() for exchange in exchanges),
            metadata=self._metadata(exchanges, times),
            warnings=warnings,
        )

    def _aliases(self, key: str, item: Item) -> tuple[str, ...]:
        """The session's id where its file's name is another, and how summaries call the session."""
        names = () if item.uri.endswith(f"/{key}.jsonl") else (key,)
        short = (self.session[:8],) if len(self.session) > 8 and not self.subagent else ()
        return tuple(name for name in dict.fromkeys((*names, *short)) if name)

    def _title(self, exchanges: list[_Exchange]) -> str:
        asked = next((_first_line(exchange.prompt, _TITLE) for exchange in exchanges if exchange.prompt), "")
        title = next(filter(None, map(self.fact, TITLES)), asked) or f"Session {self.session[:8]}".rstrip()
        if self.subagent:
            parent = self.fact("parent-title") or self.session[:8]
            title = f"{title} (sub-agent of {parent})" if parent else f"{title} (sub-agent)"
        return " ".join(title.split())

    def _metadata(self, exchanges: list[_Exchange], times: list[str]) -> dict[str, Json]:
        files: list[Json] = [*dict.fromkeys(entry.text for entry in self.entries if entry.kind == "edit")]
        known: dict[str, Json] = {
            "agent": self.head.agent,
            "session": self.session,
            "subagent": self.subagent,
            "parent": self.session if self.subagent else "",
            "cwd": self.fact("cwd"),
            "branch": self.fact("branch"),
            "model": self.fact("model"),
            "started": min(times, default=""),
            "ended": max(times, default=""),
            "first_question": next((_first_line(e.prompt, _QUESTION) for e in exchanges if e.prompt), ""),
            "turns": len(exchanges),
            "files": files[:MOST_FILES],
            "pr_links": [*dict.fromkeys(self.facts.get("pr", []))],
            "archived": self.head.archived,
            "unread": [*self.facts.get("unread", [])],
        }
        return {name: value for name, value in known.items() if value}


def _sessions(transcript: Transcript) -> Iterable[_Session]:
    """The lines of a transcript by session and sub-agent."""
    head = transcript.head
    found: dict[tuple[str, str], _Session] = {}
    for line in transcript.lines:
        subagent = line.subagent or ("" if line.session else head.subagent)
        key = (line.session or head.session, subagent)
        session = found.setdefault(key, _Session(head, *key))
        if isinstance(line, Fact):
            session.facts.setdefault(line.name, []).append(line.value)
        else:
            session.entries.append(line)
    return found.values()


class _Page:
    """The text of a document in the making, with the places of its sections and blocks."""

    def __init__(self) -> None:
        self.sections: list[Section] = []
        self.blocks: list[Block] = []
        self._parts: list[str] = []
        self._length = 0

    def add_exchange(self, number: int, exchange: _Exchange) -> None:
        """Add the section of an exchange."""
        start = self._length
        parts = (str(number), exchange.time[:16].replace("T", " "), _first_line(exchange.prompt, _HEADING))
        heading = " · ".join(filter(None, parts))
        self._add("heading", f"## {heading}", "\n\n")
        shown = list(_shown(exchange.entries))
        speaker = ""
        for entry, following in zip_longest(shown, shown[1:]):
            close = following is not None and entry.kind in _COMPACT and following.kind in _COMPACT
            self._add(*_written(entry, speaker), "\n" if close else "\n\n")
            speaker = SPEAKERS.get(entry.kind, "")
        self.sections.append(Section(2, (heading,), start, self._length))

    def text(self) -> str:
        return "".join(self._parts)

    def _add(self, kind: str, text: str, gap: str) -> None:
        self.blocks.append(Block(kind, self._length, self._length + len(text)))
        self._parts += (text, gap)
        self._length += len(text) + len(gap)


def _shown(entries: Iterable[Entry]) -> Iterator[Entry]:
    """The entries without what only repeats: a file that was edited before, a command that was just given."""
    edited: set[str] = set()
    last: Entry | None = None
    for entry in entries:
        if entry.kind == "edit":
            if entry.text not in edited:
                yield entry
            edited.add(entry.text)
        elif entry.kind != "command" or last is None or (last.kind, last.text) != ("command", entry.text):
            yield entry
        last = entry


def _written(entry: Entry, speaker: str) -> tuple[str, str]:
    """The kind and text of an entry's block. Who speaks is said where that changes."""
    if entry.kind == "command":
        return "command", f"$ {entry.text}"
    if entry.kind == "edit":
        return "edit", f"edit {entry.text}"
    if entry.kind == "error":
        return "error", f"error: {entry.text}"
    kind = "assistant" if entry.kind == "assistant" else "user"
    name = SPEAKERS[entry.kind]
    if name == speaker:
        return kind, entry.text
    return kind, f"**{name}:**{chr(10) if _MARKUP.match(entry.text) else ' '}{entry.text}"


def _first_line(text: str, limit: int) -> str:
    """The first line that says something, blanks squeezed, cut at a word where it is longer than ``limit``.

    A line that announces another (``Implement this:``) is followed by that one.
    """
    lines = filter(None, (" ".join(line.lstrip("# ").split()) for line in text.split("\n", 20)))
    line = next(lines, "")
    if line.endswith((":", "：")) and len(line) < limit // 2:
        line = f"{line} {next(lines, '')}".rstrip()
    if len(line) <= limit:
        return line
    cut = line.rfind(" ", limit // 2, limit)
    return line[: cut if cut > 0 else limit - 1].rstrip() + "…"


def _read_time(text: str) -> datetime | None:
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return None
    return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
