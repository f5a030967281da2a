"""Is this folder a bundle of Open Knowledge Format?

Three rules make a bundle, and only what breaks one is an error: every ``.md`` file but the reserved ones begins with
frontmatter that can be read (`frontmatter`) and has a type (`type`); ``index.md`` and ``log.md`` are a directory and a
history (`reserved`). All else is advice.

Source: Open Knowledge Format 0.2, sections 8, 9 and 11, as amended in August 2026 (times have an offset).
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Final, Literal

from ..errors import NotFound
from ..parsing.commonmark import Structure, read_structure
from ..parsing.dates import parse_time
from ..types import Json
from ..yaml_nodes import YamlError, load_yaml

Rule = Literal["frontmatter", "type", "reserved", "advice"]

VERSION: Final = "0.2"
RESERVED: Final = ("index.md", "log.md")
STATUSES: Final = ("draft", "stable", "deprecated")

_BLOCK = re.compile(r"---[ \t]*\n(?P<block>.*?)^---[ \t]*(?:\n|\Z)", re.MULTILINE | re.DOTALL)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_WITH_OFFSET = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d.*(?:[Zz]|[+-]\d\d:?\d\d)")
_ENTRY_LINK = re.compile(r"\[(?:\\.|[^\]\\])+\]\([^)]+\)")
_FOOTNOTE = re.compile(r"\[\^([^\]\s]+)\](?!:)")


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong in a file of the bundle; ``line`` counts from 1."""

    path: str
    line: int
    rule: Rule
    message: str

    @property
    def is_error(self) -> bool:
        """Whether the folder is no bundle because of it."""
        return self.rule != "advice"


def check_bundle(root: Path, now: datetime) -> list[Finding]:
    """What is wrong with the folder, file by file; a conformant bundle has no finding that is an error.

    Hidden folders are left out. ``now`` is when its content should be fresh. Raises NotFound.
    """
    if not root.is_dir():
        raise NotFound(f"{root} is no folder", hint="give the folder that is the bundle")
    files = set(_files(root))
    findings: list[Finding] = []
    for path in sorted(files):
        if path.endswith(".md"):
            findings.extend(_file(root / path, path, files, now))
    return findings


def frontmatter(text: str) -> tuple[str | None, int]:
    """The text between the ``---`` lines at the beginning, None without; and where the body begins."""
    found = _BLOCK.match(text)
    return (found["block"], found.end()) if found else (None, 0)


def check_reserved(path: str, text: str) -> Iterator[Finding]:
    """What is wrong with an ``index.md`` or ``log.md`` at this path in the bundle."""
    name = path.rpartition("/")[2]
    block, start = frontmatter(text)
    if block is not None:
        yield from _reserved_frontmatter(path, block)
    structure = read_structure(text, start)
    for at, message in _index(structure, text) if name == "index.md" else _log(structure):
        yield Finding(path, text.count("\n", 0, at) + 1, "reserved", message)


def _files(root: Path) -> Iterator[str]:
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            yield (Path(folder) / name).relative_to(root).as_posix()


def _file(file: Path, path: str, files: Collection[str], now: datetime) -> Iterator[Finding]:
    reserved = file.name in RESERVED
    try:
        text = file.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        problem = f"it is not UTF-8: byte {error.start:,} is 0x{byte:02x}"
        yield Finding(path, 1, "reserved" if reserved else "frontmatter", problem)
        return
    if reserved:
        yield from check_reserved(path, text)
    else:
        yield from _concept(path, text, now)
    yield from _links(path, text, files)


def _reserved_frontmatter(path: str, block: str) -> Iterator[Finding]:
    try:
        value = load_yaml(block, first_line=2).value
    except YamlError as error:
        yield Finding(path, error.line, "reserved", f"its frontmatter cannot be read: {error.problem}")
        return
    keys = value if isinstance(value, dict) else {}
    if path != "index.md":
        yield Finding(path, 1, "reserved", "it has frontmatter, which only the index.md of the whole bundle may have")
    elif unknown := sorted(set(keys) - {"okf_version"}):
        yield Finding(path, 1, "reserved", f"its frontmatter holds {', '.join(unknown)}; expected only okf_version")
    elif keys.get("okf_version") not in (None, "0.1", VERSION):
        yield Finding(path, 2, "advice", f"version {keys['okf_version']} is not known here; this checks {VERSION}")


def _index(structure: Structure, text: str) -> Iterator[tuple[int, str]]:
    headed = False
    for block in structure.blocks:
        if block.kind == "heading":
            headed = True
        elif block.kind == "item":
            if not headed:
                yield block.start, "an entry stands above the first heading"
            if not _ENTRY_LINK.search(text, block.start, block.end):
                yield block.start, "an entry is no link: expected `* [Title](file.md) - description`"
    if not headed:
        yield 0, "it has no heading: expected sections of entries"


