"""What all tests share: a folder of notes, and a brain that knows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from second_brain import Brain
from second_brain.types import SourceReport

pytest.register_assert_rewrite("second_brain.testing")


class Notes:
    """A folder of notes that is the one source, ``notes``, of a brain with the embedder for tests."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.root = folder / "notes"
        self.home.mkdir(parents=True)
        self.root.mkdir()
        (self.home / "models.yaml").write_text("embedder: hashing\n")
        self.brain = Brain.open(self.home, environment={})
        self.brain.add(self.root, name="notes")

    def write(self, files: Mapping[str, str | bytes]) -> None:
        """Write files by their path below the folder."""
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)

    def sync(self, **options: Any) -> SourceReport:
        """What ``Brain.sync`` says of the one source."""
        (report,) = self.brain.sync(**options).sources
        return report

    def index(self, files: Mapping[str, str | bytes] | None = None) -> SourceReport:
        """Write files, sync and embed."""
        self.write(files or {})
        report = self.sync()
        assert self.brain.embed().failures == ()
        return report

    def reopen(self, **environment: str) -> None:
        """Open the brain anew, as another process would, with these variables."""
        self.brain.close()
        self.brain = Brain.open(self.home, environment=environment)

    def found(self, text: str, *, mode: Any = "lexical", **options: Any) -> list[str]:
        """The paths of the notes that a search finds, best first."""
        hits = self.brain.search(text, mode=mode, **options).hits
        return list(dict.fromkeys(hit.uri.partition("/")[2] for hit in hits))


@pytest.fixture(scope="session")
def make_notes() -> type[Notes]:
    """Makes the folder and brain of ``notes`` elsewhere, for as long as one likes."""
    return Notes


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[Notes]:
    """An empty folder of notes and its brain."""
    made = Notes(tmp_path)
    yield made
    made.brain.close()
