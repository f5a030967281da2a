"""A snapshot before a compaction, and its return after it: the last requests, touched files and open todos."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from .events import Event
from .state import remembered
from .transcript import last_requests, open_todos, touched_files

REQUESTS, FILES = 6, 20
LONGEST_REQUEST = 600


def save(event: Event) -> str:
    """Write the snapshot to ``docs/handoffs/auto/`` and remember where it is. Says nothing: the event cannot."""
    transcript = Path(event.text("transcript_path")) if event.text("transcript_path") else None
    if transcript is None:
        return ""
    requests = [text[:LONGEST_REQUEST] for text in last_requests(transcript, REQUESTS)]
    files, todos = touched_files(transcript, FILES), open_todos(transcript)
    if not (requests or files or todos):
        return ""
    from ..journal.handoffs import Handoff, write
    from ..memory.location import project_of

    project = project_of(event.folder)
    goal = requests[0] if requests else ""
    handoff = Handoff(
        f"before compaction {event.session[:8]}",
        goal=f"The session's last requests began with: {goal}" if goal else "",
        state="\n".join(f"- {' '.join(text.split())}" for text in requests),
        open_ends=todos,
        files=[_below(file, project) for file in files],
    )
    path = write(project, handoff, today=date.today(), auto=True)
    with remembered(event.session) as state:
        state["snapshot"] = str(path)
    return ""


def restored(event: Event) -> str:
    """The snapshot's card, for the session that goes on after the compaction."""
    with remembered(event.session) as state:
        path = Path(str(state.get("snapshot", "")))
    if not path.name or not path.is_file():
        return ""
    from ..journal.handoffs import card
    from ..memory.location import project_of

    return "Before the compaction:\n" + card(path, project_of(event.folder))


def _below(file: str, project: Path) -> str:
    path = Path(file)
    return path.relative_to(project).as_posix() if path.is_relative_to(project) else file
