import json
import os
import shutil
import socket
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from second_brain.errors import SourceError
from second_brain.protocols import Scan
from second_brain.sources import walking
from second_brain.sources.markdown import MarkdownSource
from second_brain.types import Failure


def scan(root: Path, **settings: object) -> Scan:
    return MarkdownSource("n", root, **settings).scan()


def relatives(found: Scan) -> list[str]:
    return [item.relative for item in found.items]


# -- what is listed ----------------------------------------------------------------------------------------


def test_items_say_where_they_are_and_when_they_changed(tmp_path, grow):
    """Uri, source, path, type, size and time of one file."""
    grow(tmp_path, ("a/b.md", "12345"))
    os.utime(tmp_path / "a" / "b.md", (1_900_000_000, 1_900_000_000))
    (item,) = scan(tmp_path).items
    assert (item.uri, item.source, item.relative) == ("n/a/b.md", "n", "a/b.md")
    assert (item.path, item.media_type, item.size) == (str(tmp_path / "a" / "b.md"), "text/markdown", 5)
    assert item.modified.isoformat() == "2030-03-17T17:46:40+00:00"


def test_the_order_is_that_of_uris_not_of_folders(tmp_path, grow):
    """``a-b`` comes before ``a/b``, whatever order the disk has."""
    grow(tmp_path, "b.md", "a/b.md", "a-b.md", "a.md", "a/a/z.md")
    assert relatives(scan(tmp_path)) == ["a-b.md", "a.md", "a/a/z.md", "a/b.md", "b.md"]


def test_odd_but_legal_names_are_listed_as_they_are(tmp_path, grow):
    """Percent, hash, brackets, question mark, quotes, backslash, newline, emoji, and 84 kana (255 bytes)."""
    names = [
        "50% plan #2 [draft].md",
        "a?b&c=d.md",
        "会議 メモ.md",
        "q\"'.md",
        "back\\slash.md",
        "two\nlines.md",
        "🚰.md",
    ]
    names.append("あ" * 84 + ".md")
    grow(tmp_path, *names)
    found = scan(tmp_path)
    assert sorted(relatives(found)) == sorted(names)
    source = MarkdownSource("n", tmp_path)
    assert [source.read(item).data.decode() for item in found.items] == relatives(found)


def test_names_that_differ_in_case_only_are_two_files(tmp_path, grow):
    """On a disk that keeps them apart, so do we."""
    grow(tmp_path, "A.md", "Sub/n.md")
    if (tmp_path / "a.md").exists():
        pytest.skip("this disk takes both for one")
    grow(tmp_path, "a.md", "sub/n.md")
    assert relatives(scan(tmp_path)) == ["A.md", "Sub/n.md", "a.md", "sub/n.md"]


def test_both_unicode_forms_of_a_folder_stay_apart(tmp_path, grow):
    """Two folders whose names look alike keep their own notes, and each note reads as its own text."""
    composed, decomposed = "Café", unicodedata.normalize("NFD", "Café")
    grow(tmp_path, (f"{composed}/n.md", "one"), (f"{decomposed}/n.md", "other"))
    source = MarkdownSource("n", tmp_path)
    texts = {item.relative: source.read(item).data for item in source.scan().items}
    assert texts == {f"{composed}/n.md": b"one", f"{decomposed}/n.md": b"other"}


@contextmanager
def nested_folders(root: Path, name: str, depth: int) -> Iterator[int]:
    """Folders in folders, deeper than a path can name; a handle of the innermost."""
    handle = os.open(root, os.O_RDONLY)
    try:
        for _ in range(depth):
            os.mkdir(name, dir_fd=handle)
            inner = os.open(name, os.O_RDONLY, dir_fd=handle)
            os.close(handle)
            handle = inner
        yield handle
    finally:
        os.close(handle)
        subprocess.run(["rm", "-rf", str(root / name)], check=True)


def test_a_deep_tree_is_listed_without_recursion(tmp_path):
    """More levels than Python's stack has."""
    depth = sys.getrecursionlimit() + 50
    with nested_folders(tmp_path, "d", depth) as innermost:
        os.close(os.open("n.md", os.O_WRONLY | os.O_CREAT, dir_fd=innermost))
        assert relatives(scan(tmp_path)) == ["d/" * depth + "n.md"]


