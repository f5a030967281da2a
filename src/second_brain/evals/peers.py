"""Public peers, run by their own documented path on the passages and questions of a set.

    fts5-trigram    SQLite FTS5 with its trigram tokenizer and bm25()
    trigram+dense   the same and the embedder's vectors by reciprocal rank fusion, k 60, words weigh 0.1: as other
                    memories that are built on SQLite do
    bm25s           the library's own example: English stop words and stemmer, Lucene's BM25 with k1 1.5 and b 0.75

They see what the product sees: the same passages, each with its title and headings. So only the search differs, not
the cutting. bm25s takes words as what stands between spaces or signs, which Japanese and Chinese have few of.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TypeAlias

from ..analysis.stopwords import STOPWORDS
from ..analysis.terms import stems
from ..errors import MissingExtra
from ..index.sqlite.store import SqliteIndex
from ..protocols import Embedder
from ..types import Filter
from .answers import Asking, Engine, Found, Place, capped
from .grep import scripts

CANDIDATES = 100
"""Each arm of a peer yields so many passages."""

RRF_K = 60
KEYWORD_WEIGHT = 0.1


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk of the index: where it stands, and its text below title and headings."""

    key: int
    place: Place
    text: str


Search: TypeAlias = Callable[[str], list[int]]
"""A question to the keys of passages, best first."""


def passages_of(index: SqliteIndex) -> list[Passage]:
    """Every chunk of the index, by key."""
    keys = [key for (key,) in index.database.rows("SELECT key FROM chunk ORDER BY key")]
    found = []
    for start in range(0, len(keys), 1_000):
        for key, chunk in sorted(index.chunks(keys[start : start + 1_000]).items()):
            headings = dict.fromkeys((chunk.document.title, *chunk.heading_path))
            text = "\n".join((*filter(None, headings), chunk.text))
            found.append(Passage(key, Place(chunk.document.uri, chunk.start, chunk.end), text))
    return found


def peer_engines(index: SqliteIndex, embedder: Embedder, asking: Asking, held: ExitStack) -> dict[str, Engine]:
    """The peers as systems. ``held`` closes their tables.

    Raises:
        MissingExtra: bm25s is not installed.
    """
    passages = passages_of(index)
    by_key = {passage.key: passage for passage in passages}
    trigram = _trigram(passages, held)

    def dense(question: str) -> list[int]:
        ranking = index.dense(embedder.embed_queries([question])[0], Filter(), CANDIDATES)
        return [key for key, _ in ranking.entries]

    def fused(question: str) -> list[int]:
        scores: dict[int, float] = defaultdict(float)
        for weight, keys in ((KEYWORD_WEIGHT, trigram(question)), (1.0, dense(question))):
            for rank, key in enumerate(keys, start=1):
                scores[key] += weight / (RRF_K + rank)
        return sorted(scores, key=lambda key: (-scores[key], key))

    searches: dict[str, Search] = {
        "fts5-trigram": trigram,
        "trigram+dense": fused,
        "bm25s": _bm25s(passages),
    }
    return {name: _engine(search, by_key, asking) for name, search in searches.items()}


def _engine(search: Search, passages: dict[int, Passage], asking: Asking) -> Engine:
    def ask(question: str) -> Found:
        found = [passages[key] for key in search(question) if key in passages]
        places = capped((passage.place for passage in found), asking)
        texts = {passage.place: passage.text for passage in found}
        return Found(places, lambda: "\n\n".join(texts[place] for place in places))

    return ask


def _trigram(passages: Sequence[Passage], held: ExitStack) -> Search:
    """FTS5's trigram tokenizer. It finds parts of words from three characters on; of unspaced scripts each three."""
    database = held.enter_context(closing(sqlite3.connect(":memory:")))
    database.execute("CREATE VIRTUAL TABLE passage USING fts5(text, tokenize = 'trigram')")
    database.executemany("INSERT INTO passage(rowid, text) VALUES (?, ?)", ((p.key, p.text) for p in passages))

    def search(question: str) -> list[int]:
        match = " OR ".join(f'"{part}"' for part in trigram_parts(question))
        if not match:
            return []
        rows = database.execute(
            "SELECT rowid FROM passage WHERE passage MATCH ? ORDER BY bm25(passage), rowid LIMIT ?",
            (match, CANDIDATES),
        )
        return [key for (key,) in rows]

    return search


def trigram_parts(question: str) -> list[str]:
    """What a question asks of a trigram table: its words of three letters and more, and each three of kana and Han."""
    unspaced, spaced = scripts(question.casefold())
    pieces = [run[start : start + 3] for run in unspaced for start in range(len(run) - 2)]
    return list(dict.fromkeys((*pieces, *(word for word in spaced if len(word) > 2 and word not in STOPWORDS))))


def _bm25s(passages: Sequence[Passage]) -> Search:
    """The library's quickstart; its tokenizer takes what stands between spaces or signs, of two letters and more."""
    try:
        import bm25s
    except ImportError as error:
        raise MissingExtra("brain eval --peers", "eval") from error
    if not passages:
        return lambda question: []  # the library takes the mean of their lengths
    keys = [passage.key for passage in passages]
    quiet = {"stopwords": "en", "stemmer": stems, "show_progress": False}
    index = bm25s.BM25()
    index.index(bm25s.tokenize([passage.text for passage in passages], **quiet), show_progress=False)

    def search(question: str) -> list[int]:
        tokens = bm25s.tokenize(question, **quiet)
        places, scores = index.retrieve(tokens, k=min(CANDIDATES, len(keys)), show_progress=False)
        return [keys[place] for place, score in zip(places[0], scores[0], strict=True) if score > 0]

    return search
