"""The end of a session's transcript, read backwards: how large its context is, what was asked, done and left to do.

The format is the host's own and changes: every field may be missing, every line may be broken or half written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TAIL_BYTES = 32 << 20
"""So much of the end is read at most: a prompt must not wait for gigabytes."""

BLOCK = 64 << 10


def records(path: Path) -> Iterator[dict[str, Any]]:
    """The records from the last one backwards; what is none is passed over, and so are sub-agents' own."""
    for line in _lines_backwards(path):
        if not line.startswith(b"{"):
            continue
        try:
            record = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict) and not record.get("isSidechain"):
            yield record


def context_tokens(path: Path) -> int:
    """How many tokens the last answer was made from, 0 when nothing says so.

    All that went in counts: what was new, what was written to the cache and what was read from it; and what came out.
    """
    for record in records(path):
        if record.get("type") == "system" and record.get("subtype") == "compact_boundary":
            return _number(_mapping(record.get("compactMetadata")).get("postTokens"))
        if record.get("type") != "assistant":
            continue
        message = _mapping(record.get("message"))
        if message.get("model") == "<synthetic>":
            continue
        usage = _mapping(message.get("usage"))
        if usage:
            keys = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
            return sum(_number(usage.get(key)) for key in keys)
    return 0


def last_requests(path: Path, count: int) -> list[str]:
    """What the person asked last, oldest first; what the program put into their mouth does not count."""
    found: list[str] = []
    for record in records(path):
        if len(found) == count:
            break
        if record.get("type") != "user" or record.get("isMeta") or record.get("isCompactSummary"):
            continue
        text = _said(_mapping(record.get("message")).get("content")).strip()
        if text and not text.startswith(("<", "[Request interrupted", "This session is being continued")):
            found.append(text)
    return found[::-1]


def touched_files(path: Path, count: int) -> list[str]:
    """Files that tools wrote, the last one first."""
    found: dict[str, None] = {}
    for name, given in _tools(path):
        file = given.get("file_path") or given.get("notebook_path")
        if name in ("Write", "Edit", "MultiEdit", "NotebookEdit") and isinstance(file, str):
            found.setdefault(file)
        if len(found) == count:
            break
    return list(found)


def open_todos(path: Path) -> list[str]:
    """What the last list of todos has that is not completed."""
    for name, given in _tools(path):
        todos = given.get("todos")
        if name == "TodoWrite" and isinstance(todos, list):
            return [
                str(todo.get("content", ""))
                for todo in todos
                if isinstance(todo, dict) and todo.get("status") != "completed" and todo.get("content")
            ]
    return []


def _tools(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Tools that were called, the last one first: name and input."""
    for record in records(path):
        content = _mapping(record.get("message")).get("content") if record.get("type") == "assistant" else None
        for block in reversed(content) if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") == "tool_use":
                yield str(block.get("name", "")), _mapping(block.get("input"))


def _said(content: Any) -> str:
    if isinstance(content, str):
        return content
    texts = []
    for block in content if isinstance(content, list) else ():
        if isinstance(block, str):
            texts.append(block)
        elif isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str):
            texts.append(block["text"])
    return "\n".join(texts)


def _lines_backwards(path: Path) -> Iterator[bytes]:
    """Whole lines from the last one on; what stands behind the last line feed is still being written."""
    try:
        with path.open("rb") as stream:
            position = stream.seek(0, os.SEEK_END)
            stop = max(0, position - TAIL_BYTES)
            rest, first = b"", True
            while position > stop:
                size = min(BLOCK, position - stop)
                position -= size
                stream.seek(position)
                lines = (stream.read(size) + rest).split(b"\n")
                rest = lines[0]
                for line in reversed(lines[1:]):
                    if first:
                        first = False
                        continue
                    yield line.strip()
            if position == 0 and rest:
                yield rest.strip()
    except OSError:
        return


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
