"""The seams: what varies between sources, parsers, chunkers, embedders, rerankers, chat models and indexes.

A contract suite in ``second_brain.testing`` says what each implementation must keep to.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

from .types import Blob, Chunk, Document, Failure, Filter, Item, Ranking

if TYPE_CHECKING:  # settings and servers name these seams and compute nothing
    import numpy as np
    import numpy.typing as npt

Vectors: TypeAlias = "npt.NDArray[np.float32]"
"""float32, shape (n, dimensions), each row of unit norm."""

Codes: TypeAlias = "npt.NDArray[np.uint8]"
"""uint8, shape (tokens, bits / 8): for each token of a text a bit a dimension, 1 where the token's row is above 0."""

Scores: TypeAlias = "npt.NDArray[np.float32]"
"""float32, shape (n,)."""

Progress: TypeAlias = Callable[[str, int, int | None], None]
"""``progress(stage, done, total)``: called often, from the thread that works; total None when unknown."""


@dataclass(frozen=True, slots=True)
class Scan:
    """What a source lists at one moment.

    ``items`` in order of uri. ``failures`` name entries that could not be listed. ``unlisted`` are uri
    prefixes below which nothing could be seen: what the index holds there must be kept.
    ``skipped`` counts entries passed over on purpose (links, pipes, sockets), by reason.
    """

    items: tuple[Item, ...]
    failures: tuple[Failure, ...] = ()
    unlisted: tuple[str, ...] = ()
    skipped: Mapping[str, int] | None = None


@runtime_checkable
class Source(Protocol):
    """Where text comes from."""

    name: str
    kind: str
    exhaustive: bool
    """Whether an item that is not listed has been deleted."""

    def scan(self) -> Scan:
        """List every item. Raises SourceError when the source as a whole cannot be listed."""
        ...

    def read(self, item: Item) -> Blob:
        """The item's bytes. Raises FileNotFoundError when it vanished, OSError, or ParseError (binary, too large)."""
        ...


@runtime_checkable
class Parser(Protocol):
    """Bytes to documents."""

    def parse(self, blob: Blob) -> Iterator[Document]:
        """Yield the documents. Raises ParseError only."""
        ...


@runtime_checkable
class Chunker(Protocol):
    """A document to passages."""

    def chunk(self, document: Document) -> Sequence[Chunk]:
        """Chunks in order of ordinal; together they cover every non-blank character of the body."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """Texts to vectors."""

    @property
    def identity(self) -> str:
        """Name and version; vectors of different identities are never compared."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """One vector a text, in the order given. Texts beyond the model's length are cut. No text is blank."""
        ...

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """One vector a query, in the order given."""
        ...


@runtime_checkable
class TokenEmbedder(Embedder, Protocol):
    """An embedder that also yields what late interaction compares: the tokens of documents as bits, of queries as rows.

    Codes and rows belong to ``identity`` as vectors do. Rows have 8 dimensions for each byte of a code.
    """

    def encode_documents(self, texts: Sequence[str]) -> tuple[Vectors, list[Codes]]:
        """The vectors of ``embed_documents`` and the codes of each text's tokens, at the cost of one."""
        ...

    def encode_query(self, text: str) -> tuple[Vectors, Vectors]:
        """The vector of ``embed_queries``, shape (dimensions,), and a row of unit norm for each token of a query."""
        ...


@runtime_checkable
class Reranker(Protocol):
    """Reads a query together with each candidate."""

    @property
    def identity(self) -> str:
        """Name and version."""
        ...

    def score(self, query: str, texts: Sequence[str], *, deadline_s: float) -> Scores:
        """One score a text, higher for better, whatever the order of the texts.

        Raises DeadlineMissed when it cannot end within ``deadline_s`` seconds of wall time, else ModelError.
        """
        ...


@dataclass(frozen=True, slots=True)
class Message:
    """One message to a chat model."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Completion:
    """What a chat model answered. ``truncated``: it stopped at its limit. Tokens as the endpoint counts, else 0."""

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    truncated: bool = False


@runtime_checkable
class ChatModel(Protocol):
    """Messages to an answer. What is sent leaves this process: only with the user's consent."""

    @property
    def identity(self) -> str:
        """Endpoint and model."""
        ...

    def complete(self, messages: Sequence[Message], *, max_tokens: int, deadline_s: float) -> Completion:
        """The answer. Raises DeadlineMissed, else ModelError; what failed is retried only where that is safe."""
        ...


@runtime_checkable
class Index(Protocol):
    """What ranks passages for one search. Keys are the catalogue's; what it tells of them is asked there.

    It lives as long as one search and is asked from one thread. A ranking that it cannot make itself it takes from
    the catalogue, and says so in ``notices``: no error ever looks like an empty result.
    """

    def lexical(
        self,
        terms: Sequence[str],
        filter: Filter,
        limit: int,
        *,
        phrases: Sequence[tuple[str, ...]] = (),
        prefixed: Collection[str] = (),
    ) -> Ranking:
        """The best ``limit`` passages by BM25 for any of the terms or phrases, equal scores by id.

        Words and lengths are weighed by all passages whatever the filter. Those of ``prefixed`` stand for all terms
        that begin so.
        """
        ...

    def dense(
        self, vector: Vectors, filter: Filter, limit: int, *, script: int = 0, also: Sequence[int] = ()
    ) -> Ranking:
        """The ``limit`` passages nearest to a unit vector by cosine, equal scores by id, then those of ``also``.

        ``script`` is the query's: scores of passages in others are raised, see ``VectorIndex.search``.
        """
        ...

    def codes(self, keys: Sequence[int], width: int) -> dict[int, Codes]:
        """The token codes of these passages, by key, ``width`` bytes a token; one without any is left out."""
        ...

    def notices(self, filter: Filter = Filter()) -> tuple[str, ...]:
        """What the reader must know of how this search was answered, of what the filter lets through."""
        ...
