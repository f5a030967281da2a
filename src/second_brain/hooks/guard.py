"""The context guard: silent while the context is small, then it asks for a handoff, before quality suffers.

It reads the real size from the transcript. The limit is in ``.claude/handoff.json`` of the project.
"""

from __future__ import annotations

import json
from pathlib import Path

from .events import Event
from .state import remembered
from .transcript import context_tokens

LIMIT_TOKENS = 250_000


def guard(event: Event) -> str:
    """What is to be said to the agent, '' for nothing: on every prompt, and once a session in mid-turn."""
    path = event.text("transcript_path")
    if not path:
        return ""
    limit = limit_of(event.folder)
    size = context_tokens(Path(path))
    if not limit or size < limit:
        return ""
    if event.name != "UserPromptSubmit":
        with remembered(event.session) as state:
            if state.get("guarded"):
                return ""
            state["guarded"] = True
    return (
        f"The context of this session holds {size:,} tokens; the limit of this project is {limit:,}."
        " A handoff note is due before more work is begun: /handoff, or `brain handoff TOPIC --next ...`, and then a"
        " fresh session that starts from its card."
    )


def limit_of(folder: Path) -> int:
    """The project's limit in tokens; 0 turns the guard off."""
    for place in (folder, *folder.parents):
        file = place / ".claude" / "handoff.json"
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            continue
        except (OSError, ValueError):
            return LIMIT_TOKENS
        for key in ("limit_tokens", "limit", "tokens"):
            value = found.get(key) if isinstance(found, dict) else None
            if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
                return value
        return LIMIT_TOKENS
    return LIMIT_TOKENS
