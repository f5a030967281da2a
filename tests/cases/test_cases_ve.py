"""Group VE of the failure cases: vectors and the models that make them, in an index of our own kind."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import numpy as np
import pytest

from second_brain import Brain, ingest
from second_brain.index.sqlite import vectors as vectors_module
from second_brain.models.hashing import HashingEmbedder
from second_brain.retrieval import Retriever
from second_brain.types import Filter, Query


class Odd(HashingEmbedder):
    """Refuses what it is told, and remembers the texts of each call that it was given."""

    def __init__(self, refuse=lambda text: False, **settings: int) -> None:
        super().__init__(**settings)
        self.refuse = refuse
        self.calls: list[list[str]] = []

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        self.calls.append(list(texts))
        if any(self.refuse(text) for text in texts):
            raise ValueError("400 Bad Request")
        return super().embed_documents(texts)


def embed(brain, embedder):
    return ingest.embed(brain.index, embedder, progress=lambda *report: None)


def search(brain, embedder, text, **options):
    return Retriever(brain.index, lambda: embedder).search(Query(text, datetime.now(UTC), **options))


def test_ve_1_a_model_of_another_width(notes):
    """Until all is embedded anew, words answer and the answer says why; nothing is dropped before that."""
    notes.write({f"{number}.md": f"gannet {number}" for number in range(100)})
    notes.sync()
    narrow, wide = HashingEmbedder(dimensions=256), HashingEmbedder(dimensions=384)
    embed(notes.brain, narrow)
    result = search(notes.brain, wide, "gannet 7")
    assert (result.mode, result.hits[0].title) == ("lexical", "7")
    assert any("hashing-256/1" in notice and "hashing-384/1" in notice for notice in result.notices)
    assert search(notes.brain, narrow, "gannet 7").mode == "hybrid"
    report = embed(notes.brain, wide)
    assert (report.embedded, report.waiting, report.failures) == (100, 0, ())
    result = search(notes.brain, wide, "gannet 7")
    assert (result.mode, result.hits[0].title, result.notices) == ("hybrid", "7", ())
    assert search(notes.brain, narrow, "gannet 7").mode == "lexical"


def test_ve_1_status_names_both_models(notes):
    """Before the vectors are made anew, status says which model the index holds and which is asked for."""
    notes.write({"a.md": "gannet"})
    notes.sync()
    embed(notes.brain, HashingEmbedder(dimensions=384))
    (notice,) = notes.brain.status().notices
    assert "'hashing-384/1'" in notice
    assert "'hashing-256/1'" in notice
    assert "brain embed" in notice
    assert notes.brain.embed().embedded == 1
    assert notes.brain.status().notices == ()


def test_ve_1_interrupted_between_two_models(notes):
    """Stopped in the middle of the change, both kinds of answers go on: by meaning what has a vector, by word all."""
    notes.write({f"{number}.md": f"gannet {number}" for number in range(200)})
    notes.sync()
    embed(notes.brain, HashingEmbedder(dimensions=256))
    wide = HashingEmbedder(dimensions=384)
    assert ingest.embed(notes.brain.index, wide, progress=lambda *report: None, limit=64).waiting == 136
    result = search(notes.brain, wide, "gannet 7", limit=200)
    assert result.mode == "hybrid"
    assert len(result.hits) == 200
    assert any("136 passages have no vector" in notice for notice in result.notices)


def test_ve_3_the_same_chunk_embedded_twice(notes):
    """One row, the new value."""
    notes.write({"a.md": "gannet"})
    notes.sync()
    embed(notes.brain, HashingEmbedder())
    vectors = notes.brain.index.vectors
    ((hash,),) = notes.brain.index.database.rows("SELECT hash FROM vector")
    new = np.zeros((1, 256), dtype=np.float32)
    new[0, 3] = 1.0
    for _ in range(2):
        vectors.add("hashing-256/1", [hash], new)
    assert notes.brain.index.database.value("SELECT count(*) FROM vector") == 1
    assert vectors.similarities([1], new[0]) == {1: 1.0}


def test_ve_4_thousands_of_hits_under_a_filter(notes):
    """``limit=5000`` over 5,000 vectors is answered whole, with a tag filter and without."""
    lines = [
        f"## Part {number}\n\n{'gannet ' * 75}{number} #{'odd' if number % 2 else 'even'}/x\n" for number in range(500)
    ]
    notes.write(
        {f"{half}/{number}.md": "".join(lines) + f"\n#{half}" for half in ("left", "right") for number in range(5)}
    )
    notes.sync()
    embed(notes.brain, HashingEmbedder())
    assert notes.brain.status().chunks >= 5_000
    for mode in ("dense", "hybrid"):
        every = notes.brain.search("gannet", limit=5_000, mode=mode, per_document=None)
        assert len(every.hits) == 5_000
        assert every.notices == ()
        half = notes.brain.search("gannet", limit=5_000, mode=mode, per_document=None, filter=Filter(tags=("left",)))
        assert {hit.uri.split("/")[1] for hit in half.hits} == {"left"}
        assert len(half.hits) == notes.brain.status().chunks // 2


def test_ve_6_one_text_that_is_too_long_for_the_embedder(notes):
    """Of a batch of 32 the 31 others get their vectors, the one is named, and nothing is tried for ever."""
    notes.write({f"{number}.md": f"gannet {number}" for number in range(31)})
    notes.write({"long.md": "albatross " * 60})
    notes.sync()
    embedder = Odd(refuse=lambda text: len(text) > 500)
    report = embed(notes.brain, embedder)
    assert (report.embedded, report.waiting) == (31, 1)
    (failure,) = report.failures
    assert "'long'" in failure.message
    assert "400 Bad Request" in failure.message
    assert len(embedder.calls) <= 12
    assert embedder.calls.count(["long\n" + ("albatross " * 60).strip()]) == 1
    assert search(notes.brain, HashingEmbedder(), "albatross").hits[0].title == "long"


def test_ve_6_an_embedder_that_refuses_everything(notes):
    """Each text is tried alone once; the run ends, and search by word goes on."""
    notes.write({f"{number}.md": f"gannet {number}" for number in range(100)})
    notes.sync()
    embedder = Odd(refuse=lambda text: True)
    report = embed(notes.brain, embedder)
    assert (report.embedded, report.waiting, len(report.failures)) == (0, 100, 100)
    assert len(embedder.calls) < 200
    assert len(notes.found("gannet", limit=100)) == 100


def test_ve_7_notes_without_text(notes):
    """Empty, properties only, blanks only, a picture only: the run is fine, each is found by its name."""
    notes.write(
        {
            "zero.md": "",
            "properties.md": "---\ntags: [x]\n---\n",
            "blanks.md": "  \n\t\n  ",
            "picture.md": "![](cat.png)\n",
            "mark.md": b"\xef\xbb\xbf",
        }
    )
    report = notes.sync()
    assert (report.added, report.failures, report.warnings) == (5, (), ())
    embedder = Odd(refuse=lambda text: not text.strip())
    assert embed(notes.brain, embedder).failures == ()
    for name in ("zero", "properties", "blanks", "picture", "mark"):
        for mode in ("lexical", "dense", "hybrid"):
            assert notes.found(name, mode=mode)[0] == f"{name}.md", (name, mode)


@pytest.fixture
def unusable_cache(notes, tmp_path) -> Iterator[Brain]:
    """A brain with the bundled model, an index that holds its vectors, and a model folder that cannot be made."""
    notes.index({"a.md": "gannet", "b.md": "avocet"})
    (notes.home / "models.yaml").write_text("embedder: e5-small\n")
    (tmp_path / "file").write_text("in the way")
    environment = {"BRAIN_MODEL_CACHE": str(tmp_path / "file" / "models")}
    with Brain.open(notes.home, environment=environment) as brain:
        embedder = brain.wanted_embedder()
        brain.index.vectors.begin(embedder.identity)
        hashes = [hash for hash, _ in brain.index.vectors.waiting(10)]
        brain.index.vectors.add(embedder.identity, hashes, np.eye(len(hashes), embedder.dimensions, dtype=np.float32))
        yield brain


def test_ve_9_a_model_that_cannot_be_loaded(unusable_cache):
    """The words answer, and one plain message names the model and the folder."""
    result = unusable_cache.search("gannet")
    assert (result.mode, [hit.title for hit in result.hits]) == ("lexical", ["a"])
    (notice,) = result.notices
    assert "search by meaning is not available" in notice
    assert "e5-small" in notice
    assert str(unusable_cache.settings.model_cache) in notice


def test_ve_9_the_model_cache_is_no_temporary_folder(tmp_path, monkeypatch):
    """By default it lies in the user's cache folder, which no system cleans by itself."""
    monkeypatch.setenv("HOME", "/home/mika")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    with Brain.open(tmp_path, environment={}) as brain:
        cache = brain.settings.model_cache
    assert not cache.is_relative_to("/tmp")
    assert not cache.is_relative_to("/var/tmp")
    assert "second-brain" in cache.parts


