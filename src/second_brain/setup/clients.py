"""The programs that can be told of this brain: where their settings are, and what an entry looks like in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..types import Json

NAME = "second-brain"
"""The server's name in a client's settings."""


@dataclass(frozen=True, slots=True)
class Place:
    """What the folders of a user are called here; given, so that every platform can be tried on one.

    ``platform`` as in ``sys.platform``.
    """

    home: Path
    platform: str
    environment: Mapping[str, str]

    def settings(self, name: str) -> Path:
        """The folder in which a desktop program keeps its settings."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support" / name
        if self.platform == "win32":
            return Path(self.environment.get("APPDATA") or self.home / "AppData" / "Roaming") / name
        return Path(self.environment.get("XDG_CONFIG_HOME") or self.home / ".config") / name

    def own(self, variable: str, default: str) -> Path:
        """A program's folder: where a variable says, else below the home folder."""
        return Path(self.environment.get(variable) or self.home / default)


@dataclass(frozen=True, slots=True)
class Client:
    """A program. ``file`` and, for one folder only, ``project_file`` hold the entry at ``path`` in them."""

    name: str
    title: str
    file: Callable[[Place], Path]
    path: tuple[str, ...]
    project_file: str = ""
    typed: bool = False
    after: str = "restart it to see the change"

    def entry(self, command: str, arguments: tuple[str, ...]) -> dict[str, Json]:
        """What starts the server."""
        kind: dict[str, Json] = {"type": "stdio"} if self.typed else {}
        return {**kind, "command": command, "args": list(arguments)}


CLIENTS = {
    client.name: client
    for client in (
        Client(
            "claude-code",
            "Claude Code",
            lambda place: place.own("CLAUDE_CONFIG_DIR", "") / ".claude.json",
            ("mcpServers",),
            project_file=".mcp.json",
            typed=True,
            after="a new session has it; `/mcp` shows it",
        ),
        Client(
            "claude-desktop",
            "Claude Desktop",
            lambda place: place.settings("Claude") / "claude_desktop_config.json",
            ("mcpServers",),
        ),
        Client(
            "cursor",
            "Cursor",
            lambda place: place.home / ".cursor" / "mcp.json",
            ("mcpServers",),
            project_file=".cursor/mcp.json",
        ),
        Client(
            "vscode",
            "Visual Studio Code",
            lambda place: place.settings("Code") / "User" / "mcp.json",
            ("servers",),
            project_file=".vscode/mcp.json",
            typed=True,
            after="`MCP: List Servers` shows it",
        ),
        Client(
            "codex",
            "Codex",
            lambda place: place.own("CODEX_HOME", ".codex") / "config.toml",
            ("mcp_servers",),
            after="a new session has it",
        ),
        Client(
            "gemini",
            "Gemini CLI",
            lambda place: place.home / ".gemini" / "settings.json",
            ("mcpServers",),
            project_file=".gemini/settings.json",
            after="a new session has it",
        ),
    )
}
"""By the name that ``brain setup`` takes."""