def test_a_path_longer_than_the_system_allows_is_told(tmp_path):
    """Below such a folder nothing can be seen; the rest is listed."""
    (tmp_path / "n.md").touch()
    with nested_folders(tmp_path, "d" * 200, 25):  # 25 x 200 bytes: more than 4,096
        found = scan(tmp_path)
    assert relatives(found) == ["n.md"]
    (failure,) = found.failures
    assert "File name too long" in failure.message
    assert found.unlisted == (failure.uri,)


# -- what is passed over -----------------------------------------------------------------------------------


def test_what_is_no_note_is_not_listed(tmp_path, grow):
    """Hidden names, what editors leave behind, and files of other types."""
    grow(tmp_path, "n.md", ".n.md", ".trash/old.md", ".obsidian/x.md", "~$n.md", "n.md~", "#n.md#", "n.md.tmp")
    grow(tmp_path, ".#n.md", ".n.md.swp", "4913", "pic.png", "md", "n.mdx", "tmp/ok.md", ".DS_Store")
    found = scan(tmp_path)
    assert relatives(found) == ["n.md", "tmp/ok.md"]
    assert found.skipped == {}


def test_links_are_counted_and_not_followed(tmp_path, grow):
    """To files, to folders, to nothing and in a circle."""
    grow(tmp_path, "n.md", "a/m.md")
    for name, target in {"l.md": "n.md", "a/up": "..", "self": ".", "dead.md": "none", "ab": "ba", "ba": "ab"}.items():
        (tmp_path / name).symlink_to(target)
    found = scan(tmp_path)
    assert relatives(found) == ["a/m.md", "n.md"]
    assert found.skipped == {"link": 6}


def test_special_files_are_counted_and_not_opened(tmp_path, monkeypatch):
    """A pipe would block for ever; a socket and a pipe are counted by kind."""
    (tmp_path / "n.md").touch()
    os.mkfifo(tmp_path / "p.md")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s.md")
        found = scan(tmp_path)
    assert relatives(found) == ["n.md"]
    assert found.skipped == {"pipe": 1, "socket": 1}


def test_a_device_is_counted(tmp_path):
    """A device node with a note's name is not read."""
    try:
        os.mknod(tmp_path / "d.md", 0o600 | 0o020000, os.makedev(1, 5))  # /dev/zero
    except PermissionError:
        pytest.skip("only root makes devices")
    assert scan(tmp_path).skipped == {"device": 1}


def test_repositories_inside_are_counted_and_not_entered(tmp_path, grow):
    """``.git`` as a folder or, for submodules, as a file; the root itself may be a repository."""
    grow(tmp_path, "n.md", "one/n.md", "two/n.md", ("two/.git", "gitdir: ../.git/modules/two"))
    (tmp_path / "one" / ".git").mkdir()
    (tmp_path / ".git").mkdir()
    found = scan(tmp_path)
    assert relatives(found) == ["n.md"]
    assert found.skipped == {"repository": 2}


def test_folders_of_other_sources_are_theirs(tmp_path, grow):
    """Named by any path that leads there; one that is missing, or that is the root, changes nothing."""
    grow(tmp_path, "v/n.md", "v/sub/n.md", "v/other/n.md", "w/n.md")
    (tmp_path / "link").symlink_to("v/other")
    roots = [tmp_path / "v" / "sub", tmp_path / "link", tmp_path / "v", tmp_path / "none", tmp_path / "w"]
    found = scan(tmp_path / "v", skip_dirs=roots)
    assert relatives(found) == ["n.md"]
    assert found.skipped == {"other source": 2}


def test_what_rules_leave_out_is_counted(tmp_path, grow):
    """By ignore files and by the source's own settings; a folder counts once."""
    grow(tmp_path, "a.md", "b.md", "c/1.md", "c/2.md", "d.md", "d.png", (".gitignore", "b.md\nc/\n*.png"))
    found = scan(tmp_path, exclude=["d.md"])
    assert relatives(found) == ["a.md"]
    assert found.skipped == {"ignored": 2, "excluded": 1}


