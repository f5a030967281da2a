"""An embedder that remembers the last questions: a search, its confidence and its next page encode each only once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from ..protocols import Codes, Embedder, TokenEmbedder, Vectors

KEPT = 64
"""Questions; some 100 kB with the rows of their tokens."""

T = TypeVar("T")


def remembering(embedder: Embedder) -> RememberingEmbedder:
    """The embedder with a memory for questions, with tokens where it has them."""
    return RememberingTokenEmbedder(embedder) if isinstance(embedder, TokenEmbedder) else RememberingEmbedder(embedder)


class _Memory(OrderedDict[str, T]):
    """The last ``KEPT`` values by text."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()

    def take(self, text: str, make: Callable[[], T]) -> T:
        """The value for a text, made where it is not known."""
        with self._lock:
            if text in self:
                self.move_to_end(text)
                return self[text]
        value = make()
        with self._lock:
            self[text] = value
            if len(self) > KEPT:
                self.popitem(last=False)
        return value


class RememberingEmbedder:
    """Embeds as ``embedder`` does, and remembers questions."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: _Memory[Vectors] = _Memory()

    @property
    def remembers_for(self) -> Embedder:
        """The embedder itself."""
        return self._embedder

    @property
    def identity(self) -> str:
        """The embedder's."""
        return self._embedder.identity

    @property
    def dimensions(self) -> int:
        """The embedder's."""
        return self._embedder.dimensions

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """As the embedder does."""
        return self._embedder.embed_documents(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """As the embedder does, one by one."""
        if len(texts) != 1:
            return self._embedder.embed_queries(texts)
        vector = self._vectors.take(texts[0], lambda: self._embedder.embed_queries(texts)[0])
        return np.array([vector])


class RememberingTokenEmbedder(RememberingEmbedder):
    """The same for an embedder whose tokens can be compared."""

    def __init__(self, embedder: TokenEmbedder) -> None:
        super().__init__(embedder)
        self._token_embedder = embedder
        self._encoded: _Memory[tuple[Vectors, Vectors]] = _Memory()

    def encode_documents(self, texts: Sequence[str]) -> tuple[Vectors, list[Codes]]:
        """As the embedder does."""
        return self._token_embedder.encode_documents(texts)

    def encode_query(self, text: str) -> tuple[Vectors, Vectors]:
        """As the embedder does."""
        return self._encoded.take(text, lambda: self._token_embedder.encode_query(text))
