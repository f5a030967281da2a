import errno
import os
import socket
import stat
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from second_brain.errors import ParseError
from second_brain.sources.reading import (
    BinaryFile,
    FileTooLarge,
    is_binary,
    is_placeholder,
    read_file,
    read_regular,
)
from second_brain.types import Item

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x10\x00\x00\x00\x10\x08\x06"


def item(path: Path) -> Item:
    return Item(f"n/{path.name}", "n", str(path), "text/markdown", "f", datetime(2031, 1, 1, tzinfo=UTC), 1)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"tariff \x96 42\n",
        "調査メモ".encode("shift_jis") * 500,
        "調査メモ".encode("euc_jp") * 500,
        "調査メモ".encode("iso2022_jp") * 500,
        "résumé naïve".encode("latin-1") * 500,
        "조사 메모".encode("iso2022_kr") * 500,
        "調査 memo\n".encode("utf-16"),
        "調査 memo\n".encode("utf-32"),
        ("x" + "memo 🙂\n" * 2000).encode("utf-16"),
        "会議".encode() * 3000,
        b"\x1b[31mred\x1b[0m \x07\x08 terminal\n" * 300,
        b"ping \x01\n",
        b"page\x0cbreak\n",
        b"a" * 9000 + b"\0",
    ],
)
def test_text_in_any_encoding_is_text(text):
    """Bytes that are not UTF-8, marks, escapes and a late NUL do not make a note binary."""
    assert not is_binary(text)


@pytest.mark.parametrize(
    "data",
    [
        PNG,
        b"text\0text",
        bytes(range(256)),
        bytes(range(1, 256)) * 3,
        b"\xff\xfe" + bytes([0x00, 0xD8]) * 100,
        b"\x1f\x8b\x08\x00" + bytes(range(256)),
    ],
)
def test_what_is_no_text_in_any_encoding_is_binary(data):
    """A NUL, many control characters, or UTF-16 that does not decode."""
    assert is_binary(data)


def test_random_bytes_are_binary():
    """Any 300 bytes of random data are found out, with or without a NUL among them."""
    import random

    generator = random.Random(7)
    for _ in range(200):
        assert is_binary(generator.randbytes(300).replace(b"\0", b"\x80"))


def test_a_file_reads_as_its_bytes(tmp_path):
    """Line ends and marks are as on disk."""
    path = tmp_path / "n.md"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb")
    assert read_file(item(path)) == b"\xef\xbb\xbfa\r\nb"


def test_an_empty_file_is_empty_text(tmp_path):
    """Zero bytes are neither binary nor missing."""
    path = tmp_path / "n.md"
    path.touch()
    assert read_file(item(path)) == b""


def test_a_decomposed_name_opens_by_its_own_spelling(tmp_path):
    """The path of an item is as the disk spells it."""
    path = tmp_path / "か\u3099.md"
    path.write_text("voiced")
    assert read_file(item(path)) == b"voiced"


def test_a_binary_file_is_named_with_a_way_to_leave_it_out(tmp_path):
    """BinaryFile is a ParseError of its own kind; the hint names .indexignore."""
    path = tmp_path / "photo.md"
    path.write_bytes(PNG)
    with pytest.raises(BinaryFile, match=r"photo\.md holds binary data") as failure:
        read_file(item(path))
    assert isinstance(failure.value, ParseError)
    assert failure.value.kind == "binary"
    assert ".indexignore" in failure.value.hint


def test_the_limit_is_the_last_size_that_is_read(tmp_path):
    """A file of exactly the limit is read, one byte more is refused with both sizes."""
    path = tmp_path / "n.md"
    path.write_bytes(b"x" * 1000)
    assert len(read_file(item(path), max_bytes=1000)) == 1000
    with pytest.raises(FileTooLarge, match="1,000 bytes, more than the limit of 999") as failure:
        read_file(item(path), max_bytes=999)
    assert failure.value.kind == "too-large"


