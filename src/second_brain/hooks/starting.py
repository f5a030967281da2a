"""The brief of a new session: the latest handoff, and the decisions and lessons of this project."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from pathlib import Path

from ..errors import BrainError
from .events import Event
from .saving import restored
from .state import remembered

BRIEF_TOKENS = 300
MOST = 6
"""Decisions and lessons that are named; the newest ones."""

FORGOTTEN = ("compact", "clear")
"""How a session begins that has lost what it was told before."""


def brief(event: Event) -> str:
    """What a session should know of its project, '' when there is nothing, or when it was told already."""
    source = event.text("source")
    text = restored(event) if source == "compact" else ""
    text = "\n\n".join(part for part in (text, project_brief(event.folder)) if part)
    if not text:
        return ""
    digest = hashlib.blake2b(text.encode("utf-8"), digest_size=8).hexdigest()
    with remembered(event.session) as state:
        if state.get("brief") == digest and source not in FORGOTTEN:
            return ""
        state["brief"] = digest
    return text


def project_brief(folder: Path) -> str:
    """The brief of a project, within ``BRIEF_TOKENS``."""
    from ..analysis.tokens import estimated_tokens
    from ..memory.location import project_of

    lines: list[str] = []
    left = BRIEF_TOKENS
    for line in _lines(project_of(folder)):
        tokens = estimated_tokens(line) + 1
        if tokens > left:
            continue
        lines.append(line)
        left -= tokens
    return "\n".join(lines)


def _lines(project: Path) -> Iterator[str]:
    from ..journal.handoffs import card, latest

    path = latest(project)
    if path is not None:
        with contextlib.suppress(BrainError):
            yield from card(path, project, tokens=BRIEF_TOKENS // 2).split("\n")
    with contextlib.suppress(BrainError):  # one file that cannot be read does not silence the others
        yield from _decisions(project)
    with contextlib.suppress(BrainError):
        yield from _lessons(project)


def _decisions(project: Path) -> Iterator[str]:
    from ..journal.decisions import folder_of
    from ..journal.decisions import read_all as decisions_of

    folder = folder_of(project)
    accepted = [decision for decision in decisions_of(folder) if decision.status in ("accepted", "proposed")]
    if accepted:
        name = folder.relative_to(project).as_posix() if folder.is_relative_to(project) else str(folder)
        yield f"Decisions in force ({name}):"
        yield from (f"- {decision.name} {decision.title}" for decision in accepted[-MOST:])


def _lessons(project: Path) -> Iterator[str]:
    from ..journal.lessons import FILE
    from ..journal.lessons import read_all as lessons_of

    active = [lesson for lesson in lessons_of(project) if lesson.state == "active"]
    if active:
        yield f"Lessons of this project ({FILE}):"
        yield from (f"- {lesson.id} {lesson.lesson}" for lesson in active[-MOST:])
