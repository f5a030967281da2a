"""What is written to the index and what is read from it, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias

from .types import Chunk, Document, Item


@dataclass(frozen=True, slots=True)
class Replacement:
    """The item's bytes were read: these are its documents and their chunks now."""

    item: Item
    hash: str
    documents: tuple[tuple[Document, tuple[Chunk, ...]], ...]


@dataclass(frozen=True, slots=True)
class Touch:
    """The item's bytes are the same; only its fingerprint or place on disk is new."""

    item: Item


@dataclass(frozen=True, slots=True)
class Unread:
    """The item is there but could not be read or understood. What is known of it is kept, marked with ``reason``.

    ``retry``: read it again next time even if its fingerprint stays the same.
    """

    item: Item
    reason: str
    retry: bool


@dataclass(frozen=True, slots=True)
class Removal:
    """The item is gone."""

    uri: str


Change: TypeAlias = Replacement | Touch | Unread | Removal


@dataclass(frozen=True, slots=True)
class ItemState:
    """What the index knows of an item: ``hash`` is '' if it was never understood."""

    path: str
    fingerprint: str
    hash: str
    failure: str


@dataclass(frozen=True, slots=True)
class SourceState:
    """What the index knows of a source. ``unavailable`` is why the last comparison could not be made, or ''."""

    name: str
    kind: str
    path: str
    synced: datetime | None
    unavailable: str
    items: int
    documents: int
    chunks: int
    waiting: int
    failures: int


@dataclass(frozen=True, slots=True)
class CollectionState:
    """A named set of sources, what they hold together, and how fresh the least fresh of them is.

    ``synced`` is None while one was never compared; ``unavailable`` names those that could not be the last time.
    """

    name: str
    default: bool
    sources: tuple[str, ...]
    documents: int
    chunks: int
    waiting: int
    synced: datetime | None
    unavailable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """What the ranking needs to know of a chunk, without its text."""

    key: int
    id: str
    script: int
    document: int
    uri: str
    source: str
    kind: str
    type: str
    title: str
    date: float
    status: str
    stale_after: str


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk with all that a hit shows. ``line`` is 1-based, of the chunk's first character."""

    key: int
    id: str
    start: int
    end: int
    line: int
    text: str
    heading_path: tuple[str, ...]
    document: StoredDocument


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document as the index holds it, without its text. ``date`` is its own date, else the file's.

    ``hash`` is that of the item's bytes (``Blob.hash``): what else has it is the same file.
    """

    key: int
    uri: str
    source: str
    path: str
    fingerprint: str
    failure: str
    kind: str
    type: str
    title: str
    date: datetime
    modified: datetime
    status: str
    privacy: str
    language: str
    project: str
    description: str
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    metadata: Mapping[str, Any]
    warnings: tuple[str, ...]
    hash: str = ""


@dataclass(frozen=True, slots=True)
class Linking:
    """A document as something that links: its name and labels, the bytes of its body, and its links to others.

    ``name`` is folded as names are compared. ``links`` are (uri, bytes as written), those to documents that the asker
    may see, in order, each uri once; characters of further links to the same are added up.
    """

    uri: str
    name: str
    type: str
    tags: tuple[str, ...]
    size: int
    links: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class StoredLink:
    """A link between documents: ``source`` and ``target`` are uris; ``target`` is None while nothing
    answers. ``by_alias`` is 1 if only an alias answered.
    """

    source: str
    target: str | None
    written: str
    anchor: str
    text: str
    kind: str
    start: int
    by_alias: int


Counts: TypeAlias = "tuple[tuple[str, int], ...]"
"""(value, documents), the most frequent first, equal ones by value; documents without a value are left out."""


@dataclass(frozen=True, slots=True)
class Facets:
    """Counts of documents by what each says of itself. Months are ``2031-05``, newest first, and so are years."""

    documents: int
    sources: Counts
    projects: Counts
    kinds: Counts
    types: Counts
    languages: Counts
    tags: Counts
    months: Counts
    years: Counts
    privacies: Counts = ()


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of the whole index; sizes in bytes."""

    sources: int
    items: int
    documents: int
    chunks: int
    waiting: int
    links: int
    unresolved_links: int
    failures: int
    embedder: str
    text_bytes: int
    file_bytes: int
    matrix_bytes: int


@dataclass(frozen=True, slots=True)
class Note:
    """A document whole: its text, what it says of itself, and what it is linked with."""

    document: StoredDocument
    text: str
    links: tuple[StoredLink, ...]
    backlinks: tuple[StoredLink, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Status:
    """What the index holds and how fresh it is, as far as the asker may see.

    ``index_bytes`` and ``matrix_bytes`` are 0 for those who may not see everything: they would tell how much there is.
    """

    version: str
    home: Path
    index: Path
    documents: int
    chunks: int
    embedded: int
    waiting: int
    links: int
    unresolved_links: int
    failures: int
    embedder: str
    wanted_embedder: str
    text_bytes: int
    index_bytes: int
    matrix_bytes: int
    last_sync: datetime | None
    sources: tuple[SourceState, ...]
    notices: tuple[str, ...]
    generation: str = ""
