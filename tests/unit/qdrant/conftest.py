"""A Qdrant server on loopback, and a folder of notes whose brain has its copy there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from second_brain.testing.qdrant_server import QdrantServer


@pytest.fixture
def server() -> Iterator[QdrantServer]:
    made = QdrantServer()
    with made.running():
        yield made


@pytest.fixture
def copied(make_notes, tmp_path: Path, server: QdrantServer) -> Iterator[object]:
    """Notes with `index: qdrant`; nothing is indexed yet."""
    notes = make_notes(tmp_path)
    (notes.home / "settings.yaml").write_text(f"index: qdrant\nqdrant:\n  url: {server.url}\n  timeout_s: 1\n")
    notes.reopen()
    with notes.brain:
        yield notes
