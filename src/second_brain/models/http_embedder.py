"""The embedder of another brain, over its API: this machine need not hold the model, and gets the same vectors.

What it is (identity, dimensions, whether its tokens can be compared) is asked for once and remembered beside the
models, so that whoever only looks needs no connection. An endpoint that answers as another model afterwards is refused.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import tempfile
import threading
from base64 import b64decode
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import EmbedderMismatch, ModelError
from ..protocols import Codes, Embedder, Vectors
from .endpoint import Endpoint

MOST_TEXTS = 256
MOST_BYTES = 4 << 20
"""Of one request."""

QUERY_S = 3.0
"""How long a question's vector may take: a search goes on by word without it."""

_PROBE = "which model is this?"


@dataclass(frozen=True, slots=True)
class About:
    """What an endpoint said of its model."""

    identity: str
    dimensions: int
    late: bool


def http_embedder(cache_dir: Path, url: str, model: str = "", *, key: str = "", timeout_s: float = 120.0) -> Embedder:
    """The embedder behind ``POST <url>/embeddings``, with tokens where it has them.

    Args:
        cache_dir: where models are kept.
        url: of the endpoint, or of its parent: ``/embeddings`` is appended where it is missing.
        model: as the endpoint names it, '' where it has only one.
        key: the bearer token, '' for none.
        timeout_s: how long a batch of documents may take.

    Raises:
        ModelError: it was never reached before, and cannot be reached now.
    """
    client = _Client(cache_dir, url, model, key, timeout_s)
    return HttpTokenEmbedder(client) if client.about.late else HttpEmbedder(client)


class HttpEmbedder:
    """Vectors of another brain. Safe to use from many threads."""

    def __init__(self, client: _Client) -> None:
        self._client = client

    @property
    def identity(self) -> str:
        """That of the model there: its vectors are the same as if it were here."""
        return self._client.about.identity

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return self._client.about.dimensions

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """One vector a text, in the order given. Raises ModelError."""
        return self._client.vectors(texts, "document")

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """One vector a query, in the order given. Raises ModelError."""
        return self._client.vectors(texts, "query")

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


class HttpTokenEmbedder(HttpEmbedder):
    """The same, with what late interaction compares."""

    def encode_documents(self, texts: Sequence[str]) -> tuple[Vectors, list[Codes]]:
        """The vectors and the codes of each text's tokens. Raises ModelError."""
        vectors, tokens = self._client.encoded(texts, "document")
        return vectors, [np.frombuffer(data, dtype=np.uint8).reshape(count, -1) for data, count in tokens]

    def encode_query(self, text: str) -> tuple[Vectors, Vectors]:
        """The vector of a query and a row for each of its tokens. Raises ModelError."""
        vectors, [(data, count)] = self._client.encoded([text], "query")
        return vectors[0], np.frombuffer(data, dtype="<f4").astype(np.float32).reshape(count, -1)


class _Client:
    """Asks the endpoint, and makes sure that it is the one that is known."""

    def __init__(self, cache_dir: Path, url: str, model: str, key: str, timeout_s: float) -> None:
        url = url.rstrip("/")
        self._endpoint = Endpoint(url if url.endswith("/embeddings") else f"{url}/embeddings", key=key)
        self._model = model
        self._timeout_s = timeout_s
        name = hashlib.blake2b(f"{self._endpoint.url} {model}".encode(), digest_size=8).hexdigest()
        self._file = cache_dir / f"endpoint-{name}.json"
        self._lock = threading.Lock()
        self._about: About | None = None

    @property
    def about(self) -> About:
        """What the endpoint is. Raises ModelError."""
        with self._lock:
            if self._about is None:
                self._about = self._remembered() or self._asked()
            return self._about

    def vectors(self, texts: Sequence[str], kind: str) -> Vectors:
        """One row a text."""
        return self._made(texts, kind, tokens=False)[0]

    def encoded(self, texts: Sequence[str], kind: str) -> tuple[Vectors, list[tuple[bytes, int]]]:
        """One row a text, and the bytes and number of its tokens."""
        return self._made(texts, kind, tokens=True)

    def close(self) -> None:
        """Close the connections."""
        self._endpoint.close()

    def _made(self, texts: Sequence[str], kind: str, *, tokens: bool) -> tuple[Vectors, list[tuple[bytes, int]]]:
        for text in texts:
            if not text.strip():
                raise ValueError(f"a text is blank: {text[:20]!r}")
        about = self.about
        vectors = np.empty((len(texts), about.dimensions), dtype=np.float32)
        found: list[tuple[bytes, int]] = []
        for first, part in _parts([_whole_characters(text) for text in texts]):
            answer = self._post(part, kind, tokens=tokens)
            if answer["model"] != about.identity:
                self._file.unlink(missing_ok=True)
                raise EmbedderMismatch(
                    f"{self._endpoint.url} embeds with '{answer['model']}' now, not with '{about.identity}'",
                    hint="start the command again; then `brain index --new-generation` makes vectors of the new model",
                )
            try:
                for place, entry in enumerate(answer["data"]):
                    vectors[first + place] = entry["embedding"]
                    if tokens:
                        found.append((b64decode(entry["tokens"]), entry["token_count"]))
                if len(answer["data"]) != len(part):
                    raise ValueError(len(answer["data"]))
            except (KeyError, TypeError, ValueError, IndexError) as error:
                raise self._strange() from error
        if not np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-3):
            raise ModelError(f"{self._endpoint.url} gave vectors that are not of unit norm")
        return vectors, found

    def _post(self, texts: Sequence[str], kind: str, *, tokens: bool) -> dict[str, Any]:
        body: dict[str, Any] = {"input": list(texts), "input_type": kind}
        if self._model:
            body["model"] = self._model
        if tokens:
            body["tokens"] = True
        deadline_s = QUERY_S if kind == "query" else self._timeout_s
        answer = self._endpoint.post("", body, deadline_s=deadline_s, repeatable=True)
        if not isinstance(answer, dict) or not isinstance(answer.get("model"), str):
            raise self._strange()
        return answer

    def _strange(self) -> ModelError:
        return ModelError(
            f"{self._endpoint.url} answered in another form than vectors", hint="check the url in models.yaml"
        )

    def _asked(self) -> About:
        answer = self._post([_PROBE], "query", tokens=False)
        try:
            vector = answer["data"][0]["embedding"]
            about = About(answer["model"], len(vector), answer.get("late") is True)
            if not all(math.isfinite(value) for value in vector) or not about.identity:
                raise ValueError(about.identity)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise self._strange() from error
        self._remember(about)
        return about

    def _remembered(self) -> About | None:
        try:
            found = About(**json.loads(self._file.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None
        return found if found.identity and found.dimensions > 0 else None

    def _remember(self, about: About) -> None:
        """Write it down whole, if there is room: without it the endpoint is asked again."""
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=self._file.parent, prefix=".endpoint-")
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                json.dump(asdict(about), stream)
            Path(temporary).replace(self._file)
        except OSError:
            return


def _whole_characters(text: str) -> str:
    """The text with U+FFFD for half characters, which JSON cannot hold."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _parts(texts: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """The texts in parts that fit into a request, each with the place of its first."""
    part: list[str] = []
    size = 0
    for place, text in enumerate(texts):
        bytes_here = len(text.encode("utf-8"))
        if part and (len(part) == MOST_TEXTS or size + bytes_here > MOST_BYTES):
            yield place - len(part), part
            part, size = [], 0
        part.append(text)
        size += bytes_here
    if part:
        yield len(texts) - len(part), part
