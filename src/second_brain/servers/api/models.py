"""The models of this brain for other brains: a laptop need not hold them itself.

Texts are not kept. A model that is itself behind HTTP is not handed on: who sent a text agreed to us, not to others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ... import wire
from ...errors import NotFound, UsageError
from ...protocols import TokenEmbedder
from .asking import MOST_TEXTS, QUESTION_S, Asked


def embeddings(asked: Asked) -> wire.EmbeddingsAnswer:
    """A vector for each text, the same as the embedder gives here."""
    request: wire.EmbeddingsRequest = asked.body
    texts = _checked("input", (request.input,) if isinstance(request.input, str) else request.input)
    brain = asked.desk.brain
    if not isinstance(brain.settings.models.embedder, str):
        raise NotFound("this brain has no embedder of its own", hint="name its endpoint in your models.yaml instead")
    embedder = brain.embedder()
    if request.model not in ("", embedder.identity):
        raise UsageError(
            f"the model '{request.model[:80]}' is not here; this brain embeds with '{embedder.identity}'",
            hint="leave 'model' out to take what there is",
        )
    late = isinstance(embedder, TokenEmbedder)
    tokens: list[tuple[bytes, int]] = []
    if not request.tokens or not isinstance(embedder, TokenEmbedder):
        embed = embedder.embed_queries if request.input_type == "query" else embedder.embed_documents
        vectors = [vector.tolist() for vector in embed(texts)]
    elif request.input_type == "query":
        encoded = [embedder.encode_query(text) for text in texts]
        vectors = [vector.tolist() for vector, _ in encoded]
        tokens = [(rows.astype("<f4").tobytes(), len(rows)) for _, rows in encoded]
    else:
        made, codes = embedder.encode_documents(texts)
        vectors = [vector.tolist() for vector in made]
        tokens = [(rows.tobytes(), len(rows)) for rows in codes]
    data = tuple(
        wire.Embedding(place, tuple(vector), *(tokens[place] if tokens else (None, 0)))
        for place, vector in enumerate(vectors)
    )
    return wire.EmbeddingsAnswer(data, embedder.identity, embedder.dimensions, late)


def rerank(asked: Asked) -> wire.RerankAnswer:
    """The passages by how well they answer, the best first."""
    request: wire.RerankRequest = asked.body
    brain = asked.desk.brain
    model = brain.reranker() if isinstance(brain.settings.models.reranker, str) else None
    if model is None:
        raise NotFound("this brain has no cross-encoder of its own", hint="name one in its models.yaml: `reranker:`")
    texts = _checked("documents", request.documents)
    if not request.query.strip():
        raise UsageError("'query' is blank")
    if request.model not in ("", model.identity):
        raise UsageError(f"the model '{request.model[:80]}' is not here; this brain reranks with '{model.identity}'")
    scores = [float(score) for score in model.score(request.query, texts, deadline_s=QUESTION_S)]
    order = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
    best = order if request.top_n is None else order[: max(0, request.top_n)]
    finite = [wire.RerankScore(place, scores[place]) for place in best if math.isfinite(scores[place])]
    return wire.RerankAnswer(tuple(finite), model.identity)


def _checked(name: str, texts: Sequence[str]) -> list[str]:
    """The texts. Raises UsageError for too many, or a blank one."""
    if not 1 <= len(texts) <= MOST_TEXTS:
        raise UsageError(f"'{name}' holds {len(texts)} texts, expected 1 to {MOST_TEXTS}")
    for place, text in enumerate(texts):
        if not text.strip():
            raise UsageError(f"'{name}[{place}]' is blank")
    return list(texts)
