"""Makes a bundle of Open Knowledge Format of the notes in an index; the notes themselves are never touched.

A note gets a type if it has none, its links become links from the bundle's root, and each folder gets an ``index.md``.
A note that is called ``index.md`` or ``log.md`` stays what it is if it already has the form of one, and gets another
name if not.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from pathlib import Path, PurePosixPath
from urllib.parse import quote, unquote

from ..errors import NotFound, UsageError
from ..index.sqlite.counting import ATTACHMENTS
from ..library import Brain
from ..parsing.frontmatter import read_frontmatter
from ..records import Note, StoredDocument, StoredLink
from ..types import Filter, Json
from ..yaml_nodes import YamlError, load_yaml
from .checking import RESERVED, VERSION, check_reserved, frontmatter

ALL = 1 << 31
"""More notes than an index holds."""

ROOT = PurePosixPath(".")

_WIKILINK = re.compile(r"!?\[\[")
_UNSAFE = re.compile(r"[\s()<>#?%\\|]")
_ADDRESS = re.compile(r"\]\((?:<([^<>\n]*)>|([^\s()]*(?:\([^\s()]*\)[^\s()]*)*))")


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What was written. ``renamed`` are notes that could not keep a reserved name, old name to new."""

    folder: Path
    notes: int
    generated: int
    renamed: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Entry:
    """A note in the bundle."""

    document: StoredDocument
    path: str


def export_bundle(brain: Brain, folder: Path, *, source: str = "", force: bool = False) -> ExportReport:
    """Write the notes that ``brain`` shows into a folder, those of one source or all, each source in its own folder.

    Args:
        brain: the notes are taken from its index, as they were read last; what is above its clearance is left out.
        folder: made if it does not exist.
        source: only its notes, right below ``folder``.
        force: also into a folder that is not empty; files of the same names are replaced.

    Raises:
        NotFound: there is nothing to export.
        UsageError: the folder is a file, is not empty, or lies in a source.
    """
    _check_folder(brain, folder, force=force)
    documents = brain.recent(limit=ALL, filter=Filter(sources=(source,) if source else (), kinds=("markdown",)))
    if not documents:
        raise NotFound(
            "there are no notes to export", hint="type `brain index` first; `brain sources` lists the sources"
        )
    notes = {document.uri: brain.get(document.uri) for document in sorted(documents, key=lambda found: found.uri)}
    paths, renamed = _places(notes, whole=not source)
    texts: dict[str, str] = {}
    entries: list[_Entry] = []
    for uri, note in notes.items():
        path = paths[uri]
        text = _linked(note.text, note.links, "" if source else f"{note.document.source}/", paths)
        if PurePosixPath(path).name not in RESERVED:
            text = _typed(text, note.document.type)
            entries.append(_Entry(note.document, path))
        texts[path] = text
    made = {path: text for path, text in _generated(entries, source or "Notes").items() if path not in texts}
    for path, text in {**texts, **made}.items():
        _write(folder, path, text)
    return ExportReport(folder, len(texts), len(made), renamed)


def _places(notes: Mapping[str, Note], *, whole: bool) -> tuple[dict[str, str], dict[str, str]]:
    """Where each note goes in the bundle, by uri; and those that go elsewhere than their name says."""
    paths: dict[str, str] = {}
    renamed: dict[str, str] = {}
    taken: set[str] = set()
    for uri, note in notes.items():
        named = uri if whole else uri.partition("/")[2]
        path = str(PurePosixPath(named).with_suffix(".md"))
        reserved = PurePosixPath(path).name in RESERVED
        if path in taken or (reserved and any(found.is_error for found in check_reserved(path, note.text))):
            path = renamed[named] = _free(path, taken)
        paths[uri] = path
        taken.add(path)
    return paths, renamed


def _write(folder: Path, path: str, text: str) -> None:
    """Write a file, never through a link: it may lead to a note."""
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.parent.resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"{target.parent} is a link that leads out of {folder}", hint="give an empty folder")
    if target.is_symlink():
        target.unlink()
    target.write_text(text, encoding="utf-8", newline="\n")


