"""Deletes generations that nobody will go back to, with everything that belongs to their files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..config import Settings
from ..errors import StorageError, UsageError
from .building import is_being_built
from .contents import is_open, parts
from .pointer import Roster, locked, path_of, roster, write
from .promotion import Outside

LOCKS = (".index.lock", ".embed.lock", ".terms.lock", ".build.lock", ".qdrant.lock")


@dataclass(frozen=True, slots=True)
class Pruned:
    """Names of what was deleted, the room that it took, and names of what would be but is still open somewhere."""

    deleted: tuple[str, ...] = ()
    bytes: int = 0
    open: tuple[str, ...] = ()


def prune(settings: Settings, names: Sequence[str] = (), *, outside: Outside | None = None) -> Pruned:
    """Delete what was current earlier than the previous one, what was given up, and what was passed over.

    Kept are the current one, the previous one, those that are being built or may still be promoted, and any that a
    process has open. With ``names`` just these go instead, unless they are the current one or in use.

    Args:
        settings: of any generation.
        names: to delete in spite of the rule.
        outside: lets an engine outside of the file forget one; called before its file goes.

    Raises:
        NotFound: there is no such generation.
        UsageError: a name is that of the current one.
    """
    deleted, still_open, freed = [], [], 0
    with locked(settings) as first:
        found = roster(settings)
        for name in names or _superfluous(found):
            if found.named(name).name == found.current:
                raise UsageError(f"'{name}' is the current generation", hint="promote another one first")
            path = path_of(first, name)
            if is_being_built(path) or is_open(path):
                still_open.append(name)
                continue
            freed += sum(part.stat().st_size for part in parts(path) if part.exists())
            if outside:
                outside(replace(settings, index=path, generation=name))  # its file may be gone already
            _delete(path)
            # Only what is gone is struck out: a crash before leaves a name without a file, which goes the next time.
            found = _without(found, name)
            write(first, found)
            deleted.append(name)
    return Pruned(tuple(deleted), freed, tuple(still_open))


def _superfluous(found: Roster) -> list[str]:
    newest = found.named(found.current).number
    return [
        generation.name
        for generation in found.generations
        if generation.name not in (found.current, found.previous, found.promoting)
        and (generation.state in ("old", "failed") or (generation.state == "ready" and generation.number < newest))
    ]


def _without(found: Roster, name: str) -> Roster:
    return replace(
        found,
        previous="" if found.previous == name else found.previous,
        promoting="" if found.promoting == name else found.promoting,
        generations=tuple(generation for generation in found.generations if generation.name != name),
    )


def _delete(path: Path) -> None:
    """The file last: as long as it is there, what belongs to it can be told."""
    drafts = path.parent.glob(f"{path.name}.vectors.*.new")
    beside = [*parts(path)[1:], *drafts, *(path.with_name(path.name + suffix) for suffix in LOCKS)]
    try:
        for part in (*beside, path):
            part.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(
            f"{error.filename}: cannot be deleted ({error.strerror})", hint="check the folder's permissions"
        ) from error
