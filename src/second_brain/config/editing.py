"""Adds and removes sources in ``sources.yaml``: only their own lines change, whoever else edits the file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ..errors import ConfigError, UsageError
from ..index.lock import file_lock
from ..sources.paths import disk_bytes
from ..yaml_nodes import YamlError, load_yaml
from .files import SettingsFile, as_named, read, write_atomically
from .settings import NAME, Settings, SourceSettings
from .sources import default_privacy, sources

WAIT_S = 60.0
"""How long a change waits for another process that changes the same file; each takes some milliseconds."""

HEAD = """\
# What second-brain reads. One entry a source; `brain add` appends here, and you may edit by hand.
#   name, path        needed
#   kind              markdown (default), or what else `brain add --kind` names
#   privacy           public, work, personal (default), secret
#   weight            more than 1 lifts its hits, less lowers them; left out: by their kind
#   half_life_days    age at which a hit counts half, none for never; left out: by their kind
#   include, exclude  lists of patterns, as in .gitignore
sources:
"""


def add_source(
    settings: Settings,
    path: Path,
    *,
    name: str | None,
    kind: str,
    privacy: str | None,
    kinds: list[str],
    may_be_file: bool = False,
) -> tuple[Settings, SourceSettings]:
    """Append a source to ``sources.yaml`` as it is now; the settings with it, and the source.

    Many processes may do it at once: each sees what those before it wrote. ``may_be_file``: of this kind, a single file
    (an export) is a source too.
    """
    folder = as_named(path)
    if not os.path.exists(disk_bytes(folder)):  # noqa: PTH110 - bytes, for locales that cannot spell the path
        raise UsageError(f"{folder} does not exist", hint="give the folder that holds your notes")
    if not may_be_file and not os.path.isdir(disk_bytes(folder)):  # noqa: PTH112
        raise UsageError(f"{folder} is a file, expected a folder", hint=f"add its folder: brain add '{folder.parent}'")
    if kind not in kinds:
        raise UsageError(f"kind '{kind}' is not known; kinds: {', '.join(kinds)}")
    if privacy is not None and privacy not in settings.privacy_labels:
        raise UsageError(f"privacy '{privacy}' is not one of: {', '.join(settings.privacy_labels)}")
    with _as_on_disk(settings) as current:
        for other in current.sources:
            if other.path == folder:
                raise UsageError(
                    f"{folder} is already the source '{other.name}'", hint=f"type `brain index {other.name}`"
                )
        name = _checked_name(name, folder, {source.name for source in current.sources})
        added = SourceSettings(name, kind, folder, privacy or default_privacy(settings.privacy_labels))
        keys = {"name": name, "kind": kind, "path": str(folder), "privacy": added.privacy}
        entry = "- " + "  ".join(f"{key}: {_quoted(value)}\n" for key, value in keys.items())
        changed = replace(current, sources=(*current.sources, added))
        _write_checked(settings.sources_file, _appended(_text_of(settings.sources_file), entry), changed)
        return changed, added


def remove_source(settings: Settings, name: str) -> Settings:
    """Take a source's own lines out of ``sources.yaml`` as it is now, if it is there; the settings without it."""
    with _as_on_disk(settings) as current:
        left = tuple(source for source in current.sources if source.name != name)
        changed = replace(current, sources=left)
        if left != current.sources:
            position = next(i for i, source in enumerate(current.sources) if source.name == name)
            _write_checked(settings.sources_file, _without(_text_of(settings.sources_file), position), changed)
        return changed


def raise_privacy(settings: Settings, name: str, label: str) -> Settings:
    """Give a source a stricter label in ``sources.yaml`` as it is now; a less strict one changes nothing.

    Only the line of the label changes, or is added to the source's own.
    """
    order = settings.privacy_labels
    with _as_on_disk(settings) as current:
        changed = replace(
            current,
            sources=tuple(
                replace(source, privacy=label)
                if source.name == name and order.index(label) > order.index(source.privacy)
                else source
                for source in current.sources
            ),
        )
        if changed != current:
            position = next(i for i, source in enumerate(current.sources) if source.name == name)
            text = _labelled(_text_of(settings.sources_file), position, label)
            _write_checked(settings.sources_file, text, changed)
        return changed


@contextmanager
def _as_on_disk(settings: Settings) -> Iterator[Settings]:
    """The settings with the sources that the file lists now; until the end nobody else changes it."""
    file = settings.sources_file
    try:
        lock = file_lock(file.with_name(f".{file.name}.lock"), wait_s=WAIT_S)
    except TimeoutError as error:
        raise ConfigError(
            f"{file}: another process has been changing it for more than {WAIT_S:.0f} s",
            hint="wait for the other `brain`, or stop it, and try again",
        ) from error
    except OSError as error:
        raise ConfigError(f"{file}: cannot be written ({error.strerror})", hint="check its folder") from error
    with lock:
        yield replace(settings, sources=sources(read(file), settings.privacy_labels))


