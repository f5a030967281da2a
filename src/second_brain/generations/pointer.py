"""The pointer: a small file beside the first index that says which generation is current, and what the others are.

It is replaced whole, under a lock: a reader sees the old one or the new one. Without it there is one generation, g1.
What cannot be read, or contradicts itself or the files beside it, is an error that says how to choose, never a guess.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from ..config import Settings, write_atomically
from ..errors import DiskFull, IndexLocked, NotFound, StorageError, UsageError
from ..index.lock import file_lock

State: TypeAlias = Literal["building", "ready", "current", "old", "failed"]
"""``ready``: built, never current. ``old``: was current. ``failed``: its build was given up."""

FIRST = "g1"
"""The generation whose file is the one that the settings name."""

LAYOUT = 1
"""Of the pointer file; one that a newer program wrote is refused."""

LOCK_WAIT_S = 30.0
"""Longer than anybody holds the pointer: a look at the others' files and one write."""

NAME = re.compile(r"g[1-9][0-9]{0,8}")


@dataclass(frozen=True, slots=True)
class Measured:
    """What golden questions said of a generation: the mean of ``measure`` over ``questions``."""

    measure: str
    value: float
    questions: int
    when: datetime


@dataclass(frozen=True, slots=True)
class Generation:
    """One build of the index. ``embedder``, ``analyzer`` and ``chunker`` are those it was begun with.

    ``settings`` is a digest of everything that decides what is stored. ``made`` is None where nobody wrote it down.
    """

    name: str
    state: State
    made: datetime | None = None
    embedder: str = ""
    analyzer: str = ""
    chunker: int = 0
    settings: str = ""
    golden: Measured | None = None

    @property
    def number(self) -> int:
        """Generations are numbered in the order in which they were begun; no number is given twice."""
        return int(self.name[1:])


@dataclass(frozen=True, slots=True)
class Roster:
    """All generations, by number. ``promoting`` names one whose promotion did not end; ``next`` is the next number."""

    current: str = FIRST
    previous: str = ""
    promoting: str = ""
    next: int = 2
    generations: tuple[Generation, ...] = (Generation(FIRST, "current"),)
    layout: int = LAYOUT

    def named(self, name: str) -> Generation:
        """The generation of this name. Raises NotFound naming what there is."""
        for generation in self.generations:
            if generation.name == name:
                return generation
        raise NotFound(
            f"there is no generation '{name}'",
            hint="there are: " + ", ".join(generation.name for generation in self.generations),
        )

    def changed(self, name: str, **facts: object) -> Roster:
        """The same with other facts of one generation."""
        generations = (replace(g, **facts) if g.name == name else g for g in self.generations)  # type: ignore[arg-type]
        return replace(self, generations=tuple(generations))


# -- files ---------------------------------------------------------------------------------------------------


def first_index(settings: Settings) -> Path:
    """The file of the first generation, by which all others and the pointer are named."""
    if settings.generation in ("", FIRST):
        return settings.index
    head, _, tail = settings.index.name.rpartition(f".{settings.generation}")
    return settings.index.with_name(head + tail)  # placed, so that it is named after its generation


def path_of(first: Path, name: str) -> Path:
    """The file of a generation: ``index.db``, then ``index.g2.db``, ``index.g3.db`` beside it."""
    return first if name == FIRST else first.with_name(f"{first.stem}.{name}{first.suffix}")


def file_of(settings: Settings, name: str) -> Path:
    """The file of a generation, whichever one the settings are placed on."""
    return path_of(first_index(settings), name)


def pointer_file(first: Path) -> Path:
    """Where the pointer lies."""
    return first.with_name(f"{first.stem}.generations.json")


def names_on_disk(first: Path) -> list[str]:
    """The generations after the first whose files lie beside it, by number."""
    form = re.compile(re.escape(first.stem) + rf"\.({NAME.pattern})" + re.escape(first.suffix))
    try:
        with os.scandir(first.parent) as entries:
            found = [match[1] for entry in entries if (match := form.fullmatch(entry.name))]
    except OSError:
        return []
    return sorted((name for name in found if name != FIRST), key=lambda name: int(name[1:]))


def stamp(settings: Settings) -> tuple[int, int, int] | None:
    """Something that changes whenever the pointer does: one look at the disk."""
    try:
        found = pointer_file(first_index(settings)).stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


# -- reading -------------------------------------------------------------------------------------------------


def roster(settings: Settings) -> Roster:
    """All generations. Raises StorageError when the pointer cannot be read, or is gone while others lie there."""
    first = first_index(settings)
    file = pointer_file(first)
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        others = names_on_disk(first)
        if others and not file.exists():  # it may have been written meanwhile
            raise _unknown(first, f"{file} is gone, though {', '.join(others)} lie there") from None
        return roster(settings) if others else Roster()
    except OSError as error:
        raise StorageError(f"{file}: cannot be read ({error.strerror})", hint="check its permissions") from error
    try:
        found = msgspec.json.decode(data, type=Roster)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise _unknown(first, f"{file} is damaged: {error}") from error
    if found.layout > LAYOUT:
        raise StorageError(
            f"{file} was written by a newer second-brain (layout {found.layout}, this one knows {LAYOUT})",
            hint="upgrade with `pip install -U second-brain`",
        )
    if wrong := _contradiction(found):
        raise _unknown(first, f"{file} is damaged: {wrong}")
    return found