# -- what cannot be seen now -------------------------------------------------------------------------------


def test_an_unreadable_folder_is_told_and_kept(open_folder, grow, without_privileges):
    """WK-6: the others are listed, the failure names the folder, and what the index holds below is kept."""
    grow(open_folder, "a.md", "locked/b.md", "z/c.md")
    (open_folder / "locked").chmod(0)
    with without_privileges():
        found = scan(open_folder)
    assert relatives(found) == ["a.md", "z/c.md"]
    assert found.unlisted == ("n/locked/",)
    reason = "the folder cannot be listed: Permission denied; what the index holds of it is kept"
    assert found.failures == (Failure("n/locked/", "walk", reason),)


def test_a_folder_that_may_be_listed_but_not_entered_is_told(open_folder, grow, without_privileges):
    """Without the right to search it, names are seen and their files are not."""
    grow(open_folder, "a.md", "half/b.md")
    (open_folder / "half").chmod(0o744)
    with without_privileges():
        found = scan(open_folder)
    assert relatives(found) == ["a.md"]
    assert found.unlisted == ("n/half/b.md",)
    assert found.failures[0].message.startswith("cannot be examined: Permission denied")


def test_names_that_are_not_utf8_are_told(tmp_path):
    """They cannot be named in the index: notes and folders are failures, other files are none of ours."""
    (tmp_path / "a.md").touch()
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/dir\xe9")).mkdir()
    except OSError:
        pytest.skip("this disk refuses such names")
    for name in (b"/caf\xe9.md", b"/caf\xe9.png", b"/dir\xe9/n.md"):
        os.close(os.open(os.fsencode(tmp_path) + name, os.O_CREAT | os.O_WRONLY))
    found = scan(tmp_path)
    assert relatives(found) == ["a.md"]
    assert sorted(failure.uri for failure in found.failures) == ["n/caf\\xe9.md", "n/dir\\xe9"]
    assert {failure.kind for failure in found.failures} == {"walk"}


def test_a_note_that_icloud_took_away_is_kept(tmp_path, grow):
    """SY-10: the stub stands for the note, which is unlisted and not deleted; a stub beside its note is stale."""
    grow(tmp_path, "a.md", "sub/.n2.md.icloud", ".a.md.icloud", ".pic.png.icloud", ".out.md.icloud")
    grow(tmp_path, (".gitignore", "out.md"))
    found = scan(tmp_path)
    assert relatives(found) == ["a.md"]
    assert found.unlisted == ("n/sub/n2.md",)
    assert found.skipped == {"not downloaded": 1, "ignored": 1}


def test_a_note_marked_as_not_downloaded_is_kept(tmp_path, grow, monkeypatch):
    """macOS and Windows mark it; it is unlisted without being opened."""
    grow(tmp_path, ("a.md", "text"), ("cloud.md", "longer text"))
    monkeypatch.setattr(walking, "is_placeholder", lambda status: status.st_size == len("longer text"))
    found = scan(tmp_path)
    assert relatives(found) == ["a.md"]
    assert found.unlisted == ("n/cloud.md",)
    assert found.skipped == {"not downloaded": 1}


# -- the root ----------------------------------------------------------------------------------------------


def test_a_root_that_is_a_link_is_followed(tmp_path, grow):
    """The user named it; paths keep the name that the user knows."""
    grow(tmp_path, "real/n.md")
    (tmp_path / "link").symlink_to("real")
    (item,) = scan(tmp_path / "link").items
    assert item.path == str(tmp_path / "link" / "n.md")


def test_a_root_that_is_a_file_is_refused(tmp_path):
    """The message names it and the hint says what to give."""
    (tmp_path / "n.md").touch()
    with pytest.raises(SourceError, match=r"source 'n': .*/n\.md is not a folder") as failure:
        scan(tmp_path / "n.md")
    assert failure.value.hint == "give the folder that holds the files"


