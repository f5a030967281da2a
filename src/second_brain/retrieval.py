"""Answers a question: understand, retrieve, fuse, adjust, group, explain.

Nothing here decides by itself what exists (``index``) or how scores combine (``ranking``); it says in which
order the steps run, what happens when one of them cannot run, and what the reader must be told.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from .analysis import QueryTerms, match_expression, query_terms
from .errors import BrainError, IndexLocked, ModelError
from .index.sqlite.filters import fold_name
from .index.sqlite.records import Candidate, StoredChunk
from .index.sqlite.store import SqliteIndex
from .protocols import Embedder, TokenEmbedder
from .ranking import adjust, diversity
from .ranking.fusion import FusionSettings, Scale, convex_combination, observed_scale, reciprocal_rank_fusion
from .ranking.late import max_sim
from .types import Explanation, Filter, Hit, Mode, Query, Ranking, SearchResult, Signal

MIN_CANDIDATES = 100
"""Each retriever yields so many at least."""

DEEPER = 8
"""So many times as many are asked for when the cap on hits of one document leaves the list short."""

LONGEST_NAME = 200
"""A query of more characters is not looked up as the name of a note."""

MIN_PREFIX = 3
"""A term that the index does not hold is looked for as the beginning of others from so many characters on."""


@dataclass(frozen=True, slots=True)
class SourceRules:
    """What the settings say of one source. ``half_life_days`` None: its documents do not age."""

    weight: float = 1.0
    half_life_days: float | None = None


@dataclass(slots=True)
class _Watch:
    """Wall time by stage, in milliseconds."""

    spent: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.spent[stage] = self.spent.get(stage, 0.0) + (time.perf_counter() - started) * 1000


@dataclass(slots=True)
class _Question:
    """A query understood, with its vector and the rows of its tokens from the moment that they were needed."""

    query: Query
    terms: QueryTerms
    watch: _Watch
    vector: Any = None
    rows: npt.NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True)
class Retriever:
    """Searches one index. ``embedder`` is called only when a dense query needs it.

    With ``late``, a hybrid search also compares tokens, where embedder and index have them.
    """

    index: SqliteIndex
    embedder: Callable[[], Embedder]
    fusion: FusionSettings = FusionSettings()
    rules: Mapping[str, SourceRules] = field(default_factory=dict)
    late: bool = True

    def search(self, query: Query) -> SearchResult:
        """The best hits, and what the reader must know about them.

        Never an empty success: when a retriever fails, the other one answers and a notice says so; when none
        can answer, its error is raised.
        """
        watch = _Watch()
        with watch("understand"):
            terms = query_terms(query.text)
        if not terms.terms:
            notice = "the query holds no word to search for: type some words"
            return SearchResult(query.text, query.mode, (), (notice,), watch.spent)
        asked = _Question(query, terms, watch)
        depth = max(MIN_CANDIDATES, 4 * query.limit)
        while True:
            notices: list[str] = []
            rankings, mode = self._retrieve(asked, depth, notices)
            best = self._best(rankings, mode, query, watch)
            if len(best) == query.limit or all(len(ranking.entries) < depth for ranking in rankings):
                break
            if len(best) >= self.index.terms.count(query.filter, per_document=query.per_document):
                break  # more than all that the cap lets through cannot come
            depth *= DEEPER  # a few long documents took all the places
        with watch("quote"):
            stored = self.index.chunks([candidate.key for _, candidate, _ in best])
            left = [entry for entry in best if entry[1].key in stored]  # others were removed since they were found
            hits = tuple(
                _hit(rank, score, stored[candidate.key], explanation, query)
                for rank, (score, candidate, explanation) in enumerate(left, start=1)
            )
        if hits and mode == "hybrid" and not rankings[0].entries:
            notices.append("no note holds these words; these are the nearest in meaning")
        return SearchResult(query.text, mode, hits, tuple(notices), watch.spent)

    def _best(
        self, rankings: list[Ranking], mode: Mode, query: Query, watch: _Watch
    ) -> list[tuple[float, Candidate, Explanation]]:
        """The first ``limit`` candidates, at most ``per_document`` of each document."""
        with watch("fuse"):
            named = self._named(query)
            found = {key: None for ranking in rankings for key, _ in ranking.entries}
            candidates = self.index.candidates([*found, *(key for key in named.values() if key not in found)])
            signals = self._fuse(rankings, mode, candidates)
            self._lift_named(signals, named, candidates)
        with watch("adjust"):
            scored = self._adjusted(signals, candidates, query)
        with watch("group"):
            ordered = ((entry, entry[1].document) for entry in scored)
            return list(islice(diversity.cap(ordered, query.per_document), query.limit))

    # -- candidates --------------------------------------------------------------------------------------

    def _retrieve(self, asked: _Question, depth: int, notices: list[str]) -> tuple[list[Ranking], Mode]:
        """The rankings of the retrievers that could run, and the mode that this amounts to."""
        query, watch = asked.query, asked.watch
        rankings: list[Ranking] = []
        failed: BrainError | None = None
        if query.mode in ("lexical", "hybrid"):
            try:
                with watch("lexical"):
                    rankings.append(self._lexical(query, asked.terms, depth))
            except BrainError as error:
                failed = error
                notices.append(f"lexical search failed: {error}; {error.hint}")
        if query.mode in ("dense", "hybrid"):
            try:
                rankings.extend(self._by_meaning(asked, depth, rankings, notices))
            except IndexLocked:
                raise
            except BrainError as error:
                failed = failed or error
                notices.append(f"search by meaning is not available: {error}; {error.hint}")
        if not rankings:
            if failed is not None:
                raise failed
            if query.mode == "dense":
                with watch("lexical"):
                    rankings.append(self._lexical(query, asked.terms, depth))
        names = {ranking.name for ranking in rankings}
        if names >= {"lexical", "dense"}:
            return rankings, "hybrid"
        return rankings, "dense" if names == {"dense"} else "lexical"

    def _lexical(self, query: Query, terms: QueryTerms, depth: int) -> Ranking:
        """The lexical ranking. What is counted to choose words and scale is what the asker may see at all.

        The scores themselves are FTS5's, which weighs words by all chunks (see ``TermIndex.search``).
        """
        seen = Filter()
        if query.filter.privacy is not None:
            seen = Filter(sources=query.filter.sources, privacy=query.filter.privacy)
        frequencies = self.index.terms.frequencies(terms.terms, seen)
        total = self.index.terms.count(seen)
        unknown = [term for term, count in frequencies.items() if count == 0 and len(term) >= MIN_PREFIX]
        # BM25 gives nothing to a term that half of the chunks hold; asking for it would only take time.
        telling = tuple(term for term, count in frequencies.items() if count * 2 <= total)
        match = match_expression(replace(terms, terms=telling) if telling else terms, prefixed=unknown)
        ranking = self.index.lexical(match, query.filter, depth)
        if len(ranking.entries) < query.limit and telling != terms.terms:
            # Too few: a note that holds the common words only is better than none.
            ranking = self.index.lexical(match_expression(terms, prefixed=unknown), query.filter, depth)
        bound = self.index.terms.bound(list(frequencies.values()), total)
        if ranking.entries and bound:
            bound = max(bound, ranking.entries[0][1])  # FTS5 may give more to a word that few of all chunks hold
        return Ranking("lexical", ranking.entries, bound)

    def _by_meaning(self, asked: _Question, depth: int, also: list[Ranking], notices: list[str]) -> list[Ranking]:
        """The dense ranking and, in a hybrid search, that by tokens; none while there are no vectors to search."""
        query = asked.query
        holds = self.index.vectors.embedder
        if not holds:
            notices.append("no vectors yet: searched by word only; run `brain embed`")
            return []
        with _translated("cannot be loaded"):
            embedder = self.embedder()
        if holds != embedder.identity:
            notices.append(
                f"search by meaning is off: the index holds vectors of '{holds}', the settings ask for"
                f" '{embedder.identity}'; run `brain embed`"
            )
            return []
        if asked.vector is None:
            with asked.watch("embed"), _translated(f"'{holds}' failed"):
                if self.late and also and isinstance(embedder, TokenEmbedder):
                    asked.vector, asked.rows = embedder.encode_query(query.text)
                else:
                    asked.vector = embedder.embed_queries([query.text])[0]
        with asked.watch("dense"):
            ranking = self.index.dense(asked.vector, query.filter, depth)
            ranking = self._completed(ranking, asked.vector, also)
        waiting = self.index.vectors.waiting_count(query.filter)
        if waiting:
            how = "not searched" if query.mode == "dense" else "searched by word only"
            notices.append(f"{waiting:,} passages have no vector yet and were {how}; run `brain embed`")
        if not ranking.entries and query.filter == Filter():
            return []
        if asked.rows is None:
            return [ranking]
        with asked.watch("late"):
            return [ranking, *self._late(asked.rows, ranking, notices)]

    def _late(self, rows: npt.NDArray[np.float32], dense: Ranking, notices: list[str]) -> list[Ranking]:
        """Those that have a vector, by their tokens; an empty list while none has tokens."""
        keys = [key for key, _ in dense.entries]
        codes = self.index.vectors.codes(keys, rows.shape[1] // 8)
        if len(codes) < len(keys):
            notices.append(
                f"{len(keys) - len(codes):,} of the {len(keys):,} passages looked at have no token codes yet and were"
                " ranked without; run `brain embed`"
            )
        listed = [key for key in keys if key in codes]
        scores = max_sim(rows, [codes[key] for key in listed]).round(6).tolist()
        entries = sorted(zip(listed, scores, strict=True), key=lambda entry: -entry[1])
        return [Ranking("late", tuple(entries))] if entries else []

    def _completed(self, ranking: Ranking, vector: Any, others: list[Ranking]) -> Ranking:
        """The ranking with the scores of what other retrievers found too, so that none is taken for dissimilar."""
        listed = {key for key, _ in ranking.entries}
        missing = [key for other in others for key, _ in other.entries if key not in listed]
        scores = self.index.vectors.similarities(missing, vector)
        extra = [(key, scores[key]) for key in missing if key in scores]
        extra.sort(key=lambda entry: -entry[1])  # equal ones stay in the order in which they were found
        return Ranking(ranking.name, (*ranking.entries, *extra))

    # -- order -------------------------------------------------------------------------------------------

    def _fuse(
        self, rankings: list[Ranking], mode: Mode, candidates: Mapping[int, Candidate]
    ) -> dict[int, tuple[Signal, ...]]:
        if mode != "hybrid":
            return {
                key: (Signal(ranking.name, "add", score, f"rank {rank}"),)
                for ranking in rankings
                for rank, (key, score) in enumerate(ranking.entries, start=1)
            }

        embedded = {key for ranking in rankings if ranking.name == "dense" for key, _ in ranking.entries}
        compared = {key for ranking in rankings if ranking.name == "late" for key, _ in ranking.entries}

        def weights(key: int) -> Mapping[str, float]:
            if key not in embedded:
                return {"lexical": 1.0}  # it waits for its vector: that says nothing against it
            kind = candidates[key].kind if key in candidates else ""
            return self.fusion.weights(kind, late=key in compared)

        if self.fusion.method == "rrf":
            return reciprocal_rank_fusion(rankings, weights=weights, k=self.fusion.rrf_k)
        return convex_combination(rankings, weights=weights, scales={r.name: _scale(r) for r in rankings})

    def _named(self, query: Query) -> dict[int, int]:
        """The first chunk of each document that the whole query names, by document."""
        name = fold_name(query.text)
        return self.index.named(name, query.filter) if name and len(name) <= LONGEST_NAME else {}

    def _lift_named(
        self, signals: dict[int, tuple[Signal, ...]], named: Mapping[int, int], candidates: Mapping[int, Candidate]
    ) -> None:
        """Put the best chunk of a document that the query names above all others."""
        scores = {key: Explanation(parts).replay() for key, parts in signals.items()}
        most = max(scores.values(), default=1.0)
        for document, first in named.items():
            own = [key for key in scores if key in candidates and candidates[key].document == document]
            best = max(own, key=lambda key: scores[key], default=first)
            lift = Signal("name", "add", max(most, 1.0), "the query is its title, alias or file name")
            signals[best] = (*signals.get(best, ()), lift)

    def _adjusted(
        self, signals: Mapping[int, tuple[Signal, ...]], candidates: Mapping[int, Candidate], query: Query
    ) -> list[tuple[float, Candidate, Explanation]]:
        """Candidates with their final score and its explanation, best first, equal scores by chunk id."""
        scored = []
        for key, parts in signals.items():
            candidate = candidates.get(key)
            if candidate is None:
                continue  # removed by another process since it was found
            rules = self.rules.get(candidate.source, SourceRules())
            explanation = Explanation(
                (
                    *parts,
                    *adjust.source_weight(rules.weight),
                    *adjust.decay(query.now.timestamp() - candidate.date, rules.half_life_days),
                    *adjust.status(candidate.status),
                )
            )
            scored.append((round(explanation.replay(), 9), candidate, explanation))
        scored.sort(key=lambda entry: (-entry[0], entry[1].id))
        return scored


@contextmanager
def _translated(what: str) -> Iterator[None]:
    """Turn whatever an embedder raises, which may be anybody's, into an error of ours."""
    try:
        yield
    except BrainError:
        raise
    except Exception as error:
        raise ModelError(f"the embedder {what}: {type(error).__name__}: {error}") from error


