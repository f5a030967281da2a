"""Where do notes come from? A folder of Markdown files, an Obsidian vault or not."""

from __future__ import annotations

from ..protocols import Scan
from ..types import Item
from .documents import document_bytes, document_type, without_unreadable
from .folder import FolderSource

MEDIA_TYPE = "text/markdown"
SUFFIXES = (".md", ".markdown")


class MarkdownSource(FolderSource):
    """The ``.md`` and ``.markdown`` files below a folder, in any letter case, and what lies between them.

    That is: Obsidian's canvases and bases, and the documents of `documents`, but for tables, which in a vault are
    data more often than text. For what is left out and the arguments see `FolderSource`.
    """

    kind = "markdown"

    def media_type(self, name: str) -> str | None:
        """What a file of this name holds; None when such files are not wanted."""
        return MEDIA_TYPE if name.lower().endswith(SUFFIXES) else document_type(name)

    def scan(self) -> Scan:
        """List the notes. About 10 µs a file. Raises SourceError when the root cannot be listed."""
        return without_unreadable(super().scan())

    def _bytes(self, item: Item) -> bytes:
        return document_bytes(item, self._max_bytes)
