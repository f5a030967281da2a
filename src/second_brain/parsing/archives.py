"""The parts of a zip file, none of them larger than is reasonable: what office files and books are made of."""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from urllib.parse import unquote
from xml.etree import ElementTree

from ..errors import ParseError
from ..types import Blob

MAX_PART = 32 * 2**20
"""Bytes of one part, unpacked. A Word document of so many takes mammoth 40 s and 650 MB; a thick book has 3 MB."""
MAX_PARTS = 20_000


class Archive:
    """A zip file that was read whole. Raises ParseError when it is none.

    ``zipfile`` never unpacks more of a part than its entry says, so looking at that number first is enough.
    """

    def __init__(self, blob: Blob) -> None:
        self._path = blob.item.path
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(blob.data))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
            raise self.error("it is damaged, or encrypted") from error
        self._sizes = {entry.filename: entry.file_size for entry in self._zip.infolist()[:MAX_PARTS]}

    @property
    def names(self) -> list[str]:
        """The names of all parts, in their order."""
        return list(self._sizes)

    def check_sizes(self, suffixes: tuple[str, ...]) -> None:
        """Raise ParseError if parts with these suffixes are too large, one or together."""
        if sum(size for name, size in self._sizes.items() if name.lower().endswith(suffixes)) > MAX_PART:
            raise self.error(f"its text unpacks to more than {MAX_PART >> 20} MB")

    def read(self, name: str) -> bytes:
        """The bytes of a part. Raises ParseError when it is missing, damaged, encrypted or too large."""
        size = self._sizes.get(name)
        if size is None:
            raise self.error(f"it lacks its part {name[:80]!r}")
        if size > MAX_PART:
            raise self.error(f"its part {name[:80]!r} unpacks to more than {MAX_PART >> 20} MB")
        try:
            return self._zip.read(name)
        except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError) as error:
            raise self.error(f"its part {name[:80]!r} cannot be unpacked: {error}") from error

    def xml(self, name: str) -> ElementTree.Element:
        """A part as XML. Expat refuses entities that blow it up. Raises ParseError."""
        try:
            return ElementTree.fromstring(self.read(name))
        except (ElementTree.ParseError, ValueError, LookupError) as error:
            raise self.error(f"its part {name[:80]!r} is no XML: {error}") from error

    def error(self, problem: str) -> ParseError:
        """What is wrong with the file."""
        return ParseError(f"{self._path}: {problem}")


def beside(part: str, reference: str) -> str:
    """The name of the part that another one refers to."""
    target = unquote(reference.partition("#")[0])
    return posixpath.normpath(posixpath.join(posixpath.dirname(part), target)).lstrip("/")
