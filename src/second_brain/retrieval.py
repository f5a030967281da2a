"""Answers a question: understand, retrieve, fuse, adjust, group, explain.

Nothing here decides by itself what exists (``index``) or how scores combine (``ranking``); it says in which
order the steps run, what happens when one of them cannot run, and what the reader must be told.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from .analysis import QueryTerms, phrase_expression, query_terms
from .analysis.scripts import script_of
from .errors import BrainError, IndexLocked, ModelError
from .index.sqlite.filters import fold_name
from .index.sqlite.store import SqliteIndex
from .protocols import Embedder, Index, TokenEmbedder
from .ranking import adjust, diversity
from .ranking.adjust import Adjustments, SourceRules, Traits
from .ranking.crossing import expected_words
from .ranking.fusion import FusionSettings, Scale, convex_combination, observed_scale, reciprocal_rank_fusion
from .ranking.late import max_sim
from .records import Candidate, StoredChunk
from .types import Explanation, Filter, Hit, Json, Mode, Query, Ranking, SearchResult, Signal

MIN_CANDIDATES, MOST_CANDIDATES = 100, 400
"""Each retriever yields one in two hundred passages of the index, so many at least and so many at most: in a larger
index more of them stand before the answer, and what no retriever lists is never compared token by token."""

DEEPER = 8
"""So many times as many are asked for when the cap on hits of one document leaves the list short."""

LONGEST_NAME = 200
"""A query of more characters is not looked up as the name of a note."""

NO_WORDS = "the query holds no word to search for: type some words"
"""What is told of a query without words."""

MIN_PREFIX = 3
"""A term that the index does not hold is looked for as the beginning of others from so many characters on."""

CALLED = 0.95
"""What a document gains that links call what the query says, as a share of what one gains whose name it is.

