"""The files below a folder.

One pass over the tree, by hand on ``os.scandir``: the kind of an entry comes with the listing, so that only
the files that are wanted cost a stat, and nothing but folders and ignore files is ever opened.

- Links are never followed. So nothing outside the root is listed, and a link to a parent is no loop.
- Names that begin with a dot, and those that editors leave behind, are no notes.
- A folder below the root that holds ``.git`` is somebody's repository, and a folder that is the root of
  another source belongs to that source.
- What cannot be seen now (an unreadable folder, a file whose bytes are in the cloud) is told in
  ``Scan.unlisted``: not listed is not deleted.
"""

# Paths are bytes here, which pathlib does not take.
from __future__ import annotations

import os
import re
import stat
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from ..errors import SourceError
from ..protocols import Scan
from ..types import Failure, Item
from .fingerprints import fingerprint, modified
from .ignore import GIT_FILE, INDEX_FILE, IgnoreRules, ignore_text, rules_above
from .paths import disk_bytes, joined, uri_names
from .reading import is_placeholder

_LEFT_BY_EDITORS = re.compile(r".*~|#.*#|~\$.*|4913|.*\.(?:tmp|sw[a-p])", re.DOTALL)
_KINDS = (
    (stat.S_ISFIFO, "pipe"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISBLK, "device"),
    (stat.S_ISCHR, "device"),
)


def scan_folder(
    root: bytes,
    *,
    source: str,
    media_type: Callable[[str], str | None],
    excluded: Callable[[str], bool],
    other_roots: Iterable[Path],
    now_ns: int,
    git_rules: bool = True,
) -> Scan:
    """List the files below ``root``, in order of uri.

    Args:
        root: absolute, see `paths.absolute`. A link is followed here, and only here.
        source: the first segment of each uri.
        media_type: from a file's name; None means that such files are not wanted.
        excluded: whether the source's own settings leave a path out; a folder's path ends in ``/``.
        other_roots: folders of other sources. The files below them are theirs.
        now_ns: the time of the scan, in nanoseconds; see `fingerprint`.
        git_rules: whether what git ignores is left out.

    Raises:
        SourceError: the root is missing, no folder, or unreadable, or went away meanwhile.
    """
    _check_root(source, root)
    return _Walk(source, media_type, excluded, now_ns, git_rules).run(root, _identities(other_roots))


def reach_of_folder(
    root: bytes,
    *,
    source: str,
    media_type: Callable[[str], str | None],
    excluded: Callable[[str], bool],
    other_roots: Iterable[Path],
    now_ns: int,
    git_rules: bool = True,
) -> Reach:
    """Where below ``root`` the files can lie that `scan_folder` lists: the same arguments, errors and cost."""
    _check_root(source, root)
    walk = _Walk(source, media_type, excluded, now_ns, git_rules)
    walk.run(root, _identities(other_roots))
    walk.items.clear()
    return Reach(walk)


def reach_of_file(folder: bytes, name: bytes) -> Reach:
    """The reach of a source that is one file."""
    reach = Reach(_Walk("", lambda name: None, lambda path: True, 0, git_rules=False))
    reach.also(folder, name)
    return reach


class Reach:
    """The folders that a walk entered, and whether something that happens at a path can change what it lists.

    For those who watch a folder: what the walk passes over is not watched, and nothing that happens there counts.
    """

    def __init__(self, walk: _Walk) -> None:
        self._walk = walk
        self._named: dict[bytes, frozenset[bytes]] = {}

    @property
    def folders(self) -> tuple[bytes, ...]:
        """Every folder in which something can happen that counts, the root first."""
        return tuple(dict.fromkeys((*self._walk.folders, *self._named)))

    def also(self, folder: bytes, *names: bytes) -> None:
        """Files of these names count as well: they say which files are listed, and are none. Without folder nothing."""
        if os.path.isdir(folder):
            self._named[folder] = self._named.get(folder, frozenset()) | set(names)

    def concerns(self, path: bytes, *, modified: bool) -> bool:
        """Whether what happened at ``path`` counts. ``modified``: it was there before, and still is."""
        parent, name = os.path.split(path)
        if name in self._named.get(parent, ()):
            return True
        is_folder = os.path.isdir(path) and not os.path.islink(path)
        if path in self._walk.folders:  # as a folder changes with each file in it, only its end and its return count
            return not (modified and is_folder)
        folder = self._walk.folders.get(parent)
        return folder is not None and self._walk.lists(folder, name, is_folder=is_folder)


