"""The embedder without a model, for tests."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from second_brain.models.hashing import HashingEmbedder


def test_vectors_are_the_same_in_every_process():
    """Python's own hash differs from process to process; this one does not."""
    code = (
        "from second_brain.models.hashing import HashingEmbedder; import sys; "
        "sys.stdout.buffer.write(HashingEmbedder().embed_queries(['the pump and 会議']).tobytes())"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    assert out == HashingEmbedder().embed_queries(["the pump and 会議"]).tobytes()


def test_texts_that_share_words_or_parts_of_words_are_nearer():
    """Shared words count most, shared parts of words a little, letter case and width nothing."""
    texts = ["a pump", "the cellar pump", "he pumped water", "green tea", "ＰＵＭＰ A"]
    query, same, inflected, other, folded = HashingEmbedder().embed_documents(texts)
    assert query @ same > query @ inflected > query @ other
    assert query @ folded == pytest.approx(1, abs=1e-6)


def test_the_width_is_a_choice_and_part_of_the_identity():
    """Vectors of different widths are of different embedders."""
    small, default = HashingEmbedder(dimensions=16), HashingEmbedder()
    assert small.embed_documents(["a pump"]).shape == (1, 16)
    assert (small.identity, default.identity) == ("hashing-16/1", "hashing-256/1")


def test_no_text_has_a_vector_of_zeros():
    """Texts without a word, or in a space so small that features cancel each other, still have a direction."""
    texts = ["—", "!?", "🙂", *(f"word{number}" for number in range(200))]
    vectors = HashingEmbedder(dimensions=1).embed_documents(texts)
    assert np.abs(vectors).ravel().tolist() == [1.0] * len(texts)