Of 140 names that two notes or more of a real vault call another one by, 109 come first so, 30 without."""

WHOLE = 0.3
"""What a passage gains that holds a whole identifier or message of the query, as a share of the best score."""


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
    """A query understood, with its vector and the rows of its tokens from the moment that they were needed.

    ``index`` ranks for this search. ``held`` says which chunks hold each phrase of the query, ``script`` what it is
    written in.
    """

    query: Query
    terms: QueryTerms
    watch: _Watch
    index: Index
    script: int = 0
    vector: Any = None
    rows: npt.NDArray[np.float32] | None = None
    held: dict[tuple[str, ...], tuple[int, ...]] = field(default_factory=dict)
    candidates: dict[int, Candidate] = field(default_factory=dict)


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
    adjustments: Adjustments = field(default_factory=Adjustments)

    def search(self, query: Query) -> SearchResult:
        """The best hits, and what the reader must know about them.

        Never an empty success: when a retriever fails, the other one answers and a notice says so; when none
        can answer, its error is raised.
        """
        watch = _Watch()
        with watch("understand"):
            terms = query_terms(query.text)
        if not terms.terms:
            return SearchResult(query.text, query.mode, (), (NO_WORDS,), watch.spent)
        asked = _Question(query, terms, watch, self.index.searching(), script_of(query.text))
        depth = min(max(MIN_CANDIDATES, self.index.chunk_count() // 200), MOST_CANDIDATES)
        depth = max(depth, 4 * query.limit)
        while True:
            notices: list[str] = []
            rankings, mode = self._retrieve(asked, depth, notices)
            best = self._best(asked, rankings, mode)
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
        notices += asked.index.notices(query.filter)
        return SearchResult(query.text, mode, hits, tuple(notices), watch.spent)

    def _best(
        self, asked: _Question, rankings: list[Ranking], mode: Mode
    ) -> list[tuple[float, Candidate, Explanation]]:
        """The first ``limit`` candidates, at most ``per_document`` of each document."""
        query, watch = asked.query, asked.watch
        with watch("fuse"):
            named = self._named(query)
            held = (key for keys in asked.held.values() for key in keys)
            found = [key for ranking in rankings for key, _ in ranking.entries]
            self._look_up(asked, [*found, *held, *(first for first, _, _ in named.values())])
            signals = self._fuse(asked, rankings, mode)
            self._lift_named(asked, signals, named)
        with watch("adjust"):
            self._adjust(asked, signals)
            self._lift_whole(asked, signals)
            scored = self._scored(asked, signals)
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
                    rankings.append(self._lexical(asked, depth))
                    asked.held = self._holding(query, asked.terms, depth)
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
                    rankings.append(self._lexical(asked, depth))
        names = {ranking.name for ranking in rankings}
        if names >= {"lexical", "dense"}:
            return rankings, "hybrid"
        return rankings, "dense" if names == {"dense"} else "lexical"

    def _lexical(self, asked: _Question, depth: int) -> Ranking:
        """The lexical ranking. What is counted to choose words and scale is what the asker may see at all.

        The scores themselves are FTS5's, which weighs words by all chunks (see ``TermIndex.search``).
        """
        query, terms, seen = asked.query, asked.terms, Filter()
        if query.filter.privacy is not None:
            seen = Filter(sources=query.filter.sources, privacy=query.filter.privacy)
        frequencies = self.index.terms.frequencies(terms.terms, seen)
        total = self.index.terms.count(seen)
        unknown = [term for term, count in frequencies.items() if count == 0 and len(term) >= MIN_PREFIX]
        # BM25 gives nothing to a term that half of the chunks hold; asking for it would only take time.
        telling = tuple(term for term, count in frequencies.items() if count * 2 <= total)
        ranks = partial(asked.index.lexical, filter=query.filter, limit=depth, phrases=terms.phrases, prefixed=unknown)
        ranking = ranks(telling or terms.terms)
        if len(ranking.entries) < query.limit and telling != terms.terms:
            # Too few: a note that holds the common words only is better than none.
            ranking = ranks(terms.terms)
        bound = self.index.terms.bound(list(frequencies.values()), total)
        if ranking.entries and bound:
            bound = max(bound, ranking.entries[0][1])  # FTS5 may give more to a word that few of all chunks hold
        return Ranking("lexical", ranking.entries, bound)

    def _holding(self, query: Query, terms: QueryTerms, depth: int) -> dict[tuple[str, ...], tuple[int, ...]]:
        """The chunks that hold what the query wants in one piece, the best of each, whatever else they hold."""
        found = {}
        for sequence in (*terms.phrases, *terms.wholes):
            ranking = self.index.lexical(phrase_expression(sequence), query.filter, depth)
            found[sequence] = tuple(key for key, _ in ranking.entries)
        return found

    def _look_up(self, asked: _Question, keys: Iterable[int]) -> None:
        """Learn what is not known yet of these chunks."""
        missing = [key for key in dict.fromkeys(keys) if key not in asked.candidates]
        if missing:
            asked.candidates.update(self.index.candidates(missing))

    def _by_meaning(self, asked: _Question, depth: int, also: list[Ranking], notices: list[str]) -> list[Ranking]:
        """The dense ranking and, in a hybrid search, that by tokens; none while there are no vectors to search."""
        query = asked.query
        holds = self.index.vectors.embedder
        if not holds:
            if self.index.chunk_count():
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
            # With the scores of what other retrievers found too, so that none is taken for dissimilar.
            others = [key for other in also for key, _ in other.entries]
            others += (key for keys in asked.held.values() for key in keys)
            ranking = asked.index.dense(asked.vector, query.filter, depth, script=asked.script, also=others)
        waiting = self.index.vectors.waiting_count(query.filter)
        if waiting:
            how = "not searched" if query.mode == "dense" else "searched by word only"
            notices.append(f"{waiting:,} passages have no vector yet and were {how}; run `brain embed`")
        if not ranking.entries and query.filter == Filter():
            return []
        if asked.rows is None:
            return [ranking]
        with asked.watch("late"):
            return [ranking, *self._late(asked, ranking, notices)]

    def _late(self, asked: _Question, dense: Ranking, notices: list[str]) -> list[Ranking]:
        """Those that have a vector, by their tokens; an empty list while none has tokens.

        Passages in another script are raised as their cosines are: tokens too are nearer to those of their own.
        """
        rows = asked.rows
        if rows is None:
            return []
        keys = [key for key, _ in dense.entries]
        codes = asked.index.codes(keys, rows.shape[1] // 8)
        if len(codes) < len(keys):
            notices.append(
                f"{len(keys) - len(codes):,} of the {len(keys):,} passages looked at have no token codes yet and were"
                " ranked without; run `brain embed`"
            )
        listed = [key for key in keys if key in codes]
        scores = max_sim(rows, [codes[key] for key in listed])
        if dense.shifts:
            self._look_up(asked, listed)
            scripts = [asked.candidates[key].script if key in asked.candidates else 0 for key in listed]
            scores = scores + [dense.shifts.get(script, 0.0) for script in scripts]
        entries = sorted(zip(listed, scores.round(6).tolist(), strict=True), key=lambda entry: -entry[1])
        return [Ranking("late", tuple(entries))] if entries else []

    # -- order -------------------------------------------------------------------------------------------

    def _fuse(self, asked: _Question, rankings: list[Ranking], mode: Mode) -> dict[int, tuple[Signal, ...]]:
        if mode != "hybrid":
            return {
                key: (Signal(ranking.name, "add", score, f"rank {rank}"),)
                for ranking in rankings
                for rank, (key, score) in enumerate(ranking.entries, start=1)
            }

        candidates = asked.candidates
        by_name = {ranking.name: ranking for ranking in rankings}
        embedded = {key for key, _ in by_name["dense"].entries}
        compared = {key for key, _ in by_name["late"].entries} if "late" in by_name else set()
        credited: set[int] = set()

        def weights(key: int) -> Mapping[str, float]:
            if key not in embedded:
                return {"lexical": 1.0}  # it waits for its vector: that says nothing against it
            kind = candidates[key].kind if key in candidates else ""
            shares = self.fusion.weights(kind, late=key in compared)
            if key in credited:
                shares["expected words"] = shares.pop("lexical")
            return shares

        if self.fusion.method == "rrf":
            return reciprocal_rank_fusion(rankings, weights=weights, k=self.fusion.rrf_k)
        scales = {ranking.name: _scale(ranking) for ranking in rankings}
        if by_name["dense"].shifts:
            scripts = {key: candidate.script for key, candidate in candidates.items()}
            meaning = by_name.get("late") or by_name["dense"]
            expected = expected_words(by_name["lexical"], meaning, scripts, asked.script)
            credited.update(key for key, _ in expected.entries)
            rankings = [*rankings, expected]
            scales[expected.name] = scales["lexical"]
        return convex_combination(rankings, weights=weights, scales=scales)

    def _named(self, query: Query) -> dict[int, tuple[int, float, str]]:
        """Of each document that the whole query names: its first chunk, how much that counts, and why."""
        name = fold_name(query.text)
        if not name or len(name) > LONGEST_NAME:
            return {}
        called = self.index.linked_as(query.text.strip(), query.filter)
        named = self.index.named(name, query.filter)
        return {
            **{key: (first, CALLED, "links to it say so") for key, first in called.items()},
            **{key: (first, 1.0, "the query is its title, alias or file name") for key, first in named.items()},
        }

    def _lift_named(
        self,
        asked: _Question,
        signals: dict[int, tuple[Signal, ...]],
        named: Mapping[int, tuple[int, float, str]],
    ) -> None:
        """Put the best chunk of a document that the query names above all others."""
        scores = {key: Explanation(parts).replay() for key, parts in signals.items()}
        most = max(scores.values(), default=1.0)
        for document, (first, share, why) in named.items():
            own = [key for key in scores if key in asked.candidates and asked.candidates[key].document == document]
            best = max(own, key=lambda key: scores[key], default=first)
            signals[best] = (*signals.get(best, ()), Signal("name", "add", share * max(most, 1.0), why))

    def _adjust(self, asked: _Question, signals: dict[int, tuple[Signal, ...]]) -> None:
        """Multiply by what each document is."""
        for key, parts in signals.items():
            if of := asked.candidates.get(key):
                traits = Traits(of.kind, of.type, of.title, of.uri, of.date, of.status, of.stale_after)
                rules = self.rules.get(of.source, SourceRules())
                signals[key] = (*parts, *self.adjustments.signals(traits, rules, asked.query.now))

    def _lift_whole(self, asked: _Question, signals: dict[int, tuple[Signal, ...]]) -> None:
        """Put what holds the quoted phrases above all else, and lift what holds an identifier or message whole."""
        if not asked.held:
            return
        most = max((Explanation(parts).replay() for parts in signals.values()), default=1.0)
        phrases = asked.terms.phrases
        for sequence, keys in asked.held.items():
            share = max(most, 1.0) / len(phrases) if sequence in phrases else WHOLE * most / len(asked.terms.wholes)
            lift = Signal("phrase" if sequence in phrases else "whole", "add", share, " ".join(sequence))
            for key in keys:
                signals[key] = (*signals.get(key, ()), lift)

    def _scored(
        self, asked: _Question, signals: Mapping[int, tuple[Signal, ...]]
    ) -> list[tuple[float, Candidate, Explanation]]:
        """Candidates with their final score and its explanation, best first, equal scores by chunk id."""
        scored = []
        for key, parts in signals.items():
            if candidate := asked.candidates.get(key):  # others were removed by another process since they were found
                explanation = Explanation(parts)
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
    if adjust.is_withdrawn(document.status):
        yield f"its author marked it {document.status}"
    stale_after = document.metadata.get("stale_after")
    if isinstance(stale_after, str) and adjust.is_stale(stale_after, query.now):
        yield f"stale since {stale_after}"
    if document.metadata.get("generated") and not document.metadata.get("verified"):
        yield f"generated{_by(document.metadata['generated'])}, verified by nobody"
    if document.failure:
        yield f"could not be read when last indexed: {document.failure}"


def _by(generated: Json) -> str:
    """Who made it, where the document says so."""
    maker = generated.get("by") if isinstance(generated, dict) else generated
    return f" by {maker}" if isinstance(maker, str) and maker else ""