@dataclass(frozen=True, slots=True)
class _Folder:
    """``relative`` is '' for the root, else it ends in ``/``; ``rules`` are those of the folders above."""

    path: bytes
    relative: str
    rules: IgnoreRules


class _Walk:
    def __init__(
        self,
        source: str,
        media_type: Callable[[str], str | None],
        excluded: Callable[[str], bool],
        now_ns: int,
        git_rules: bool,
    ) -> None:
        self.ignore_files = (GIT_FILE, INDEX_FILE) if git_rules else (INDEX_FILE,)
        self.source = source
        self.media_type = media_type
        self.excluded = excluded
        self.now_ns = now_ns
        self.items: list[Item] = []
        self.failures: list[Failure] = []
        self.unlisted: list[str] = []
        self.skipped: Counter[str] = Counter()
        self.stack: list[_Folder] = []
        self.foreign: set[tuple[int, int]] = set()
        self.folders: dict[bytes, _Folder] = {}

    def run(self, root: bytes, foreign: set[tuple[int, int]]) -> Scan:
        identity = self._identity(root)
        self.foreign = foreign - {identity}
        problems: list[str] = []
        rules = rules_above(root, problems) if GIT_FILE in self.ignore_files else IgnoreRules()
        self.stack.append(_Folder(root, "", rules))
        self._tell("", problems)
        while self.stack:
            self._list(self.stack.pop())
        if self._identity(root) != identity:  # unplugged: what is missing was not deleted
            raise _gone(self.source, root)
        self.items.sort(key=lambda item: item.uri)
        return Scan(tuple(self.items), tuple(self.failures), tuple(sorted(self.unlisted)), dict(self.skipped))

    def _identity(self, root: bytes) -> tuple[int, int]:
        try:
            status = os.stat(root)
        except OSError as error:
            raise _gone(self.source, root) from error
        return status.st_dev, status.st_ino

    def _list(self, folder: _Folder) -> None:
        try:
            with os.scandir(folder.path) as listing:
                entries = list(listing)
        except (FileNotFoundError, NotADirectoryError):
            return  # deleted since its parent was listed
        except OSError as error:
            self._fail(folder.relative, f"the folder cannot be listed: {error.strerror}")
            return
        names = uri_names([entry.name for entry in entries])
        if folder.relative and b".git" in names:
            self.skipped["repository"] += 1
            return
        self.folders[folder.path] = folder
        rules = self._rules(folder, names)
        for entry in entries:
            try:
                self._visit(entry, folder, names, rules)
            except FileNotFoundError:
                continue  # deleted since the folder was listed
            except OSError as error:
                path = folder.relative + names.get(entry.name, _shown(entry.name))
                self._fail(path, f"cannot be examined: {error.strerror}")

    def _rules(self, folder: _Folder, names: dict[bytes, str]) -> IgnoreRules:
        problems: list[str] = []
        texts = {file: ignore_text(joined(folder.path, file), problems) for file in self.ignore_files if file in names}
        self._tell(folder.relative, problems)
        return folder.rules.within(folder.relative, git=texts.get(GIT_FILE, ""), index=texts.get(INDEX_FILE, ""))

    def _visit(self, entry: os.DirEntry[bytes], folder: _Folder, names: dict[bytes, str], rules: IgnoreRules) -> None:
        name = names.get(entry.name)
        if entry.name.startswith(b"."):
            if entry.name.endswith(b".icloud"):
                self._evicted(entry.name[1:-7], folder, names, rules)
        elif _is_link(entry):
            self.skipped["link"] += 1
        elif entry.is_dir(follow_symlinks=False):
            if name is None:
                self._misnamed(folder.relative + _shown(entry.name))
            else:
                self._enter(entry, _Folder(entry.path, f"{folder.relative}{name}/", rules))
        elif not entry.is_file(follow_symlinks=False):
            mode = entry.stat(follow_symlinks=False).st_mode
            self.skipped[next((kind for matches, kind in _KINDS if matches(mode)), "special")] += 1
        elif name is None:
            if self.media_type(_shown(entry.name)):
                self._misnamed(folder.relative + _shown(entry.name))
        elif (media_type := self._wanted(name)) and not self._left_out(folder.relative + name, rules):
            self._add(entry, folder.relative + name, media_type)

    def _enter(self, entry: os.DirEntry[bytes], folder: _Folder) -> None:
        if self._left_out(folder.relative, folder.rules):
            return
        if self.foreign:
            status = os.lstat(folder.path)
            if (status.st_dev, status.st_ino) in self.foreign:
                self.skipped["other source"] += 1
                return
        self.stack.append(folder)

    def lists(self, folder: _Folder, name: bytes, *, is_folder: bool) -> bool:
        """Whether an entry of a folder would be listed or entered, or says what is."""
        if name.startswith(b"."):
            return name in self.ignore_files or name.endswith(b".icloud")
        text = uri_names([name]).get(name)
        if text is None:
            return False
        # the rules of the folder itself are read again: an event is rare, and they may be what changed
        rules = self._rules(folder, dict.fromkeys(self.ignore_files, ""))
        if is_folder:
            return not self._left_out(f"{folder.relative}{text}/", rules)
        return bool(self._wanted(text)) and not self._left_out(folder.relative + text, rules)

    def _wanted(self, name: str) -> str | None:
        media_type = self.media_type(name)
        return None if media_type and _LEFT_BY_EDITORS.fullmatch(name) else media_type

    def _left_out(self, path: str, rules: IgnoreRules) -> bool:
        if rules.exclude(path):
            self.skipped["ignored"] += 1
            return True
        if self.excluded(path):
            self.skipped["excluded"] += 1
            return True
        return False

    def _add(self, entry: os.DirEntry[bytes], relative: str, media_type: str) -> None:
        status = entry.stat(follow_symlinks=False)
        uri = f"{self.source}/{relative}"
        if is_placeholder(status):
            self.skipped["not downloaded"] += 1
            self.unlisted.append(uri)
            return
        self.items.append(
            Item(
                uri=uri,
                source=self.source,
                path=entry.path.decode("utf-8"),
                media_type=media_type,
                fingerprint=fingerprint(status, self.now_ns),
                modified=modified(status),
                size=status.st_size,
            )
        )

    def _evicted(self, raw: bytes, folder: _Folder, names: dict[bytes, str], rules: IgnoreRules) -> None:
        """``.note.md.icloud`` stands for a ``note.md`` that iCloud took off this machine."""
        for name in uri_names([raw]).values():
            if raw not in names and self._wanted(name) and not self._left_out(folder.relative + name, rules):
                self.skipped["not downloaded"] += 1
                self.unlisted.append(f"{self.source}/{folder.relative}{name}")

    def _misnamed(self, path: str) -> None:
        message = "its name is not UTF-8, so it cannot be named in the index; rename it"
        self.failures.append(Failure(f"{self.source}/{path}", "walk", message))

    def _fail(self, path: str, message: str) -> None:
        uri = f"{self.source}/{path}"
        self.failures.append(Failure(uri, "walk", f"{message}; what the index holds of it is kept"))
        self.unlisted.append(uri)

    def _tell(self, folder: str, problems: Iterable[str]) -> None:
        uri = f"{self.source}/{folder}"
        self.failures.extend(Failure(uri, "walk", problem) for problem in problems)


