"""The session logs of Codex: what is kept of each, whatever the version that wrote it.

``response_item`` records are the conversation. ``event_msg`` records mirror them and are left out, as are ``compacted``
records, reasoning, and what Codex puts in under the user's name (environment, instructions, permissions).
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from ..transcripts import Transcript
from ..types import Item, Json
from .claude_sessions import below
from .conversation import OUR_COMMAND, OUR_TOOL, Conversation, moment
from .json_lines import Losses, elements, listing, loads, mapping, records, text_of
from .sessions import SessionFolder, home_folder

_LOG = re.compile(r"rollout-.+\.jsonl?(?:\.\w+)?")
_SILENT = frozenset(("event_msg", "compacted", "world_state", "state"))
_INJECTED = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<user_shell_command>",
    "<turn_aborted>",
    "<collaboration_mode>",
    "<skill>",
    "# AGENTS.md instructions for ",
)
_PATCHED = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.MULTILINE)
_MOVED = re.compile(r"^\*\*\* Move to: (.+)$", re.MULTILINE)
_EXIT_CODE = re.compile(r"(?:Process exited with code|Exit code:) (-?\d+)")
_OUTPUT = re.compile(r"^Output:\n", re.MULTILINE)
_SHELLS = ("bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh")


class CodexSessions(SessionFolder):
    """``rollout-<time>-<session>.jsonl`` in folders by day, and those that were put into ``archived_sessions``."""

    kind = "codex-session-jsonl"

    @staticmethod
    def default_roots(environment: Mapping[str, str]) -> tuple[Path, ...]:
        """``$CODEX_HOME``, else ``~/.codex``."""
        return (home_folder(environment, "CODEX_HOME", ".codex"),)

    def wanted(self, name: str) -> bool:
        """Whether a file may be a log."""
        return bool(_LOG.fullmatch(name))

    def condense(self, item: Item, stream: IO[bytes]) -> Transcript | None:
        """What is kept of one log."""
        losses, log = Losses(), _Log()
        if item.path.endswith(".json"):
            for whole in elements(stream, losses):
                log.payload("session_meta", mapping(whole.get("session")), "")
                for entry in map(mapping, listing(whole.get("items"))):
                    log.take(entry)
        else:
            for record in records(stream, losses):
                log.take(record)
        if not log.understood and (log.unknown or losses.broken):
            return None
        return log.end(losses.warnings())


class _Log:
    """One log while it is read."""

    def __init__(self) -> None:
        self.conversation = Conversation("codex")
        self.session = self.parent = ""
        self.understood = 0
        self.unknown: Counter[str] = Counter()
        self.tools: dict[str, tuple[str, str]] = {}
        self.cwd = ""

    def take(self, record: dict[str, Json]) -> None:
        """Add what one record says."""
        kind, payload = text_of(record.get("type")), record.get("payload")
        if isinstance(payload, dict):
            self.payload(kind, payload, moment(record.get("timestamp")))
        elif not kind and "id" in record and not self.session:  # the first line of early versions
            self.payload("session_meta", record, moment(record.get("timestamp")))
        elif not kind and "record_type" in record:
            self.understood += 1
        else:
            self.payload("response_item", record, moment(record.get("timestamp")))

    def payload(self, kind: str, payload: dict[str, Json], time: str) -> None:
        """Add what the inside of one record says."""
        if kind == "session_meta":
            if not self.session:  # that of the session it was forked from may follow
                self.session = text_of(payload.get("id"))
                self.parent = text_of(payload.get("parent_thread_id"))
                self._know(payload)
                self.conversation.note("branch", text_of(mapping(payload.get("git")).get("branch")))
        elif kind == "turn_context":
            self._know(payload)
            self.conversation.note("model", text_of(payload.get("model")))
        elif kind == "event_msg" and payload.get("type") == "thread_name_updated":
            self.conversation.note("custom-title", text_of(payload.get("thread_name")))
        elif kind == "response_item":
            self._item(payload, time)
            return
        elif kind not in _SILENT:
            self.unknown[kind[:80] or "without type"] += 1
            return
        self.understood += 1

    def end(self, warnings: tuple[str, ...]) -> Transcript:
        """The transcript, after the last record."""
        for kind, count in self.unknown.most_common(20):
            self.conversation.note("unread", f"{kind} {count}")
        if self.parent:
            return self.conversation.transcript(session=self.parent, subagent=self.session, warnings=warnings)
        return self.conversation.transcript(session=self.session, warnings=warnings)

    def _know(self, payload: dict[str, Json]) -> None:
        self.cwd = self.cwd or text_of(payload.get("cwd"))
        self.conversation.note("cwd", text_of(payload.get("cwd")))

    def _item(self, item: dict[str, Json], time: str) -> None:
        kind = text_of(item.get("type"))
        if kind == "message":
            self._message(item, time)
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            self._call(item, time)
        elif kind in ("function_call_output", "custom_tool_call_output"):
            self._output(item, time)
        elif not kind:
            self.unknown["without type"] += 1
            return
        self.understood += 1

    def _message(self, item: dict[str, Json], time: str) -> None:
        role = item.get("role")
        if role not in ("user", "assistant"):
            return
        content = item.get("content")
        parts = (
            [content] if isinstance(content, str) else [text_of(mapping(part).get("text")) for part in listing(content)]
        )
        words = [part for part in parts if part and not (role == "user" and part.lstrip().startswith(_INJECTED))]
        text = "\n\n".join(words)
        if role == "user":
            pictures = any(mapping(part).get("type") == "input_image" for part in listing(content))
            text = text or ("[picture]" if pictures else "")
        # A fork writes the turns that it brings along with new times: there only the words tell that it is a copy.
        key = text_of(item.get("id")) or hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
        self.conversation.say(
            "user" if role == "user" else "assistant", text, time=time, id=key if role == "assistant" else ""
        )

    def _call(self, item: dict[str, Json], time: str) -> None:
        name, key = text_of(item.get("name")), text_of(item.get("call_id")) or text_of(item.get("id"))
        given = mapping(loads(text_of(item.get("arguments")).encode()))
        told = given or mapping(item.get("action"))
        command = _shell_command(told.get("command") or told.get("cmd"))
        patch = text_of(item.get("input")) or text_of(given.get("input"))
        if "*** Begin Patch" in command:
            patch, command = command, ""
        self.tools[key] = (name, command)
        for number, path in enumerate((*_PATCHED.findall(patch), *_MOVED.findall(patch))):
            self.conversation.say("edit", below(path.strip(), self.cwd), time=time, id=f"{key}:{number}")
        self.conversation.say("command", command, time=time, id=key)

    def _output(self, item: dict[str, Json], time: str) -> None:
        key = text_of(item.get("call_id"))
        name, command = self.tools.get(key, ("", ""))
        if OUR_TOOL.fullmatch(name) or OUR_COMMAND.match(command):
            return
        output = item.get("output")
        if isinstance(output, str) and isinstance(inner := loads(output.encode()), dict):
            output = inner
        told = mapping(output)
        text = output if isinstance(output, str) else text_of(told.get("output")) or text_of(told.get("content"))
        code = mapping(told.get("metadata")).get("exit_code")
        if code is None and (found := _EXIT_CODE.search(text[:2_000])):
            code = int(found[1])
        if code not in (None, 0) or told.get("success") is False:
            self.conversation.say("error", _OUTPUT.split(text, maxsplit=1)[-1], time=time, id=key)


def _shell_command(value: Json) -> str:
    """A command as it would be typed; without the shell that a list of words calls for one text."""
    if isinstance(value, str):
        return value
    words = [word for word in listing(value) if isinstance(word, str)]
    if len(words) == 3 and words[0] in _SHELLS and words[1].startswith("-"):
        return words[2]
    return shlex.join(words)
