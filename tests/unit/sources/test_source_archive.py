from __future__ import annotations

import os
import shutil
import stat
import zlib
from pathlib import Path

import pytest
from session_records import OTHER, SESSION, claude, said_in, write_log

from second_brain.errors import ParseError, SourceError
from second_brain.sources import archive
from second_brain.sources.archive import Archived
from second_brain.sources.claude_sessions import ClaudeSessions
from second_brain.transcripts import decode

KEY = "AKIA" + "QWERTYUIOP234567"


@pytest.fixture
def make(tmp_path):
    """A source of sessions with an archive."""
    (tmp_path / "projects").mkdir()

    def made(limit_bytes=1_000_000, **options):
        return Archived(ClaudeSessions("agent", tmp_path / "projects", **options), tmp_path / "archive", limit_bytes)

    return made


@pytest.fixture
def log(tmp_path):
    """Write a log of one prompt."""

    def written(name, text="Why does it leak?", at=1_900_000_000):
        path = write_log(tmp_path / "projects" / name, claude("user", text))
        os.utime(path, (at, at))
        return path

    return written


def read_all(source):
    return {item.relative: decode(source.read(item).data) for item in source.scan().items}


def copies(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_log_that_is_gone_is_read_from_its_copy(make, log, tmp_path):
    """The same words, marked as archived; uri and time as before; the file is the owner's only."""
    path = log(f"p/{SESSION}.jsonl")
    (live,) = make().scan().items
    before = decode(make().read(live).data)
    path.unlink()
    source = make()
    (item,) = source.scan().items
    after = decode(source.read(item).data)
    assert (item.uri, item.modified, item.media_type) == (live.uri, live.modified, live.media_type)
    assert said_in(after) == said_in(before)
    assert (before.head.archived, after.head.archived) == (False, True)
    assert copies(tmp_path / "archive") == [f"p/{SESSION}.jsonl.z"]
    assert stat.S_IMODE(Path(item.path).stat().st_mode) == 0o600
    assert source.scan() == make().scan()
    log(f"p/{SESSION}.jsonl")
    assert [item.path for item in make().scan().items] == [live.path]


def test_what_was_left_out_stays_out(make, log):
    """Patterns that the settings gained later hold for copies too, also those for folders."""
    path = log(f"secret/{SESSION}.jsonl")
    read_all(make())
    path.unlink()
    assert len(make().scan().items) == 1
    assert make(exclude=["secret/"]).scan().items == ()
    assert make(include=["other/"]).scan().items == ()


def test_a_log_that_was_moved_is_not_listed_twice(make, log, tmp_path):
    """The name of a session is its own wherever its log lies; of two copies the newer one counts."""
    old = log(f"p/{SESSION}.jsonl", at=1_900_000_000)
    read_all(make())
    (tmp_path / "projects" / "q").mkdir()
    new = old.rename(tmp_path / "projects" / "q" / old.name)
    os.utime(new, (1_900_000_100, 1_900_000_100))
    assert list(read_all(make())) == [f"q/{SESSION}.jsonl"]
    new.unlink()
    assert list(read_all(make())) == [f"q/{SESSION}.jsonl"]


def test_other_logs_of_the_same_name_are_not_confused(make, log):
    """Names that are not unique say nothing."""
    log("p/a.jsonl", "one")
    path = log("q/a.jsonl", "two")
    read_all(make())
    path.unlink()
    assert [said_in(transcript)[0][1] for transcript in read_all(make()).values()] == ["one", "two"]


def test_a_store_that_is_gone_as_a_whole(make, log, tmp_path):
    """Its copies are listed, and why nothing else is; without copies it is an error as ever."""
    log(f"p/{SESSION}.jsonl")
    read_all(make())
    shutil.rmtree(tmp_path / "projects")
    scan = make().scan()
    assert len(scan.items) == 1
    assert "does not exist" in scan.failures[0].message
    shutil.rmtree(tmp_path / "archive")
    with pytest.raises(SourceError):
        make().scan()


def test_the_oldest_copies_go_when_the_limit_is_reached(make, log, tmp_path):
    """Whatever their order of reading; a copy that alone is over the limit is not made."""
    words = os.urandom(3_000).hex().translate(str.maketrans("0123456789", "ghijklmnop"))
    spaced = " ".join(words[at : at + 20] for at in range(0, 6_000, 20))
    for number in range(6):
        log(f"p/{number}.jsonl", spaced, at=1_900_000_000 - number)
    source = make(limit_bytes=12_000)
    read_all(source)
    left = copies(tmp_path / "archive")
    assert left == [f"p/{number}.jsonl.z" for number in range(len(left))]
    assert 1 <= len(left) < 6
    assert sum(path.stat().st_size for path in (tmp_path / "archive").rglob("*.z")) <= 12_000
    shutil.rmtree(tmp_path / "archive")
    read_all(make(limit_bytes=100))
    assert copies(tmp_path / "archive") == []


def test_no_secret_is_in_a_copy(make, log, tmp_path, monkeypatch):
    """It is masked wherever it stands; a copy of earlier rules is masked again when it is read."""
    path = write_log(
        tmp_path / "projects" / f"{SESSION}.jsonl",
        claude("user", f"The key is {KEY}, keep it.", uuid="u1"),
        claude("assistant", [{"type": "text", "text": f"Noted {KEY}."}], minute=1),
    )
    with monkeypatch.context() as earlier:
        earlier.setattr(archive, "redact", lambda text: (text, {}))
        earlier.setattr(archive, "_MARK", b"second-brain archive 1, secrets 0\n")
        (transcript,) = read_all(make()).values()
        assert KEY in said_in(transcript)[0][1]
    (copy,) = (tmp_path / "archive").rglob("*.z")
    assert KEY.encode() in zlib.decompress(copy.read_bytes().partition(b"\n")[2])
    path.unlink()
    (transcript,) = read_all(make()).values()
    first, second = (text for _, text in said_in(transcript))
    assert first.startswith("The key is [redacted")
    assert first.endswith(", keep it.")
    assert KEY not in first + second
    assert KEY.encode() not in zlib.decompress(copy.read_bytes().partition(b"\n")[2])


def test_a_damaged_copy_is_an_error_that_names_it(make, log, tmp_path):
    """And a folder that cannot be written to stops nobody from reading."""
    path = log(f"p/{SESSION}.jsonl")
    (tmp_path / "archive").write_text("in the way")
    assert len(read_all(make())) == 1
    (tmp_path / "archive").unlink()
    read_all(make())
    path.unlink()
    (copy,) = (tmp_path / "archive").rglob("*.z")
    copy.write_bytes(copy.read_bytes()[:-9])
    source = make()
    (item,) = source.scan().items
    with pytest.raises(ParseError, match="damaged copy"):
        source.read(item)


def test_empty_logs_and_drafts_are_no_copies(make, tmp_path):
    """Nothing is kept of an empty log, and a draft that a crash left behind is not listed."""
    path = write_log(tmp_path / "projects" / f"{OTHER}.jsonl")
    read_all(make())
    path.unlink()
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive" / ".1.tmp").write_text("half")
    assert make().scan().items == ()
