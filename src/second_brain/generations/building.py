"""Begins a generation beside the one that serves, or goes on with one that was left half-built."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path

import msgspec

from ..analysis import ANALYZER_VERSION
from ..chunking import CHUNKER_VERSION
from ..config import Settings
from ..errors import IndexLocked, StorageError
from ..index.lock import file_lock
from ..secrets import RULES_VERSION
from .pointer import Generation, Roster, locked, not_written, path_of, roster, write


@dataclass(frozen=True, slots=True)
class Begun:
    """``continued``: it was half-built, or built but never current, with the same settings.

    ``given_up`` are half-built ones of other settings, which nobody goes on with.
    """

    generation: Generation
    continued: bool
    given_up: tuple[str, ...] = ()


def settings_digest(settings: Settings, embedder: str) -> str:
    """A digest of everything that decides what an index of these settings holds of a file."""
    decides = {
        "embedder": embedder,
        "analyzer": ANALYZER_VERSION,
        "chunker": CHUNKER_VERSION,
        "late": settings.late,
        "secrets": RULES_VERSION if settings.redact else "",
    }
    return blake2b(msgspec.json.encode(decides, order="sorted"), digest_size=6).hexdigest()


@contextmanager
def building(settings: Settings, embedder: str) -> Iterator[Begun]:
    """The generation that is to be filled; until the block ends nobody else fills it, and nobody deletes it.

    However the block ends, the generation stays half-built until ``finished`` is called.

    Raises:
        IndexLocked: another process is building the same.
        StorageError: the pointer cannot be read or written.
    """
    digest = settings_digest(settings, embedder)
    with ExitStack() as held:
        with locked(settings) as first:
            found = roster(settings)
            begun, after = _begin(found, first, digest, embedder)
            lock = build_lock(path_of(first, begun.generation.name))
            if lock is None:
                raise IndexLocked(
                    f"'{begun.generation.name}' is being built by another process",
                    hint="wait for the other `brain index --new-generation`; `brain generations` shows how far it is",
                )
            held.enter_context(lock)
            if after != found:
                write(first, after)
        yield begun


def _begin(found: Roster, first: Path, digest: str, embedder: str) -> tuple[Begun, Roster]:
    unfinished = [g for g in found.generations if g.state in ("building", "ready")]
    same = [g for g in unfinished if g.settings == digest]
    if same:
        generation = same[-1]
        return Begun(generation, continued=True), found.changed(generation.name, state="building")
    given_up = tuple(g.name for g in unfinished if g.state == "building" and not is_being_built(path_of(first, g.name)))
    for name in given_up:
        found = found.changed(name, state="failed")
    generation = Generation(
        name=f"g{found.next}",
        state="building",
        made=datetime.now(UTC),
        embedder=embedder,
        analyzer=ANALYZER_VERSION,
        chunker=CHUNKER_VERSION,
        settings=digest,
    )
    after = replace(found, next=found.next + 1, generations=(*found.generations, generation))
    return Begun(generation, continued=False, given_up=given_up), after


def finished(settings: Settings, name: str) -> None:
    """Say that a generation is built: it may become the current one. One that is so already stays what it is."""
    with locked(settings) as first:
        found = roster(settings)
        if found.named(name).state == "building":
            write(first, found.changed(name, state="ready"))


def build_lock(path: Path) -> AbstractContextManager[object] | None:
    """The lock that who builds this index file holds; None if another one has it. Raises StorageError."""
    try:
        return file_lock(path.with_name(f"{path.name}.build.lock"), wait_s=0)
    except TimeoutError:
        return None
    except OSError as error:
        raise not_written(path, error) from error


def is_being_built(path: Path) -> bool:
    """Whether a process is building this index file now."""
    if not path.with_name(f"{path.name}.build.lock").exists():
        return False
    try:
        lock = build_lock(path)
    except StorageError:
        return False
    if lock is None:
        return True
    with lock:
        return False
