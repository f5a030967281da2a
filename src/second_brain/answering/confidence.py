"""How probable is it that one of the hits answers the question? Told from scores alone, without reading.

A logistic model over a few features of the first hits. Its constants were fitted on questions whose answers are in
the corpus and on questions whose answers are not (``scripts/fit_confidence.py``, docs/evaluation.md).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

import numpy as np

from ..analysis import index_terms, query_terms
from ..analysis.scripts import script_of
from ..index.sqlite.lookups import chunk_keys
from ..index.sqlite.store import SqliteIndex
from ..protocols import Embedder, TokenEmbedder
from ..ranking.late import max_sim
from ..types import Filter, Hit

LOOKED_AT: Final = 5
"""Hits from whose scores the confidence is told."""

FITTED_FOR: Final = "e5-small-q4/2"
"""Cosines of another embedder lie elsewhere: with it, words alone count."""

DOUBTFUL: Final = 0.2
"""Below it the answer says that nothing matches well. Chosen on the tune halves."""

MODELS: Final[Mapping[tuple[str, ...], tuple[float, ...]]] = {
    ("coverage", "late", "dense", "margin"): (-4.83, 3.41, 1.66, 2.04, 17.30),
    ("late", "dense", "margin"): (-16.18, 19.58, 16.27, 13.23),
    ("coverage", "dense"): (-3.98, 5.38, 2.81),
    ("coverage",): (-2.85, 6.44),
}
"""By the features that a model knows: its constant, then a weight for each. Made by ``scripts/fit_confidence.py``."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the scores of the first hits say; None for what was not measured.

    ``coverage``: the largest share of the question's idf that one hit holds. ``late`` and ``dense``: the best cosine
    by tokens and by vector. ``margin``: how far the best by tokens is above the mean of the others; ``late`` says
    something only beside it. ``coverage`` says nothing of hits in another script, which cannot hold the words.
    """

    coverage: float | None = None
    late: float | None = None
    dense: float | None = None
    margin: float | None = None

    def known(self) -> dict[str, float]:
        """The features that were measured."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def confidence(evidence: Evidence) -> float | None:
    """The probability that one of the hits answers, None where no model knows these features."""
    known = evidence.known()
    constants = MODELS.get(tuple(known))
    if constants is None:
        return None
    total = constants[0] + sum(weight * value for weight, value in zip(constants[1:], known.values(), strict=True))
    return round(1.0 / (1.0 + math.exp(-total)), 4)


def measure(
    index: SqliteIndex,
    embedder: Embedder | None,
    text: str,
    hits: Sequence[Hit],
    filter: Filter = Filter(),
    *,
    without: str = "",
) -> Evidence:
    """The evidence in the first hits.

    Args:
        index: where they were found.
        embedder: the one whose vectors the index holds; None where only words were compared.
        text: what was searched for.
        hits: best first; with fewer than ``LOOKED_AT`` tokens are not compared.
        filter: what the asker may see: frequencies are counted there.
        without: a text whose words need not be covered.

    Cost: a millisecond or two besides the question's encoding.
    """
    first = hits[:LOOKED_AT]
    coverage: float | None = _coverage(index, text, first, filter, without)
    if embedder is None or embedder.identity != FITTED_FOR or not first:
        return Evidence(coverage)
    script = script_of(text)
    if 2 * sum(script_of(hit.text) != script for hit in first) > len(first):
        coverage = None
    keys = list(chunk_keys(index.database, [hit.id for hit in first]).values())
    rows = None
    if isinstance(embedder, TokenEmbedder):
        vector, rows = embedder.encode_query(text)
    else:
        vector = embedder.embed_queries([text])[0]
    cosines = index.vectors.similarities(keys, vector)
    if len(cosines) < len(keys):
        return Evidence(coverage)  # the best may be among those that wait for their vector
    dense = max(cosines.values(), default=0.0)
    if rows is None:
        return Evidence(coverage, dense=dense)
    codes = index.vectors.codes(keys, rows.shape[1] // 8)
    if len(codes) < LOOKED_AT:
        return Evidence(coverage, dense=dense)
    late = np.sort(max_sim(rows, [codes[key] for key in keys]))[::-1]
    return Evidence(coverage, float(late[0]), dense, float(late[0] - late[1:].mean()))


def _coverage(index: SqliteIndex, text: str, hits: Sequence[Hit], filter: Filter, without: str) -> float:
    """The largest share of the question's idf whose terms stand in one hit, its title or its headings."""
    said = set(index_terms(without).split())
    terms = [term for term in query_terms(text).terms if term not in said]
    if not hits or not terms:
        return float(bool(hits and said))
    seen = Filter(sources=filter.sources, privacy=filter.privacy) if filter.privacy is not None else Filter()
    total = index.terms.count(seen)
    weights = {
        term: math.log1p((total - count + 0.5) / (count + 0.5))
        for term, count in index.terms.frequencies(terms, seen).items()
    }
    whole = sum(weights.values())
    best = 0.0
    for hit in hits:
        held = set(index_terms("\n".join((hit.title, *hit.heading_path, hit.text))).split())
        best = max(best, sum(weight for term, weight in weights.items() if term in held))
    return best / whole if whole else 0.0
