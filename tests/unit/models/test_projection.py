"""Token vectors become bits: which tokens, and which bits."""

from __future__ import annotations

import numpy as np

from second_brain.models.projection import TokenProjection, projection

RNG = np.random.default_rng(3)


def unit(count: int, dimensions: int) -> np.ndarray:
    vectors = RNG.standard_normal((count, dimensions)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_codes_are_the_signs_of_rows():
    """Of documents and of queries the same tokens in the same order."""
    vectors, ids = unit(40, 384), list(range(500, 540))
    rows, codes = projection().rows(vectors, ids), projection().codes(vectors, ids)
    assert codes.shape == (len(rows), projection().bits // 8)
    assert np.array_equal(np.unpackbits(codes, axis=1), rows > 0)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_the_mean_is_taken_out():
    """A vector's row is that of its difference from the mean."""
    made = TokenProjection(np.array([0.5, 0.5]), np.eye(2), np.array([], dtype=np.int32))
    assert np.allclose(made.rows(np.array([[0.8, 0.1]], dtype=np.float32), [7]), [[0.6, -0.8]])
    assert made.codes(np.array([[0.8, 0.1]], dtype=np.float32), [7]).tolist() == [[0b10000000]]


def test_silent_tokens_are_left_out_unless_there_are_no_others():
    """Ids beyond the last silent one are none."""
    made = TokenProjection(np.zeros(8), np.eye(8), np.array([2, 5], dtype=np.int32))
    vectors = unit(4, 8)
    assert np.allclose(made.rows(vectors, [1, 2, 5, 900]), vectors[[0, 3]], atol=1e-6)
    assert len(made.codes(vectors, [1, 2, 5, 900])) == 2
    assert np.allclose(made.rows(vectors, [2, 5, 5, 2]), vectors, atol=1e-6)


def test_punctuation_and_stop_words_are_silent(e5):
    """Of a question its telling words remain, in English and Japanese."""
    [(_, valve)] = e5.embed_query_tokens(["valve"])
    assert len(e5.encode_query("What is the valve?")[1]) == len(valve)
    [(_, every)] = e5.embed_query_tokens(["ポンプの弁は、何?"])
    assert 0 < len(e5.encode_query("ポンプの弁は、何?")[1]) <= len(every) - 4


def test_a_token_that_comes_again_has_one_code():
    """That of its first vector, in the order of the text; a query keeps all of its tokens."""
    made = TokenProjection(np.zeros(8, np.float32), np.eye(8, dtype=np.float32), np.array([], dtype=np.int32))
    vectors = np.eye(8, dtype=np.float32)[[0, 1, 2, 3]]
    assert made.codes(vectors, [7, 5, 7, 3]).tolist() == [[0b10000000], [0b01000000], [0b00010000]]
    assert len(made.rows(vectors, [7, 5, 7, 3])) == 4
