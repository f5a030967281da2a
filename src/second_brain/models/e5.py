"""The bundled embedder: multilingual-e5-small with its 4-bit weights, run in float32 by ONNX Runtime.

Nothing heavy happens before the first text is embedded. The first time on a machine, the graph and the
tokenizer's files are built from the installed weights (some two seconds, 90 MB in the model cache); a new
process then answers its first query within 0.15 s, since everything that it needs is mapped, not read.

Source: Wang et al., Multilingual E5 Text Embeddings, 2024 (the prefixes, the mean over all tokens).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ..errors import ModelError
from ..protocols import Codes, Vectors
from .cache import built_folder
from .centres import centres
from .projection import projection
from .tokenizer import Tokenizer, write_tokenizer
from .weights import REINSTALL, Weights, find_weights

TokenVectors: TypeAlias = "list[tuple[Vectors, list[int]]]"
"""For each text the vectors of its tokens, shape (tokens, dimensions), unit norm, and the tokens' ids."""

_WEIGHTS = "e4c0bea01bd93bb3"
"""The digest of the weights that ``E5Embedder.identity`` stands for."""

_BUILD = 1
"""Raise it when the files that ``build`` writes change."""

_GRAPH = "encoder.onnx"

_QUERY, _PASSAGE = "query:", "passage:"
"""What the model was trained to see before a text, with a space that belongs to the text's first token."""

_LONGEST = 512


