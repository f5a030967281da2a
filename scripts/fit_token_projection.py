"""Writes src/second_brain/models/e5_tokens.npz: how token vectors become bits (see ``models/projection.py``).

    python scripts/fit_token_projection.py [--bits 128]

Fitted once, on the notes of ``example-vault`` as they were: the numbers are part of what ``E5Embedder.identity``
stands for, so whoever writes them anew raises the identity's version. The retrieval sets take no part in it.
Takes a minute.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from second_brain import config
from second_brain.analysis.scripts import is_han
from second_brain.analysis.stopwords import STOPWORDS
from second_brain.chunking.markdown import MarkdownChunker
from second_brain.models.e5 import E5Embedder
from second_brain.models.projection import FILE
from second_brain.models.weights import Weights, find_weights
from second_brain.parsing.markdown import MarkdownParser
from second_brain.types import Blob, Item

ROOT = Path(__file__).parent.parent
SEED = 0


def passages() -> Iterator[str]:
    """What would be embedded of each note, in order of path."""
    for path in sorted((ROOT / "example-vault").rglob("*.md")):
        uri = f"vault/{path.relative_to(ROOT / 'example-vault')}"
        item = Item(uri, "vault", str(path), "text/markdown", "", datetime(2026, 1, 1, tzinfo=UTC), 0)
        for document in MarkdownParser().parse(Blob(item, path.read_bytes())):
            yield from (chunk.embedding_text for chunk in MarkdownChunker().chunk(document))


def main() -> None:
    """Fit and write."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--bits", type=int, default=128)
    bits = options.parse_args().bits
    pieces = Weights(find_weights()).pieces()
    words = [piece.lstrip("\u2581").casefold() for piece in pieces]
    silent = np.array([word in STOPWORDS or not any(map(str.isalnum, word)) for word in words])
    japanese = np.array([any("\u3041" <= char <= "\u30ff" or is_han(char) for char in word) for word in words])
    latin = np.array([any(char.isascii() and char.isalpha() for char in word) for word in words])

    tokens = E5Embedder(config.load().model_cache).embed_document_tokens(list(passages()))
    vectors = np.concatenate([rows for rows, _ in tokens])
    ids = np.concatenate([own for _, own in tokens])
    mean = vectors.mean(axis=0)
    language = vectors[japanese[ids]].mean(axis=0) - vectors[latin[ids] & ~japanese[ids]].mean(axis=0)
    language /= np.linalg.norm(language)

    centred = vectors[~silent[ids]] - mean
    centred /= np.linalg.norm(centred, axis=1, keepdims=True)
    centred -= np.outer(centred @ language, language)
    _, components = np.linalg.eigh(centred.T @ centred)
    turn, _ = np.linalg.qr(np.random.default_rng(SEED).standard_normal((bits, bits)))
    matrix = components[:, ::-1][:, :bits] @ turn
    target = ROOT / "src/second_brain/models" / FILE
    np.savez_compressed(
        target,
        mean=mean.astype(np.float16),
        matrix=matrix.astype(np.float16),
        silent=np.flatnonzero(silent).astype(np.int32),
    )
    print(f"{target}: {target.stat().st_size:,} bytes; {silent[ids].mean():.0%} of {ids.size:,} tokens are silent")


if __name__ == "__main__":
    main()
