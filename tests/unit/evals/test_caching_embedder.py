"""Vectors of questions are computed once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from second_brain.evals.caching import CachingEmbedder, CachingTokenEmbedder, caching
from second_brain.models.hashing import HashingEmbedder
from second_brain.protocols import Codes, Embedder, TokenEmbedder, Vectors


class Counting:
    """A real embedder that counts what it is asked."""

    def __init__(self, identity: str = "") -> None:
        self._embedder = HashingEmbedder()
        self.identity = identity or self._embedder.identity
        self.dimensions = self._embedder.dimensions
        self.asked: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return self._embedder.embed_documents(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self.asked.extend(texts)
        return self._embedder.embed_queries(texts)


def test_it_is_an_embedder_that_answers_as_the_one_inside(tmp_path: Path) -> None:
    """Identity, dimensions, vectors and their order are those of the embedder."""
    inside = Counting()
    caching = CachingEmbedder(inside, tmp_path / "queries.npz")
    assert isinstance(caching, Embedder)
    assert (caching.identity, caching.dimensions) == (inside.identity, inside.dimensions)
    texts = ["red", "green", "red", "blue"]
    plain = HashingEmbedder()
    np.testing.assert_array_equal(caching.embed_queries(texts), plain.embed_queries(texts))
    np.testing.assert_array_equal(caching.embed_documents(texts), plain.embed_documents(texts))
    assert caching.embed_queries(texts).dtype == np.float32
    assert inside.asked == ["red", "green", "blue"]


def test_saved_vectors_are_not_computed_again(tmp_path: Path) -> None:
    """A later run asks the embedder only for what is new."""
    first = CachingEmbedder(Counting(), tmp_path / "sub" / "queries.npz")
    expected = first.embed_queries(["red", "green"])
    first.save()
    inside = Counting()
    second = CachingEmbedder(inside, tmp_path / "sub" / "queries.npz")
    np.testing.assert_array_equal(second.embed_queries(["green", "red"]), expected[::-1])
    second.embed_queries(["blue"])
    assert inside.asked == ["blue"]


def test_nothing_new_writes_nothing(tmp_path: Path) -> None:
    """Saving twice leaves the file as it is; saving without a question makes none."""
    path = tmp_path / "queries.npz"
    caching = CachingEmbedder(Counting(), path)
    caching.save()
    assert not path.exists()
    caching.embed_queries(["red"])
    caching.save()
    before = path.stat().st_mtime_ns, path.stat().st_ino
    caching.save()
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["queries.npz"]


def test_vectors_of_another_embedder_are_not_used(tmp_path: Path) -> None:
    """The file says whose vectors it holds."""
    path = tmp_path / "queries.npz"
    first = CachingEmbedder(Counting("one/1"), path)
    first.embed_queries(["red"])
    first.save()
    inside = Counting("two/1")
    CachingEmbedder(inside, path).embed_queries(["red"])
    assert inside.asked == ["red"]


def test_damaged_file_counts_as_empty(tmp_path: Path) -> None:
    """A cache that cannot be read costs time and nothing else."""
    path = tmp_path / "queries.npz"
    first = CachingEmbedder(Counting(), path)
    first.embed_queries(["red"])
    first.save()
    whole = path.read_bytes()
    for damaged in (b"", b"PK", b"not an archive", whole[: len(whole) // 2], whole[:-4]):
        path.write_bytes(damaged)
        inside = Counting()
        CachingEmbedder(inside, path).embed_queries(["red"])
        assert inside.asked == ["red"]


class CountingTokens(Counting):
    """One that also encodes tokens: a row for each letter."""

    def encode_documents(self, texts: Sequence[str]) -> tuple[Vectors, list[Codes]]:
        return self.embed_documents(texts), [np.zeros((len(text), 1), dtype=np.uint8) for text in texts]

    def encode_query(self, text: str) -> tuple[Vectors, Vectors]:
        self.asked.append(text)
        rows = np.arange(8 * len(text), dtype=np.float32).reshape(len(text), 8)
        return self._embedder.embed_queries([text])[0], rows


def test_rows_of_tokens_are_remembered_where_there_are_some(tmp_path: Path) -> None:
    """With the vector of the same question; an embedder without tokens stays one."""
    path = tmp_path / "queries.npz"
    assert not isinstance(caching(Counting(), path), TokenEmbedder)
    first = caching(CountingTokens(), path)
    assert isinstance(first, CachingTokenEmbedder)
    first.embed_queries(["blue"])
    expected = {text: first.encode_query(text) for text in ("red", "green")}
    first.save()
    inside = CountingTokens()
    second = caching(inside, path)
    assert isinstance(second, TokenEmbedder)
    for text, (vector, rows) in expected.items():
        again, its_rows = second.encode_query(text)
        np.testing.assert_array_equal(again, vector)
        np.testing.assert_array_equal(its_rows, rows)
        np.testing.assert_array_equal(second.embed_queries([text])[0], vector)
    second.embed_queries(["blue"])
    assert inside.asked == []
    assert len(second.encode_query("blue")[1]) == 4
    assert inside.asked == ["blue"]