@pytest.mark.slow
def test_ve_9_a_broken_model_in_the_cache_is_renewed_by_the_next_search(notes, tmp_path):
    """Cut to 1 kB, only this model's folder is built anew, once, and the search by meaning answers."""
    (notes.home / "models.yaml").write_text("embedder: e5-small\n")
    cache = tmp_path / "models"
    environment = {"BRAIN_MODEL_CACHE": str(cache)}
    (cache / "another model").mkdir(parents=True)
    (cache / "another model" / "file").write_text("x")
    notes.write({"a.md": "Pumps drain the second warehouse.", "b.md": "Cats sleep in the sun."})
    with Brain.open(notes.home, environment=environment) as brain:
        brain.sync()
        assert brain.embed().embedded == 2
    (model,) = (folder for folder in cache.iterdir() if folder.name != "another model")
    largest = max(model.iterdir(), key=lambda path: path.stat().st_size)
    os.truncate(largest, 1024)
    with Brain.open(notes.home, environment=environment) as brain:
        result = brain.search("倉庫の排水ポンプ", mode="dense")
        assert (result.mode, result.hits[0].title, result.notices) == ("dense", "a", ())
    assert largest.stat().st_size > 1024
    assert sorted(path.name for path in cache.iterdir()) == sorted(("another model", model.name))


