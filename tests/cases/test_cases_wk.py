"""Walking and ignore rules: faults that users of such products met, as far as listing and reading go."""

import multiprocessing
import os
import shutil
import socket
import tempfile
from pathlib import Path

import pytest

from second_brain.protocols import Scan
from second_brain.sources.markdown import MarkdownSource
from second_brain.sources.walking import scan_folder

NOBODY = 65534


def scan(root: Path, **settings: object) -> Scan:
    return MarkdownSource("v", root, **settings).scan()


def relatives(found: Scan) -> list[str]:
    return [item.relative for item in found.items]


def write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")


def test_wk_1_trailing_slash_in_a_nested_gitignore(tmp_path):
    """``build/`` is a folder at any depth below its ignore file, never a file, never only the first level."""
    write(tmp_path, "pkg/build/o.js", "pkg/tools/build/o.js", "pkg/src/build.js", "pkg/src/build")
    (tmp_path / "pkg" / ".gitignore").write_text("build/\n")
    found = scan_folder(
        os.fsencode(tmp_path),
        source="v",
        media_type=lambda name: "text/javascript",
        excluded=lambda path: False,
        other_roots=(),
        now_ns=0,
    )
    assert relatives(found) == ["pkg/src/build", "pkg/src/build.js"]
    assert found.skipped == {"ignored": 2}


def test_wk_3_links_to_a_parent_and_to_itself(tmp_path):
    """The walk ends and lists the note once; the links are counted."""
    write(tmp_path, "a/n.md")
    (tmp_path / "a" / "up").symlink_to("..")
    (tmp_path / "self").symlink_to(".")
    found = scan(tmp_path)
    assert relatives(found) == ["a/n.md"]
    assert found.skipped == {"link": 2}


def list_and_read(root: str, answer: "multiprocessing.SimpleQueue[object]") -> None:
    source = MarkdownSource("v", Path(root))
    found = source.scan()
    answer.put((relatives(found), dict(found.skipped or {}), [source.read(item).data for item in found.items]))


def test_wk_5_pipes_sockets_and_endless_devices(tmp_path, monkeypatch):
    """A pipe in place of a note or an ignore file blocks nothing: done within 20 seconds, all counted."""
    write(tmp_path, "n.md")
    os.mkfifo(tmp_path / "p.md")
    os.mkfifo(tmp_path / ".gitignore")
    (tmp_path / "zero.md").symlink_to("/dev/zero")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s.md")
        context = multiprocessing.get_context("spawn")
        answer = context.SimpleQueue()
        worker = context.Process(target=list_and_read, args=(str(tmp_path), answer))
        worker.start()
        worker.join(20)
        hung = worker.is_alive()
        worker.kill()
        worker.join()
    assert not hung
    assert answer.get() == (["n.md"], {"pipe": 1, "socket": 1, "link": 1}, [b"n.md"])


def test_wk_6_an_unreadable_folder(monkeypatch):
    """The others are listed, the folder is named in a failure, and its prefix is unlisted: not deleted."""
    root = Path(tempfile.mkdtemp())  # pytest's own folder is closed to other users
    try:
        root.chmod(0o755)
        write(root, "a.md", "locked/b.md", "z/c.md")
        assert relatives(scan(root)) == ["a.md", "locked/b.md", "z/c.md"]
        (root / "locked").chmod(0)
        privileged = os.geteuid() == 0
        if privileged:
            os.seteuid(NOBODY)
        try:
            found = scan(root)
        finally:
            if privileged:
                os.seteuid(0)
        assert relatives(found) == ["a.md", "z/c.md"]
        assert found.unlisted == ("v/locked/",)
        assert [(failure.uri, failure.kind) for failure in found.failures] == [("v/locked/", "walk")]
        assert "Permission denied" in found.failures[0].message
    finally:
        (root / "locked").chmod(0o755)
        shutil.rmtree(root)


def test_wk_7_a_source_inside_another(tmp_path):
    """Each note is listed by one source, the one whose root is nearest; without the inner one, by the outer."""
    write(tmp_path, "v/n.md", "v/sub/n.md", "v/sub/deep/m.md")
    outer = MarkdownSource("v", tmp_path / "v", skip_dirs=[tmp_path / "v" / "sub"])
    inner = MarkdownSource("sub", tmp_path / "v" / "sub", skip_dirs=[tmp_path / "v"])
    assert [item.uri for source in (outer, inner) for item in source.scan().items] == [
        "v/n.md",
        "sub/deep/m.md",
        "sub/n.md",
    ]
    assert relatives(scan(tmp_path / "v")) == ["n.md", "sub/deep/m.md", "sub/n.md"]


@pytest.mark.parametrize("link", ["v/sub", "link to sub"])
def test_wk_7_the_inner_source_is_known_by_any_path(tmp_path, link):
    """Its root may have been added through a link."""
    write(tmp_path, "v/n.md", "v/sub/n.md")
    (tmp_path / "link to sub").symlink_to("v/sub")
    assert relatives(scan(tmp_path / "v", skip_dirs=[tmp_path / link])) == ["n.md"]


def test_wk_9_editor_temp_files(tmp_path):
    """While an editor saves, and after, only the note is listed, with its new text."""
    write(tmp_path, "n.md.tmp", ".#n.md", "n.md~", "4913", ".n.md.swp", ".trash/old.md", ".obsidian/workspace.json")
    assert relatives(scan(tmp_path)) == []
    (tmp_path / "n.md.tmp").rename(tmp_path / "n.md")
    source = MarkdownSource("v", tmp_path)
    (item,) = source.scan().items
    assert (item.uri, source.read(item).data) == ("v/n.md", b"n.md.tmp")
