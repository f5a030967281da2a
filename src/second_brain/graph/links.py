"""Which note does a link mean? Obsidian's rules, made to give the same answer every time.

Source: behaviour of Obsidian 1.13 as observed; its help only says that folder paths start at the vault's root.
"""

from __future__ import annotations

import posixpath
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Resolution:
    """Where a link leads: ``path`` as it was given to the resolver, or None.

    ``candidates``: every note that the name fits, shortest path first, when it fits several and nothing
    nearer decides; ``path`` is one of them. ``by_alias``: no file has this name, but a note has it as alias.
    """

    path: str | None
    candidates: tuple[str, ...] = ()
    by_alias: bool = False


_NOWHERE = Resolution(None)
_Table: TypeAlias = "dict[str, tuple[str, ...]]"
"""Paths by folded name, shortest path first."""


class LinkResolver:
    """Answers for the notes of one source; ``paths`` are (path below its root, aliases).

    A target is compared in NFC, letter case ignored, ``.md`` optional. It is looked for, in this order:

    1. ``./`` and ``../``: relative to the note that holds the link, and nowhere else;
    2. as a path from the root; a leading ``/`` means this too;
    3. in the folder of the note that holds the link;
    4. as the end of a path, by whole segments: the shortest path, of equals the first in order;
    5. as an alias, which Obsidian would not do.

    Two files whose paths differ in letter case only stay apart: the spelling as written wins.
    Memory: a key for each segment of each path. Cost: some microseconds a link.
    """

    def __init__(self, paths: Iterable[tuple[str, Sequence[str]]]) -> None:
        self._by_path: _Table = {}
        endings: dict[str, list[str]] = defaultdict(list)
        aliases: dict[str, list[str]] = defaultdict(list)
        for path, names in sorted(paths, key=lambda entry: (len(entry[0]), entry[0])):
            key = _folded(path)
            self._by_path[key] = (*self._by_path.get(key, ()), path)
            while key:
                endings[key].append(path)
                key = key.partition("/")[2]
            for name in {_folded(name.strip()) for name in names}:
                aliases[name].append(path)
        self._by_ending: _Table = {key: tuple(found) for key, found in endings.items()}
        self._by_alias: _Table = {key: tuple(found) for key, found in aliases.items()}

    def resolve(self, target: str, from_path: str = "") -> Resolution:
        """Where ``target`` leads from the note at ``from_path``.

        ``target`` has no anchor and is percent-decoded, as in ``Link.target``; an empty one is the note
        itself. Without ``from_path`` it is a name that somebody typed, looked for from the root.
        """
        if not target:
            return Resolution(from_path or None)
        name = _folded(target)
        folder = _folded(from_path.rpartition("/")[0])
        if name.startswith(("./", "../")):
            paths = _look_up(self._by_path, posixpath.normpath(posixpath.join(folder, name)))
        else:
            key = posixpath.normpath(name).lstrip("/")
            paths = _look_up(self._by_path, key)
            if not paths and folder and name[0] != "/":
                paths = _look_up(self._by_path, f"{folder}/{key}")
            paths = paths or _look_up(self._by_ending, key)
        if paths:
            return self._choice(paths, target)
        paths = self._by_alias.get(name.strip(), ())
        return Resolution(paths[0], paths if len(paths) > 1 else (), by_alias=True) if paths else _NOWHERE

    def _choice(self, paths: tuple[str, ...], target: str) -> Resolution:
        twins = self._by_path[_folded(paths[0])]
        if len(twins) == 1:
            return Resolution(paths[0], paths if len(paths) > 1 else ())
        spelled = "/" + unicodedata.normalize("NFC", target).lstrip("./").removesuffix(".md")
        for path in twins:
            if f"/{path}".removesuffix(".md").endswith(spelled):
                return Resolution(path, paths if len(paths) > len(twins) else ())
        return Resolution(twins[0], paths)


def _look_up(table: _Table, key: str) -> tuple[str, ...]:
    """The paths at a key, with ``.md`` behind it or without."""
    return (() if key.endswith(".md") else table.get(f"{key}.md", ())) or table.get(key, ())


def _folded(name: str) -> str:
    return (name if name.isascii() else unicodedata.normalize("NFC", name)).lower()
