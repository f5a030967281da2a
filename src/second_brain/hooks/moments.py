"""One hint at the right moment: what a lesson or decision says of the file that is about to be edited, or of an error.

Off unless ``.claude/handoff.json`` of the project says ``"hints": true``. Each lesson is named once a session, and a
session is interrupted at most ``BUDGET`` times; how often is counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .events import Event
from .state import remembered, states

BUDGET = 5
HINT_TOKENS = 80
ENOUGH = 3
"""Words of four letters and more that an error must share with a lesson."""


def hint(event: Event) -> str:
    """The hint, '' for none."""
    if not enabled(event.folder):
        return ""
    with remembered(event.session) as state:
        given = state.get("hints")
        names: list[str] = list(given) if isinstance(given, list) else []
        if len(names) >= BUDGET:
            return ""
        for name, text in _found(event):
            if name not in names:
                state["hints"] = [*names, name]
                return text
    return ""


@dataclass(frozen=True, slots=True)
class Spent:
    """What of the intrusion budget was used: hints in the newest session that had any, and in all of the last days."""

    newest: int
    budget: int
    all: int
    sessions: int


def spent(home: str | None = None) -> Spent:
    """How many hints were given in the sessions that are remembered. ``home`` as for ``state.folder``."""
    counts = [len(given) for state in states(home) if isinstance(given := state.get("hints"), list) and given]
    return Spent(counts[0] if counts else 0, BUDGET, sum(counts), len(counts))


def enabled(folder: Path) -> bool:
    """Whether the project asks for hints."""
    for place in (folder, *folder.parents):
        file = place / ".claude" / "handoff.json"
        if file.is_file():
            try:
                found = json.loads(file.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                return False
            return isinstance(found, dict) and found.get("hints") is True
    return False


def _found(event: Event) -> Iterator[tuple[str, str]]:
    from ..analysis.tokens import estimated_tokens
    from ..memory.location import project_of

    project = project_of(event.folder)
    for name, text in _about(event, project):
        while estimated_tokens(text) > HINT_TOKENS:
            text = text[: len(text) * 9 // 10].rstrip() + "…"
        yield name, text


def _about(event: Event, project: Path) -> Iterator[tuple[str, str]]:
    from ..journal.decisions import folder_of
    from ..journal.decisions import read_all as decisions_of
    from ..journal.files import text_of
    from ..journal.lessons import read_all as lessons_of

    lessons = [lesson for lesson in lessons_of(project) if lesson.state == "active"]
    file = event.edited_file
    if event.name == "PreToolUse" and file is not None:
        name = file.relative_to(project).as_posix() if file.is_relative_to(project) else file.name
        for lesson in lessons:
            if name in f"{lesson.lesson} {lesson.cause} {lesson.applies_to} {lesson.evidence}":
                yield lesson.id, f"Lesson {lesson.id} speaks of {name}: {lesson.lesson}"
        for decision in decisions_of(folder_of(project)):
            if decision.status == "accepted" and name in text_of(decision.path):
                yield decision.name, f"Decision {decision.name} speaks of {name}: {decision.title}"
        return
    words = _words(f"{event.text('error')} {json.dumps(event.mapping('tool_response'))[:4000]}")
    alike = [(len(words & _words(f"{lesson.lesson} {lesson.cause}")), lesson) for lesson in lessons]
    for common, lesson in sorted(alike, key=lambda entry: -entry[0]):
        if common >= ENOUGH:
            yield lesson.id, f"Lesson {lesson.id} may concern this error: {lesson.lesson}"


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w{4,}", text.casefold()))
