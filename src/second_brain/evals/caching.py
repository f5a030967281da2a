"""An embedder that remembers the vectors of questions, for the same ones are asked after every change."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from ..protocols import Codes, Embedder, TokenEmbedder, Vectors
from ..types import embedding_hash


def caching(embedder: Embedder, path: Path) -> CachingEmbedder:
    """An embedder that remembers, with tokens where the one inside has them."""
    if isinstance(embedder, TokenEmbedder):
        return CachingTokenEmbedder(embedder, path)
    return CachingEmbedder(embedder, path)


class CachingEmbedder:
    """Embeds as ``embedder`` does; vectors of queries are kept in ``path`` under the hash of their text.

    A file of another embedder, or one that cannot be read, counts as empty. New vectors are written by ``save``.
    """

    def __init__(self, embedder: Embedder, path: Path) -> None:
        self._embedder = embedder
        self._path = path
        self._known: dict[bytes, Vectors] = {}
        self._rows: dict[bytes, Vectors] = {}
        self._saved = 0
        with (
            contextlib.suppress(OSError, EOFError, ValueError, KeyError, BadZipFile),
            path.open("rb") as file,
            np.load(file, allow_pickle=False) as stored,
        ):
            if str(stored["identity"]) == embedder.identity:
                self._known = dict(zip(map(bytes, stored["hashes"]), stored["vectors"], strict=True))
                rows = np.split(stored["rows"], np.cumsum(stored["row_counts"])[:-1])
                self._rows = {hash: own for hash, own in zip(self._known, rows, strict=True) if len(own)}
                self._saved = self._size()

    def _size(self) -> int:
        return len(self._known) + len(self._rows)

    @property
    def identity(self) -> str:
        """The embedder's."""
        return self._embedder.identity

    @property
    def dimensions(self) -> int:
        """The embedder's."""
        return self._embedder.dimensions

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """As the embedder does; nothing is remembered, for the index keeps these."""
        return self._embedder.embed_documents(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """As the embedder does; it is asked only for what is not known."""
        hashes = [embedding_hash(text) for text in texts]
        missing = {hash: text for hash, text in zip(hashes, texts, strict=True) if hash not in self._known}
        if missing:
            vectors = self._embedder.embed_queries(list(missing.values()))
            self._known.update(zip(missing, vectors, strict=True))
        return np.array([self._known[hash] for hash in hashes], dtype=np.float32).reshape(len(texts), -1)

    def save(self) -> None:
        """Write what is new, so that a reader sees the old file or the new one."""
        if self._size() == self._saved:
            return
        none = np.empty((0, 0), dtype=np.float32)
        rows = [self._rows.get(hash, none) for hash in self._known]
        self._path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=self._path.name, suffix=".new", dir=self._path.parent)
        with os.fdopen(handle, "wb") as file:
            np.savez(
                file,
                identity=np.array(self.identity),
                hashes=np.array([list(hash) for hash in self._known], dtype=np.uint8),
                vectors=np.array(list(self._known.values()), dtype=np.float32),
                rows=np.concatenate([own for own in rows if len(own)] or [none]),
                row_counts=np.array([len(own) for own in rows]),
            )
        Path(temporary).replace(self._path)
        self._saved = self._size()


class CachingTokenEmbedder(CachingEmbedder):
    """The same for an embedder of tokens: the rows of queries are remembered too."""

    def __init__(self, embedder: TokenEmbedder, path: Path) -> None:
        super().__init__(embedder, path)
        self._token_embedder = embedder

    def encode_documents(self, texts: Sequence[str]) -> tuple[Vectors, list[Codes]]:
        """As the embedder does; nothing is remembered, for the index keeps these."""
        return self._token_embedder.encode_documents(texts)

    def encode_query(self, text: str) -> tuple[Vectors, Vectors]:
        """As the embedder does; it is asked only for what is not known."""
        hash = embedding_hash(text)
        if hash not in self._rows:
            self._known[hash], self._rows[hash] = self._token_embedder.encode_query(text)
        return self._known[hash], self._rows[hash]
