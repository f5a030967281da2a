"""What the system tells of folders, and who listens to it."""

from __future__ import annotations

import time

import pytest

from second_brain.watching import listening
from second_brain.watching.listening import CannotListen, Happening, Listener, as_named
from second_brain.watching.presence import claimed, watching
from second_brain.watching.watcher import own_file


def test_a_listener_tells_of_its_folders_and_of_no_others(tmp_path):
    """Nothing below them, and nothing behind a link."""
    root, elsewhere = tmp_path / "root", tmp_path / "elsewhere"
    for folder in (root / "sub/left", elsewhere):
        folder.mkdir(parents=True)
    (root / "link").symlink_to(elsewhere)
    heard: list[Happening] = []
    folders = [bytes(folder) for folder in (root, root / "sub")]
    listener = Listener(folders, told=heard.extend, ended=lambda reason: None)
    try:
        for name in ("sub/left/a.md", "link/b.md", "sub/c.md", "d.md"):
            (root / name).write_text("x")
        ends = time.monotonic() + 10
        while not any(happening.path == bytes(root / "d.md") for happening in heard) and time.monotonic() < ends:
            time.sleep(0.02)
    finally:
        listener.stop()
    assert {happening.path for happening in heard} == {bytes(root / "sub/c.md"), bytes(root / "d.md")}


def test_where_the_system_watches_trees_the_root_is_enough(tmp_path, monkeypatch):
    """As on macOS and Windows: what happens deep below it is told, under the name that the root has."""
    monkeypatch.setattr(listening, "RECURSIVE", True)
    (tmp_path / "real/sub/deep").mkdir(parents=True)
    root = tmp_path / "root"
    root.symlink_to(tmp_path / "real")
    heard: list[Happening] = []
    listener = Listener([bytes(root), bytes(root / "sub")], told=heard.extend, ended=lambda reason: None)
    try:
        (root / "sub/deep/a.md").write_text("x")
        ends = time.monotonic() + 10
        while not heard and time.monotonic() < ends:
            time.sleep(0.02)
    finally:
        listener.stop()
    assert {happening.path for happening in heard} == {bytes(root / "sub/deep/a.md")}


def test_paths_behind_a_linked_root_are_named_as_the_root_is():
    """Only those; a folder whose name begins alike is another one."""
    for told, named in (
        (b"/private/v", b"/v"),
        (b"/private/v/a.md", b"/v/a.md"),
        (b"/private/vault", b"/private/vault"),
    ):
        assert as_named(told, b"/private/v", b"/v") == named


def test_a_folder_that_is_gone_cannot_be_listened_to(tmp_path):
    """It is said to be gone, so that the folders are listed again."""
    with pytest.raises(CannotListen) as caught:
        Listener([bytes(tmp_path / "none")], told=lambda happenings: None, ended=lambda reason: None)
    assert caught.value.trouble == "gone"


def test_who_watches_is_known_until_they_end(tmp_path):
    """And nobody else may meanwhile; what one that was killed left behind says nothing."""
    index = tmp_path / "index.db"
    assert watching(index) is None
    with claimed(index) as first:
        assert first
        with claimed(index) as second:
            assert not second
    index.with_name("index.db.watch.json").write_text('{"pid": 1, "since": "2031-01-01T00:00:00Z", "polling": {}}')
    assert watching(index) is None


OURS = (
    "index.db",
    "index.db-wal",
    "index.db.vectors",
    "index.g2.db-shm",
    "index.db.watch.json",
    "index.generations.json",
)


@pytest.mark.parametrize("name", OURS)
def test_files_of_the_index_are_our_own(tmp_path, name):
    """In its folder, however that is reached; a note of that name is none."""
    index = tmp_path / "home/index.db"
    index.parent.mkdir()
    (tmp_path / "link").symlink_to(index.parent)
    assert own_file(index, bytes(index.parent / name))
    assert own_file(index, bytes(tmp_path / "link" / name))
    assert not own_file(index, bytes(tmp_path / name))
    for other in ("index.md", "index.html", "my index.db"):
        assert not own_file(index, bytes(index.parent / other))