def _without(text: str, position: int) -> str:
    """The file without the entry at ``position``."""
    lines = text.splitlines(keepends=True)
    start, end = _entry(lines, position)
    return "".join(lines[:start] + lines[end:])


def _labelled(text: str, position: int, label: str) -> str:
    """The file with another label for the entry at ``position``."""
    lines = text.splitlines(keepends=True)
    start, end = _entry(lines, position)
    for number in range(start, end):
        if found := re.match(r"([ \t]*(?:-[ \t]+)?privacy:[ \t]*)[^\s#]+", lines[number]):
            lines[number] = found[1] + _quoted(label) + lines[number][found.end() :]
            return "".join(lines)
    key = re.match(r"[ \t]*-[ \t]*", lines[start])
    if not lines[end - 1].endswith("\n"):
        lines[end - 1] += "\n"
    lines.insert(end, " " * (len(key[0]) if key else 2) + f"privacy: {_quoted(label)}\n")
    return "".join(lines)


def _entry(lines: list[str], position: int) -> tuple[int, int]:
    """The first line of an entry and the one behind its last, counted from 0."""
    places = load_yaml("".join(lines)).lines
    prefix: tuple[str | int, ...] = ("sources",) if ("sources",) in places else ()
    # An entry goes from its dash to the next entry's, or to the first later line that is indented less.
    start = places[(*prefix, position)] - 1
    while not lines[start].lstrip().startswith("-") and start:
        start -= 1
    depth = _indent(lines[start])
    end = start + 1
    while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > depth):
        end += 1
    while not lines[end - 1].strip():
        end -= 1
    return start, end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _checked_name(name: str | None, folder: Path, taken: set[str]) -> str:
    """The name that was asked for, or a free one after the folder's."""
    if name is None:
        name = _free_name(folder, taken)
    if not NAME.fullmatch(name) or name != name.strip():
        raise UsageError(f"'{name}' cannot name a source", hint="use letters, digits, '.', '-', '_' and inner spaces")
    if name in taken:
        raise UsageError(f"a source is already named '{name}'", hint="choose another with --name")
    return name


def _free_name(folder: Path, taken: set[str]) -> str:
    stem = re.sub(r"[^\w.\- ]+", "-", folder.name).strip("-_. ")[:60] or "notes"
    number = 2
    name = stem
    while name in taken:
        name, number = f"{stem}-{number}", number + 1
    return name


def _quoted(text: str) -> str:
    """A text as a YAML scalar: plain where no reader could take it for anything else."""
    if re.fullmatch(r"[A-Za-z/~][\w./~\-]*", text, re.ASCII) and text.lower() not in (
        "null", "true", "false", "yes", "no", "on", "off", "y", "n", "~",
    ):  # fmt: skip
        return text
    return "'" + text.replace("'", "''") + "'"


def _text_of(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        return ""


def _appended(text: str, entry: str) -> str:
    """The file with one more entry, indented as the last one is."""
    if not text.strip():
        return HEAD + entry
    result = load_yaml(text)
    value = result.value
    entries = value.get("sources") if isinstance(value, dict) else value
    if entries is None:
        head = text if text.endswith("\n") else text + "\n"
        return head + (entry if isinstance(value, dict) else "sources:\n" + entry)
    prefix: tuple[str | int, ...] = ("sources",) if isinstance(value, dict) else ()
    lines = text.splitlines(keepends=True)
    last = result.lines[(*prefix, len(entries) - 1)] - 1 if isinstance(entries, list) and entries else 0
    depth = _indent(lines[last])
    indented = "".join(" " * depth + line for line in entry.splitlines(keepends=True))
    end = len(lines)
    while not lines[end - 1].strip():
        end -= 1
    if not lines[end - 1].endswith("\n"):
        lines[end - 1] += "\n"
    return "".join(lines[:end]) + indented + "".join(lines[end:])


def _write_checked(file: Path, text: str, expected: Settings) -> None:
    """Replace the file at once, after making sure that it will read as expected."""
    hint = f"edit {file} by hand: it is written in a way that only you should change"
    try:
        found = sources(SettingsFile(file, load_yaml(text)), expected.privacy_labels)
    except (YamlError, ConfigError) as error:
        raise ConfigError(f"{file}: the change would not read back ({error})", hint=hint) from error
    if found != expected.sources:
        raise ConfigError(f"{file}: the change would alter other entries", hint=hint)
    try:
        write_atomically(file, text)
    except OSError as error:
        raise ConfigError(f"{file}: cannot be written ({error.strerror})", hint="check its folder") from error
