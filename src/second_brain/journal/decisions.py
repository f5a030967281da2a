"""Decision records: the next number, the form that the folder already has, links on both sides, and what is wrong.

Forms: MADR 4 (adr/madr: frontmatter with ``status`` and ``date``, "Context and Problem Statement") and Nygard's
(adr-tools: "# 12. Title", "Date:", "## Status").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Literal

from ..errors import ConfigError, NotFound, UsageError
from ..memory.location import contained
from ..parsing.frontmatter import read_frontmatter
from ..secrets import redact
from .files import alone, change, create, one_line, slug, text_of

Form = Literal["madr", "nygard"]

FOLDERS = ("docs/adr", "docs/adrs", "docs/decisions", "doc/adr", "docs/architecture/decisions", "adr", "decisions")
"""Where records are looked for, in this order; a file ``.adr-dir`` goes first, as with adr-tools."""

LONGEST_TITLE = 200

STATUSES = ("proposed", "accepted", "rejected", "deprecated", "superseded")

_FILE = re.compile(r"(\d{3,5})-.+\.md$")
_SUPERSEDED = re.compile(r"^superseded(?: by)?\b", re.IGNORECASE)
_NUMBER = re.compile(r"\b(?:ADR[- ]?)?0*(\d{1,5})\b", re.IGNORECASE)
_NYGARD_TITLE = re.compile(r"^# *(?:\d+\. *)?(.+?)\s*$", re.MULTILINE)
_STATUS_SECTION = re.compile(r"^## +Status[ \t]*\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_STATUS_LINE = re.compile(r"^[*-]?[ \t]*Status:[ \t]*(.*?)[ \t]*$", re.MULTILINE)
"""Older MADR, and many a hand-written record: a line below the title."""

_DATE = re.compile(r"^Date: *(\d{4}-\d{2}-\d{2})[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Decision:
    """A record as it stands in its file. ``status`` is the first word, in lower case."""

    number: int
    title: str
    path: Path
    status: str = ""
    date: str = ""
    superseded_by: tuple[int, ...] = ()
    supersedes: tuple[int, ...] = ()
    form: Form = "madr"

    @property
    def name(self) -> str:
        """How others call it."""
        return f"ADR-{self.number:04d}"


@dataclass(frozen=True, slots=True)
class Draft:
    """What is known of a decision that is to be recorded. Empty parts become empty sections to be filled in."""

    title: str
    context: str = ""
    options: Sequence[str] = ()
    decision: str = ""
    consequences: str = ""
    status: str = "accepted"
    supersedes: Sequence[int] = field(default=())


def folder_of(project: Path) -> Path:
    """Where the project keeps its records, or will."""
    pointer = project / ".adr-dir"
    if pointer.is_file():
        named = text_of(pointer).strip()
        folder = (project / named).resolve()
        if named and folder.is_relative_to(project.resolve()):
            return folder
    for name in FOLDERS:
        if any(_FILE.match(path.name) for path in _files(project / name)):
            return project / name
    return next((project / name for name in FOLDERS if (project / name).is_dir()), project / FOLDERS[0])


def read_all(folder: Path) -> list[Decision]:
    """The records of a folder, by number."""
    found = []
    for path in _files(folder):
        number = number_of(path.name)
        if number is not None:
            found.append(read_one(path, number))
    return sorted(found, key=lambda decision: (decision.number, decision.path.name))


def read_one(path: Path, number: int) -> Decision:
    """One record."""
    return parsed(text_of(path), path, number)


def number_of(name: str) -> int | None:
    """The number of a record by the name of its file, None where it is none's."""
    match = _FILE.match(name)
    return int(match.group(1)) if match else None


