"""Takes out of the bundled encoder's vectors what texts of one kind have in common: what is left tells them apart.

    vector -> less a share of the mean of its kind -> unit norm again

The encoder's vectors lie in a narrow cone, and where in it says first of all in which script a text is, and whether
it is a question: so a question in English was near to whatever is in English. The kinds are therefore questions and
passages, each by script; texts in other scripts than the two that were measured take the mean of both.
The means are fixed, the same for every index, and lie in ``e5_centres.npz``, which ``scripts/fit_centres.py`` writes.
What it gains is in docs/evaluation.md; decision 15 says why it is done here.

Source: Mu and Viswanath, "All-but-the-Top", ICLR 2018 (the common mean); Yang et al., "A Simple and Effective Method
to Eliminate the Self Language Bias in Multilingual Representations", EMNLP 2021 (by language).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import numpy as np

from ..analysis.scripts import SCRIPTS, script_of
from ..protocols import Vectors

FILE = "e5_centres.npz"

SHARE = 0.7
"""How much of the mean is taken out: with all of it code is found less well. Chosen on the tune halves."""

MEASURED = ("latin", "cjk")
"""The scripts that have means of their own, in the order of their rows."""


LOOKED_AT = 500
"""Characters of a text by which its script is told: the encoder reads so many tokens, which are no fewer characters."""


class Centres:
    """Means of ``passages``, of ``questions`` and of the tokens of questions, shape (scripts, dimensions) each."""

    def __init__(self, passages: Vectors, questions: Vectors, tokens: Vectors) -> None:
        self._passages, self._questions, self._tokens = (_with_mean(rows) for rows in (passages, questions, tokens))

    def passages(self, vectors: Vectors, texts: Sequence[str]) -> Vectors:
        """The vectors of passages, of unit norm, with less of what all passages in their script share."""
        return _less(vectors, self._passages, texts)

    def questions(self, vectors: Vectors, texts: Sequence[str]) -> Vectors:
        """The same for questions."""
        return _less(vectors, self._questions, texts)

    def tokens(self, text: str) -> Vectors:
        """The mean vector of the tokens of questions in the script of ``text``."""
        mean: Vectors = self._tokens[_row(text)]
        return mean


def _with_mean(rows: Vectors) -> Vectors:
    """The rows, and behind them their mean, for all other scripts."""
    return np.vstack([rows, rows.mean(axis=0)]).astype(np.float32)


def _row(text: str) -> int:
    script = SCRIPTS[script_of(text[:LOOKED_AT])]
    return MEASURED.index(script) if script in MEASURED else len(MEASURED)


def _less(vectors: Vectors, means: Vectors, texts: Sequence[str]) -> Vectors:
    left = vectors - SHARE * means[[_row(text) for text in texts]]
    return np.asarray(left / np.linalg.norm(left, axis=1, keepdims=True), dtype=np.float32)


@cache
def centres() -> Centres:
    """Those of the bundled encoder."""
    with (files(__package__) / FILE).open("rb") as file, np.load(file, allow_pickle=False) as stored:
        return Centres(stored["passages"], stored["questions"], stored["tokens"])
