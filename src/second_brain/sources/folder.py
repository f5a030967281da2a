"""What all sources of files below one folder have in common: how it is listed, and how a file is read."""

from __future__ import annotations

import errno
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path

from ..protocols import Scan
from ..types import Blob, Failure, Item
from .ignore import compile_patterns, covers, verdict
from .obsidian import SETTINGS, hidden_in_obsidian
from .paths import absolute, joined
from .reading import DEFAULT_MAX_BYTES, read_file
from .walking import Reach, reach_of_folder, scan_folder

_SEPARATOR = os.sep.encode()


class FolderSource(ABC):
    """The files below a folder that ``media_type`` wants.

    Left out: what git, ``.indexignore`` or Obsidian's excluded files leave out, hidden and temporary files,
    links, repositories and other sources inside (see `walking`).

    Args:
        name: the first segment of every uri; no ``/``.
        root: the folder. Relative paths are resolved now, links in it when it is listed.
        include: patterns as in .gitignore. If there are any, only files that match, or lie in a folder that
            matches, are listed.
        exclude: patterns as in .gitignore. What matches is left out, whatever the ignore files say.
        skip_dirs: roots of other sources. Each file belongs to the source whose root is nearest.
        max_bytes: files above are listed, and refused when read.
    """

    kind: str
    exhaustive = True

    def __init__(
        self,
        name: str,
        root: Path,
        *,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        skip_dirs: Sequence[Path] = (),
        max_bytes: int = DEFAULT_MAX_BYTES,
    ) -> None:
        self.name = name
        self._root = absolute(root)
        self._skip_dirs = tuple(skip_dirs)
        self._max_bytes = max_bytes
        self._include = compile_patterns("\n".join(include))
        self._exclude = compile_patterns("\n".join(exclude))

    @abstractmethod
    def media_type(self, name: str) -> str | None:
        """What a file of this name holds; None when such files are not wanted."""

    def scan(self) -> Scan:
        """List the files. About 10 µs a file. Raises SourceError when the root cannot be listed."""
        problems: list[str] = []
        in_obsidian = hidden_in_obsidian(os.path.realpath(self._root), problems)
        scan = scan_folder(
            self._root,
            source=self.name,
            media_type=self.media_type,
            excluded=self._exclusion(in_obsidian),
            other_roots=self._skip_dirs,
            now_ns=time.time_ns(),
        )
        uri = f"{self.name}/{SETTINGS.decode()}"
        failures = tuple(Failure(uri, "walk", problem) for problem in problems)
        return Scan(scan.items, failures + scan.failures, scan.unlisted, scan.skipped)

    def reach(self) -> Reach:
        """Where the files can lie that ``scan`` lists, for those who watch. Costs as much, and raises the same."""
        reach = reach_of_folder(
            self._root,
            source=self.name,
            media_type=self.media_type,
            excluded=self._exclusion(hidden_in_obsidian(os.path.realpath(self._root), [])),
            other_roots=self._skip_dirs,
            now_ns=time.time_ns(),
        )
        vault, name = os.path.split(joined(self._root, SETTINGS))
        reach.also(vault, name)
        return reach

    def read(self, item: Item) -> Blob:
        """The bytes of a listed item.

        Raises FileNotFoundError when it vanished, or when a folder above it became a link; OSError when it
        cannot be read now; BinaryFile or FileTooLarge.
        """
        # A folder above that became a link since the scan would lead elsewhere.
        root, folder = self._root, os.path.dirname(item.path.encode("utf-8"))
        if os.path.realpath(folder) != joined(os.path.realpath(root), folder[len(root) :].lstrip(_SEPARATOR)):
            raise FileNotFoundError(errno.ENOENT, f"not below the root of source '{self.name}'", item.path)
        return Blob(item, self._bytes(item))

    def _bytes(self, item: Item) -> bytes:
        return read_file(item, self._max_bytes)

    def _exclusion(self, in_obsidian: Callable[[str], bool]) -> Callable[[str], bool]:
        def excluded(path: str) -> bool:
            if in_obsidian(path) or verdict(self._exclude, path):
                return True
            return bool(self._include) and not path.endswith("/") and not covers(self._include, path)

        return excluded