def test_an_unreadable_root_is_refused_with_the_command_that_helps(open_folder, without_privileges):
    """Not an empty listing, which would delete everything."""
    root = open_folder / "v"
    root.mkdir(mode=0o700)
    if os.geteuid() != 0:
        root.chmod(0)
    with without_privileges(), pytest.raises(SourceError, match="cannot be listed: Permission denied") as failure:
        scan(root)
    assert failure.value.hint == f"give this user the right to read it: chmod u+rx '{root}'"


def test_a_root_that_goes_away_during_the_scan_is_a_source_error(tmp_path, grow, monkeypatch):
    """SY-1: an unplugged disk answers with folders that do not exist; that is no deletion."""
    root = tmp_path / "v"
    grow(root, "a/n.md", "b/n.md")
    list_folder = os.scandir

    def unplug(path: bytes) -> object:
        if path != os.fsencode(root) and root.exists():
            root.rename(tmp_path / "away")
        return list_folder(path)

    monkeypatch.setattr(os, "scandir", unplug)
    with pytest.raises(SourceError, match="went away while it was being listed"):
        scan(root)


def test_a_root_replaced_by_another_folder_during_the_scan_is_a_source_error(tmp_path, grow, monkeypatch):
    """An unmounted disk leaves an empty folder of the same name: device and inode tell the two apart."""
    root = tmp_path / "v"
    grow(root, "a/n.md")
    list_folder = os.scandir

    def unmount(path: bytes) -> object:
        if path != os.fsencode(root) and (root / "a").exists():
            root.rename(tmp_path / "away")
            root.mkdir()
        return list_folder(path)

    monkeypatch.setattr(os, "scandir", unmount)
    with pytest.raises(SourceError, match="went away"):
        scan(root)


def test_what_is_deleted_during_the_scan_is_simply_not_listed(tmp_path, grow):
    """A folder and a file that vanish between listing and looking are no failures."""
    grow(tmp_path, "a/n.md", "b/n.md", "c.md")

    def delete(path: str) -> bool:
        if path == "a/":
            shutil.rmtree(tmp_path / "a")
        if path == "c.md":
            (tmp_path / "c.md").unlink()
        return False

    found = walking.scan_folder(
        os.fsencode(tmp_path),
        source="n",
        media_type=lambda name: "text/markdown",
        excluded=delete,
        other_roots=(),
        now_ns=0,
    )
    assert (relatives(found), found.failures, found.unlisted) == (["b/n.md"], (), ())


# -- locale and speed --------------------------------------------------------------------------------------

SCAN_AND_READ = """
import json, sys
from pathlib import Path
from second_brain.sources.markdown import MarkdownSource
encoding = sys.getfilesystemencoding()
roots = [Path(sys.argv[1]), Path(json.loads(sys.argv[2]))]
answers = []
for root in roots:
    source = MarkdownSource("n", root, skip_dirs=[root / "skip"])
    found = [(item.uri, item.path, source.read(item).data.decode("utf-8")) for item in source.scan().items]
    answers.append(found)
print(json.dumps([encoding, answers]))
"""


def test_the_locale_changes_nothing(tmp_path, grow):
    """EN-5: under an ASCII locale uris, paths and bytes are those of UTF-8, for a root given either way.

    A root that comes as an argument holds stand-ins for its bytes, one from a settings file plain letters.
    """
    root = tmp_path / "金庫"
    grow(
        root,
        ("会議/メモ.md", "排水"),
        ("か\u3099.md", "濁点"),
        ("plain.md", "plain"),
        "skip/n.md",
        ("会議/.gitignore", "無.md"),
    )
    grow(root, "会議/無.md")
    source = MarkdownSource("n", root, skip_dirs=[root / "skip"])
    here = [[item.uri, item.path, source.read(item).data.decode("utf-8")] for item in source.scan().items]
    assert [uri for uri, _, _ in here] == ["n/plain.md", "n/が.md", "n/会議/メモ.md"]
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-c", SCAN_AND_READ, str(root), json.dumps(str(root))]
    done = subprocess.run(command, env=environment, capture_output=True, check=True)
    encoding, answers = json.loads(done.stdout)
    assert encoding in ("ascii", "utf-8")  # macOS and Windows have no ASCII mode
    assert answers == [here, here]
