"""What all tests share: a folder of notes, and a brain that knows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from second_brain import Brain
from second_brain.types import SourceReport

pytest.register_assert_rewrite("second_brain.testing")


class Notes:
    """A folder of notes that is the one source, ``notes``, of a brain with the embedder for tests.

    ``privacy`` is the label of the source.
    """

    def __init__(self, folder: Path, *, privacy: str | None = None) -> None:
        self.home = folder / "home"
        self.root = folder / "notes"
        self.home.mkdir(parents=True)
        self.root.mkdir()
        (self.home / "models.yaml").write_text("embedder: hashing\n")
        self.brain = Brain.open(self.home, environment={})
        self.brain.add(self.root, name="notes", privacy=privacy)

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


@pytest.fixture
def make_home(tmp_path: Path) -> Callable[[Mapping[str, str]], Path]:
    """Makes the home of a server: notes labelled ``work`` unless they say else, indexed, and open to nobody."""

    def make(files: Mapping[str, str]) -> Path:
        made = Notes(tmp_path, privacy="work")
        with made.brain:
            made.index(files)
        return made.home

    return make


@pytest.fixture
def heron_home(make_home: Callable[[Mapping[str, str]], Path]) -> Path:
    """A home with a note on the heron pump, and a secret one with the bittern code."""
    return make_home(
        {
            "pump.md": "The heron pump lost pressure.\n",
            "code.md": "---\nprivacy: secret\n---\nThe bittern code is 4711.\n",
        }
    )
