import os
from datetime import UTC, datetime
from types import SimpleNamespace

from second_brain.sources.fingerprints import fingerprint, modified

SECOND = 1_000_000_000
NOW = 1_900_000_000 * SECOND


def status(mtime_ns: int, size: int = 4, ctime_ns: int = 0) -> SimpleNamespace:
    return SimpleNamespace(st_mtime_ns=mtime_ns, st_size=size, st_ctime_ns=ctime_ns, st_mtime=mtime_ns / SECOND)


def test_each_part_counts():
    """Another mtime, size or ctime is another fingerprint; the same three are the same."""
    base = fingerprint(status(NOW + 1, 4, NOW + 2), NOW)
    assert base == fingerprint(status(NOW + 1, 4, NOW + 2), NOW + 60 * SECOND)
    others = [status(NOW, 4, NOW + 2), status(NOW + 1, 5, NOW + 2), status(NOW + 1, 4, NOW + 3)]
    assert len({base, *(fingerprint(other, NOW) for other in others)}) == 4


def test_an_edit_of_equal_size_with_its_time_put_back_is_seen(tmp_path):
    """SY-3: content and times as before, and still another fingerprint, as nobody can put ctime back."""
    note = tmp_path / "n.md"
    note.write_text("aaaa")
    before = note.stat()
    while True:  # the clock of the disk may tick in milliseconds
        note.write_text("bbbb")
        os.utime(note, ns=(before.st_atime_ns, before.st_mtime_ns))
        after = note.stat()
        if after.st_ctime_ns != before.st_ctime_ns:
            break
    assert (after.st_mtime_ns, after.st_size) == (before.st_mtime_ns, before.st_size)
    assert fingerprint(after, NOW) != fingerprint(before, NOW)


def test_on_a_disk_with_whole_seconds_a_fresh_file_is_read_once_more():
    """A change in the last two seconds may hide another; later the fingerprint differs, and then stays."""
    coarse = status(NOW, 4, NOW)
    soon, later, much_later = (fingerprint(coarse, NOW + wait * SECOND) for wait in (1, 3, 100))
    assert soon == later + "~"
    assert later == much_later


def test_on_a_disk_with_fine_times_a_fresh_file_is_not_read_again():
    """Nanoseconds in ctime show that the disk keeps them, even where mtime was set to a whole second."""
    fine = status(NOW, 4, NOW + 123)
    assert fingerprint(fine, NOW + 1) == fingerprint(fine, NOW + 100 * SECOND)


def test_the_time_of_change_is_in_utc():
    """Aware, and the same wherever the machine stands."""
    assert modified(status(NOW)) == datetime(2030, 3, 17, 17, 46, 40, tzinfo=UTC)


def test_an_impossible_time_is_the_year_1970():
    """A damaged directory entry does not stop the scan."""
    assert modified(status(10**30)) == datetime(1970, 1, 1, tzinfo=UTC)
