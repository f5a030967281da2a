"""What was said already in a session, kept between the processes of its hooks; and where such things are kept.

Standard library only, so it does not know the settings: the folder follows the same rule as theirs.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

KEEP_S = 30 * 86_400
"""States of sessions that nobody asked for so long are removed."""


def folder(home: str | None = None) -> Path:
    """Where hooks keep what they need to remember. ``home`` goes before ``$BRAIN_HOME``."""
    home = home or os.environ.get("BRAIN_HOME")
    if home:
        return Path(home).expanduser() / "hooks"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "second-brain" / "hooks"
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "second-brain" / "hooks"
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "second-brain" / "hooks"


@contextlib.contextmanager
def remembered(session: str) -> Iterator[dict[str, Any]]:
    """What is remembered of a session, to be changed; written back at the end if it was. Never fails."""
    path = folder() / f"{session}.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = None
    state: dict[str, Any] = found if isinstance(found, dict) else {}
    before = json.dumps(state)
    yield state
    if session and json.dumps(state) != before:
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            temporary = path.with_suffix(f".{os.getpid()}.tmp")
            temporary.write_text(json.dumps(state), encoding="utf-8")
            temporary.replace(path)
            if not before.strip("{}"):
                _sweep(path.parent)


def states(home: str | None = None) -> Iterator[dict[str, Any]]:
    """What is remembered of each session, newest first."""

    def age(path: Path) -> float:
        with contextlib.suppress(OSError):
            return -path.stat().st_mtime
        return 0.0

    for path in sorted(folder(home).glob("*.json"), key=age):
        with contextlib.suppress(OSError, ValueError):
            found = json.loads(path.read_text(encoding="utf-8"))
            if isinstance(found, dict):
                yield found


def _sweep(place: Path) -> None:
    """Remove states of sessions long ago; once a session."""
    oldest = time.time() - KEEP_S
    for path in place.glob("*.json"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < oldest:
                path.unlink()
