"""Lessons as testable directives, in one file: ``docs/lessons.md``.

    ## L-0003 Quote every term of a MATCH expression

    - Lesson: When passing a user's text to MATCH, quote each term.
    - Cause: `-` and `:` are operators of FTS5.
    - Detect: `grep -rn "MATCH ?" src`
    - Evidence: commit 1a2b3c
    - Date: 2031-05-02
    - Status: active

Ids never change and are never used twice. Nothing is deleted: a lesson is superseded by another, or retired with a
reason. A person may write and edit the file too; what stands between the entries is kept as it is.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

from ..errors import NotFound, UsageError
from ..memory.location import contained
from ..secrets import redact
from .files import alone, change, one_line, text_of

FILE = "docs/lessons.md"
HEAD = """\
# Lessons

What went wrong once and shall not again. Written by `brain learn`; edit as you like, but keep the ids.
"""
KEYS = ("Lesson", "Cause", "Detect", "Evidence", "Applies to", "Date", "Status")
CHECK_TIMEOUT_S = 60.0

State = Literal["active", "superseded", "retired"]

SEPARATORS = " \t:.·-"
"""What may stand between a lesson's id and its title."""

_ENTRY = re.compile(r"^## +L-(\d{1,6})\b[" + SEPARATORS + r"]*(.*?)[ \t]*$", re.MULTILINE)
_ANY_HEADING = re.compile(r"^#{1,2} ", re.MULTILINE)
_FIELD = re.compile(r"^[ \t]*[-*][ \t]+\*{0,2}(" + "|".join(KEYS) + r")\*{0,2}:\*{0,2}[ \t]*(.*?)[ \t]*$", re.MULTILINE)
_BY = re.compile(r"\bL-(\d{1,6})\b")


@dataclass(frozen=True, slots=True)
class Lesson:
    """An entry; ``line`` is where it begins."""

    number: int
    title: str
    lesson: str
    cause: str = ""
    detect: str = ""
    evidence: str = ""
    applies_to: str = ""
    date: str = ""
    status: str = "active"
    line: int = 0

    @property
    def id(self) -> str:
        """How others call it."""
        return f"L-{self.number:04d}"

    @property
    def state(self) -> State:
        """Whether it holds."""
        word = self.status.partition(" ")[0].lower()
        if word == "superseded":
            return "superseded"
        return "retired" if word == "retired" else "active"

    @property
    def superseded_by(self) -> int:
        """The number of the lesson that holds instead, or 0."""
        found = _BY.search(self.status) if self.state == "superseded" else None
        return int(found.group(1)) if found else 0

    @property
    def command(self) -> str:
        """The detection as a command, '' where it is none."""
        found = re.fullmatch(r"`([^`]+)`", self.detect)
        return found.group(1) if found else ""


@dataclass(frozen=True, slots=True)
class Check:
    """What a detection command said: ``found`` is whether the fault is there, None when the command failed."""

    lesson: Lesson
    found: bool | None
    output: str


def read_all(project: Path) -> list[Lesson]:
    """The lessons of a project, in the order of the file."""
    return parsed(text_of(project / FILE))


def learn(
    project: Path,
    lesson: str,
    *,
    today: date,
    title: str = "",
    cause: str = "",
    detect: str = "",
    evidence: str = "",
    applies_to: str = "",
) -> Lesson:
    """Add a lesson at the end of the file. ``detect`` is a command that exits with 0 when the fault is there.

    Raises UsageError for an empty lesson, or one that is there already.
    """
    directive = one_line(lesson)
    if not directive:
        raise UsageError("a lesson needs a sentence", hint="say what to do when: brain learn 'When X, do Y'")
    with alone(_file(project).parent):
        known = read_all(project)
        same = [other for other in known if other.state == "active" and _folded(other.lesson) == _folded(directive)]
        if same:
            raise UsageError(f"that is {same[0].id} already", hint=f"see {FILE}, line {same[0].line}")
        added = Lesson(
            number=max((other.number for other in known), default=0) + 1,
            title=one_line(title).lstrip(SEPARATORS) or _title(directive),
            lesson=directive,
            cause=one_line(cause),
            detect=f"`{one_line(detect)}`" if detect else "",
            evidence=one_line(evidence),
            applies_to=one_line(applies_to),
            date=today.isoformat(),
        )
        change(_file(project), lambda text: _appended(text, added))
    return added


def supersede(project: Path, old: int, new: int) -> None:
    """Say on a lesson that another holds instead. Raises NotFound, UsageError."""
    with alone(_file(project).parent):
        known = {lesson.number: lesson for lesson in read_all(project)}
        for number in (old, new):
            _known(known.values(), number)
        if old == new or _leads_to(known, new, old):
            raise UsageError(f"L-{old:04d} cannot be superseded by L-{new:04d}, which it supersedes itself")
        change(project / FILE, lambda text: _with_status(text, old, f"superseded by L-{new:04d}"))


def retire(project: Path, number: int, reason: str, *, today: date) -> None:
    """Say on a lesson that it holds no more, and why. Raises NotFound, UsageError."""
    why = one_line(reason)
    if not why:
        raise UsageError("a lesson is retired for a reason", hint=f"brain learn retire L-{number:04d} 'why'")
    with alone(_file(project).parent):
        _known(read_all(project), number)
        change(project / FILE, lambda text: _with_status(text, number, f"retired {today.isoformat()}: {why}"))


