"""A note as it lies on this machine: the box's own if the bytes are the same, or what is here while the box is away."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

from ..parsing.markdown import MarkdownParser
from ..parsing.text import decode
from ..records import Linking, Note, StoredDocument, StoredLink
from ..secrets import redact
from ..sources.fingerprints import fingerprint, modified
from ..types import Blob, Document, Item, Link

SUFFIXES = (".md", ".markdown")
"""Whose text is what stands in the file; of anything else the box alone knows the text."""

MOST_BYTES = 16 << 20


def is_text(path: str | os.PathLike[str]) -> bool:
    """Whether the text of a note is what stands in its file."""
    return os.fspath(path).lower().endswith(SUFFIXES)


def bytes_of(path: Path) -> bytes | None:
    """A file's bytes; None where it cannot be read, or is no note by its size."""
    try:
        return path.read_bytes() if path.stat().st_size <= MOST_BYTES else None
    except OSError:
        return None


def hash_of(data: bytes) -> str:
    """As the index knows items, ``Blob.hash``."""
    return blake2b(data, digest_size=16).hexdigest()


def text_of(data: bytes, *, masked: bool) -> str:
    """The text as the index keeps it."""
    text, _ = decode(data)
    return redact(text)[0] if masked else text


def document_of(path: Path, data: bytes, uri: str) -> Document:
    """What a file says of itself, read as the index would read it."""
    status = path.stat()
    source = uri.partition("/")[0]
    item = Item(uri, source, str(path), "text/markdown", fingerprint(status, 0), modified(status), len(data))
    (document,) = MarkdownParser().parse(Blob(item, data))
    return document


def local_note(path: Path, data: bytes, uri: str, *, masked: bool, notes: Sequence[str]) -> Note:
    """A note made of a file alone: its links lead nowhere, as nobody is there who knows what they mean."""
    document = document_of(path, data, uri)
    stored = StoredDocument(
        key=0,
        uri=uri,
        source=document.source,
        path=str(path),
        fingerprint="",
        failure="",
        kind=document.kind,
        type=document.type,
        title=document.title,
        date=document.date or document.modified,
        modified=document.modified,
        status=document.status,
        privacy=document.privacy,
        language=document.language,
        project=document.project,
        description=document.description,
        tags=document.tags,
        aliases=document.aliases,
        metadata=document.metadata,
        warnings=document.warnings,
        hash=hash_of(data),
    )
    links = tuple(
        StoredLink(uri, None, link.target, link.anchor, link.text, link.kind, link.start, 0) for link in document.links
    )
    return Note(stored, text_of(data, masked=masked), links, (), tuple(notes))


def with_local_text(note: Note, path: Path, *, masked: bool) -> Note | None:
    """The box's note with the text of the file here; None where that is not, byte for byte, what the box indexed."""
    data = bytes_of(path)
    if data is None or not note.document.hash or hash_of(data) != note.document.hash:
        return None
    return replace(note, text=text_of(data, masked=masked))


def linking_of(document: Document, name: str, links: Sequence[tuple[str, Link]]) -> Linking:
    """A document as something that links; ``links`` are (uri that it leads to, link), as far as they lead anywhere."""
    sizes: dict[str, int] = {}
    for uri, link in links:
        size = len(link.target.encode()) + (0 if link.text == link.target else len(link.text.encode()))
        sizes[uri] = sizes.get(uri, 0) + size
    size = len(document.text.encode()) - len(document.text[: document.body_start].encode())
    return Linking(document.uri, name, document.type, document.tags, size, tuple(sizes.items()))
