"""A folder made ready without the plugin: both servers in ``.mcp.json``, the hooks in ``.claude/settings.json``.

What was made for it (a source, files) is kept in ``prepared.json`` of the home, so that it can be undone.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..config import Settings, write_atomically
from ..errors import ConfigError
from ..index.lock import file_lock
from ..types import Json
from .entries import Change, text_of
from .json_text import NotJson, with_item, with_member, without_item, without_member

FILE = "prepared.json"

SERVERS = {"search": ("knowledge,sources",), "memory": ("memory",)}
"""The servers, and the toolsets of each."""

HOOKS: dict[str, tuple[str, int, bool]] = {
    "SessionStart": ("startup|resume|clear|compact|fork", 10, False),
    "UserPromptSubmit": ("", 5, False),
    "PreToolUse": ("Write|Edit|MultiEdit|NotebookEdit", 5, False),
    "PostToolUse": ("", 10, True),
    "PostToolUseFailure": ("", 5, False),
    "PreCompact": ("", 10, False),
    "Stop": ("", 10, True),
    "SessionEnd": ("", 0, False),
}
"""By event: which of its kinds, after how many seconds it ends (0: the host's own), whether the host waits for it."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a folder got that it did not have: the name of its source, '' where it had one, and the files."""

    source: str = ""
    files: tuple[str, ...] = ()


def changes(folder: Path, command: Sequence[str], *, remove: bool = False, made: Prepared = Prepared()) -> list[Change]:
    """What is to be written: one change a file. ``command`` runs ``brain``. Raises ConfigError.

    A file that was ``made`` for the folder goes when nothing of anybody else's is left in it.
    """
    planned = [
        _servers(folder / ".mcp.json", list(command), remove=remove),
        _hooks(folder / ".claude" / "settings.json", list(command), remove=remove),
    ]
    if not remove:
        return planned
    ours = {str(folder / name) for name in made.files}
    return [
        Change(change.path, change.before, None) if str(change.path) in ours and _is_empty(change.after) else change
        for change in planned
    ]


def prepared(settings: Settings, folder: Path) -> Prepared:
    """What was made for a folder."""
    entry = _entries(settings).get(str(folder), {})
    return Prepared(str(entry.get("source", "")), tuple(map(str, entry.get("files", ()))))


def keep(settings: Settings, folder: Path, made: Prepared | None) -> None:
    """Keep in mind what was made for a folder, besides what was made earlier; None: nothing any more."""
    with file_lock(settings.home / ".prepared.lock", wait_s=20):
        entries = _entries(settings)
        if made is None:
            entries.pop(str(folder), None)
        else:
            known = prepared(settings, folder)
            files = tuple(dict.fromkeys((*known.files, *made.files)))
            entries[str(folder)] = asdict(Prepared(made.source or known.source, files))
        write_atomically(settings.home / FILE, json.dumps(entries, indent=2, ensure_ascii=False) + "\n")


def _entries(settings: Settings) -> dict[str, dict[str, Any]]:
    try:
        found = json.loads((settings.home / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {key: entry for key, entry in found.items() if isinstance(entry, dict)} if isinstance(found, dict) else {}


def _is_empty(text: str | None) -> bool:
    """Whether a JSON text holds containers only."""

    def hollow(value: object) -> bool:
        if isinstance(value, dict):
            return all(map(hollow, value.values()))
        return isinstance(value, list) and all(map(hollow, value))

    try:
        return not (text or "").strip() or hollow(json.loads(text or ""))
    except ValueError:
        return False


def _servers(file: Path, command: list[str], *, remove: bool) -> Change:
    before = text_of(file)
    after = before or ""
    try:
        for name, (toolsets,) in SERVERS.items():
            key = f"second-brain-{name}"
            if remove:
                after = without_member(after, ["mcpServers"], key) if after.strip() else after
            else:
                arguments: list[Json] = [*command[1:], "mcp", "--toolsets", toolsets]
                entry: Json = {"type": "stdio", "command": command[0], "args": arguments}
                after = with_member(after, ["mcpServers"], key, entry)
    except NotJson as error:
        raise _unreadable(file, error) from error
    return Change(file, before, after)


def _hooks(file: Path, command: list[str], *, remove: bool) -> Change:
    before = text_of(file)
    after = before or ""
    try:
        for event, (matcher, timeout_s, detached) in HOOKS.items():
            handler: dict[str, Json] = {"type": "command", "command": f"{shlex.join(command)} hook {event}"}
            if timeout_s:
                handler["timeout"] = timeout_s
            if detached:
                handler["async"] = True
            group: dict[str, Json] = {"matcher": matcher} if matcher else {}
            group["hooks"] = [handler]
            after = (without_item if remove else with_item)(after, ["hooks", event], group)
    except NotJson as error:
        raise _unreadable(file, error) from error
    return Change(file, before, after)


def _unreadable(file: Path, error: NotJson) -> ConfigError:
    return ConfigError(f"{file}: {error}", hint="correct the file first: its own program cannot read it either")
