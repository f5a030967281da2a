"""Files of other machines stay in the folder of their source, whatever they are called, and are there whole or not."""

from __future__ import annotations

import errno
import os
import subprocess
import unicodedata
from hashlib import blake2b
from pathlib import Path

import pytest

from second_brain.errors import DiskFull, UsageError
from second_brain.remote import receiving
from second_brain.remote.receiving import ReceivedSource
from second_brain.wire import SyncEntry, SyncFile

DAY_NS = 1_900_000_000_000_000_000


def sent(path: str, data: bytes = b"text", *, modified_ns: int = DAY_NS) -> SyncFile:
    return SyncFile(path, blake2b(data, digest_size=16).hexdigest(), modified_ns, data)


def entry(file: SyncFile) -> SyncEntry:
    return SyncEntry(file.path, file.hash, file.modified_ns)


def files_below(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def source(tmp_path: Path) -> ReceivedSource:
    made = ReceivedSource(tmp_path / "received" / "notes")
    made.claim("laptop")
    return made


@pytest.mark.parametrize(
    "path",
    [
        "", "/etc/passwd", "..", "../out.md", "a/../../out.md", "a/../b.md", "./a.md", "a//b.md", "a/", "/", ".",
        "a/./b.md", "nul\0.md", "half\ud800.md", "n" * 256 + ".md", "が" * 86 + ".md", "/".join(["d" * 200] * 18),
    ],
)  # fmt: skip
def test_a_hostile_name_is_refused_with_a_reason_and_leaves_nothing(
    path: str, source: ReceivedSource, tmp_path: Path
) -> None:
    """Nothing is written for a path that leads out, is absolute, too long or no text; the files beside it are taken."""
    stored, refused = source.store([sent("good.md"), sent(path), sent("also.md")])
    assert stored == 2
    assert list(refused) == [path]
    assert refused[path].startswith("its path ")
    outside = files_below(tmp_path) - {f"received/notes/{name}" for name in ("good.md", "also.md")}
    assert {name for name in outside if "/.state/" not in name} == set()


def test_names_of_all_kinds_stay_apart(source: ReceivedSource) -> None:
    """Letter case, Unicode forms, spaces, dots, quotes and backslashes make files of their own."""
    names = [
        "A.md", "a.md", "がく.md", unicodedata.normalize("NFD", "がく.md"), "é.md", "e\u0301.md", "a b .md", "...md",
        "'quoted \"name\".md", "back\\slash.md", "new\nline.md", "CON.md", "日記/2031-05-02.md", "-rf.md", "~/x.md",
        "a" * 252 + ".md",
    ]  # fmt: skip
    files = [sent(name, name.encode()) for name in names]
    assert source.store(files) == (len(names), {})
    assert {name: (source.root / name).read_bytes() for name in names} == {name: name.encode() for name in names}
    assert source.missing(map(entry, files)) == []


def test_a_name_that_the_disk_takes_for_another_one_overwrites_nothing(source: ReceivedSource) -> None:
    """Where the disk ignores letter case, the second of two names is refused: here a second link plays that disk."""
    source.store([sent("Pump.md", b"one")])
    os.link(source.root / "Pump.md", source.root / "pump.md")
    stored, refused = source.store([sent("pump.md", b"two")])
    assert (stored, refused) == (0, {"pump.md": "on the box's disk it would be the same file as 'Pump.md'"})
    assert (source.root / "Pump.md").read_bytes() == b"one"


def test_a_link_is_replaced_never_followed(source: ReceivedSource, tmp_path: Path) -> None:
    """Whoever put a link into the folder does not lead what is sent elsewhere."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mine.md").write_text("mine")
    (source.root / "link").symlink_to(outside)
    (source.root / "file.md").symlink_to(outside / "mine.md")
    assert source.store([sent("link/new.md"), sent("file.md")]) == (2, {})
    assert files_below(outside) == {"mine.md"}
    assert (outside / "mine.md").read_text() == "mine"
    assert (source.root / "link/new.md").read_bytes() == b"text"


def test_a_file_becomes_a_folder_and_a_folder_a_file(source: ReceivedSource) -> None:
    """What the sender turned into the other is the other here too, once what was in the folder is gone there."""
    source.store([sent("a", b"file")])
    assert source.store([sent("a/b.md")]) == (1, {})
    stored, refused = source.store([sent("a", b"file")])
    assert (stored, list(refused)) == (0, ["a"])
    assert source.forget(["a"]) == (1, 0, "")
    assert source.store([sent("a", b"file")]) == (1, {})


def test_what_is_here_is_known_by_hash_size_and_time(source: ReceivedSource) -> None:
    """A file counts as here while nobody touched it; another time at the sender is taken over without its bytes."""
    files = [sent("a.md", b"one"), sent("b.md", b"two"), sent("c.md", b"three")]
    source.store(files)
    (source.root / "a.md").write_bytes(b"ONE")
    (source.root / "b.md").unlink()
    again = ReceivedSource(source.root)
    later = SyncEntry("c.md", files[2].hash, DAY_NS + 5_000_000_000)
    assert again.missing([*map(entry, files[:2]), later, entry(sent("d.md"))]) == ["a.md", "b.md", "d.md"]
    assert (source.root / "c.md").stat().st_mtime_ns == DAY_NS + 5_000_000_000
    assert again.missing([later]) == []


def test_bytes_of_another_hash_are_not_taken(source: ReceivedSource) -> None:
    """A file that changed between its hash and its bytes is said so, and nothing is written."""
    file = sent("a.md")
    changed = SyncFile(file.path, file.hash, file.modified_ns, b"changed")
    stored, refused = source.store([changed, SyncFile("b.md", "../../x", DAY_NS, b"")])
    assert (stored, len(refused)) == (0, 2)
    assert files_below(source.root) == set()


def test_a_note_that_was_cut_off_is_no_note(source: ReceivedSource) -> None:
    """After a crash in mid-line the file is asked for again; lines behind it count."""
    file = sent("a.md")
    source.store([file])
    log = source.root.parent / receiving.STATE / "notes.jsonl"
    log.write_bytes(log.read_bytes()[:-20])
    again = ReceivedSource(source.root)
    assert again.missing([entry(file)]) == ["a.md"]
    again.store([file])
    assert ReceivedSource(source.root).missing([entry(file)]) == []


def test_most_of_a_source_missing_is_not_believed(source: ReceivedSource) -> None:
    """As when a folder is read: a list of nothing, or of less than half of many, removes nothing until told to."""
    source.store([sent(f"n{n}.md") for n in range(120)])
    gone, kept, why = source.forget([])
    assert (gone, kept) == (0, 120)
    assert "lists no files" in why
    gone, kept, why = source.forget([f"n{n}.md" for n in range(59)])
    assert (gone, kept) == (0, 61)
    assert "lists only 59 of 120" in why
    assert len(files_below(source.root)) == 120
    assert source.forget([f"n{n}.md" for n in range(61)]) == (59, 0, "")
    assert source.forget([], prune=True) == (61, 0, "")
    assert files_below(source.root) == set()


def test_what_the_sender_could_not_look_into_is_kept(source: ReceivedSource) -> None:
    """Files below a folder that was not listed stay; the others that are not named go, with their empty folders."""
    source.store([sent("locked/a.md"), sent("open/b.md"), sent("c.md")])
    assert source.forget(["c.md"], unlisted=["locked/"]) == (1, 1, "")
    assert files_below(source.root) == {"locked/a.md", "c.md"}
    assert not (source.root / "open").exists()


def test_a_full_disk_leaves_what_was_there(source: ReceivedSource, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to do; the file of before is whole, and nothing half-written lies about."""
    source.store([sent("a.md", b"before")])

    def full(*args: object, **options: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(receiving.os, "utime", full)
        with pytest.raises(DiskFull, match="no room"):
            source.store([sent("a.md", b"after")])
    assert (source.root / "a.md").read_bytes() == b"before"
    assert [path.name for path in (source.root.parent / receiving.STATE).iterdir() if "coming" in path.name] == []


def test_a_disk_that_fills_up_takes_the_rest_when_there_is_room(tmp_path: Path) -> None:
    """On a real disk of 256 kB: what came before is whole, the error names the room, and afterwards all is taken."""
    disk = tmp_path / "disk"
    disk.mkdir()
    options = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)]
    if os.name == "nt" or os.geteuid() != 0 or subprocess.run(options, capture_output=True).returncode:
        pytest.skip("mounting a small disk needs root")
    try:
        source = ReceivedSource(disk / "received" / "notes")
        source.claim("laptop")
        files = [sent(f"{n}.md", b"%d" % n * 50_000) for n in range(6)]
        with pytest.raises(DiskFull, match="no room"):
            source.store(files)
        again = ReceivedSource(source.root)
        missing = again.missing(map(entry, files))
        assert 0 < len(missing) < 6
        assert {path.stat().st_size for path in source.root.iterdir()} == {50_000}
        subprocess.run(["mount", "-o", "remount,size=1m", str(disk)], check=True)
        assert again.store([file for file in files if file.path in missing]) == (len(missing), {})
        assert again.missing(map(entry, files)) == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_what_a_killed_server_left_is_cleared_away(source: ReceivedSource) -> None:
    """A half-written file is no file of the source, and goes with the next request, unless it is being written now."""
    state = source.root.parent / receiving.STATE
    (state / "coming-old").write_bytes(b"half")
    (state / "coming-new").write_bytes(b"half")
    os.utime(state / "coming-old", (0, 0))
    source.claim("laptop")
    assert [path.name for path in state.glob("coming-*")] == ["coming-new"]