def test_a_file_that_claims_no_size_is_still_limited():
    """Files of the kernel say 0 bytes and hold some; the limit counts what was read."""
    path = Path("/proc/self/status")
    if not path.exists():
        pytest.skip("no /proc here")
    assert b"Name:" in read_regular(b"/proc/self/status", 1 << 20)
    with pytest.raises(FileTooLarge):
        read_regular(b"/proc/self/status", 10)


def test_a_missing_file_is_not_found(tmp_path):
    """It vanished since it was listed; the path is in the error."""
    with pytest.raises(FileNotFoundError) as failure:
        read_file(item(tmp_path / "n.md"))
    assert failure.value.filename == str(tmp_path / "n.md")


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_what_is_no_regular_file_any_more_is_not_found(tmp_path, kind):
    """A link is not followed and a pipe does not block: both replaced the file that was listed."""
    path = tmp_path / "n.md"
    if kind == "link":
        (tmp_path / "other").write_text("text")
        path.symlink_to("other")
    elif kind == "folder":
        path.mkdir()
    else:
        os.mkfifo(path)
    with pytest.raises(FileNotFoundError):
        read_file(item(path))


def test_a_socket_cannot_be_read(tmp_path, monkeypatch):
    """The system refuses it, and the error has the path."""
    monkeypatch.chdir(tmp_path)  # the name of a socket is limited to about 100 bytes
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("n.md")
        with pytest.raises(OSError, match=r"n\.md") as failure:
            read_file(item(tmp_path / "n.md"))
    assert failure.value.filename == str(tmp_path / "n.md")


def test_a_file_without_permission_is_an_os_error_with_its_path(open_folder, without_privileges):
    """Not a ParseError: it may be readable next time."""
    path = open_folder / "n.md"
    path.write_text("text")
    path.chmod(0)
    with without_privileges(), pytest.raises(PermissionError) as failure:
        read_file(item(path))
    assert failure.value.filename == str(path)


def test_a_hole_is_not_available_now(tmp_path):
    """SY-10: a size and nothing but NULs is a placeholder, an OSError, so that the old content is kept."""
    path = tmp_path / "n.md"
    path.touch()
    os.truncate(path, 4096)
    assert path.stat().st_size == 4096
    with pytest.raises(OSError, match="nothing but NUL") as failure:
        read_file(item(path))
    assert failure.value.errno == errno.ENODATA


def test_marks_of_the_cloud_are_known():
    """macOS flags a dataless file, Windows one that is recalled on access."""
    assert is_placeholder(SimpleNamespace(st_flags=0x40000000))
    assert is_placeholder(SimpleNamespace(st_file_attributes=0x00400000))
    assert is_placeholder(SimpleNamespace(st_file_attributes=0x00001000))
    assert not is_placeholder(SimpleNamespace(st_flags=0, st_file_attributes=0x20))
    assert not is_placeholder(SimpleNamespace())


def test_a_marked_placeholder_is_never_read(tmp_path, monkeypatch):
    """Reading it would start a download; the error says where the bytes are."""
    path = tmp_path / "n.md"
    path.write_text("text")
    marked = SimpleNamespace(st_mode=stat.S_IFREG, st_size=4, st_flags=0x40000000)
    monkeypatch.setattr(os, "fstat", lambda handle: marked)
    monkeypatch.setattr(os, "read", lambda *_: pytest.fail("it was read"))
    with pytest.raises(OSError, match="in the cloud"):
        read_file(item(path))


def test_a_deadlock_of_a_cloud_drive_passes_with_the_path(tmp_path, monkeypatch):
    """EDEADLK, as network drives answer for a file that is being fetched, reaches the caller as it is."""
    path = tmp_path / "n.md"
    path.write_text("text")

    def refuse(*_: object) -> bytes:
        raise OSError(errno.EDEADLK, "Resource deadlock avoided")

    monkeypatch.setattr(os, "read", refuse)
    with pytest.raises(OSError, match=r"n\.md") as failure:
        read_file(item(path))
    assert failure.value.errno == errno.EDEADLK
