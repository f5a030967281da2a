"""What of the generations wants somebody's attention, for `brain status` and `brain doctor`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..config import Settings
from ..index.sqlite.check import Finding
from .building import is_being_built
from .pointer import Roster, first_index, gone, names_on_disk, path_of, roster


def notices(settings: Settings) -> Iterator[str]:
    """Sentences about what was begun and not ended, and files that are gone.

    Raises StorageError when the pointer cannot be read.
    """
    for finding in _unsettled(roster(settings), first_index(settings)):
        yield f"{finding.message}: {finding.remedy}" if finding.remedy else finding.message


def findings(settings: Settings) -> Iterator[Finding]:
    """What was left half-done, and what is wrong with the files of the generations; nothing while there is one only."""
    found, first = roster(settings), first_index(settings)
    if found == Roster():
        return
    yield from _unsettled(found, first)
    names = [generation.name for generation in found.generations]
    for name in names_on_disk(first):
        if name not in names:
            yield Finding(
                "generations",
                "note",
                f"{path_of(first, name)} belongs to no generation that is known",
                "delete it if you do not need it",
            )
    yield Finding("generations", "ok", f"'{found.current}' is the current one of {len(names)} generations")


def _unsettled(found: Roster, first: Path) -> Iterator[Finding]:
    if found.promoting:
        yield Finding(
            "generations",
            "warning",
            f"the promotion of generation '{found.promoting}' did not end, '{found.current}' answers",
            f"`brain promote {found.promoting}` completes it, `brain promote {found.current}` undoes it",
        )
    newest = found.named(found.current).number
    for generation in found.generations:
        named = f"generation '{generation.name}'"
        if generation.state == "building" and is_being_built(path_of(first, generation.name)):
            yield Finding("generations", "note", f"{named} is being built")
        elif generation.state == "building":
            remedy = "`brain index --new-generation` goes on with it if the settings are the same"
            yield Finding("generations", "note", f"{named} is half-built", remedy)
        elif error := gone(found, first, generation):
            yield Finding("generations", "warning", str(error), error.hint)
        elif generation.state == "ready" and generation.number > newest:
            yield Finding("generations", "note", f"{named} is ready", f"brain promote {generation.name}")