def _scale(ranking: Ranking) -> Scale:
    """Where a ranking's scores lie.

    BM25 goes from 0 to the highest score that this query could get: so a list that covers little of the query
    stays low, instead of its best entry becoming 1. Cosines go from that of the 100th neighbour to the best.
    Late interaction is used as it is: tokens that match nothing score some 0.2, the same passage 0.8.
    """
    if ranking.name == "late":
        return Scale(0.0, 1.0)
    if ranking.name == "lexical":
        # Without a bound, all was found by the beginnings of words.
        return Scale(0.0, ranking.bound or observed_scale(ranking).high)
    return observed_scale(Ranking(ranking.name, ranking.entries[:MIN_CANDIDATES]))


def _hit(rank: int, score: float, chunk: StoredChunk, explanation: Explanation, query: Query) -> Hit:
    document = chunk.document
    return Hit(
        rank=rank,
        score=score,
        id=chunk.id,
        uri=document.uri,
        path=document.path,
        title=document.title,
        heading_path=chunk.heading_path,
        source=document.source,
        kind=document.kind,
        type=document.type,
        date=document.date,
        status=document.status,
        tags=document.tags,
        privacy=document.privacy,
        start=chunk.start,
        end=chunk.end,
        line=chunk.line,
        text=chunk.text,
        notes=tuple(_notes(chunk, query)),
        explanation=explanation,
        project=document.project,
        language=document.language,
    )


def _notes(chunk: StoredChunk, query: Query) -> Iterator[str]:
    """What the reader must know of this document before believing it."""
    document = chunk.document
    if document.status.lower() in adjust.DEPRECATED:
        yield f"its author marked it {document.status}"
    stale_after = document.metadata.get("stale_after")
    if isinstance(stale_after, str) and stale_after and stale_after[:10] <= query.now.date().isoformat():
        yield f"stale since {stale_after}"
    if document.failure:
        yield f"could not be read when last indexed: {document.failure}"