def parsed(text: str, path: Path, number: int) -> Decision:
    """What the text of a record says."""
    text = text.replace("\r\n", "\n")
    front = read_frontmatter(text)
    body = text[front.body_start :]
    section = _STATUS_SECTION.search(body)
    nygard = section is not None and "status" not in front.values
    status = section.group(1) if section and nygard else str(front.values.get("status", "")) or _status_line(body)
    dated = _DATE.search(body)
    title = _NYGARD_TITLE.search(body)
    lines = [line.strip() for line in status.split("\n") if line.strip()]
    by = [line for line in lines if _SUPERSEDED.match(line)]
    replaces = [line for line in lines if re.match(r"supersedes\b", line, re.IGNORECASE)]
    replaces += re.findall(r"^\s*[*-]?\s*Supersedes\b.*$", body, re.MULTILINE) if not nygard else []
    return Decision(
        number=number,
        title=title.group(1) if title else path.stem,
        path=path,
        status=(lines[0].split()[0].lower().strip(".,") if lines else ""),
        date=str(front.values.get("date", "")) or (dated.group(1) if dated else ""),
        superseded_by=tuple(_numbers(by)),
        supersedes=tuple(_numbers(replaces)),
        form="nygard" if nygard else "madr",
    )


def _status_line(body: str) -> str:
    found = _STATUS_LINE.search(body.partition("\n## ")[0])
    return found.group(1) if found else ""


def record(project: Path, draft: Draft, *, today: date) -> Decision:
    """Write the next record, and on those that it supersedes who supersedes them.

    Raises:
        UsageError: no title, that of a record in force, or a status that there is not.
        NotFound: it supersedes a record that there is not.
        ConfigError: it supersedes one whose frontmatter is broken.

    Then nothing is written.
    """
    title = one_line(draft.title)
    if len(title) > LONGEST_TITLE:
        raise UsageError(
            f"the title has {len(title)} characters, at most {LONGEST_TITLE} are a title",
            hint="say the rest with --context and --decision",
        )
    if not title:
        raise UsageError("a decision needs a title", hint="name problem and answer: brain adr 'Use FTS5 for words'")
    if draft.status not in STATUSES[:4]:
        raise UsageError(f"status '{draft.status}' is not one of: {', '.join(STATUSES[:4])}")
    folder = contained(folder_of(project), project)
    with alone(folder):
        known = read_all(folder)
        old = [_named(known, number, folder) for number in draft.supersedes]
        _refuse_twice(title, [decision for decision in known if decision not in old])
        for decision in old:
            _refuse_broken(decision)
        number = max((decision.number for decision in known), default=0) + 1
        form: Form = known[-1].form if known else "madr"
        digits = max((len(_FILE.match(d.path.name).group(1)) for d in known if _FILE.match(d.path.name)), default=4)  # type: ignore[union-attr]
        text = (_nygard if form == "nygard" else _madr)(draft, title, number, old, today)
        text, _ = redact(text)
        path = create(folder / f"{number:0{digits}d}-{slug(title)}.md", text)
        new = read_one(path, number)
        for decision in old:
            change(contained(decision.path, project), lambda text, d=decision: superseded(text, d, new))  # type: ignore[misc]
    return new


def _refuse_twice(title: str, others: Sequence[Decision]) -> None:
    """Raise UsageError where a record in force has the title."""
    for other in others:
        if other.status in ("accepted", "proposed") and other.title.casefold() == title.casefold():
            raise UsageError(
                f"that is the title of {other.name} already: {other.path}",
                hint=f"change that record, or replace it: brain adr '{title}' --supersedes {other.number}",
            )


def _refuse_broken(decision: Decision) -> None:
    """Raise ConfigError where the frontmatter can only be guessed: nothing is set in what cannot be read."""
    warnings = read_frontmatter(text_of(decision.path)).warnings
    if warnings:
        raise ConfigError(f"{decision.path}: {warnings[0]}", hint="correct the frontmatter, then try again")


def superseded(text: str, old: Decision, new: Decision) -> str:
    """The old record's text with its status changed, and nothing else."""
    if "\r\n" in text:
        return superseded(text.replace("\r\n", "\n"), old, new).replace("\n", "\r\n")
    if old.form == "nygard":
        section = _STATUS_SECTION.search(text)
        assert section is not None  # it was read as Nygard's
        lines = section.group(1).strip("\n").split("\n")
        lines[0] = f"Superseded by [{new.number}. {new.title}]({new.path.name})"
        return text[: section.start(1)] + "\n" + "\n".join(lines) + "\n\n" + text[section.end(1) :]
    front = read_frontmatter(text)
    status = f"status: superseded by {new.name}"
    if "status" in front.values:
        lines = text.split("\n")
        lines[front.lines["status"] - 1] = status
        return "\n".join(lines)
    line = _STATUS_LINE.search(text, front.body_start)
    if line and _status_line(text[front.body_start :]):
        return text[: line.start(1)] + status.removeprefix("status: ") + text[line.end(1) :]
    if front.body_start:
        return text.replace("---\n", f"---\n{status}\n", 1)
    return f"---\n{status}\n---\n{text}"


