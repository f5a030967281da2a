"""An embedder without a model: words and their parts, hashed into a vector. For tests.

Texts that share words, or parts of words, are close; meaning is not seen. It is fast, needs no files, and
yields the same vectors in every process.

Source: Weinberger et al., Feature Hashing for Large Scale Multitask Learning, ICML 2009 (signed hashing).
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ..protocols import Vectors

_WORD = re.compile(r"\w+")
_PART = 3
_PART_WEIGHT = 0.3


class HashingEmbedder:
    """Vectors of ``dimensions``, unit norm, from each word (weight 1) and its trigrams (weight 0.3).

    ``cache_dir`` is not used; every embedder takes one. A blank text is a ValueError.
    """

    def __init__(self, cache_dir: Path | None = None, *, dimensions: int = 256) -> None:
        self.dimensions = dimensions
        self.identity = f"hashing-{dimensions}/1"

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """One vector a text, in the order given."""
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            if not text.strip():
                raise ValueError(f"a text is blank: {text[:20]!r}")
            for feature, weight in _features(text):
                code = zlib.crc32(feature.encode("utf-8", "replace"))
                vector[(code >> 1) % self.dimensions] += weight if code & 1 else -weight
            norm = float(np.linalg.norm(vector))
            if norm < 1e-6:  # no word at all, or features that cancel each other
                vector[:] = 0
                vector[zlib.crc32(text.encode("utf-8", "replace")) % self.dimensions] = norm = 1.0
            vector /= norm
        return vectors

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """The same as for documents."""
        return self.embed_documents(texts)


def _features(text: str) -> Iterator[tuple[str, float]]:
    """Each word, letter case and width ignored, and each of its trigrams between ``<`` and ``>``."""
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        yield word, 1.0
        marked = f"<{word}>"
        for start in range(len(marked) - _PART + 1):
            yield marked[start : start + _PART], _PART_WEIGHT
