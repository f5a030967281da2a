"""Golden questions out of the logs of an agent: what the user asked, and the notes that were read to answer it.

A log is Claude Code's, one JSON object a line; its form changes from version to version, so everything is tolerated
and nothing required. A question is what the user typed: no text that a program put into their mouth, no command's
output, nobody's question to a sub-agent. What was read is what a tool call names: ``Read`` with a path, or a note of
ours by its name. The note that was read last before the next question counts as the answer, others as help: an agent
stops to look when it has found.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ..analysis.language import detect_language
from ..errors import Ambiguous, NotFound
from ..library import Brain
from ..sources.json_lines import Losses, listing, mapping, records, text_of
from ..types import Json
from .golden import load_golden

READER = re.compile(r"(?:^|__)(?:Read|read_note|get_note)$")
"""Names of tools that read one document; those of an MCP server are ``mcp__<server>__<tool>``."""

NAMES = ("file_path", "uri", "path", "name", "note", "id", "title")
"""Arguments of such a tool; the first that is there names the document."""

SHORTEST, LONGEST = 8, 300
"""Characters of a text that may be a question about notes: 'go on' is none, nor is a pasted log. Of Japanese or
Chinese, half as many are enough."""

MOST_NOTES = 4
"""So many of the notes that were read last are labels."""

_ENVELOPE = re.compile(r"<([a-z][\w-]*)(?:\s[^>]*)?>(.*?)</\1>\s*", re.DOTALL)
"""An element that stands before what the user typed: what a command printed, a reminder, the file that is open."""

_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_PICTURE = re.compile(r"\[Image #\d+\]\s*")
_NOBODYS = ("This session is being continued from", "[Request interrupted", "Caveat: The messages below", "/", "!")


@dataclass(slots=True)
class Asked:
    """What the user typed, and the documents that were read before they typed again: names, in order of reading."""

    text: str
    session: str
    time: str
    read: dict[str, str] = field(default_factory=dict)
    """By the id of the tool call."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A golden question that nobody has confirmed yet. ``relevant`` are grades by uri, the answer (2) first."""

    id: str
    query: str
    lang: str
    relevant: Mapping[str, int]
    time: str

    def line(self) -> str:
        """As a line of a golden set."""
        entries = [{"path": uri, "grade": grade} for uri, grade in self.relevant.items()]
        language = {"lang": self.lang} if self.lang else {}
        question = {"id": self.id, "query": self.query, **language, "class": "mined", "relevant": entries}
        return json.dumps(question, ensure_ascii=False)


def conversations(lines: Iterable[dict[str, Json]]) -> Iterator[Asked]:
    """What was asked in one log, in order, each with what was read for it; nothing that was read for no question.

    Sessions that share a file are told apart by ``sessionId``; what was copied from another file comes once.
    """
    seen: set[str] = set()
    current: dict[str, Asked] = {}
    for record in lines:
        uuid = text_of(record.get("uuid"))
        if (uuid and uuid in seen) or record.get("isSidechain") is True:
            continue
        seen.add(uuid)
        session = text_of(record.get("sessionId"))
        content = mapping(record.get("message")).get("content")
        blocks = [content] if isinstance(content, str) else listing(content)
        if record.get("type") == "user":
            if session in current:
                for failed in _failures(blocks):
                    current[session].read.pop(failed, None)
            text = _typed(record, blocks)
            if text:
                if session in current and current[session].read:
                    yield current[session]
                current[session] = Asked(text, session, text_of(record.get("timestamp")))
        elif record.get("type") == "assistant" and session in current:
            current[session].read.update(_reads(blocks))
    yield from (asked for asked in current.values() if asked.read)


