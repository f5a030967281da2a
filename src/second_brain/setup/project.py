"""A folder made ready without the plugin: both servers in ``.mcp.json``, the hooks in ``.claude/settings.json``."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from ..errors import ConfigError
from ..types import Json
from .entries import Change, text_of
from .json_text import NotJson, with_item, with_member, without_item, without_member

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


def changes(folder: Path, command: Sequence[str], *, remove: bool = False) -> list[Change]:
    """What is to be written: one change a file. ``command`` runs ``brain``. Raises ConfigError."""
    servers, hooks = folder / ".mcp.json", folder / ".claude" / "settings.json"
    return [_servers(servers, list(command), remove=remove), _hooks(hooks, list(command), remove=remove)]


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
