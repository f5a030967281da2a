from __future__ import annotations

from types import SimpleNamespace

import pytest

from second_brain import Brain, builds, wiring
from second_brain.models.hashing import HashingEmbedder


class Wide(HashingEmbedder):
    """Another embedder than ``hashing``, that counts the texts which it was given."""

    texts = 0

    def __init__(self, cache_dir=None) -> None:
        super().__init__(cache_dir, dimensions=512)
        self.identity = "wide-512/1"

    def embed_documents(self, texts):
        Wide.texts += len(texts)
        return super().embed_documents(texts)


class Folder:
    """A brain with twelve notes about spring, and what is done to it; ``brain`` is opened anew by ``reopen``."""

    def __init__(self, notes) -> None:
        self._notes = notes
        self.home, self.root = notes.home, notes.root
        self.season("spring")
        notes.index()

    @property
    def brain(self) -> Brain:
        return self._notes.brain

    def reopen(self) -> None:
        self._notes.reopen()

    def season(self, name: str, count: int = 12) -> None:
        self._notes.write({f"{n}.md": f"# Note {n}\n\nIn {name} the pump {n} was looked at.\n" for n in range(count)})

    def setting(self, file: str, text: str) -> None:
        """Write a settings file; who has a brain open follows."""
        (self.home / file).write_text(text)
        self.brain.follow()

    def build(self, *, embed: bool = True) -> str:
        """Fill a new generation; its name."""
        with builds.new_generation(self.brain) as (new, begun):
            new.sync()
            if embed:
                builds.take_over(new)
                assert new.embed().failures == ()
                builds.finish(new)
        return begun.generation.name

    def states(self) -> dict[str, str]:
        return {generation.name: generation.state for generation in self.brain.roster().generations}

    def seasons(self, **options) -> set[str]:
        """Which seasons the answers to a question tell of."""
        hits = self.brain.search("pump", **options).hits
        assert hits
        return {season for season in ("spring", "autumn") for hit in hits if season in hit.text}


@pytest.fixture
def folder(notes) -> Folder:
    """Twelve notes about spring, indexed: the first generation."""
    return Folder(notes)


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> type[Wide]:
    """A second embedder is installed, as anybody's package would."""
    monkeypatch.setitem(wiring._adapters("embedders"), "wide", SimpleNamespace(load=lambda: Wide))
    monkeypatch.setattr(Wide, "texts", 0)
    return Wide
