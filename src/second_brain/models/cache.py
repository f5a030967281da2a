"""Folders of built files, each whole or absent.

A folder is built under another name beside its place, written through to the disk, listed with the sizes of
its files in a manifest, and only then renamed. So a folder with a manifest was once whole; when a file has
vanished or changed its size since, that folder alone is built anew. Processes that build the same folder at
once do no harm: one of the results is kept.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from ..errors import ModelError

MANIFEST = "manifest.json"

_ABANDONED_AFTER_S = 3600


def built_folder(cache_dir: Path, name: str, build: Callable[[Path], None], *, renew: bool = False) -> Path:
    """The folder ``cache_dir/name``, built by ``build(folder)`` unless it is there and whole.

    ``name`` must change whenever the content would: it is the key. ``renew`` builds even so (for content that
    proved unusable). Checking a whole folder costs a few calls of stat and writes nothing, so a read-only
    cache will do once it is filled.
    Raises ModelError when the cache cannot be written, is full, or does not keep what was written.
    """
    target = cache_dir / name
    if not renew and _is_whole(target):
        return target
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(cache_dir)
        fresh = Path(tempfile.mkdtemp(prefix=f".{name}-", suffix=".part", dir=cache_dir))
        try:
            build(fresh)
            _seal(fresh)
            _put(fresh, target, replace=renew)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    except OSError as error:
        raise ModelError(
            f"the model {name} cannot be built in {cache_dir}: {error.strerror or error}",
            hint="make the folder writable with 100 MB free, or choose another folder for models",
        ) from error
    if not _is_whole(target):
        raise ModelError(
            f"the model cache {cache_dir} does not keep what is written: {name} is damaged right after building",
            hint="check that disk, or choose another folder for models",
        )
    return target


def _is_whole(folder: Path) -> bool:
    """Whether every file of the manifest is there with its size."""
    try:
        sizes = json.loads((folder / MANIFEST).read_bytes())["files"]
        return all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _seal(folder: Path) -> None:
    """Write the manifest, and everything through to the disk."""
    sizes = {path.name: path.stat().st_size for path in sorted(folder.iterdir())}
    (folder / MANIFEST).write_text(json.dumps({"files": sizes}, indent=1), encoding="utf-8")
    for path in folder.iterdir():
        with path.open("r+b") as file:
            os.fsync(file.fileno())
    _sync_folder(folder)


def _put(fresh: Path, target: Path, *, replace: bool) -> None:
    """Rename ``fresh`` to ``target``, moving a damaged one away; a whole one stays unless ``replace``."""
    for _ in range(10):
        try:
            fresh.rename(target)
        except OSError:
            if not target.exists():
                raise
        else:
            _sync_folder(target.parent)
            return
        if not replace and _is_whole(target):
            return  # another process was faster
        aside = fresh.with_suffix(".old")
        try:
            target.rename(aside)
        except FileNotFoundError:
            continue  # another process moved it away
        shutil.rmtree(aside, ignore_errors=True)
    raise OSError(f"{target} is replaced by other processes again and again")


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # a folder cannot be opened there; renames are journalled
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_abandoned(cache_dir: Path) -> None:
    """Remove the half-built folders of processes that were killed."""
    for part in (*cache_dir.glob(".*.part"), *cache_dir.glob(".*.old")):
        try:
            abandoned = time.time() - part.stat().st_mtime > _ABANDONED_AFTER_S
        except FileNotFoundError:
            continue  # another process removed it
        if abandoned:
            shutil.rmtree(part, ignore_errors=True)
