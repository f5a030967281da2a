"""The fields of an event, whatever of them is missing or of another form than documented."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LONGEST = 8 << 20
"""Bytes of stdin that are read; an edit of a huge file brings its whole text along."""


@dataclass(frozen=True, slots=True)
class Event:
    """What the host said. Texts are '' and mappings empty where it did not."""

    name: str
    fields: dict[str, Any]

    def text(self, key: str) -> str:
        """A field that should be a text."""
        value = self.fields.get(key)
        return value if isinstance(value, str) else ""

    def mapping(self, key: str) -> dict[str, Any]:
        """A field that should be an object."""
        value = self.fields.get(key)
        return value if isinstance(value, dict) else {}

    @property
    def session(self) -> str:
        """The session's id, safe to be part of a file's name."""
        id = self.text("session_id")
        return "".join(c for c in id if c.isalnum() or c in "-_")[:80]

    @property
    def folder(self) -> Path:
        """The folder in which the session works now."""
        named = self.text("cwd")
        return Path(named) if named and Path(named).is_absolute() else Path.cwd()

    @property
    def edited_file(self) -> Path | None:
        """The file that a tool wrote."""
        name = self.mapping("tool_input").get("file_path") or self.mapping("tool_input").get("notebook_path")
        return Path(name) if isinstance(name, str) and name else None


def read_event(name: str, data: bytes) -> Event:
    """The event of these bytes; without any field when they are no JSON object."""
    try:
        fields = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        fields = None
    return Event(name, fields if isinstance(fields, dict) else {})