def problems(decisions: Sequence[Decision]) -> Iterator[str]:
    """What is wrong with the records of a folder, each in a sentence."""
    by_number: dict[int, Decision] = {}
    for decision in decisions:
        if decision.number in by_number:
            yield f"{decision.path.name} has the number of {by_number[decision.number].path.name}"
        by_number.setdefault(decision.number, decision)
    for decision in decisions:
        name = decision.path.name
        if decision.status not in STATUSES:
            found = f"status '{decision.status}'" if decision.status else "no status"
            yield f"{name} has {found}, expected one of: {', '.join(STATUSES)}"
        if decision.date and not re.fullmatch(r"\d{4}-\d{2}-\d{2}", decision.date):
            yield f"{name} has the date '{decision.date}', expected YYYY-MM-DD"
        if decision.status == "superseded" and not decision.superseded_by:
            yield f"{name} is superseded and does not say by which record"
        for other in (*decision.superseded_by, *decision.supersedes):
            if other not in by_number:
                yield f"{name} names record {other}, which is not there"
        for other in decision.supersedes:
            if other in by_number and decision.number not in by_number[other].superseded_by:
                yield f"{name} supersedes {by_number[other].path.name}, which does not say so"
        if _supersedes_itself(decision, by_number):
            yield f"{name} is superseded by itself, by way of others"


def _supersedes_itself(decision: Decision, by_number: dict[int, Decision]) -> bool:
    seen: set[int] = set()
    waiting = list(decision.superseded_by)
    while waiting:
        number = waiting.pop()
        if number == decision.number:
            return True
        if number not in seen and number in by_number:
            seen.add(number)
            waiting += by_number[number].superseded_by
    return False


def _named(known: Sequence[Decision], number: int, folder: Path) -> Decision:
    for decision in known:
        if decision.number == number:
            return decision
    there = ", ".join(str(decision.number) for decision in known) or "none"
    raise NotFound(f"{folder} has no record {number}; there are: {there}")


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.md") if path.is_file()) if folder.is_dir() else []


def _numbers(lines: Sequence[str]) -> Iterator[int]:
    for line in lines:
        match = _NUMBER.search(re.sub(r"^\W*superseded?s?(?: by)?", "", line, flags=re.IGNORECASE))
        if match:
            yield int(match.group(1))


def _madr(draft: Draft, title: str, number: int, old: Sequence[Decision], today: date) -> str:
    options = [one_line(option) for option in draft.options]
    parts = [
        f"---\nstatus: {draft.status}\ndate: {today.isoformat()}\n---\n\n# {title}",
        f"## Context and Problem Statement\n\n{draft.context.strip()}",
        "## Considered Options\n\n" + "\n".join(f"* {option}" for option in options) if options else "",
        f"## Decision Outcome\n\n{draft.decision.strip()}",
        f"### Consequences\n\n{_bullets(draft.consequences)}",
        "## More Information\n\n" + "\n".join(f"* Supersedes [{d.name}]({d.path.name})" for d in old) if old else "",
    ]
    return "\n\n".join(part.rstrip() for part in parts if part) + "\n"


def _nygard(draft: Draft, title: str, number: int, old: Sequence[Decision], today: date) -> str:
    status = draft.status.capitalize()
    links = "".join(f"\n\nSupersedes [{d.number}. {d.title}]({d.path.name})" for d in old)
    context = draft.context.strip()
    if draft.options:
        context += "\n\nOptions:\n\n" + "\n".join(f"* {one_line(option)}" for option in draft.options)
    parts = [
        f"# {number}. {title}",
        f"Date: {today.isoformat()}",
        f"## Status\n\n{status}{links}",
        f"## Context\n\n{context.strip()}",
        f"## Decision\n\n{draft.decision.strip()}",
        f"## Consequences\n\n{draft.consequences.strip()}",
    ]
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def _bullets(text: str) -> str:
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return "\n".join(line if line.startswith(("*", "-")) else f"* {line}" for line in lines)
