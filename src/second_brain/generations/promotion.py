"""Makes another generation the current one: checked first, then at once, and undone as quickly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from ..config import Settings
from ..errors import StorageError, UsageError
from .building import is_being_built
from .contents import Contents, contents
from .pointer import Generation, Measured, Roster, first_index, locked, path_of, placed, roster, write

FEWEST_DOCUMENTS = 0.9
"""A candidate with a smaller share of the current one's documents is incomplete."""

Outside: TypeAlias = Callable[[Settings], None]
"""Lets an engine outside of the file (an alias) follow a promotion. Given placed settings; may be called again."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What golden questions said of the current generation and of the candidate. ``worse`` says how much, or ''."""

    before: Measured
    after: Measured
    worse: str = ""


@dataclass(frozen=True, slots=True)
class Promotion:
    """Which generation is current now, and which was. Equal: it was so already, and nothing but ``Outside`` was done.

    ``overridden`` is what spoke against it and was overruled.
    """

    current: str
    before: str
    comparison: Comparison | None = None
    overridden: tuple[str, ...] = ()


def shortcomings(settings: Settings, name: str) -> list[str]:
    """Why a generation would answer worse than the current one, as far as counts tell. Raises NotFound."""
    found = roster(settings)
    candidate = found.named(name)
    if name == found.current:
        return []
    first = first_index(settings)
    reasons = []
    if candidate.state in ("building", "failed"):
        reasons.append(f"'{name}' is half-built: go on with `brain index --new-generation`")
    return reasons + list(_short_of(contents(path_of(first, name)), contents(path_of(first, found.current)), name))


def _short_of(candidate: Contents, current: Contents, name: str) -> list[str]:
    if candidate.problem:
        return [f"'{name}' cannot be read: {candidate.problem}"]
    reasons = []
    if candidate.waiting > current.waiting:
        reasons.append(f"{candidate.waiting:,} of its {candidate.passages:,} passages have no vector yet")
    if candidate.failures > current.failures:
        reasons.append(f"{candidate.failures:,} files could not be read, in the current one {current.failures:,}")
    if candidate.documents < FEWEST_DOCUMENTS * current.documents:
        reasons.append(f"it holds {candidate.documents:,} documents, the current one {current.documents:,}")
    return reasons


def remember(settings: Settings, measured: Mapping[str, Measured]) -> None:
    """Keep what golden questions said of generations, for the list."""
    with locked(settings) as first:
        found = roster(settings)
        for name, golden in measured.items():
            found = found.changed(name, golden=golden)
        write(first, found)


def promote(
    settings: Settings,
    name: str,
    *,
    than: str,
    outside: Outside | None = None,
) -> Promotion:
    """Make a generation the current one, which the caller compared with ``than``.

    With ``outside``, first the intent is written down, then the outside follows, then the pointer moves: what a crash
    leaves half-done can be seen, and promoting again completes it.

    Raises:
        NotFound: there is no such generation.
        UsageError: its file is gone, a process is building it, or another one than ``than`` became current meanwhile.
    """
    with locked(settings) as first:
        found = roster(settings)
        candidate = found.named(name)
        if name != found.current:
            _check_may_follow(candidate, found, than, is_being_built(path_of(first, name)))
            if not path_of(first, name).exists():
                raise UsageError(f"the file of '{name}' is gone: {path_of(first, name)}", hint=_others(found, name))
        before = found.current
        if outside:
            write(first, replace(found, promoting=name))
            outside(placed(settings, name))
        if name == before:
            write(first, replace(found, promoting=""))
        else:
            moved = found.changed(before, state="old").changed(name, state="current")
            write(first, replace(moved, current=name, previous=before, promoting=""))
    return Promotion(name, before)


def _check_may_follow(candidate: Generation, found: Roster, than: str, being_built: bool) -> None:
    if found.current != than:
        raise UsageError(
            f"'{found.current}' became the current generation meanwhile; '{candidate.name}' was compared with '{than}'",
            hint=f"look at `brain generations`, then again: brain promote {candidate.name}",
        )
    if being_built:
        raise UsageError(
            f"'{candidate.name}' is being built by another process", hint="wait until `brain generations` says 'ready'"
        )


def _others(found: Roster, name: str) -> str:
    others = ", ".join(g.name for g in found.generations if g.name != name)
    return f"there are: {others}"


def rollback(settings: Settings, *, outside: Outside | None = None) -> Promotion:
    """Make the generation the current one that was so before; twice is once forward again.

    Raises:
        UsageError: there is none before, or its file is gone.
    """
    found = roster(settings)
    if not found.previous:
        raise UsageError(
            f"'{found.current}' is the current generation, and none before it is kept", hint="see `brain generations`"
        )
    held = contents(path_of(first_index(settings), found.previous))
    if held.problem:
        raise StorageError(
            f"'{found.previous}', which was current before, cannot be read: {held.problem}",
            hint=f"'{found.current}' goes on; see `brain generations`",
        )
    return promote(settings, found.previous, than=found.current, outside=outside)
