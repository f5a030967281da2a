"""A brain without a model of its own uses another's: the same vectors, and a clear word when it cannot."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from api_box import Box, indexed_home, running_box

from second_brain import Brain
from second_brain.errors import ConfigError, EmbedderMismatch, ModelError
from second_brain.models.http_embedder import HttpEmbedder, HttpTokenEmbedder, http_embedder
from second_brain.protocols import Embedder, TokenEmbedder
from second_brain.testing.embedder_contract import EmbedderContract


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    with running_box(indexed_home(tmp_path_factory.mktemp("models"))) as box:
        yield box


@pytest.fixture(scope="module")
def far(box: Box, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpEmbedder]:
    made = _made(box, tmp_path_factory.mktemp("cache"), box.guest)
    yield made
    made.close()


def _made(box: Box, cache: Path, token: str) -> HttpEmbedder:
    made = http_embedder(cache, _url(box), key=token)
    assert isinstance(made, HttpEmbedder)
    return made


def _url(box: Box) -> str:
    return f"http://127.0.0.1:{box.port}/api/v1"


class TestHttpEmbedder(EmbedderContract):
    """The embedder of a box keeps to what every embedder keeps to."""

    @pytest.fixture(autouse=True)
    def _far(self, far: HttpEmbedder) -> None:
        self.far = far

    def embedder(self) -> Embedder:
        return self.far


def test_vectors_and_identity_are_those_of_the_box(box: Box, far: HttpEmbedder) -> None:
    """To the last bit, also of more texts than fit into one request."""
    near = box.brain.embedder()
    texts = [f"heron {number} 鷺" for number in range(600)]
    assert (far.embed_documents(texts) == near.embed_documents(texts)).all()
    assert (far.embed_queries(texts[:3]) == near.embed_queries(texts[:3])).all()
    assert (far.identity, far.dimensions) == (near.identity, near.dimensions)
    assert not isinstance(far, TokenEmbedder)


class _Tokens:
    """A token embedder: each word is a token, its row from its letters."""

    identity = "words/1"
    dimensions = 8

    def embed_documents(self, texts: list[str]) -> np.ndarray:
        return np.stack([self.encode_query(text)[0] for text in texts])

    embed_queries = embed_documents

    def encode_documents(self, texts: list[str]) -> tuple[np.ndarray, list[np.ndarray]]:
        rows = [self.encode_query(text)[1] for text in texts]
        return self.embed_documents(texts), [np.packbits(each > 0, axis=1) for each in rows]

    def encode_query(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        rows = np.array([[(ord(w[0]) >> b & 1) - 0.3 for b in range(8)] for w in text.split()], dtype=np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        whole = rows.sum(axis=0)
        return whole / np.linalg.norm(whole), rows


def test_what_late_interaction_compares_arrives_too(box: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Codes of documents and rows of queries, exactly."""
    near = _Tokens()
    monkeypatch.setattr(Brain, "embedder", lambda self: near)
    far = http_embedder(tmp_path, _url(box), key=box.guest)
    assert isinstance(far, HttpTokenEmbedder)
    assert isinstance(far, TokenEmbedder)
    texts = ["the heron stands", "pump", "水 やり"]
    (vectors, codes), (wanted, bits) = far.encode_documents(texts), near.encode_documents(texts)
    assert (vectors == wanted).all()
    assert all((one == other).all() for one, other in zip(codes, bits, strict=True))
    (vector, rows), (own, own_rows) = far.encode_query("the heron"), near.encode_query("the heron")
    assert (vector == own).all()
    assert (rows == own_rows).all()
    assert rows.dtype == np.float32
    far.close()


def test_a_laptop_indexes_and_searches_with_the_model_of_the_box(
    box: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By models.yaml alone; without an answer of the box, searches go on by word and say so."""
    home, notes = tmp_path / "home", tmp_path / "notes"
    notes.mkdir()
    home.mkdir()
    (notes / "a.md").write_text("# Heron\n\nIt stands in the water.\n")
    (home / "models.yaml").write_text(f"embedder:\n  url: {_url(box)}\n  key: BOX_TOKEN\n")
    monkeypatch.setenv("BOX_TOKEN", box.guest)
    with Brain.open(home, environment={"BRAIN_MODEL_CACHE": str(tmp_path / "models")}) as laptop:
        laptop.add(notes)
        laptop.sync()
        assert laptop.embed().embedded == 1
        assert laptop.status().embedder == box.brain.embedder().identity
        assert laptop.search("heron", mode="dense").mode == "dense"
        embedder = laptop.embedder()
        assert isinstance(embedder, HttpEmbedder)
        embedder.close()
    monkeypatch.setenv("BOX_TOKEN", "sb_revoked")
    with Brain.open(home, environment={"BRAIN_MODEL_CACHE": str(tmp_path / "models")}) as laptop:
        found = laptop.search("water", mode="hybrid")
        assert (found.mode, len(found.hits)) == ("lexical", 1)
        assert any("401" in notice for notice in found.notices)
        embedder = laptop.embedder()
        assert isinstance(embedder, HttpEmbedder)
        embedder.close()


def test_who_knew_the_box_once_needs_no_connection_to_look(box: Box, tmp_path: Path) -> None:
    """Identity and width are remembered; only vectors need the box."""
    _made(box, tmp_path, box.guest).close()
    (file,) = tmp_path.glob("endpoint-*.json")
    data = file.read_text()
    offline = _made(box, tmp_path, "sb_revoked")
    assert offline.identity == "hashing-256/1"
    with pytest.raises(ModelError, match="401"):
        offline.embed_queries(["heron"])
    file.write_text(data.replace("hashing-256/1", "older/1"))
    changed = _made(box, tmp_path, box.guest)
    with pytest.raises(EmbedderMismatch, match="'hashing-256/1' now, not with 'older/1'"):
        changed.embed_queries(["heron"])
    assert not file.exists()
    file.write_text("{damaged")
    again = _made(box, tmp_path, box.guest)
    assert again.identity == "hashing-256/1"
    for one in (offline, changed, again):
        one.close()


def test_an_embedder_elsewhere_may_be_sent_everything_or_is_refused(tmp_path: Path) -> None:
    """Every passage goes there: a lower label would be a promise that is not kept."""
    (tmp_path / "models.yaml").write_text("embedder:\n  url: https://box.example/api/v1\n  privacy: work\n")
    with pytest.raises(ConfigError, match="every passage is sent to it") as caught:
        Brain.open(tmp_path, environment={})
    assert "privacy: secret" in caught.value.hint
    (tmp_path / "models.yaml").write_text("embedder:\n  url: https://box.example/api/v1\n")
    with pytest.raises(ConfigError, match="does not say which"):
        Brain.open(tmp_path, environment={})