def _check_folder(brain: Brain, folder: Path, *, force: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file", hint="give a folder, which need not exist yet")
    place = folder.resolve()
    for source in brain.sources():
        root = source.path.resolve()
        if place.is_relative_to(root) or root.is_relative_to(place):
            raise UsageError(
                f"{folder} and source '{source.name}' ({source.path}) lie in each other: its notes would be mixed"
                " with their copies",
                hint="give a folder outside of your sources",
            )
    if not force and folder.is_dir() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty", hint="give an empty folder, or add --force to write over its files")


def _free(path: str, taken: set[str]) -> str:
    """A name for a note that cannot keep its own."""
    stem = path.removesuffix(".md")
    number = 1
    while (other := f"{stem}-note{'' if number == 1 else number}.md") in taken:
        number += 1
    return other


def _typed(text: str, type: str) -> str:
    """The text with frontmatter that can be read and names a type; what is there already stays as it is written."""
    line = f"type: {_as_json(type[:1].upper() + type[1:])}\n"
    block, _ = frontmatter(text)
    keys: Json = None
    if block is not None:
        try:
            keys = load_yaml(block).value
        except YamlError:
            keys = "broken"
    if block is not None and (keys is None or isinstance(keys, dict)):
        named = (keys or {}).get("type")
        if isinstance(named, str) and named.strip():
            return text
        if not keys or "type" not in keys:
            return f"---\n{line}{text[text.index(chr(10)) + 1 :]}"
    front = read_frontmatter(text)
    rest = {key: value for key, value in front.values.items() if key != "type"}
    lines = "".join(f"{_as_json(key)}: {_as_json(value)}\n" for key, value in rest.items())
    return f"---\n{line}{lines}---\n{text[front.body_start :]}"


def _as_json(value: Json) -> str:
    """JSON is YAML too, and every text is safe in it."""
    return json.dumps(value, ensure_ascii=False)


def _linked(text: str, links: Sequence[StoredLink], root: str, paths: Mapping[str, str]) -> str:
    """The text with wikilinks, and Markdown links to notes, as links from the bundle's root."""
    parts: list[str] = []
    last = 0
    for link in sorted(links, key=lambda link: link.start):
        if link.start < last:
            continue  # in the frontmatter, or within another link
        opening = _WIKILINK.match(text, link.start)
        if opening and (end := text.find("]]", opening.end())) >= 0:
            start, end = link.start, end + 2
            picture = "!" if PurePosixPath(link.written).suffix.lower() in ATTACHMENTS and opening[0][0] == "!" else ""
            replacement = f"{picture}[{_label(link.text or link.written)}]({_address(link, root, paths)})"
        else:
            written = _ADDRESS.search(text, link.start)
            if link.target is None or written is None or _target(written) != link.written:
                continue
            start, end = written.span()
            replacement = f"]({_address(link, root, paths)}"
        parts += [text[last:start], replacement]
        last = end
    return "".join((*parts, text[last:]))


def _target(written: re.Match[str]) -> str:
    return unquote((written[1] or written[2]).partition("#")[0]).strip()


def _address(link: StoredLink, root: str, paths: Mapping[str, str]) -> str:
    """From the bundle's root; a link that leads nowhere keeps its name, for a later note may have it."""
    if link.target is not None:
        path = paths.get(link.target) or root + link.target.partition("/")[2]
    else:
        known = PurePosixPath(link.written).suffix.lower() in (*ATTACHMENTS, ".md")
        path = root + link.written.lstrip("/") + ("" if known else ".md")
    return f"/{_encoded(path)}#{_encoded(link.anchor)}" if link.anchor else f"/{_encoded(path)}"


def _generated(entries: Sequence[_Entry], name: str) -> dict[str, str]:
    """The ``index.md`` of each folder, and the ``log.md`` of the bundle."""
    notes: dict[PurePosixPath, list[_Entry]] = defaultdict(list)
    below: dict[PurePosixPath, set[PurePosixPath]] = defaultdict(set)
    counts: Counter[PurePosixPath] = Counter()
    for entry in entries:
        folder = PurePosixPath(entry.path).parent
        notes[folder].append(entry)
        counts.update([folder, *folder.parents])
        for inner in [folder, *folder.parents][:-1]:
            below[inner.parent].add(inner)
    made = {}
    for folder in counts:
        parts = [f'---\nokf_version: "{VERSION}"\n---\n'] if folder == ROOT else []
        if notes[folder]:
            parts.append(f"# {folder.name or name}\n\n" + "".join(map(_line, notes[folder])))
        if below[folder]:
            folders = "".join(
                f"* [{_label(inner.name)}]({_encoded(inner.name)}/) - notes: {counts[inner]}\n"
                for inner in sorted(below[folder])
            )
            parts.append(f"# Folders\n\n{folders}")
        made[str(folder / "index.md")] = "\n".join(parts)
    made["log.md"] = "# Update Log\n" + "".join(_days(entries))
    return made


def _line(entry: _Entry) -> str:
    document = entry.document
    description = " ".join(document.description.split())
    file = _encoded(PurePosixPath(entry.path).name)
    return f"* [{_label(document.title)}]({file})" + (f" - {description}\n" if description else "\n")


def _days(entries: Sequence[_Entry]) -> Iterator[str]:
    """The notes by the day of their last change, the newest first."""

    def day(entry: _Entry) -> date:
        return entry.document.modified.date()

    for when, changed in groupby(sorted(entries, key=day, reverse=True), key=day):
        yield f"\n## {when}\n\n"
        for entry in changed:
            yield f"* **Update**: [{_label(entry.document.title)}](/{_encoded(entry.path)})\n"


def _label(text: str) -> str:
    return text.replace("\\", "\\\\").replace("[", r"\[").replace("]", r"\]")


def _encoded(path: str) -> str:
    return _UNSAFE.sub(lambda found: quote(found[0]), path)