def _log(structure: Structure) -> Iterator[tuple[int, str]]:
    items = [block.start for block in structure.blocks if block.kind == "item"]
    newest: date | None = None
    dated = False
    for section in structure.sections:
        if section.level == 2:
            title = section.path[-1]
            day = _day(title)
            dated = day is not None
            if day is None:
                yield section.start, f"the heading {title[:40]!r} is no day: expected `## 2031-04-05`"
            elif newest and day > newest:
                yield section.start, f"{day} stands below {newest}; expected the newest day first"
            newest = day or newest
        elif section.level < 2:
            dated = False
        if not dated and (stray := [at for at in items if section.start <= at < section.end]):
            yield stray[0], "an entry stands below no day"


def _day(title: str) -> date | None:
    try:
        return date.fromisoformat(title) if _DAY.fullmatch(title) else None
    except ValueError:
        return None


def _concept(path: str, text: str, now: datetime) -> Iterator[Finding]:
    block, start = frontmatter(text)
    if block is None:
        problem = "it has no frontmatter: expected a `---` line on line 1, keys, and another `---` line"
        yield Finding(path, 1, "frontmatter", problem)
        return
    try:
        result = load_yaml(block, first_line=2)
    except YamlError as error:
        yield Finding(path, error.line, "frontmatter", f"its frontmatter cannot be read: {error.problem}")
        return
    keys = {} if result.value is None else result.value
    if not isinstance(keys, dict):
        yield Finding(path, 2, "frontmatter", "its frontmatter is no mapping: expected `key: value` lines")
        return
    type = keys.get("type")
    if not isinstance(type, str) or not type.strip():
        found = "has no `type`" if "type" not in keys else "has a `type` that is no text, or empty"
        yield Finding(path, result.lines.get(("type",), 1), "type", f"it {found}: expected one such as `type: Note`")
    for key, message in _advice(path, keys, text, start, now):
        yield Finding(path, result.lines.get((key,), 1), "advice", message)
    for warning in result.warnings:
        yield Finding(path, 1, "advice", warning)


def _advice(path: str, keys: dict[str, Json], text: str, start: int, now: datetime) -> Iterator[tuple[str, str]]:
    """What could be better in a concept, with the key that it is about."""
    if path.rpartition("/")[2].lower() in RESERVED:
        yield "", "its name differs from a reserved one by letter case only"
    status = keys.get("status")
    if "status" in keys and status not in STATUSES:
        yield "status", f"the status {str(status)[:40]!r} is not one of: {', '.join(STATUSES)}"
    yield from _times(keys, now)
    if isinstance(keys.get("verified"), dict):
        yield "verified", "verified is one mapping; write it as a list of one"
    sources = keys.get("sources")
    entries = [entry for entry in sources if isinstance(entry, dict)] if isinstance(sources, list) else []
    if "sources" in keys and (not isinstance(sources, list) or len(entries) < len(sources)):
        yield "sources", "sources is no list of mappings"
    if any(not entry.get("resource") for entry in entries):
        yield "sources", "a source names no resource"
    if entries:
        ids = {entry.get("id") for entry in entries}
        for label in dict.fromkeys(_FOOTNOTE.findall(text, start)):
            if label not in ids:
                yield "sources", f"the footnote [^{label[:40]}] is no source's id"
    if keys.get("type") == "Attested Computation" and not keys.get("runtime"):
        yield "type", "an Attested Computation names no runtime"
    if "timestamp" in keys:
        yield "timestamp", "timestamp is of version 0.1; now it is generated.at"
    if re.search(r"^# Citations[ \t]*$", text[start:], re.MULTILINE):
        yield "", "a list of Citations is of version 0.1; now it is the key sources"


def _times(keys: dict[str, Json], now: datetime) -> Iterator[tuple[str, str]]:
    generated, verified = keys.get("generated"), keys.get("verified")
    events = [("generated", generated)] if "generated" in keys else []
    events += [("verified", event) for event in (verified if isinstance(verified, list) else [verified]) if event]
    for key, event in events:
        if not isinstance(event, dict) or not event.get("by"):
            yield key, f"{key} does not say by whom"
        if isinstance(event, dict) and event.get("at") and not _WITH_OFFSET.fullmatch(str(event["at"])):
            yield key, f"{key}.at is {str(event['at'])[:40]!r}; expected a time with its offset"
    stale = keys.get("stale_after")
    if isinstance(stale, str):
        moment = parse_time(stale)
        if moment is None or not _WITH_OFFSET.fullmatch(stale):
            yield "stale_after", f"stale_after is {stale[:40]!r}; expected a time with its offset"
        if moment and now >= moment:
            yield "stale_after", f"it is stale since {stale}"


def _links(path: str, text: str, files: Collection[str]) -> Iterator[Finding]:
    """Links that the format does not know, or to files that the bundle lacks."""
    for link in read_structure(text, frontmatter(text)[1]).links:
        line = text.count("\n", 0, link.start) + 1
        if text.startswith(("[[", "![["), link.start):
            yield Finding(path, line, "advice", f"[[{link.target[:80]}]] is a wikilink, which the format does not know")
            continue
        base = "/" if link.target.startswith("/") else f"/{posixpath.dirname(path)}"
        target = posixpath.normpath(posixpath.join(base, link.target)).lstrip("/")
        if target not in files and not any(file.startswith(f"{target}/") for file in files) and target:
            yield Finding(path, line, "advice", f"nothing is at {link.target[:80]!r}")
