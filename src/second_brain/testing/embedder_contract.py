"""What every embedder keeps to, as tests to inherit.

    class TestMyEmbedder(EmbedderContract):
        def embedder(self) -> Embedder:
            return MyEmbedder()

``TokenEmbedderContract`` is for one that also encodes tokens.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np

from ..protocols import Embedder, TokenEmbedder
from ..ranking.late import max_sim

TEXTS = (
    "The pump in the cellar lost its prime after the storm.",
    "a",
    "会議の議事録を確認する。",
    "Crème brûlée — naïve façade, cafe\u0301",
    "def area(r):\n    return 3.14159 * r ** 2\n",
    "🙂🚀",
    "\u200b\ufeff",
    "half a pair: \ud83d",
    "ＦＵＬＬ　ｗｉｄｔｈ",
    "word " * 3000,
    "x" * 5000,
    "The pump in the cellar lost its prime after the storm.",
)
"""Short, long, blank to the eye but not to ``str.strip``, not encodable, and one twice."""

TOLERANCE = 1e-4
"""Sums in another order differ by less."""


class EmbedderContract(ABC):
    """The suite for embedders of whole texts."""

    @abstractmethod
    def embedder(self) -> Embedder:
        """The embedder under test."""

    def test_names_itself_and_its_width(self) -> None:
        """The identity names embedder and version; the width is positive."""
        embedder = self.embedder()
        assert isinstance(embedder, Embedder)
        name, _, version = embedder.identity.partition("/")
        assert name, embedder.identity
        assert version, embedder.identity
        assert embedder.dimensions > 0

    def test_yields_one_finite_unit_vector_a_text(self) -> None:
        """Vectors are float32, (n, dimensions), finite, of unit norm: for any text that is not blank."""
        embedder = self.embedder()
        for vectors in (embedder.embed_documents(TEXTS), embedder.embed_queries(TEXTS)):
            assert vectors.dtype == np.float32
            assert vectors.shape == (len(TEXTS), embedder.dimensions)
            assert np.isfinite(vectors).all()
            assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=TOLERANCE)

    def test_no_text_yields_no_vector(self) -> None:
        """An empty list yields shape (0, dimensions)."""
        embedder = self.embedder()
        assert embedder.embed_documents([]).shape == (0, embedder.dimensions)
        assert embedder.embed_queries([]).shape == (0, embedder.dimensions)

    def test_equal_texts_yield_equal_vectors(self) -> None:
        """The first text and the last are the same, and so are their vectors."""
        embedder = self.embedder()
        vectors = embedder.embed_documents(TEXTS)
        assert np.allclose(vectors[0], vectors[-1], atol=TOLERANCE)

    def test_a_vector_depends_on_its_text_alone(self) -> None:
        """Neither the order of a batch nor the texts beside it change a vector."""
        embedder = self.embedder()
        together = embedder.embed_documents(TEXTS)
        backwards = embedder.embed_documents(TEXTS[::-1])[::-1]
        alone = np.concatenate([embedder.embed_documents([text]) for text in TEXTS])
        assert np.allclose(together, backwards, atol=TOLERANCE)
        assert np.allclose(together, alone, atol=TOLERANCE)

    def test_different_texts_yield_different_vectors(self) -> None:
        """A vector says something of its text."""
        embedder = self.embedder()
        vectors = embedder.embed_documents(["a red bicycle", "the tax return of a company"])
        assert not np.allclose(vectors[0], vectors[1], atol=0.01)

    def test_a_question_is_nearest_to_the_text_that_answers_it(self) -> None:
        """Query and document vectors lie in one space."""
        embedder = self.embedder()
        query = embedder.embed_queries(["what did the cellar pump lose?"])
        similarity = embedder.embed_documents(TEXTS[:5]) @ query[0]
        assert int(similarity.argmax()) == 0, similarity

    def test_a_blank_text_is_refused(self) -> None:
        """Blank texts are the caller's mistake: ValueError, also when others of the batch are sound."""
        embedder = self.embedder()
        for embed, blank in product((embedder.embed_documents, embedder.embed_queries), ("", " \n\t")):
            try:
                embed(["sound", blank])
            except ValueError:
                continue
            raise AssertionError(f"{blank!r} was embedded")

    def test_threads_may_share_it(self) -> None:
        """Calls at once from several threads yield what they yield one after the other."""
        embedder = self.embedder()
        expected = embedder.embed_documents(TEXTS[:6])
        with ThreadPoolExecutor(4) as pool:
            results = list(pool.map(embedder.embed_documents, [TEXTS[:6]] * 8))
        for vectors in results:
            assert np.allclose(vectors, expected, atol=TOLERANCE)


class TokenEmbedderContract(ABC):
    """The suite for embedders that encode tokens."""

    @abstractmethod
    def token_embedder(self) -> TokenEmbedder:
        """The embedder under test."""

    def test_encoding_yields_the_vectors_of_embedding(self) -> None:
        """An index that keeps codes holds the same vectors as one that does not."""
        embedder = self.token_embedder()
        vectors, _ = embedder.encode_documents(TEXTS)
        assert np.allclose(vectors, embedder.embed_documents(TEXTS), atol=TOLERANCE)
        vector, _ = embedder.encode_query(TEXTS[0])
        assert np.allclose(vector, embedder.embed_queries([TEXTS[0]])[0], atol=TOLERANCE)

    def test_codes_and_rows_lie_in_one_space(self) -> None:
        """Every text has at least one code and one row; a code has a bit for each dimension of a row of unit norm."""
        embedder = self.token_embedder()
        _, codes = embedder.encode_documents(TEXTS)
        assert len(codes) == len(TEXTS)
        for text, own in zip(TEXTS, codes, strict=True):
            _, rows = embedder.encode_query(text)
            assert own.dtype == np.uint8
            assert rows.dtype == np.float32
            assert len(own) > 0
            assert len(rows) > 0
            assert rows.shape[1] == 8 * own.shape[1]
            assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=TOLERANCE)

    def test_codes_depend_on_their_text_alone(self) -> None:
        """Neither order nor company of a text change its codes, but for bits that rounding may turn."""
        embedder = self.token_embedder()
        _, together = embedder.encode_documents(TEXTS)
        for text, own in zip(TEXTS, together, strict=True):
            _, [alone] = embedder.encode_documents([text])
            assert alone.shape == own.shape
            assert np.unpackbits(alone ^ own).mean() < 0.01

    def test_tokens_find_the_text_that_answers(self) -> None:
        """The text that a question asks for scores highest by its tokens, whatever its length."""
        embedder = self.token_embedder()
        _, codes = embedder.encode_documents(TEXTS[:5])
        _, rows = embedder.encode_query("the pump in the cellar")
        assert int(max_sim(rows, codes).argmax()) == 0

    def test_no_text_yields_no_codes(self) -> None:
        """An empty list yields shape (0, dimensions) and an empty list."""
        embedder = self.token_embedder()
        vectors, codes = embedder.encode_documents([])
        assert (vectors.shape, codes) == ((0, embedder.dimensions), [])
