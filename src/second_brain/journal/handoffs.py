"""Handoffs: where the work stands, in a note, and the card from which a fresh session starts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from ..analysis.tokens import estimated_tokens
from ..memory.location import contained
from ..secrets import redact
from .files import create, one_line, slug, text_of

FOLDER = "docs/handoffs"
AUTO = "auto"
"""The folder below ``FOLDER`` for what hooks save by themselves."""

CARD_TOKENS = 300
"""A card is no longer than this."""

PARTS = ("Goal", "State", "Decisions", "Open ends", "Next step", "Files")
_PART = re.compile(r"^## +(.+?)[ \t]*\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Handoff:
    """What the next session must know; lists hold a line each."""

    topic: str
    goal: str = ""
    state: str = ""
    decisions: Sequence[str] = field(default=())
    open_ends: Sequence[str] = field(default=())
    next_step: str = ""
    files: Sequence[str] = field(default=())

    def parts(self) -> dict[str, str]:
        """The text of each part, by its heading."""
        return {
            "Goal": self.goal.strip(),
            "State": self.state.strip(),
            "Decisions": _listed(self.decisions),
            "Open ends": _listed(self.open_ends),
            "Next step": self.next_step.strip(),
            "Files": _listed(f"`{file}`" for file in self.files),
        }


def write(project: Path, handoff: Handoff, *, today: date, auto: bool = False) -> Path:
    """Write the note; one that is there already is never replaced, the same one is not written twice.

    Returns its path. Raises StorageError.
    """
    topic = one_line(handoff.topic) or "handoff"
    folder = contained(project / FOLDER / AUTO if auto else project / FOLDER, project)
    body = "\n\n".join(f"## {name}\n\n{text}" for name, text in handoff.parts().items() if text)
    body, _ = redact(body)
    topic, _ = redact(topic)
    text = f"---\ntype: handoff\ndate: {today.isoformat()}\n---\n\n# {topic}\n\n{body}\n"
    name = f"{today.isoformat()}-{slug(topic, 100)}"
    for there in sorted(folder.glob(f"{name}*.md")):
        if text_of(there) == text:
            return there
    return create(folder / f"{name}.md", text)


def latest(project: Path, *, auto: bool = False) -> Path | None:
    """The newest handoff: by the day in its name, then by when it was written."""
    folder = project / FOLDER / AUTO if auto else project / FOLDER
    found = [path for path in folder.glob("*.md") if re.match(r"\d{4}-\d{2}-\d{2}", path.name)]
    return max(found, key=lambda path: (path.name[:10], path.stat().st_mtime_ns, path.name), default=None)


def card(path: Path, project: Path, *, tokens: int = CARD_TOKENS) -> str:
    """A handoff in short: its title, next step, state, open ends and where the whole is, within ``tokens``."""
    text = text_of(path)
    title = re.search(r"^# +(.+)$", text, re.MULTILINE)
    parts = {name: body.strip() for name, body in _PART.findall(text)}
    name = path.relative_to(project).as_posix() if path.is_relative_to(project) else path.name
    lines = [f"Handoff of {path.name[:10]}: {title.group(1) if title else path.stem} ({name})"]
    for part in ("Next step", "State", "Open ends", "Goal", "Decisions", "Files"):
        if parts.get(part):
            lines.append(f"{part}: {' '.join(parts[part].split())}")
    kept: list[str] = []
    left = tokens
    for line in lines:
        short = _cut(line, left)
        if not short:
            break
        kept.append(short)
        left -= estimated_tokens(short) + 1
    return "\n".join(kept)


def _cut(line: str, tokens: int) -> str:
    """The line, or as much of it as fits with a mark; '' when that would say nothing."""
    if estimated_tokens(line) <= tokens:
        return line
    while line and estimated_tokens(line) + 1 > tokens:
        line = line[: len(line) * 9 // 10]
    return line.rstrip() + "…" if len(line) > 20 else ""


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {one_line(line)}" for line in lines if one_line(line))