def _typed(record: Mapping[str, Json], blocks: Iterable[Json]) -> str:
    """What the user typed in this record, '' if it is nobody's text, or the answer of a tool."""
    if any(record.get(flag) is True for flag in ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")):
        return ""
    texts = (block if isinstance(block, str) else text_of(mapping(block).get("text")) for block in blocks)
    return "\n".join(filter(None, map(_own_words, texts)))


def _own_words(text: str) -> str:
    text = text.strip()
    arguments = _ARGUMENTS.search(text) if text.startswith("<command-") else None
    if arguments:
        return arguments[1].strip()
    while envelope := _ENVELOPE.match(text):
        text = text[envelope.end() :]
    return "" if text.startswith(_NOBODYS) else _PICTURE.sub("", text).strip()


def _reads(blocks: Iterable[Json]) -> Iterator[tuple[str, str]]:
    """(id of the call, name of the document) of each call of a reading tool."""
    for block in map(mapping, blocks):
        if block.get("type") == "tool_use" and READER.search(text_of(block.get("name"))):
            given = mapping(block.get("input"))
            names = [text_of(given.get(name)) for name in NAMES if text_of(given.get(name)).strip()]
            if names:
                yield text_of(block.get("id")) or names[0], names[0]


def _failures(blocks: Iterable[Json]) -> Iterator[str]:
    for block in map(mapping, blocks):
        if block.get("type") == "tool_result" and block.get("is_error") is True:
            yield text_of(block.get("tool_use_id"))


def logs(folders: Iterable[Path]) -> list[Path]:
    """The logs that lie at or below these places, without those of sub-agents, by path."""
    found = (file for place in folders for file in ([place] if place.is_file() else place.rglob("*.jsonl")))
    return sorted(file for file in set(found) if not file.name.startswith("agent-") and "subagents" not in file.parts)


def propose(brain: Brain, files: Iterable[Path], *, known: Iterable[Path] = ()) -> Iterator[Proposal]:
    """Questions of these logs for which a document of the brain's index was read.

    Left out: what is too short or too long to be a question about notes, what names the document itself, what was
    proposed before, and what the golden sets ``known`` hold already. A file that cannot be read is passed over.

    Raises:
        UsageError: a golden set is not one.
    """
    held = {_folded(question.text) for golden in known if golden.exists() for question in load_golden(golden)}
    uris: dict[str, str] = {}
    for file in files:
        try:
            with file.open("rb") as stream:
                found = list(conversations(records(stream, Losses())))
        except OSError:
            continue
        for asked in found:
            if _folded(asked.text) in held or not _may_ask(asked.text):
                continue
            for name in asked.read.values():
                if name not in uris:
                    uris[name] = _uri(brain, name)
            read = list(dict.fromkeys(reversed([uris[name] for name in asked.read.values() if uris[name]])))
            if not read or any(_names(asked.text, uri) for uri in read):
                continue
            held.add(_folded(asked.text))
            relevant = {uri: 2 if place == 0 else 1 for place, uri in enumerate(read[:MOST_NOTES])}
            digest = hashlib.blake2b(_folded(asked.text).encode("utf-8", "replace"), digest_size=4).hexdigest()
            yield Proposal(f"mined-{digest}", asked.text, detect_language(asked.text), relevant, asked.time)


def _uri(brain: Brain, name: str) -> str:
    """The uri of the document that answers to a path or name, '' if there is none, or several."""
    try:
        return brain.get(name).document.uri
    except (NotFound, Ambiguous):
        return ""


def _may_ask(text: str) -> bool:
    spread = sum(2 if character >= "\u3040" else 1 for character in text)
    return spread >= SHORTEST and len(text) <= LONGEST and any(map(str.isalpha, text))


def _names(text: str, uri: str) -> bool:
    """Whether the question names the file: then finding it proves nothing."""
    path = PurePosixPath(uri)
    return path.name.casefold() in text.casefold() or str(path.with_suffix("")).casefold() in text.casefold()


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def append(golden: Path, proposal: Proposal) -> None:
    """Put a question at the end of a golden set, which is made if it is not there."""
    golden.parent.mkdir(parents=True, exist_ok=True)
    with golden.open("ab+") as file:
        if file.tell():
            file.seek(-1, 2)
            if file.read(1) != b"\n":
                file.write(b"\n")
        file.write(proposal.line().encode("utf-8", "replace") + b"\n")
