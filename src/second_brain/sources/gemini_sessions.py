"""The session logs of Gemini CLI: JSON Lines whose later records change earlier ones, or one JSON object.

A record with the id of an earlier one replaces it, ``$set`` changes what is known of the session (and all messages, if
it has any), ``$rewindTo`` takes back a message and what followed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from ..transcripts import Transcript
from ..types import Item, Json
from .claude_sessions import below
from .conversation import OUR_COMMAND, OUR_TOOL, Conversation, moment
from .json_lines import Losses, elements, listing, mapping, records, text_of
from .paths import disk_bytes
from .reading import FileTooLarge, read_regular
from .sessions import SessionFolder, home_folder

_LOG = re.compile(r"session-.+\.jsonl?(?:\.\w+)?|.+\.jsonl(?:\.\w+)?")
_HASH = re.compile(r"[0-9a-f]{64}")
_INJECTED = ("/", "?", "<session_context>", "<hook_context>", "System: Please continue.")
_EDITS = ("write_file", "replace", "edit", "smart_edit")


class GeminiSessions(SessionFolder):
    """``<project>/chats/session-*.jsonl`` (or ``.json``), those of sub-agents in a folder of their session's name."""

    kind = "gemini-session"

    @staticmethod
    def default_roots(environment: Mapping[str, str]) -> tuple[Path, ...]:
        """The folder ``tmp`` that Gemini CLI has in the user's home."""
        return (home_folder(environment, "GEMINI_CLI_HOME", "") / ".gemini" / "tmp",)

    def wanted(self, name: str) -> bool:
        """Whether a file may be a log."""
        return bool(_LOG.fullmatch(name))

    def condense(self, item: Item, stream: IO[bytes]) -> Transcript | None:
        """What is kept of one log."""
        losses, log = Losses(), _Log()
        for record in elements(stream, losses) if item.path.endswith(".json") else records(stream, losses):
            log.take(record)
        if not log.understood and (log.unknown or losses.broken):
            return None
        return log.end(item, losses.warnings())


class _Log:
    """One log while it is read: the messages as they stand."""

    def __init__(self) -> None:
        self.known: dict[str, Json] = {}
        self.messages: dict[str, dict[str, Json]] = {}
        self.understood = 0
        self.unknown: Counter[str] = Counter()

    def take(self, record: dict[str, Json]) -> None:
        """Apply one record."""
        if "$set" in record:
            self._know(mapping(record["$set"]))
        elif "$rewindTo" in record:
            self._rewind(text_of(record["$rewindTo"]))
        elif "sessionId" in record and "type" not in record:
            self._know(record)
        elif record.get("type") in ("user", "gemini", "info", "error", "warning"):
            self._message(record)
        else:
            self.unknown[text_of(record.get("type"))[:80] or "without type"] += 1
            return
        self.understood += 1

    def _know(self, change: dict[str, Json]) -> None:
        self.known.update(change)
        if "messages" in change:
            self.messages.clear()
            for message in map(mapping, listing(change["messages"])):
                self._message(message)

    def _message(self, record: dict[str, Json]) -> None:
        self.messages[text_of(record.get("id")) or f"#{len(self.messages)}"] = record

    def _rewind(self, key: str) -> None:
        ids = list(self.messages)
        for later in ids[ids.index(key) if key in self.messages else 0 :]:
            del self.messages[later]

    def end(self, item: Item, warnings: tuple[str, ...]) -> Transcript:
        """The transcript, after the last record."""
        conversation = Conversation("gemini-cli")
        session = text_of(self.known.get("sessionId"))
        folders = [text_of(folder) for folder in listing(self.known.get("directories"))]
        project, root, parent = _place(Path(item.path))
        cwd = root or next(filter(None, folders), "")
        subagent = parent and (session or "agent")
        for name, value in (("cwd", cwd), ("project", project), ("summary", text_of(self.known.get("summary")))):
            conversation.note(name, value)  # type: ignore[arg-type]  # the names are FactName
        for key, message in self.messages.items():
            self._say(conversation, key, message, cwd)
        for kind, count in self.unknown.most_common(20):
            conversation.note("unread", f"{kind} {count}")
        return conversation.transcript(session=parent or session, subagent=subagent, warnings=warnings)

    def _say(self, conversation: Conversation, key: str, message: dict[str, Json], cwd: str) -> None:
        time, text = moment(message.get("timestamp")), _text(message.get("content"))
        if message.get("type") == "user":
            text = _text(message.get("displayContent")) or text
            if not text.lstrip().startswith(_INJECTED):
                conversation.say("user", text, time=time, id=key)
        elif message.get("type") == "error":
            conversation.say("error", text, time=time, id=key)
        elif message.get("type") == "gemini":
            conversation.note("model", text_of(message.get("model")))
            conversation.say("assistant", text, time=time, id=key)
            for number, call in enumerate(map(mapping, listing(message.get("toolCalls")))):
                _used(conversation, text_of(call.get("id")) or f"{key}:{number}", call, time, cwd)


def _used(conversation: Conversation, key: str, call: dict[str, Json], time: str, cwd: str) -> None:
    name, given = text_of(call.get("name")), mapping(call.get("args"))
    command = text_of(given.get("command")) if name == "run_shell_command" else ""
    conversation.say("command", command, time=time, id=key)
    if name in _EDITS:
        conversation.say("edit", below(text_of(given.get("file_path")), cwd), time=time, id=key)
    if call.get("status") == "error" and not OUR_TOOL.fullmatch(f"mcp__{name}") and not OUR_COMMAND.match(command):
        results = (mapping(mapping(part).get("functionResponse")) for part in listing(call.get("result")))
        answers = [mapping(result.get("response")) for result in results]
        text = "\n".join(text_of(answer.get("error")) or text_of(answer.get("output")) for answer in answers)
        conversation.say("error", text.strip() or text_of(call.get("resultDisplay")), time=time, id=key)


def _text(content: Json) -> str:
    """The words of a text, a part, or a list of these."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n\n".join(filter(None, map(_text, content)))
    part = mapping(content)
    return "[picture]" if "inlineData" in part else text_of(part.get("text"))


def _place(path: Path) -> tuple[str, str, str]:
    """From where a log lies: the project's name, its folder if a file says so, the session that a sub-agent is of."""
    chats = next((folder for folder in path.parents if folder.name == "chats"), None)
    if chats is None:
        return "", "", ""
    name = chats.parent.name
    try:
        marker = read_regular(disk_bytes(chats.parent / ".project_root"), 1 << 16).decode("utf-8", "replace").strip()
    except (OSError, FileTooLarge):
        marker = ""
    parent = path.parent.name if path.parent != chats else ""
    return "" if _HASH.fullmatch(name) else name, marker, parent
