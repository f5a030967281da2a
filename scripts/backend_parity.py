"""Asks both backends the questions of retrieval sets, and says how far their answers are apart.

    python scripts/backend_parity.py SETS [--set NAME]... [--cache .eval] [--queries N] [--url URL] [--variants]

SETS is a folder of sets in BEIR form. For each set one catalogue is made (vectors are kept in the cache), and a copy of
it in Qdrant: at URL, else in the local mode of qdrant-client, which is exact but slow with words, so that --queries
limits how many questions are asked (every n-th). Hybrid search, as `brain search` does it.

--variants also measures what was not chosen: Qdrant's own IDF, an average length that is off by 5 and 10 percent, and
token codes read from the payload, from the catalogue, and compared by Qdrant's MaxSim over multivectors.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from second_brain import config, wiring
from second_brain.analysis import query_terms
from second_brain.evals.beir import WHEN, BeirSet, index_corpus, load_beir, uri_of
from second_brain.evals.caching import CachingEmbedder, caching
from second_brain.evals.measures import measure
from second_brain.evals.results import digest
from second_brain.index.qdrant import sparse
from second_brain.index.qdrant.client import rest_models
from second_brain.index.qdrant.points import chunk_of, read_points
from second_brain.index.qdrant.settings import QdrantSettings
from second_brain.index.qdrant.store import QdrantIndex
from second_brain.index.sqlite.store import SqliteIndex
from second_brain.ranking.late import max_sim
from second_brain.retrieval import Retriever
from second_brain.types import Filter, Query

MEASURE = "nDCG@10"


def quiet(stage: str, done: int, total: int | None) -> None:
    """Progress that nobody watches."""


def ask(index: SqliteIndex, settings: Any, embedder: Any, text: str) -> tuple[list[str], float, tuple[str, ...]]:
    """The documents found, in order, the milliseconds that it took, and the notices."""
    retriever = Retriever(index, lambda: embedder, settings.fusion, {}, settings.late, settings.adjustments)
    began = time.perf_counter()
    result = retriever.search(Query(text, WHEN, 10, "hybrid", per_document=1))
    spent = (time.perf_counter() - began) * 1000
    return [hit.uri for hit in result.hits], spent, result.notices


def value(corpus: BeirSet, questions: Sequence[Any], run: dict[str, list[str]], of: str = MEASURE) -> float:
    """The mean of a measure over the questions."""
    relevant = {
        question.id: {uri_of(corpus.name, id): grade for id, grade in question.relevant.items()}
        for question in questions
    }
    values = measure(relevant, run)[of]
    return statistics.fmean(values[id] for id in relevant)


def compare(folder: Path, cache: Path, url: str, most: int, variants: bool, embedder: Any, settings: Any) -> None:
    """Ask both backends the questions of one set, and print a line."""
    corpus = load_beir(folder)
    step = max(1, len(corpus.questions) // most) if most else 1
    questions = corpus.questions[::step]
    place = cache / corpus.name / digest([embedder.identity.encode()])[:8]
    place.mkdir(parents=True, exist_ok=True)
    remembered = caching(embedder, place / "queries.npz")
    with tempfile.TemporaryDirectory() as scratch:
        where = QdrantSettings(url=url, path=None if url else Path(":memory:"), prefix="parity")
        index = QdrantIndex(
            place / "parity.db",
            where,
            dimensions=lambda: embedder.dimensions,
            collections=lambda: {"vault": (corpus.name,)},
        )
        with closing(index), closing(SqliteIndex(place / "parity.db")) as plain:
            index_corpus(index, corpus, embedder, quiet, late=settings.late)
            began = time.perf_counter()
            problems = index.replicate(quiet)
            sent_s = time.perf_counter() - began
            assert not problems, problems
            runs: dict[str, dict[str, list[str]]] = {"sqlite": {}, "qdrant": {}}
            spent: dict[str, list[float]] = {"sqlite": [], "qdrant": []}
            for question in questions:
                remembered.embed_queries([question.text])
                if settings.late:
                    remembered.encode_query(question.text)  # type: ignore[attr-defined]  # e5 has tokens
                for name, one in (("sqlite", plain), ("qdrant", index)):
                    runs[name][question.id], ms, notices = ask(one, settings, remembered, question.text)
                    spent[name].append(ms)
                    assert not any("catalogue" in notice for notice in notices), notices
            remembered.save()
            first = [runs["sqlite"][q.id][:1] == runs["qdrant"][q.id][:1] for q in questions]
            same = [runs["sqlite"][q.id] == runs["qdrant"][q.id] for q in questions]
            values = {name: value(corpus, questions, run) for name, run in runs.items()}
            print(
                f"{corpus.name:10} {plain.chunk_count():6,} passages {len(questions):5,} questions "
                f" {MEASURE} sqlite {values['sqlite']:.4f} qdrant {values['qdrant']:.4f}"
                f" ({values['qdrant'] - values['sqlite']:+.4f})  same first {100 * statistics.fmean(first):.2f} %"
                f"  same ten {100 * statistics.fmean(same):.2f} %"
                f"  median ms {statistics.median(spent['sqlite']):.1f} / {statistics.median(spent['qdrant']):.1f}"
                f"  sent in {sent_s:.0f} s",
                flush=True,
            )
            for question, agreed in zip(questions, first, strict=True):
                if not agreed:
                    print(
                        "  differs:",
                        question.text[:70],
                        runs["sqlite"][question.id][:2],
                        runs["qdrant"][question.id][:2],
                    )
            if variants:
                lexical_variants(corpus, questions, index, plain)
                token_variants(questions, index, remembered)
        _ = scratch


def lexical_variants(corpus: BeirSet, questions: Sequence[Any], index: QdrantIndex, plain: SqliteIndex) -> None:
    """Words alone: FTS5, our weights, and Qdrant's IDF over the same passage weights."""
    models = rest_models()
    average = sparse.average_length(index.database)
    ids = [id for (id,) in index.database.rows("SELECT id FROM chunk")]
    uris = dict(index.database.rows("SELECT c.id, d.uri FROM chunk c JOIN document d ON d.key = c.document"))

    def fill(client: Any, name: str, average: float, modifier: Any) -> None:
        client.create_collection(
            name, vectors_config={}, sparse_vectors_config={"terms": models.SparseVectorParams(modifier=modifier)}
        )
        for first in range(0, len(ids), 256):
            points = read_points(index.database, ids[first : first + 256], index.terms.weights, average)
            structs = [
                models.PointStruct.model_validate(
                    {"id": point["id"], "vector": {"terms": point["vector"]["terms"]}, "payload": {}}
                )
                for _, point in points
                if "terms" in point["vector"]
            ]
            client.upsert(name, structs)

    def ranked(client: Any, name: str, weigh: Callable[[Sequence[str]], sparse.Sparse]) -> dict[str, list[str]]:
        run = {}
        for question in questions:
            indices, values = weigh(query_terms(question.text).terms)
            found = client.query_points(
                name, query=models.SparseVector(indices=indices, values=values), using="terms", limit=40
            ).points
            run[question.id] = list(dict.fromkeys(uris[chunk_of(str(point.id))] for point in found))[:10]
        return run

    client = index.client._opened()
    total = index.terms.count()

    def ours(terms: Sequence[str]) -> sparse.Sparse:
        return sparse.query_vector(index.terms.frequencies(terms), total)

    def ones(terms: Sequence[str]) -> sparse.Sparse:
        pairs = sorted({sparse.term_id(term) for term in terms})
        return pairs, [1.0] * len(pairs)

    fts5 = {
        q.id: list(
            dict.fromkeys(
                plain.candidates([key])[key].uri
                for key, _ in plain.searching().lexical(query_terms(q.text).terms, Filter(), 40).entries
            )
        )[:10]
        for q in questions
    }
    lines = {"FTS5": fts5}
    for name, factor in (("ours", 1.0), ("ours, length +5 %", 1.05), ("ours, length +10 %", 1.1)):
        fill(client, f"variant {factor}", average * factor, None)
        lines[name] = ranked(client, f"variant {factor}", ours)
    fill(client, "variant idf", average, models.Modifier.IDF)
    lines["Qdrant's IDF"] = ranked(client, "variant idf", ones)
    for name, run in lines.items():
        first = statistics.fmean(run[q.id][:1] == fts5[q.id][:1] for q in questions)
        print(
            f"  words: {name:20} {MEASURE} {value(corpus, questions, run):.4f}  first as FTS5 {100 * first:.2f} %",
            flush=True,
        )


