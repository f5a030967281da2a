"""Late interaction keeps to its definition, exactly."""

from __future__ import annotations

import math

import numpy as np
import pytest

from second_brain.ranking.late import BLOCK, max_sim

RNG = np.random.default_rng(5)


def question(tokens: int, bits: int) -> np.ndarray:
    rows = RNG.standard_normal((tokens, bits)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def passage(tokens: int, bits: int) -> np.ndarray:
    return RNG.integers(0, 256, (tokens, bits // 8), dtype=np.uint8)


def plainly(rows: np.ndarray, codes: np.ndarray) -> float:
    """The same, one number after the other."""
    total = 0.0
    for row in rows.tolist():
        best = -math.inf
        for code in codes.tolist():
            bits = [byte >> place & 1 for byte in code for place in range(7, -1, -1)]
            product = sum(value if bit else -value for value, bit in zip(row, bits, strict=True))
            best = max(best, product / math.sqrt(len(row)))
        total += best
    return total / len(rows)


@pytest.mark.parametrize("bits", [8, 128, 192])
def test_the_score_is_the_mean_of_the_best_cosines(bits):
    """As computed in plain Python, for passages of one token and of more than are compared at once."""
    rows = question(5, bits)
    passages = [passage(tokens, bits) for tokens in (1, 7, BLOCK, BLOCK + 3, 2)]
    expected = [plainly(rows, codes) for codes in passages]
    assert max_sim(rows, passages) == pytest.approx(expected, abs=1e-3)


def test_a_passage_with_the_signs_of_the_question_is_nearest():
    """The cosine of a random row with its own signs is about 0.8; nothing scores higher."""
    rows = question(4, 192)
    same = np.packbits(rows > 0, axis=1)
    scores = max_sim(rows, [passage(50, 192), same, passage(50, 192)])
    assert int(scores.argmax()) == 1
    assert scores[1] == pytest.approx(0.8, abs=0.05)


def test_equal_passages_have_exactly_equal_scores_wherever_they_stand():
    """Alone, first, last, in a list of any length: sums are exact, so no layout changes a bit of them."""
    rows, codes = question(11, 192), passage(37, 192)
    (alone,) = max_sim(rows, [codes])
    for before in (1, 5, 60):
        others = [passage(int(RNG.integers(1, 90)), 192) for _ in range(before)]
        assert max_sim(rows, [*others, codes, *others])[before] == alone


def test_no_passage_has_no_score():
    """An empty list yields an empty array."""
    assert max_sim(question(3, 64), []).shape == (0,)
