"""Work that goes on without the host: in a process of its own, detached, with nobody waiting for it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

from .events import Event

ENDINGS = (
    ".md", ".markdown", ".txt", ".py", ".js", ".ts", ".tsx", ".jsx", ".go", ".rs", ".java", ".c", ".h", ".cpp", ".rb",
    ".sh", ".sql", ".html", ".css", ".json", ".toml", ".yaml", ".yml", ".canvas", ".base",
)  # fmt: skip
"""Of edited files only such may be notes or code; for others no process is begun."""

NEW_GROUP = 0x00000008 | 0x00000200
"""DETACHED_PROCESS and CREATE_NEW_PROCESS_GROUP of Windows."""


def after_edit(event: Event) -> str:
    """Have the edited file indexed, if it may lie in a source."""
    file = event.edited_file
    if file is not None and file.suffix.lower() in ENDINGS and _lies_in_a_source(file):
        run_detached(["index", "--quiet", str(file)])
    return ""


def after_session(event: Event) -> str:
    """Have the session indexed and distilled, if there is a source of sessions."""
    if _sources_text().find("session") >= 0:
        ended = [event.session] if event.name == "SessionEnd" and event.session else []
        run_detached(["hook", "afterwards", *ended])
    return ""


def run_detached(arguments: list[str]) -> None:
    """Begin ``brain`` with these arguments in a session of its own, without streams. Never fails."""
    command = [sys.executable, "-m", "second_brain.entry", *arguments]
    with contextlib.suppress(OSError):
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=True,
            start_new_session=sys.platform != "win32",
            creationflags=NEW_GROUP if sys.platform == "win32" else 0,
        )


def _lies_in_a_source(file: Path) -> bool:
    """Whether the settings name a folder above the file: a look at their text, which needs no YAML.

    A relative or oddly written path is not seen here; the next `brain index` sees it.
    """
    text = _sources_text()
    return any(str(folder) in text for folder in file.parents if len(folder.parts) > 1)


def _sources_text() -> str:
    try:
        return (settings_folder() / "sources.yaml").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def settings_folder() -> Path:
    """Where the settings are, by the same rule as ``config`` (and the library that it asks)."""
    home = os.environ.get("BRAIN_HOME")
    if home:
        return Path(home).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "second-brain"
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "second-brain"
    config = os.environ.get("XDG_CONFIG_HOME")
    return (Path(config) if config else Path.home() / ".config") / "second-brain"
