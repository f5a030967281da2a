"""Lines of logs as agents write them, and what a source makes of a log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from second_brain.sources.sessions import SessionFolder
from second_brain.transcripts import Entry, Fact, Transcript, decode

SESSION = "5e551011-0000-4000-8000-000000000001"
OTHER = "5e551011-0000-4000-8000-000000000002"
CWD = "/home/mina/pump"


def write_log(path: Path, *records: dict[str, Any] | str) -> Path:
    """Write records, one a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (record if isinstance(record, str) else json.dumps(record, ensure_ascii=False) for record in records)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="")
    return path


def read_log(source: SessionFolder, name: str = "") -> Transcript:
    """The transcript of the one log, or of that whose path ends so."""
    (item,) = (item for item in source.scan().items if item.uri.endswith(name))
    return decode(source.read(item).data)


def said_in(transcript: Transcript) -> list[tuple[str, str]]:
    """Kind and text of everything said and done."""
    return [(line.kind, line.text) for line in transcript.lines if isinstance(line, Entry)]


def facts_in(transcript: Transcript) -> dict[str, str]:
    """The facts by name, the last of each."""
    return {line.name: line.value for line in transcript.lines if isinstance(line, Fact)}


def claude(kind: str, content: Any, *, uuid: str = "", minute: int = 0, **more: Any) -> dict[str, Any]:
    """A record of Claude Code."""
    message = {"role": kind, "content": content, **({"id": more.pop("key")} if "key" in more else {})}
    return {
        "type": kind,
        "uuid": uuid or f"{kind}-{minute}-{json.dumps(content)[:40]}",
        "sessionId": SESSION,
        "timestamp": f"2031-05-01T09:{minute:02d}:00.000Z",
        "cwd": CWD,
        "gitBranch": "main",
        "message": message,
        **more,
    }


def used(name: str, key: str, **given: Any) -> dict[str, Any]:
    """A record of Claude Code's use of a tool."""
    return claude("assistant", [{"type": "tool_use", "id": key, "name": name, "input": given}], uuid=f"use-{key}")


def returned(key: str, content: Any, **more: Any) -> dict[str, Any]:
    """A record of what a tool of Claude Code returned."""
    return claude("user", [{"type": "tool_result", "tool_use_id": key, "content": content, **more}], uuid=f"ret-{key}")


def codex(kind: str, time: str = "2031-05-01T09:00:00Z", **payload: Any) -> dict[str, Any]:
    """A record of Codex."""
    return {"timestamp": time, "type": kind, "payload": payload}


def codex_message(role: str, *texts: str, **more: Any) -> dict[str, Any]:
    """A message in a record of Codex."""
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text} for text in texts]
    return codex("response_item", type="message", role=role, content=content, **more)