def test_two_folders_cannot_be_one_source(source: ReceivedSource) -> None:
    """Another machine's notes of the same name would delete these; when the source is forgotten the name is free."""
    source.store([sent("a.md")])
    other = ReceivedSource(source.root)
    with pytest.raises(UsageError, match="another folder or machine"):
        other.claim("desktop")
    ReceivedSource(source.root).claim("laptop")
    ReceivedSource.clear(source.root)
    assert not source.root.exists()
    free = ReceivedSource(source.root)
    free.claim("desktop")
    assert free.missing([entry(sent("a.md"))]) == ["a.md"]


def test_changes_wait_until_a_run_has_seen_them(source: ReceivedSource) -> None:
    """Also after a restart: only a run that began after the last change ends the waiting."""
    assert not source.waits
    source.store([sent("a.md")])
    seen = source.changes
    source.store([sent("b.md")])
    source.indexed(seen)
    assert ReceivedSource(source.root).waits
    source.indexed(source.changes)
    assert not ReceivedSource(source.root).waits


def test_notes_of_many_changes_are_made_short_again(source: ReceivedSource) -> None:
    """The list of what was noted does not grow with every change."""
    source.store([sent("a.md", b"0"), sent("a.md", b"1")])
    log = source.root.parent / receiving.STATE / "notes.jsonl"
    first, last = [line for line in log.read_bytes().splitlines() if line]
    log.write_bytes((first + b"\n") * 1_100 + last)
    again = ReceivedSource(source.root)
    assert log.read_bytes().splitlines() == [last]
    assert again.missing([entry(sent("a.md", b"1"))]) == []
