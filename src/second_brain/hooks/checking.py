"""What a session's start is told when something that its project relies on is broken; nothing when all is well."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from .events import Event

SHARE_S = 1.0
"""Looking takes no more of a hook's time: the brief must come all the same."""

QUIET = ("compact", "clear")
"""Sessions that begin so were told when they began for the first time."""


def invariants(event: Event) -> str:
    """At most ten lines of what is wrong; '' where nothing is, or where looking took too long."""
    if event.text("source") in QUIET:
        return ""
    found: list[str] = []
    looking = threading.Thread(target=lambda: found.append(_wrong(event.folder)), daemon=True)
    looking.start()
    looking.join(SHARE_S)
    return "".join(found)


def _wrong(folder: Path) -> str:
    from ..errors import BrainError
    from ..invariants import in_short, project_findings
    from ..library import Brain
    from ..memory.location import project_of

    try:
        with Brain.open(environment=os.environ) as brain:
            if not brain.sources():
                return ""  # nobody has set up anything yet: that is no fault
            return in_short(project_findings(brain, project_of(folder)))
    except BrainError as error:
        return f"- {error}; {error.hint}".rstrip("; ")
