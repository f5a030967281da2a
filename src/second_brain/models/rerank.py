"""Cross-encoders: a model that reads a question together with each passage. None is bundled."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DeadlineMissed, MissingExtra, ModelError
from ..protocols import Scores
from .endpoint import Endpoint, Refused

BATCH = 4
"""Passages scored between two looks at the clock."""


class HttpReranker:
    """``POST <url>`` in the form of Cohere, Jina, vLLM and llama.cpp, or in that of text-embeddings-inference.

    Args:
        url: of the endpoint, or of its parent: ``/rerank`` is appended where it is missing.
        model: as the endpoint names it, '' where it has only one.
        key: the bearer token, '' for none.
    """

    def __init__(self, url: str, model: str = "", *, key: str = "") -> None:
        url = url.rstrip("/")
        self._endpoint = Endpoint(url if url.endswith("/rerank") else f"{url}/rerank", key=key)
        self._model = model
        self._texts_name = "documents"

    @property
    def identity(self) -> str:
        """Endpoint and model."""
        return f"{self._endpoint.url} {self._model}".strip()

    def score(self, query: str, texts: Sequence[str], *, deadline_s: float) -> Scores:
        """One score a text. Raises DeadlineMissed, else ModelError."""
        if not texts:
            return np.empty(0, dtype=np.float32)
        ends = time.monotonic() + deadline_s
        try:
            answer = self._post(query, texts, deadline_s)
        except Refused as refused:
            if self._texts_name != "documents" or "texts" not in refused.said:
                raise
            self._texts_name = "texts"  # text-embeddings-inference
            answer = self._post(query, texts, ends - time.monotonic())
        return self._scores(answer, len(texts))

    def _post(self, query: str, texts: Sequence[str], deadline_s: float) -> Any:
        body: dict[str, Any] = {"query": query, self._texts_name: list(texts)}
        if self._model:
            body["model"] = self._model
        return self._endpoint.post("", body, deadline_s=deadline_s, repeatable=True)

    def _scores(self, answer: Any, count: int) -> Scores:
        scores = np.full(count, np.nan, dtype=np.float32)
        try:
            for entry in answer["results"] if isinstance(answer, dict) else answer:
                value = entry["relevance_score"] if "relevance_score" in entry else entry["score"]
                index = entry["index"]
                if not 0 <= index < count:
                    raise IndexError(index)
                scores[index] = value
        except (IndexError, KeyError, TypeError, ValueError) as error:
            raise ModelError(
                f"{self.identity} answered in another form than a ranking", hint="check the url in models.yaml"
            ) from error
        if not np.isfinite(scores).all():
            missing = int((~np.isfinite(scores)).sum())
            raise ModelError(f"{self.identity} gave no finite score for {missing} of {count} passages")
        return scores


class HubReranker:
    """A cross-encoder in ONNX by fastembed. Fetched once, when told to; never while somebody waits for an answer.

    Args:
        model: its name on the hub, ``Xenova/ms-marco-MiniLM-L-6-v2``.
        cache_dir: where models are kept.
        folder: where its files already are, instead of the cache.
    """

    def __init__(self, model: str, cache_dir: Path, *, folder: Path | None = None) -> None:
        self._model = model
        self._cache_dir = cache_dir
        self._folder = folder
        self._lock = threading.Lock()
        self._encoder: Any = None

    @property
    def identity(self) -> str:
        """The model's name."""
        return self._model

    def fetch(self) -> None:
        """Download the model if it is not there. Raises MissingExtra, ModelError."""
        self._load(local=False)

    def score(self, query: str, texts: Sequence[str], *, deadline_s: float) -> Scores:
        """One score a text, the model's logits. The deadline counts from when the model is loaded.

        Raises:
            DeadlineMissed: time ran out between two batches.
            ModelError: the model is not here, or fails.
            MissingExtra: fastembed is not installed.
        """
        with self._lock:
            encoder = self._load(local=True)
            ends = time.monotonic() + deadline_s
            scores: list[float] = []
            for first in range(0, len(texts), BATCH):
                if time.monotonic() > ends:
                    raise DeadlineMissed(f"'{self._model}' scored {first} of {len(texts)} passages in {deadline_s:g} s")
                batch = list(texts[first : first + BATCH])
                try:
                    scores.extend(encoder.rerank(query, batch, batch_size=BATCH))
                except Exception as error:
                    raise ModelError(f"the reranker '{self._model}' failed: {error}") from error
        return np.array(scores, dtype=np.float32)

    def _load(self, *, local: bool) -> Any:
        if self._encoder is None:
            try:
                from fastembed.rerank.cross_encoder import TextCrossEncoder
            except ImportError as error:
                raise MissingExtra(f"the reranker '{self._model}'", "hub") from error
            where: dict[str, Any] = {"specific_model_path": str(self._folder)} if self._folder else {}
            try:
                self._encoder = TextCrossEncoder(
                    self._model, cache_dir=str(self._cache_dir), local_files_only=local, **where
                )
            except Exception as error:
                raise ModelError(
                    f"the reranker '{self._model}' cannot be loaded: {error}",
                    hint="`brain models --fetch` downloads it once, or name another in models.yaml",
                ) from error
        return self._encoder