def test_ve_11_deleted_notes_take_no_place_in_vector_search(notes):
    """Ten notes, five deleted, ``limit=5``: five that live, and no row without a chunk is ever found."""
    notes.index({f"{number}.md": f"gannet {number}" for number in range(10)})
    assert len(notes.found("gannet 3", mode="dense", limit=10)) == 10
    for number in range(5):
        (notes.root / f"{number}.md").unlink()
    notes.sync()
    assert sorted(notes.found("gannet 3", mode="dense", limit=5)) == [f"{number}.md" for number in range(5, 10)]
    assert len(notes.found("gannet 3", mode="dense", limit=10)) == 5
    database = notes.brain.index.database
    assert database.value("SELECT count(*) FROM chunk") == 5
    assert database.value("SELECT count(*) FROM vector WHERE orphaned IS NULL") == 5


def test_ve_11_no_orphan_outlives_its_welcome(notes, monkeypatch):
    """Vectors of deleted texts wait for their return in bounded number."""
    monkeypatch.setattr(vectors_module, "ORPHANS_KEPT", 5)
    for round_ in range(4):
        notes.index({f"{number}.md": f"gannet {number} {round_}" for number in range(20)})
    assert notes.brain.index.database.value("SELECT count(*) FROM vector WHERE orphaned IS NOT NULL") <= 5


def test_ve_12_embedding_again_and_again_does_not_grow_the_file(notes):
    """Two thousand chunks, embedded ten times by changing models: the file stays, and compact shrinks it."""
    text = "".join(f"## Part {number}\n\n{'gannet ' * 75}{number}\n\n" for number in range(200))
    notes.write({f"{number}.md": text for number in range(10)})
    notes.sync()
    assert notes.brain.status().chunks == 2_000
    sizes = []
    for round_ in range(10):
        embed(notes.brain, HashingEmbedder(dimensions=64 + 64 * (round_ % 2)))
        notes.brain.index.database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        sizes.append(notes.brain.index.stats().file_bytes)
    assert max(sizes[2:]) <= sizes[1] * 1.1
    for number in range(10):
        (notes.root / f"{number}.md").write_text("gannet")
    notes.sync()
    before, after = notes.brain.compact()
    assert after < before / 2
    assert len(notes.found("gannet", mode="dense", limit=10)) == 10
