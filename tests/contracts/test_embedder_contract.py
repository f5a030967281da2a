"""Every embedder that comes with second-brain keeps to the contract of embedders."""

from __future__ import annotations

from pathlib import Path

import pytest

from second_brain.models.e5 import E5Embedder
from second_brain.models.hashing import HashingEmbedder
from second_brain.protocols import Embedder, TokenEmbedder
from second_brain.testing.embedder_contract import EmbedderContract, TokenEmbedderContract


class TestHashingEmbedder(EmbedderContract):
    def embedder(self) -> Embedder:
        return HashingEmbedder()


@pytest.fixture(scope="module")
def shared_e5(tmp_path_factory: pytest.TempPathFactory) -> E5Embedder:
    return E5Embedder(tmp_path_factory.mktemp("models"))


class TestE5Embedder(EmbedderContract, TokenEmbedderContract):
    @pytest.fixture(autouse=True)
    def _share(self, shared_e5: E5Embedder) -> None:
        self._e5 = shared_e5

    def embedder(self) -> Embedder:
        return self._e5

    def token_embedder(self) -> TokenEmbedder:
        return self._e5


@pytest.mark.parametrize(("name", "kind"), [("e5-small", E5Embedder), ("hashing", HashingEmbedder)])
def test_an_embedder_is_found_by_name_and_takes_a_cache_folder(name: str, kind: type, tmp_path: Path):
    """The entry points lead to the classes under test, each made from a cache folder alone."""
    from importlib.metadata import entry_points

    (point,) = entry_points(group="second_brain.embedders", name=name)
    assert point.load() is kind
    assert isinstance(point.load()(tmp_path), Embedder)
