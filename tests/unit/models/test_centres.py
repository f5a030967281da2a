"""What texts of one script and side share is taken out of their vectors."""

from __future__ import annotations

import numpy as np
import pytest

from second_brain.models.centres import MEASURED, SHARE, Centres, centres

LATIN, CJK = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
MADE = Centres(np.array([LATIN, CJK]), np.array([LATIN, CJK]) / 2, np.array([LATIN, CJK]) / 4)


def unit(*values: float) -> np.ndarray:
    return np.array(values) / np.linalg.norm(values)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a pump", unit(0.6 - SHARE, 0, 0.8)),
        ("ポンプ", unit(0.6, -SHARE, 0.8)),
        ("насос", unit(0.6 - SHARE / 2, -SHARE / 2, 0.8)),
        ("42", unit(0.6 - SHARE / 2, -SHARE / 2, 0.8)),
    ],
)
def test_a_share_of_the_scripts_mean_is_taken_out(text: str, left: np.ndarray):
    """Of passages; a script without a mean of its own has the mean of all."""
    assert np.allclose(MADE.passages(np.array([[0.6, 0.0, 0.8]]), [text]), [left], atol=1e-6)


def test_questions_and_their_tokens_have_means_of_their_own():
    """Each by its own script, whatever stands beside it."""
    vectors = np.array([[0.6, 0.0, 0.8], [0.6, 0.0, 0.8]])
    expected = [unit(0.6, -SHARE / 2, 0.8), unit(0.6 - SHARE / 2, 0, 0.8)]
    assert np.allclose(MADE.questions(vectors, ["弁", "valve"]), expected, atol=1e-6)
    assert np.allclose(MADE.tokens("valve"), [0.25, 0, 0])
    assert np.allclose(MADE.tokens("клапан"), [0.125, 0.125, 0])


def test_no_text_is_no_vector():
    """Shapes stay."""
    assert MADE.passages(np.empty((0, 3)), []).shape == (0, 3)


def test_those_that_are_installed_fit_the_encoder():
    """A row for each measured script and one for the others, of 384 dimensions."""
    vectors = np.eye(384, dtype=np.float32)[:2]
    left = centres().passages(vectors, ["valve", "弁"])
    assert left.shape == (len(MEASURED), 384)
    assert np.allclose(np.linalg.norm(left, axis=1), 1, atol=1e-5)
    assert left.dtype == np.float32
