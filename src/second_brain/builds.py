"""What changes which generation of the index answers, done with a brain: build, promote, roll back, clear away."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

from . import generations, keeping, wiring
from .config import Settings
from .errors import BrainError, UsageError
from .generations import Begun, Comparison, Outside, Promotion, Pruned
from .index.lock import sync_lock
from .library import Brain
from .protocols import Progress, TokenEmbedder
from .targets import chosen_sources

Compare: TypeAlias = Callable[[str, str], Comparison]
"""``compare(current, candidate)``: asks both the same questions."""


def _silent(stage: str, done: int, total: int | None) -> None:
    """Progress that nobody watches."""


@contextmanager
def new_generation(brain: Brain) -> Iterator[tuple[Brain, Begun]]:
    """A brain on a generation that is to be filled beside the current one, by the settings of now.

    It goes on with one that was left half-built, or brings one up to date that is ready. Sync it, ``take_over``, embed
    it, then ``finish``; until then it stays half-built.

    Raises:
        UsageError: there are no sources to fill it from.
        IndexLocked: another process is building it.
        StorageError: it is unknown which generation is current, or there is no room.
    """
    brain.must_see_all("build a generation")
    chosen_sources(brain.settings, (), lambda source: ())  # before anything is begun
    if not brain.settings.index.exists():
        brain.index.stats()  # the first one, empty; else it is not even opened: an older program may answer from it
    with (
        generations.building(brain.settings, brain.wanted_embedder().identity) as begun,
        brain.at(begun.generation.name) as new,
    ):
        yield new, begun


def take_over(new: Brain, *, progress: Progress = _silent) -> int:
    """Give chunks that wait the vectors that the current generation has of equal texts, if it has the embedder."""
    settings, embedder = new.settings, new.wanted_embedder()
    current = generations.placed(settings).index
    coded = settings.late and isinstance(embedder, TokenEmbedder)
    with sync_lock(settings.index, purpose="embed", progress=progress):
        return generations.take_over(new.index, current, embedder.identity, codes=coded, progress=progress)


def finish(new: Brain) -> None:
    """Say that this brain's generation is built, so that it may be promoted."""
    generations.finished(new.settings_as_read, new.generation)


def promote(brain: Brain, name: str, *, force: bool = False, compare: Compare | None = None) -> Promotion:
    """Make a generation the one that answers, at once for everybody who follows.

    Args:
        brain: follows by itself.
        name: of the generation; that of the current one completes or undoes a promotion that did not end.
        force: promote it though it is incomplete or worse.
        compare: nothing is measured without.

    Raises:
        NotFound: there is no such generation.
        UsageError: it is incomplete or worse, or another one became current meanwhile.
    """
    brain.must_see_all("promote a generation")
    settings = brain.settings_as_read
    current = generations.current(settings).name
    against = generations.shortcomings(settings, name)
    comparison = None
    if compare and name != current and (force or not against):
        try:
            comparison = compare(current, name)
        except BrainError as error:
            if not force:
                raise
            against.append(f"its answers could not be measured: {error}")
        else:
            generations.remember(settings, {current: comparison.before, name: comparison.after})
            against += [comparison.worse] if comparison.worse else []
    against += _by_rules_of_now(brain, name) if force or not against else ()
    if against and not force:
        hint = f"in spite of that: brain promote {name} --force"
        raise UsageError(f"'{name}' was not promoted: {'; '.join(against)}", hint=hint)
    done = generations.promote(settings, name, than=current, outside=_outside(settings, "promote"))
    brain.follow()
    return replace(done, comparison=comparison, overridden=tuple(against))


def rollback(brain: Brain) -> Promotion:
    """Make the generation that was current before answer again. Raises UsageError when none is kept."""
    brain.must_see_all("roll back")
    settings = brain.settings_as_read
    if previous := generations.roster(settings).previous:
        _by_rules_of_now(brain, previous)
    done = generations.rollback(settings, outside=_outside(settings, "promote"))
    brain.follow()
    return done


def prune(brain: Brain, names: Sequence[str] = ()) -> Pruned:
    """Delete generations that nobody goes back to, see ``generations.prune``."""
    brain.must_see_all("delete a generation")
    settings = brain.settings_as_read
    return generations.prune(settings, names, outside=_outside(settings, "drop"))


def repair(brain: Brain, current: str) -> Path | None:
    """Choose the current one where it is unknown which it is, see ``generations.repair``."""
    brain.must_see_all("choose a generation")
    return generations.repair(brain.settings_as_read, current)


def _outside(settings: Settings, deed: Literal["promote", "drop"]) -> Outside | None:
    """What an engine outside of the file does with a generation; None without one."""
    collections = wiring.backend_collections(settings)
    if collections is None:
        return None

    def do(placed: Settings) -> None:
        try:
            getattr(collections, deed)(placed.generation)
        finally:
            collections.client.close()

    return do


def _by_rules_of_now(brain: Brain, generation: str) -> tuple[str, ...]:
    """Apply the labels and masks of now to an index that was filled some time ago, before anybody is answered.

    Returns what its copy in another backend lacks in the end, in words.
    """
    with brain.at(generation) as one:
        settings, index = one.settings, one.index
        with sync_lock(settings.index, progress=_silent):
            for source in settings.sources:
                index.relabel(source.name, partial(settings.label, source.name))
            if keeping.needs_masking(index, redact=settings.redact):
                with sync_lock(settings.index, purpose="embed", progress=_silent):
                    keeping.mask_older(index, redact=settings.redact, progress=_silent)
        return index.replicate(_silent)