def token_variants(questions: Sequence[Any], index: QdrantIndex, embedder: CachingEmbedder) -> None:
    """Bytes and milliseconds of late interaction over the 100 nearest: three places for the tokens."""
    models = rest_models()
    _, sample = embedder.encode_query(questions[0].text)  # type: ignore[attr-defined]  # e5 has tokens
    dimensions = sample.shape[1]
    width = dimensions // 8
    rows = index.database.rows("SELECT c.key, c.id, t.codes FROM chunk c JOIN token t ON t.vector = c.vector")
    if not rows:
        return
    client = index.client._opened()
    client.create_collection(
        "variant tokens",
        vectors_config={
            "tokens": models.VectorParams(
                size=dimensions,
                distance=models.Distance.DOT,
                multivector_config=models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM),
            )
        },
    )
    some = rows[:2_000]
    count = 0
    for first in range(0, len(some), 64):
        structs = []
        for key, _, codes in some[first : first + 64]:
            bits = np.unpackbits(np.frombuffer(codes, dtype=np.uint8).reshape(-1, width), axis=1)
            signs = (bits.astype(np.float32) * 2 - 1) / np.sqrt(dimensions)
            count += len(signs)
            structs.append(models.PointStruct(id=key, vector={"tokens": signs.tolist()}, payload={}))
        client.upsert("variant tokens", structs)
    per = count / len(some)
    print(
        f"  tokens: {per:.0f} a passage; bits {per * width:,.0f} bytes, in base64 {per * width * 4 / 3:,.0f};"
        f" multivectors of float32 {per * width * 32:,.0f}, of uint8 {per * width * 8:,.0f}, binary quantized"
        f" {per * width:,.0f} beside the originals"
    )
    took: dict[str, list[float]] = {"payload": [], "catalogue": [], "multivectors": []}
    known = {key for key, _, _ in some}
    search = index.searching()
    for question in questions[:40]:
        vector, tokens = embedder.encode_query(question.text)  # type: ignore[attr-defined]  # e5 has tokens
        keys = [key for key, _ in index.dense(vector, Filter(), 300).entries if key in known][:100]
        if len(keys) < 50:
            continue
        for name, codes in (("payload", search.codes), ("catalogue", index.vectors.codes)):
            began = time.perf_counter()
            found = codes(keys, width)
            max_sim(tokens, [found[key] for key in keys])
            took[name].append((time.perf_counter() - began) * 1000)
        began = time.perf_counter()
        client.query_points(
            "variant tokens",
            query=tokens.tolist(),
            using="tokens",
            query_filter=models.Filter(must=[models.HasIdCondition(has_id=keys)]),
            limit=len(keys),
            with_payload=False,
        )
        took["multivectors"].append((time.perf_counter() - began) * 1000)
    print(
        "  tokens: median ms " + ", ".join(f"{name} {statistics.median(ms):.1f}" for name, ms in took.items() if ms),
        flush=True,
    )


def main() -> None:
    """Every set that was named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", type=Path)
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--cache", type=Path, default=Path(".eval"))
    parser.add_argument("--queries", type=int, default=0, help="ask at most about so many of each set; 0: all")
    parser.add_argument("--url", default="", help="of a Qdrant server; '' for local mode")
    parser.add_argument("--variants", action="store_true")
    given = parser.parse_args()
    settings = replace(config.load(), sources=(), rerank=False)
    embedder = wiring.embedder(settings, settings.model_cache)
    for folder in sorted(path.parent for path in given.sets.glob("*/corpus.jsonl")):
        if not given.set or folder.name in given.set:
            compare(folder, given.cache, given.url, given.queries, given.variants, embedder, settings)


if __name__ == "__main__":
    main()
