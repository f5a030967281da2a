"""What every embedder keeps to, as tests to inherit.

    class TestMyEmbedder(EmbedderContract):
        def embedder(self) -> Embedder:
            return MyEmbedder()

``TokenEmbedderContract`` is for one that also yields a vector for each token.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np

from ..protocols import Embedder, TokenEmbedder, Vectors

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
    """The suite for embedders of tokens."""

    @abstractmethod
    def token_embedder(self) -> TokenEmbedder:
        """The embedder under test."""

    def test_yields_a_finite_unit_vector_a_token(self) -> None:
        """As many float32 vectors as ids, at least one, each of unit norm."""
        embedder = self.token_embedder()
        for embed in (embedder.embed_document_tokens, embedder.embed_query_tokens):
            results = embed(TEXTS)
            assert len(results) == len(TEXTS)
            for vectors, ids in results:
                assert vectors.dtype == np.float32
                assert len(vectors) == len(ids) > 0
                assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=TOLERANCE)

    def test_token_vectors_depend_on_their_text_alone(self) -> None:
        """Neither order nor company of a text change its tokens."""
        embedder = self.token_embedder()
        together = embedder.embed_document_tokens(TEXTS)
        for text, (vectors, ids) in zip(TEXTS, together, strict=True):
            [(own_vectors, own_ids)] = embedder.embed_document_tokens([text])
            assert own_ids == ids
            assert np.allclose(own_vectors, vectors, atol=TOLERANCE * 10)

    def test_equal_words_have_equal_ids_in_queries_and_documents(self) -> None:
        """The prefix is left out, so that ids can be compared and counted."""
        embedder = self.token_embedder()
        queries, documents = embedder.embed_query_tokens(TEXTS[:5]), embedder.embed_document_tokens(TEXTS[:5])
        assert [ids for _, ids in queries] == [ids for _, ids in documents]

    def test_a_word_is_nearest_to_itself(self) -> None:
        """Each token of a text is closer to the same text's tokens than, on average, to another text's."""
        embedder = self.token_embedder()

        def best(query: Vectors, document: Vectors) -> float:
            return float((query @ document.T).max(axis=1).mean())

        [(query, _)] = embedder.embed_query_tokens(["the pump in the cellar"])
        (right, _), (wrong, _) = embedder.embed_document_tokens([TEXTS[0], TEXTS[4]])
        assert best(query, right) > best(query, wrong)

    def test_no_text_yields_no_tokens(self) -> None:
        """An empty list yields an empty list."""
        embedder = self.token_embedder()
        assert embedder.embed_document_tokens([]) == []
        assert embedder.embed_query_tokens([]) == []
