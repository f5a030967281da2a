"""The part that the stores of coding agents share: a folder of logs, each read piece by piece and condensed."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from ..errors import ParseError
from ..protocols import Scan
from ..transcripts import MEDIA_TYPE, Transcript, encode
from ..types import Item
from .folder import FolderSource
from .ignore import covers
from .reading import BinaryFile, is_binary, open_regular
from .walking import Reach, reach_of_folder, scan_folder

_HEAD = 8192


class SessionFolder(FolderSource):
    """Logs below a folder. What git ignores is listed all the same: agents write them, not people.

    An agent deletes its logs after some weeks, so what is not listed any more was not taken back. A blob is what is
    kept of a log: a transcript. Reading costs a second for some 150 MB, and memory a few times the longest line.
    """

    exhaustive = False

    @abstractmethod
    def wanted(self, name: str) -> bool:
        """Whether a file of this name is a log, or may be one of a form that is not known yet."""

    @abstractmethod
    def condense(self, item: Item, stream: IO[bytes]) -> Transcript | None:
        """What is kept of a log, None when nothing in it could be understood."""

    def media_type(self, name: str) -> str | None:
        """What a log is read as."""
        return MEDIA_TYPE if self.wanted(name) else None

    def scan(self) -> Scan:
        """List the logs. Raises SourceError when the root cannot be listed."""
        return scan_folder(
            self._root,
            source=self.name,
            media_type=self.media_type,
            excluded=self._exclusion(lambda path: False),
            other_roots=self._skip_dirs,
            now_ns=time.time_ns(),
            git_rules=False,
        )

    def reach(self) -> Reach:
        """Where the logs can lie, for those who watch. Raises SourceError when the root cannot be listed."""
        return reach_of_folder(
            self._root,
            source=self.name,
            media_type=self.media_type,
            excluded=self._exclusion(lambda path: False),
            other_roots=self._skip_dirs,
            now_ns=time.time_ns(),
            git_rules=False,
        )

    def left_out(self, path: str) -> bool:
        """Whether the source's patterns leave out a file, by itself or with a folder above it."""
        return covers(self._exclude, path) or (bool(self._include) and not covers(self._include, path))

    def binary(self, head: bytes) -> bool:
        """Whether a log that begins so is none. A crash leaves runs of NUL in one."""
        return is_binary(head.replace(b"\0", b""))

    def _bytes(self, item: Item) -> bytes:
        with open_regular(item.path.encode("utf-8")) as stream:
            if self.binary(stream.read(_HEAD)):
                raise BinaryFile(f"{item.path} is compressed or binary, expected JSON", hint="unpack it in its folder")
            stream.seek(0)
            transcript = self.condense(item, stream)
        if transcript is None:
            raise ParseError(f"{item.path} is no log of a form that this version knows ({self.kind})")
        return encode(transcript)


def home_folder(environment: Mapping[str, str], variable: str, default: str) -> Path:
    """The folder that a variable names, else the default below the user's home."""
    return Path(environment.get(variable) or Path.home() / default).expanduser()