def check(project: Path, numbers: Sequence[int] = ()) -> Iterator[Check]:
    """Run the detection commands of active lessons, in the project's folder: only when somebody asks for it.

    A command that exits with 0 found the fault, with 1 did not; anything else, or more than a minute, is a failure.
    """
    known = read_all(project)
    for number in numbers:
        _known(known, number)
    for lesson in known:
        if lesson.state != "active" or not lesson.command or (numbers and lesson.number not in numbers):
            continue
        try:
            ran = subprocess.run(
                lesson.command,
                shell=True,  # the user's own command, which they asked to be run
                cwd=project,
                capture_output=True,
                stdin=subprocess.DEVNULL,
                timeout=CHECK_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            yield Check(lesson, None, f"not done after {CHECK_TIMEOUT_S:.0f} s")
            continue
        output = (ran.stdout + ran.stderr).decode("utf-8", "replace").strip()
        yield Check(lesson, {0: True, 1: False}.get(ran.returncode), output)


def problems(project: Path) -> Iterator[str]:
    """What is wrong with the file, each in a sentence with its line."""
    text = text_of(project / FILE)
    seen: dict[int, Lesson] = {}
    lessons = parsed(text)
    for lesson in lessons:
        where = f"{FILE}:{lesson.line}: {lesson.id}"
        if lesson.number in seen:
            yield f"{where} stands there twice, first in line {seen[lesson.number].line}"
        seen.setdefault(lesson.number, lesson)
        if not lesson.lesson:
            yield f"{where} has no line '- Lesson:'"
        if lesson.date and not re.fullmatch(r"\d{4}-\d{2}-\d{2}", lesson.date):
            yield f"{where} has the date '{lesson.date}', expected YYYY-MM-DD"
        word = lesson.status.split(" ")[0].lower()
        if word not in ("active", "superseded", "retired"):
            yield f"{where} has the status '{lesson.status}', expected active, superseded by L-..., or retired ...: why"
    for lesson in lessons:
        if lesson.state == "superseded" and lesson.superseded_by not in seen:
            yield f"{FILE}:{lesson.line}: {lesson.id} is superseded by a lesson that is not there"


def _file(project: Path) -> Path:
    return contained(project / FILE, project)


def number_of(id: str) -> int:
    """The number in ``L-0003``, ``3`` or ``l-3``. Raises UsageError."""
    found = re.fullmatch(r"(?:[Ll]-)?(\d{1,6})", id.strip())
    if not found:
        raise UsageError(f"'{id}' is no lesson's id", hint="ids look like L-0003; `brain learn list` shows them")
    return int(found.group(1))


# -- text ----------------------------------------------------------------------------------------------------


def parsed(text: str) -> list[Lesson]:
    """The lessons in the text of such a file, in order."""
    return list(_parsed(text))


def _parsed(text: str) -> Iterator[Lesson]:
    plain = text.replace("\r\n", "\n")
    for entry, end in _entries(plain):
        fields: dict[str, str] = {}
        for found in _FIELD.finditer(plain, entry.end(), end):
            fields.setdefault(found.group(1), found.group(2))
        yield Lesson(
            number=int(entry.group(1)),
            title=entry.group(2),
            lesson=fields.get("Lesson", ""),
            cause=fields.get("Cause", ""),
            detect=fields.get("Detect", ""),
            evidence=fields.get("Evidence", ""),
            applies_to=fields.get("Applies to", ""),
            date=fields.get("Date", ""),
            status=fields.get("Status", "") or "active",
            line=1 + plain.count("\n", 0, entry.start()),
        )


def _entries(text: str) -> Iterator[tuple[re.Match[str], int]]:
    """Each entry's heading, and where it ends: at the next heading of its level."""
    for entry in _ENTRY.finditer(text):
        following = _ANY_HEADING.search(text, entry.end())
        yield entry, following.start() if following else len(text)


def _appended(text: str, lesson: Lesson) -> str:
    fields = {
        "Lesson": lesson.lesson,
        "Cause": lesson.cause,
        "Detect": lesson.detect,
        "Evidence": lesson.evidence,
        "Applies to": lesson.applies_to,
        "Date": lesson.date,
        "Status": lesson.status,
    }
    lines = [f"- {key}: {value}" for key, value in fields.items() if value]
    entry, _ = redact(f"## {lesson.id} {lesson.title}\n\n" + "\n".join(lines) + "\n")
    before = text if text.strip() else HEAD
    ends = "\r\n" if "\r\n" in text else "\n"
    return before.rstrip() + ends * 2 + entry.replace("\n", ends)


def _with_status(text: str, number: int, status: str) -> str:
    """The text with the status of one entry set; nothing else changes."""
    for entry, end in _entries(text):
        if int(entry.group(1)) != number:
            continue
        for found in _FIELD.finditer(text, entry.end(), end):
            if found.group(1) == "Status":
                return text[: found.start(2)] + status + text[found.end(2) :]
        body = text[entry.start() : end].rstrip()
        ends = "\r\n" if "\r\n" in text else "\n"
        at = entry.start() + len(body)
        return text[:at] + f"{ends}- Status: {status}" + text[at:]
    return text


def _known(lessons: Iterable[Lesson], number: int) -> None:
    there = list(lessons)
    if any(lesson.number == number for lesson in there):
        return
    ids = ", ".join(lesson.id for lesson in there) or "none"
    raise NotFound(f"there is no lesson L-{number:04d}; there are: {ids}")


def _leads_to(known: dict[int, Lesson], start: int, goal: int) -> bool:
    seen: set[int] = set()
    while start and start not in seen:
        if start == goal:
            return True
        seen.add(start)
        start = known[start].superseded_by if start in known else 0
    return False


def _title(lesson: str) -> str:
    """The first clause of a lesson, short enough for a heading."""
    title = re.split(r"[.;。；](?:\s|$)", lesson)[0].lstrip(SEPARATORS)
    return title if len(title) <= 80 else title[:79].rstrip() + "…"


def _folded(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
