"""Folders of built files: whole or absent, whatever happens in between."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from second_brain.errors import ModelError
from second_brain.models.cache import MANIFEST, built_folder


class Builder:
    """Writes two files and counts how often."""

    def __init__(self, content: bytes = b"x" * 5000) -> None:
        self.content = content
        self.calls = 0

    def __call__(self, folder: Path) -> None:
        self.calls += 1
        (folder / "big.bin").write_bytes(self.content)
        (folder / "small.txt").write_text("small")


def _tree(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_folder_is_built_once_and_then_found(tmp_path: Path):
    """The second call finds what the first one built; nothing else is left in the cache."""
    build = Builder()
    cache = tmp_path / "not" / "there yet"
    folder = built_folder(cache, "model-1", build)
    assert built_folder(cache, "model-1", build) == folder == cache / "model-1"
    assert build.calls == 1
    assert _tree(cache) == ["model-1", "model-1/big.bin", f"model-1/{MANIFEST}", "model-1/small.txt"]


@pytest.mark.parametrize("damage", ["truncate", "delete a file", "delete the manifest", "garble the manifest"])
def test_a_damaged_folder_is_renewed_once_and_its_neighbours_stay(tmp_path: Path, damage: str):
    """VE-9: a file cut to 1 kB, or missing, is noticed; only this model's folder is built anew."""
    build, other = Builder(), Builder()
    folder = built_folder(tmp_path, "model-1", build)
    neighbour = built_folder(tmp_path, "model-2", other)
    stamp = (neighbour / "big.bin").stat().st_mtime_ns
    match damage:
        case "truncate":
            os.truncate(folder / "big.bin", 1024)
        case "delete a file":
            (folder / "small.txt").unlink()
        case "delete the manifest":
            (folder / MANIFEST).unlink()
        case _:
            (folder / MANIFEST).write_text('["files"]')
    assert built_folder(tmp_path, "model-1", build) == folder
    assert built_folder(tmp_path, "model-1", build) == folder
    assert (build.calls, other.calls) == (2, 1)
    assert (folder / "big.bin").read_bytes() == build.content
    assert (neighbour / "big.bin").stat().st_mtime_ns == stamp
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model-1", "model-2"]


def test_an_emptied_folder_is_renewed(tmp_path: Path):
    """VE-9: the folder is there, its files are not."""
    build = Builder()
    (tmp_path / "model-1").mkdir()
    folder = built_folder(tmp_path, "model-1", build)
    assert (folder / "big.bin").read_bytes() == build.content


def test_renew_replaces_a_folder_whose_sizes_are_right(tmp_path: Path):
    """Content that proved unusable is built anew on demand."""
    built_folder(tmp_path, "model-1", Builder(b"a" * 5000))
    folder = built_folder(tmp_path, "model-1", Builder(b"b" * 5000), renew=True)
    assert (folder / "big.bin").read_bytes() == b"b" * 5000
    assert [path.name for path in tmp_path.iterdir()] == ["model-1"]


def test_a_build_that_fails_leaves_nothing(tmp_path: Path):
    """The builder's own error passes, and no half-built folder stays."""

    def build(folder: Path) -> None:
        (folder / "big.bin").write_bytes(b"half")
        raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        built_folder(tmp_path, "model-1", build)
    assert list(tmp_path.iterdir()) == []


def test_whoever_finishes_first_wins_and_the_other_takes_it(tmp_path: Path):
    """A second builder that finds a whole folder in its place keeps that one."""

    def slow(folder: Path) -> None:
        built_folder(tmp_path, "model-1", Builder(b"first"))
        (folder / "big.bin").write_bytes(b"second")

    folder = built_folder(tmp_path, "model-1", slow)
    assert (folder / "big.bin").read_bytes() == b"first"
    assert [path.name for path in tmp_path.iterdir()] == ["model-1"]


def test_what_a_killed_process_left_is_removed_after_an_hour(tmp_path: Path):
    """Half-built folders of long ago go; young ones may belong to a process at work."""
    old, young, foreign = tmp_path / ".model-1-abc.part", tmp_path / ".model-1-def.part", tmp_path / ".keep"
    for folder in (old, young, foreign):
        folder.mkdir()
        (folder / "big.bin").write_bytes(b"x")
    long_ago = time.time() - 7200
    os.utime(old, (long_ago, long_ago))
    os.utime(foreign, (long_ago, long_ago))
    built_folder(tmp_path, "model-1", Builder())
    assert sorted(path.name for path in tmp_path.iterdir()) == [".keep", ".model-1-def.part", "model-1"]


def test_a_cache_that_is_a_file_is_a_clear_error(tmp_path: Path):
    """The message names the folder and the reason, the hint what to do."""
    blocked = tmp_path / "models"
    blocked.write_text("a file")
    with pytest.raises(ModelError, match="models") as caught:
        built_folder(blocked, "model-1", Builder())
    assert "another folder" in caught.value.hint


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_cache_is_a_clear_error(tmp_path: Path):
    """An empty cache that cannot be written names the folder; a filled one is simply used."""
    folder = built_folder(tmp_path, "model-1", Builder())
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        assert built_folder(tmp_path, "model-1", Builder()) == folder
        with pytest.raises(ModelError, match="Permission denied"):
            built_folder(tmp_path, "model-2", Builder())
    finally:
        tmp_path.chmod(stat.S_IRWXU)


def test_a_full_disk_is_a_clear_error_and_leaves_nothing(tmp_path: Path):
    """No room: ModelError, no half-built folder."""

    def build(folder: Path) -> None:
        (folder / "big.bin").write_bytes(b"half")
        raise OSError(28, "No space left on device")

    with pytest.raises(ModelError, match="No space left"):
        built_folder(tmp_path, "model-1", build)
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_loses_what_is_written_is_reported_not_tried_for_ever(tmp_path: Path):
    """Damaged right after building: one attempt, one error."""

    class Losing(Builder):
        def __call__(self, folder: Path) -> None:
            super().__call__(folder)
            # Dangling as soon as the folder gets its name: a file that is lost after it was written.
            (folder / "lost.bin").symlink_to(folder / "big.bin")

    build = Losing()
    with pytest.raises(ModelError, match="does not keep"):
        built_folder(tmp_path, "model-1", build)
    assert build.calls == 1


def test_processes_that_build_at_once_do_no_harm(tmp_path: Path):
    """Four processes over a damaged folder: each ends with a whole one, nothing else stays."""
    built_folder(tmp_path, "model-1", Builder())
    os.truncate(tmp_path / "model-1" / "big.bin", 10)
    code = (
        "import sys, pathlib; from second_brain.models.cache import built_folder\n"
        "def build(folder): (folder / 'big.bin').write_bytes(b'y' * 3_000_000)\n"
        "folder = built_folder(pathlib.Path(sys.argv[1]), 'model-1', build)\n"
        "assert (folder / 'big.bin').read_bytes() == b'y' * 3_000_000\n"
    )
    children = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)]) for _ in range(4)]
    assert [child.wait(timeout=60) for child in children] == [0] * 4
    assert [path.name for path in tmp_path.iterdir()] == ["model-1"]