class E5Embedder:
    """Texts of some hundred languages to vectors of 384 dimensions, offline.

    ``cache_dir`` is where the built model is kept, ``threads`` how many cores to use (all that this process
    may run on, when None). Making one costs nothing; it may be shared by threads.
    Of each document the first `max_tokens` tokens are read (of a query one less).
    A blank text is a ValueError; a model that cannot be loaded or run, a ModelError.
    """

    identity = "e5-small-q4/2"
    dimensions = 384
    max_tokens = 508
    """How many tokens of a document are read: 512 less its prefix and the two that open and close."""

    def __init__(self, cache_dir: Path, *, threads: int | None = None) -> None:
        self._cache_dir = cache_dir
        self._threads = threads or _usable_cores()
        self._lock = threading.Lock()
        self._loaded: _Encoder | None = None

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """One vector a text, in the order given, see `centres`."""
        return centres().passages(self.raw_vectors(texts, question=False), texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """One vector a query, in the order given, likewise."""
        return centres().questions(self.raw_vectors(texts, question=True), texts)

    def raw_vectors(self, texts: Sequence[str], *, question: bool) -> Vectors:
        """What the model itself yields for each text, of unit norm."""
        return self._embed(_QUERY if question else _PASSAGE, texts)

    def embed_document_tokens(self, texts: Sequence[str]) -> TokenVectors:
        """A vector for each token of each text, without prefix and the tokens that open and close."""
        return self._embed_tokens(_PASSAGE, texts)[1]

    def embed_query_tokens(self, texts: Sequence[str]) -> TokenVectors:
        """The same for queries."""
        return self._embed_tokens(_QUERY, texts)[1]

    def encode_documents(self, texts: Sequence[str]) -> tuple[Vectors, list[Codes]]:
        """The vectors of the texts and the codes of their tokens, see `projection`, at the cost of one."""
        vectors, tokens = self._embed_tokens(_PASSAGE, texts)
        return centres().passages(vectors, texts), [projection().codes(rows, ids) for rows, ids in tokens]

    def encode_query(self, text: str) -> tuple[Vectors, Vectors]:
        """The vector of a query, and a row for each of its tokens in the space of the codes."""
        vectors, [(rows, ids)] = self._embed_tokens(_QUERY, [text])
        return centres().questions(vectors, [text])[0], projection().rows(rows, ids, centres().tokens(text))

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each text has, uncut; compare with `max_tokens`."""
        return self._encoder().tokenizer.count(texts)

    def _embed(self, prefix: str, texts: Sequence[str]) -> Vectors:
        _refuse_blank(texts)
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        if texts:
            encoder = self._encoder()
            for places, (pooled,) in encoder.run(encoder.sequences(prefix, texts), ["pooled"]):
                vectors[places] = pooled
        return vectors

    def _embed_tokens(self, prefix: str, texts: Sequence[str]) -> tuple[Vectors, TokenVectors]:
        _refuse_blank(texts)
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        found: dict[int, tuple[Vectors, list[int]]] = {}
        if texts:
            encoder = self._encoder()
            sequences = encoder.sequences(prefix, texts)
            first = 1 + len(encoder.tokenizer.encode(prefix))
            for places, (pooled, tokens) in encoder.run(sequences, ["pooled", "tokens"]):
                vectors[places] = pooled
                for place, rows in zip(places, tokens, strict=True):
                    ids = sequences[place][first:-1]
                    own = rows[first : first + len(ids)]
                    found[place] = own / np.linalg.norm(own, axis=1, keepdims=True), ids
        return vectors, [found[place] for place in range(len(texts))]

    def _encoder(self) -> _Encoder:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load(self._cache_dir, self._threads)
            return self._loaded


class _Encoder:
    """The loaded model: token ids in, rows of its outputs out."""

    def __init__(self, weights: Weights, folder: Path, threads: int) -> None:
        self.tokenizer = Tokenizer(folder, unknown=weights.specials.unknown)
        self._weights = weights
        self._graph = folder / _GRAPH
        self._session = _open_session(folder / _GRAPH, threads)
        # 512 tokens a core keep the widest layer (3 MB) near it; larger batches lose some 10 %.
        self._budget = 512 * min(threads, 8)

    def sequences(self, prefix: str, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text as the model reads them: opened, prefixed, cut, closed."""
        specials = self._weights.specials
        opening = [specials.bos, *self.tokenizer.encode(prefix)]
        room = _LONGEST - len(opening) - 1
        return [[*opening, *self.tokenizer.encode(text, room), specials.eos] for text in texts]

    def run(self, sequences: Sequence[Sequence[int]], outputs: list[str]) -> Iterator[tuple[list[int], list[Vectors]]]:
        """Yield the outputs batch by batch, each with the places of its rows in ``sequences``; the first is pooled.

        A pooled vector without unit norm is no vector: then the cached file lost its content. It is removed, so
        that the next process makes it again.
        """
        for places in batches([len(sequence) for sequence in sequences], self._budget):
            lengths = np.array([len(sequences[place]) for place in places], dtype=np.int32)
            ids = np.full((len(places), lengths.max()), self._weights.specials.pad, dtype=np.int32)
            for row, place in enumerate(places):
                ids[row, : lengths[row]] = sequences[place]
            rows = self._weights.word_embeddings(ids.ravel()).reshape(*ids.shape, -1)
            try:
                results = self._session.run(outputs, {"rows": rows, "lengths": lengths})
            except Exception as error:  # onnxruntime's own have no root but this
                raise ModelError(f"the model failed on {len(places)} texts: {error}") from error
            if not np.allclose(np.linalg.norm(results[0], axis=1), 1.0, atol=1e-3):
                self._graph.unlink(missing_ok=True)
                raise ModelError(
                    f"{self._graph} lost its content: it yields no vectors, and was removed",
                    hint="run the command again: the model is made again from the installed weights",
                )
            yield places, results


def batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Split texts of these lengths into batches that cost at most ``budget`` tokens, padding included.

    Texts of similar length go together, longest first (so that memory is at its highest at once).
    A text longer than the budget is a batch of its own. Yields the places of the texts in ``lengths``.
    """
    places = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    start = 0
    while start < len(places):
        size = max(1, budget // lengths[places[start]])
        yield places[start : start + size]
        start += size


def _load(cache_dir: Path, threads: int) -> _Encoder:
    weights = Weights(find_weights())
    digest = weights.digest()
    if digest != _WEIGHTS:
        raise ModelError(
            f"{weights.path} holds other weights than those of {E5Embedder.identity}: "
            f"digest {digest}, expected {_WEIGHTS}",
            hint=REINSTALL,
        )
    name = f"e5-small-q4-{_BUILD}-{digest}"

    def build(folder: Path) -> None:
        from .graph import write_encoder  # onnx, only when there is something to build

        write_encoder(folder / _GRAPH, weights)
        write_tokenizer(
            folder,
            weights.pieces(),
            weights.scores,
            weights.replacements(),
            unknown=weights.specials.unknown,
        )

    try:
        return _Encoder(weights, built_folder(cache_dir, name, build), threads)
    except ModelError:
        raise
    except Exception:
        # Whole by its sizes and yet unusable (a disk that lost content): once more, from the weights.
        folder = built_folder(cache_dir, name, build, renew=True)
    try:
        return _Encoder(weights, folder, threads)
    except Exception as error:
        raise ModelError(f"the model in {folder} cannot be loaded: {error}") from error


def _open_session(graph: Path, threads: int) -> Any:
    try:
        # It reports its use to its maker by default, and only this variable stops it before the first event.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        import onnxruntime
    except ImportError as error:
        raise ModelError(
            f"onnxruntime, which runs the model, cannot be imported: {error}",
            hint="pip install --force-reinstall onnxruntime",
        ) from error
    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
    # The graph is fused already.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    # Weights stay mapped, shared between processes, instead of being copied into a layout of its own:
    # opening takes 5 ms instead of 70, bulk loses some 4 %.
    options.add_session_config_entry("session.disable_prepacking", "1")
    # Waiting threads sleep. Spinning ones gain a tenth on an idle machine and lose up to half on a busy one.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Shapes differ from batch to batch: a plan of memory for each would not be used again.
    options.enable_mem_pattern = False
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _refuse_blank(texts: Sequence[str]) -> None:
    for place, text in enumerate(texts):
        if not text.strip():
            raise ValueError(f"text {place} of {len(texts)} is blank: {text[:20]!r}")
