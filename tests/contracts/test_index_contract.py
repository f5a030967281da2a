"""Every index that comes with second-brain keeps to the contract of indexes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import ClassVar

import pytest

from second_brain.index.qdrant.client import Client
from second_brain.index.qdrant.settings import QdrantSettings
from second_brain.index.qdrant.store import QdrantIndex
from second_brain.index.sqlite.store import SqliteIndex
from second_brain.protocols import Index
from second_brain.testing.index_contract import DIMENSIONS, IndexContract
from second_brain.testing.qdrant_server import QdrantServer

SOURCES = {"vault": ("notes",), "docs": ("docs",), "code": ("code",)}


def over_qdrant(catalogue: Path, **where: object) -> QdrantIndex:
    """A catalogue with a copy, in three collections."""
    settings = QdrantSettings(**where)  # type: ignore[arg-type]
    return QdrantIndex(catalogue, settings, generation="g1", dimensions=lambda: DIMENSIONS, collections=lambda: SOURCES)


def prefix_of(catalogue: Path) -> str:
    """A prefix of its own for each catalogue of one server."""
    return f"contract-{blake2b(os.fsencode(catalogue.parent), digest_size=6).hexdigest()}"


class TestSqliteIndex(IndexContract):
    @classmethod
    def make(cls, path: Path) -> SqliteIndex:
        return SqliteIndex(path)


class TestQdrantOnDisk(IndexContract):
    documents = 30  # local mode writes 300 points a second

    @classmethod
    def make(cls, path: Path) -> SqliteIndex:
        return over_qdrant(path, path=path.parent / "qdrant")


class TestQdrantInMemory(IndexContract):
    made: ClassVar[dict[Path, QdrantIndex]] = {}

    @classmethod
    def make(cls, path: Path) -> SqliteIndex:
        # Memory is gone with its client: the same file is the same index as long as it is the same object.
        return cls.made.setdefault(path, over_qdrant(path, path=Path(":memory:")))


class TestQdrantOverHttp(IndexContract):
    url: ClassVar[str]

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _server(cls) -> Iterator[None]:
        server = QdrantServer()
        with server.running():
            cls.url = server.url
            yield

    @classmethod
    def make(cls, path: Path) -> SqliteIndex:
        return over_qdrant(path, url=cls.url, prefix=prefix_of(path))


@pytest.mark.skipif("QDRANT_URL" not in os.environ, reason="$QDRANT_URL names no Qdrant server")
class TestQdrantServer(IndexContract):
    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _cleared_away(cls) -> Iterator[None]:
        yield
        client = Client(QdrantSettings(url=os.environ["QDRANT_URL"]))
        for name in client.collections():
            if name.startswith("contract-"):
                client.drop(name)

    @classmethod
    def make(cls, path: Path) -> SqliteIndex:
        return over_qdrant(path, url=os.environ["QDRANT_URL"], prefix=prefix_of(path), timeout_s=30)


def test_the_seam_is_what_both_searches_offer(tmp_path: Path):
    """Both are an ``Index`` by its protocol."""
    plain, copied = SqliteIndex(tmp_path / "a.db"), over_qdrant(tmp_path / "b.db", path=tmp_path / "qdrant")
    assert isinstance(plain.searching(), Index)
    assert isinstance(copied.searching(), Index)
    plain.close()
    copied.close()
