"""Token vectors of the bundled encoder to a few bits each, so that an index can afford to keep them.

    vector of 384 -> less a fixed mean -> times a fixed matrix -> a row of BITS; its signs are the code

The encoder's token vectors lie in a narrow cone, so the mean is taken out. The matrix holds the leading principal
components, then turned at random, which spreads what they carry evenly over the bits. The direction from Latin to
Japanese pieces is taken out before: it says in which language a text is, not what it says.
Tokens that tell nothing (pieces without a letter or digit, stop words of ``analysis``) are left out, a third of
all. Everything is fixed, the same for every index, and lies in ``e5_tokens.npz``, which
``scripts/fit_token_projection.py`` writes. Figures are in docs/evaluation.md.

Source: Khattab and Zaharia, ColBERT, SIGIR 2020 (what the rows are for); Gong and Lazebnik, Iterative
Quantization, CVPR 2011 (signs of rotated principal components).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from ..protocols import Codes, Vectors

FILE = "e5_tokens.npz"


class TokenProjection:
    """``mean`` (dimensions,), ``matrix`` (dimensions, bits), ``silent``: ids of the tokens that tell nothing."""

    def __init__(self, mean: Vectors, matrix: Vectors, silent: npt.NDArray[np.int32]) -> None:
        self._mean = mean.astype(np.float32)
        self._matrix = matrix.astype(np.float32)
        self._silent = np.zeros(int(silent.max(initial=-1)) + 2, dtype=bool)  # the last one for all ids beyond
        self._silent[silent] = True

    @property
    def bits(self) -> int:
        """How many bits a token's code has."""
        return int(self._matrix.shape[1])

    def codes(self, vectors: Vectors, ids: Sequence[int]) -> Codes:
        """The codes of a document's tokens, in order, each token once, without those that tell nothing.

        Of a token that comes again the first vector stands for all: a quarter to a third of the tokens fewer, and no
        ranking that could be told from chance.
        """
        telling, own = self._telling(vectors, ids)
        firsts = np.sort(np.unique(own, return_index=True)[1])
        return np.packbits((telling[firsts] - self._mean) @ self._matrix > 0, axis=1)

    def rows(self, vectors: Vectors, ids: Sequence[int], mean: Vectors | None = None) -> Vectors:
        """The rows of a query's tokens, of unit norm, likewise. ``mean`` is theirs; None: that of documents."""
        rows = (self.telling(vectors, ids) - (self._mean if mean is None else mean)) @ self._matrix
        unit: Vectors = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
        return unit

    def telling(self, vectors: Vectors, ids: Sequence[int]) -> Vectors:
        """The vectors of the tokens that tell something, or of all where none does."""
        return self._telling(vectors, ids)[0]

    def _telling(self, vectors: Vectors, ids: Sequence[int]) -> tuple[Vectors, npt.NDArray[np.int64]]:
        """The vectors and ids of the tokens that tell something, or of all where none does."""
        every = np.asarray(ids, dtype=np.int64)
        silent = self._silent[np.minimum(every, self._silent.size - 1)]
        return (vectors, every) if silent.all() else (vectors[~silent], every[~silent])


@cache
def projection() -> TokenProjection:
    """The projection that belongs to the bundled encoder."""
    with (files(__package__) / FILE).open("rb") as file, np.load(file, allow_pickle=False) as stored:
        return TokenProjection(stored["mean"], stored["matrix"], stored["silent"])