def _contradiction(found: Roster) -> str:
    names = [generation.name for generation in found.generations]
    odd = [name for name in names if not NAME.fullmatch(name)]
    if odd:
        return f"'{odd[0]}' is no name of a generation"
    if len(set(names)) != len(names):
        return "a generation stands there twice"
    if [generation.name for generation in found.generations if generation.state == "current"] != [found.current]:
        return f"'{found.current}' is to be the one that is current, and is not"
    unknown = ({found.previous, found.promoting} - {""}).difference(names)
    if unknown:
        return f"'{min(unknown)}' is named, and not described"
    if any(generation.number >= found.next for generation in found.generations):
        return f"the next one is to be g{found.next}, which is taken"
    return ""


def _unknown(first: Path, problem: str) -> StorageError:
    there = [FIRST] * first.exists() + names_on_disk(first)
    return StorageError(
        f"{problem}; so it is unknown which index is the current one",
        hint=f"choose one: `brain generations repair NAME`, of {', '.join(there) or 'none: there is no index file'}",
    )


def listed(settings: Settings) -> tuple[Generation, ...]:
    """The generations, by number."""
    return roster(settings).generations


def current(settings: Settings) -> Generation:
    """The generation that answers."""
    found = roster(settings)
    return found.named(found.current)


def placed(settings: Settings, name: str = "") -> Settings:
    """The settings with the file and name of a generation, '' for the current one.

    Raises:
        NotFound: there is no such generation.
        StorageError: it is unknown which one is current, or its file is gone: nothing is made anew in its place.
    """
    found, first = roster(settings), first_index(settings)
    generation = found.named(name or found.current)
    if error := gone(found, first, generation):
        raise error
    return replace(settings, index=path_of(first, generation.name), generation=generation.name)


def gone(found: Roster, first: Path, generation: Generation) -> StorageError | None:
    """What is to be told when the file of a generation that was built is not there; None when all is well."""
    index = path_of(first, generation.name)
    if found == Roster() or generation.state == "building" or index.exists():
        return None
    return StorageError(
        f"{index}: the file of the {generation.state} generation '{generation.name}' is gone",
        hint="put it back, or `brain rollback` goes back to the one before"
        if generation.name == found.current
        else f"`brain generations prune {generation.name}` forgets it",
    )


# -- writing -------------------------------------------------------------------------------------------------


@contextmanager
def locked(settings: Settings) -> Iterator[Path]:
    """Nobody else changes the pointer meanwhile; yields the file of the first generation. Raises IndexLocked."""
    first = first_index(settings)
    try:
        lock = file_lock(first.with_name(f"{first.name}.generations.lock"), wait_s=LOCK_WAIT_S)
    except TimeoutError as error:
        raise IndexLocked(
            f"{pointer_file(first)}: another process has been changing it for more than {LOCK_WAIT_S:.0f} s",
            hint="wait for the other `brain`, or stop it, and try again",
        ) from error
    except OSError as error:
        raise not_written(first, error) from error
    with lock:
        yield first


def write(first: Path, found: Roster) -> None:
    """Replace the pointer; the caller holds the lock. Raises DiskFull or StorageError; then the old one holds."""
    try:
        text = msgspec.json.format(msgspec.json.encode(found), indent=2).decode()
        write_atomically(pointer_file(first), text + "\n")
    except OSError as error:
        raise not_written(first, error) from error


def not_written(first: Path, error: OSError) -> StorageError:
    """What is told when something beside the index cannot be written."""
    import errno

    file = pointer_file(first)
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return DiskFull(f"{file}: no room to write ({error.strerror})", hint="free some space, then try again")
    return StorageError(f"{file}: cannot be written ({error.strerror})", hint="check the folder's permissions")


def repair(settings: Settings, name: str) -> Path | None:
    """Write the pointer anew from the files that lie there, with ``name`` the current one.

    Only where it is unknown which one is: a sound pointer is left as it is. What could not be read is kept beside it.
    The one before it by number counts as the previous one; later ones may be promoted.

    Returns:
        Where the old pointer is kept; None if there was none.

    Raises:
        NotFound: there is no file of this name.
        UsageError: the pointer is sound.
        StorageError: it cannot be written.
    """
    with locked(settings) as first:
        with suppress(StorageError):
            sound = roster(settings).current
            raise UsageError(
                f"{pointer_file(first)}: nothing is wrong with it; '{sound}' is the current one",
                hint=f"to make another one current: brain promote {name}",
            )
        names = [FIRST] * first.exists() + names_on_disk(first)
        if name not in names:
            raise NotFound(f"there is no index file of generation '{name}'", hint=f"there are: {', '.join(names)}")
        aside = None
        if pointer_file(first).exists():
            aside = pointer_file(first).with_suffix(f".damaged-{datetime.now(UTC):%Y%m%d-%H%M%S}")
            pointer_file(first).rename(aside)
        place = names.index(name)
        earlier, later = names[:place], names[place + 1 :]
        found = Roster(
            current=name,
            previous=earlier[-1] if earlier else "",
            next=int(names[-1][1:]) + 1,
            generations=(
                *(Generation(each, "old") for each in earlier),
                Generation(name, "current"),
                *(Generation(each, "ready") for each in later),
            ),
        )
        write(first, found)
    return aside
