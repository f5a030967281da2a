"""Where does the code of a git repository come from? Its tracked files and, if asked for, its commit messages."""

from __future__ import annotations

import errno
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from ..errors import SourceError
from ..protocols import Scan
from ..types import Blob, Item
from .code import CodeSource
from .git import Commit, changed_files, commits, tracked
from .paths import compose, joined
from .walking import Reach

COMMIT: Final = "text/x-git-commit"
MAX_FILES: Final = 200
"""Files of a commit that are named; a commit that touches more moved or reformatted everything."""


class RepoSource(CodeSource):
    """The files of a `CodeSource` that git tracks, and the newest ``commits`` commits.

    A commit is an item ``<source>/.git/commit/<first 12 digits>``; its bytes are its message below lines that say who
    and when, and above the files that it changed. What is committed never changes, so its fingerprint is empty and
    only new commits are read.
    """

    kind = "repo"

    def __init__(
        self,
        name: str,
        root: Path,
        *,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        skip_dirs: Sequence[Path] = (),
        commits: int = 0,
    ) -> None:
        super().__init__(name, root, include=include, exclude=exclude, skip_dirs=skip_dirs)
        self._limit = commits
        self._commits: dict[str, Commit] = {}
        self._files: dict[str, list[str]] = {}

    def scan(self) -> Scan:
        """List tracked files and commits. Raises SourceError when the root is no repository, or git is not there."""
        scan = super().scan()
        kept = {compose(path.decode("utf-8", "replace")) for path in tracked(self._root, self.name)}
        items = [item for item in scan.items if compose(self._below(item)) in kept]
        skipped = Counter(scan.skipped or {})
        if len(items) < len(scan.items):
            skipped["untracked"] += len(scan.items) - len(items)
        if self._limit:
            items.extend(self._listed())
            items.sort(key=lambda item: item.uri)
        return replace(scan, items=tuple(items), skipped=dict(skipped))

    def reach(self) -> Reach:
        """As `FolderSource.reach`; a commit counts, whatever else happens in ``.git`` does not."""
        reach = super().reach()
        reach.also(joined(self._root, b".git", b"logs"), b"HEAD")
        return reach

    def read(self, item: Item) -> Blob:
        """The bytes of a listed item. Raises as `FolderSource.read`; OSError also when git fails."""
        if item.media_type != COMMIT:
            return super().read(item)
        if item.uri not in self._commits:
            raise FileNotFoundError(errno.ENOENT, "this commit was not listed", item.uri)
        if item.uri not in self._files:
            shas = {uri: commit.sha for uri, commit in self._commits.items()}
            try:
                found = changed_files(self._root, self.name, list(shas.values()))
            except SourceError as error:
                raise OSError(errno.EIO, str(error)) from error
            self._files = {uri: found.get(sha, []) for uri, sha in shas.items()}
        return Blob(item, _text(self._commits[item.uri], self._files[item.uri]).encode())

    def _listed(self) -> list[Item]:
        self._files = {}
        found = commits(self._root, self.name, self._limit)
        self._commits = {f"{self.name}/.git/commit/{commit.sha[:12]}": commit for commit in found}
        path = joined(self._root, b".git").decode("utf-8")
        return [
            Item(uri, self.name, path, COMMIT, "", commit.when, len(commit.message))
            for uri, commit in self._commits.items()
        ]

    def _below(self, item: Item) -> str:
        """The item's path below the root, as git writes it."""
        return item.path.encode("utf-8")[len(self._root) :].decode("utf-8").replace(os.sep, "/").lstrip("/")


def _text(commit: Commit, files: list[str]) -> str:
    head = f"commit {commit.sha}\nauthor {commit.author}\ndate {commit.when.isoformat()}\n\n"
    named = files[:MAX_FILES]
    more = [f"and {len(files) - len(named)} more"] if len(files) > len(named) else []
    listed = "\n".join([*named, *more])
    return f"{head}{commit.message}\n" + (f"\n{listed}\n" if listed else "")