def _check_root(source: str, root: bytes) -> None:
    """Raise SourceError unless the root is a folder that can be listed and named in UTF-8."""
    label = f"source '{source}': {_shown(root)}"
    try:
        root.decode("utf-8")
        os.scandir(root).close()
    except UnicodeDecodeError as error:
        raise SourceError(f"{label} is not valid UTF-8", hint="rename the folder") from error
    except FileNotFoundError as error:
        raise SourceError(
            f"{label} does not exist", hint="plug in or mount its disk, or correct the source's path"
        ) from error
    except NotADirectoryError as error:
        raise SourceError(f"{label} is not a folder", hint="give the folder that holds the files") from error
    except OSError as error:
        raise SourceError(
            f"{label} cannot be listed: {error.strerror}",
            hint=f"give this user the right to read it: chmod u+rx '{_shown(root)}'",
        ) from error


def _gone(source: str, root: bytes) -> SourceError:
    return SourceError(
        f"source '{source}': {_shown(root)} went away while it was being listed",
        hint="plug in or mount its disk again",
    )


def _identities(folders: Iterable[Path]) -> set[tuple[int, int]]:
    """Device and inode of each folder that exists: the same however it is spelled or linked to."""
    found = set()
    for folder in folders:
        try:
            status = os.stat(disk_bytes(folder))
        except OSError:
            continue
        found.add((status.st_dev, status.st_ino))
    return found


def _is_link(entry: os.DirEntry[bytes]) -> bool:
    if sys.platform == "win32" and entry.is_dir(follow_symlinks=False):
        # A junction is a link to a folder that is_symlink() does not know.
        return entry.stat(follow_symlinks=False).st_reparse_tag == stat.IO_REPARSE_TAG_MOUNT_POINT
    return entry.is_symlink()


def _shown(name: bytes) -> str:
    return name.decode("utf-8", "backslashreplace")
