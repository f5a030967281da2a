"""Which sources do the names and paths that somebody typed belong to?"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from . import config
from .clearance import no_source
from .config import Settings, SourceSettings
from .errors import NotFound, UsageError
from .sources.paths import compose, disk_bytes, joined


def chosen_sources(
    settings: Settings, targets: Sequence[str | os.PathLike[str]], indexed: Callable[[str], Iterable[str]]
) -> dict[SourceSettings, list[str]]:
    """The sources that the targets name, each with the uris of the paths inside it (none: the whole source).

    ``indexed`` yields the uris that the index knows of a source.

    Raises:
        UsageError: there are no sources.
        NotFound: a target is neither a source nor a path in one, or nothing is there and nothing was.
    """
    if not targets:
        if not settings.sources:
            raise UsageError(
                f"there is nothing to index: {settings.sources_file} names no source",
                hint="type `brain add ~/notes` (the folder of your notes), then `brain index`",
            )
        return {source: [] for source in settings.sources}
    chosen: dict[SourceSettings, list[str]] = {}
    for target in targets:
        named = [source for source in settings.sources if source.name == str(target)]
        if named:
            chosen[named[0]] = []
            continue
        path = config.as_named(target)
        # In composed form, as uris are: people and shells spell a name in either.
        spelled = Path(compose(str(path)))
        roots = {source: Path(compose(str(source.path))) for source in settings.sources}
        owners = [source for source, root in roots.items() if spelled.is_relative_to(root)]
        if not owners:
            if os.path.exists(disk_bytes(path)):  # noqa: PTH110 - bytes, for any locale
                raise NotFound(
                    f"{path} lies in no source; sources: "
                    + (", ".join(f"{s.name} ({s.path})" for s in settings.sources) or "none yet"),
                    hint=f"type `brain add {target}` to make it one",
                )
            raise no_source(settings, str(target))
        owner = max(owners, key=lambda source: len(source.path.parts))
        if spelled == roots[owner]:
            chosen[owner] = []
            continue
        uri = f"{owner.name}/{spelled.relative_to(roots[owner]).as_posix()}"
        if _on_disk(disk_bytes(path)) is None and not any(lies_at([uri], known) for known in indexed(owner.name)):
            raise NotFound(
                f"{path} does not exist, and nothing of it is indexed",
                hint=f"check its spelling, or type `brain index {owner.name}` to compare the whole source",
            )
        if owner not in chosen or chosen[owner]:
            chosen.setdefault(owner, []).append(uri)
    return chosen


def lies_at(wanted: Sequence[str], uri: str) -> bool:
    """Whether the uri is one of these or lies below one, in either Unicode form."""
    composed = compose(uri)
    return any(composed == place or composed.startswith(place + "/") for place in wanted)


def _on_disk(path: bytes) -> bytes | None:
    """The path as the disk spells it, whose names may be in the other Unicode form; None if nothing is there."""
    if os.path.lexists(path):
        return path
    parent, name = os.path.split(path)
    folder = _on_disk(parent) if name else None
    if folder is None or not os.path.isdir(folder):  # noqa: PTH112 - bytes, for any locale
        return None
    same = [entry for entry in _names(folder) if _composed(entry) == _composed(name)]
    return joined(folder, same[0]) if same else None


def _names(folder: bytes) -> list[bytes]:
    with os.scandir(folder) as listing:
        return [entry.name for entry in listing]


def _composed(name: bytes) -> str:
    return compose(name.decode("utf-8", "surrogateescape"))
