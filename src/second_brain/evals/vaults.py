"""A folder of notes as a brain of its own, apart from the user's."""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import replace
from pathlib import Path

from .. import config
from ..config import Settings, SourceSettings
from ..library import Brain
from ..protocols import Progress


def default_settings() -> Settings:
    """The settings of somebody who has configured nothing, whatever the user's files say."""
    with tempfile.TemporaryDirectory(prefix="brain-eval-") as empty:
        return config.load(empty)


def vault_brain(name: str, folder: Path, index: Path, settings: Settings) -> Brain:
    """A brain whose one source is a folder of Markdown, with an index of its own; models and fusion as set."""
    source = SourceSettings(name, "markdown", folder.absolute())
    return Brain(replace(settings, index=index.absolute(), generation="", sources=(source,)))


def cached_index(cache: Path, folder: Path) -> Path:
    """Where the index of a folder of notes is kept: one for each folder, whatever it is called."""
    where = hashlib.blake2b(str(folder.resolve()).encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
    return cache / "vaults" / f"{folder.name or 'notes'}-{where}" / "index.db"


def bring_up_to_date(brain: Brain, progress: Progress) -> tuple[str, ...]:
    """Read and chunk everything, embed what came out differently; what could not be read or embedded, as notices.

    Files that are as they were are read again too: the parser or the chunker may be another one.
    """
    synced = brain.sync(rebuild=True, progress=progress)
    embedded = brain.embed(progress=progress)
    unavailable = [f"source '{source.source}' {source.unavailable}" for source in synced.sources if source.unavailable]
    failures = [f"{failure.uri}: {failure.message}" for failure in (*synced.failures, *embedded.failures)]
    return (*unavailable, *failures)
