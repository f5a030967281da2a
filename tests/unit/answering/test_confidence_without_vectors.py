"""The confidence rests on words alone while the hits' vectors are not all there."""

from __future__ import annotations

import numpy as np

from second_brain.answering.confidence import FITTED_FOR, LOOKED_AT, confidence, measure
from second_brain.models.hashing import HashingEmbedder


class Fitted(HashingEmbedder):
    """An embedder under the name of the one that the constants were fitted for."""

    def __init__(self):
        super().__init__()
        self.identity = FITTED_FOR


def evidence(notes):
    hits = notes.brain.search("heron weir", mode="lexical", limit=LOOKED_AT).hits
    return measure(notes.brain.index, Fitted(), "heron weir", hits)


def test_a_hit_that_waits_for_its_vector_leaves_the_words(notes):
    """It may be the one that answers: the best cosine of the others, or none, would say that nothing matches."""
    notes.write({f"{n}.md": f"heron weir {'kelp ' * n}\n" for n in range(4)})
    notes.sync()
    index, embedder = notes.brain.index, Fitted()
    index.vectors.begin(FITTED_FOR)
    waiting = index.vectors.waiting(10)
    assert evidence(notes).known() == {"coverage": 1.0}
    for count in (3, 1):
        some, waiting = waiting[:count], waiting[count:]
        vectors = embedder.embed_documents([text for _, text in some])
        index.vectors.add(FITTED_FOR, [hash for hash, _ in some], np.asarray(vectors))
        known = evidence(notes).known()
        assert list(known) == (["coverage", "dense"] if not waiting else ["coverage"])
    assert confidence(evidence(notes)) is not None
