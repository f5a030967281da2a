"""The bytes of one file.

Every file that a source looks into is opened here, by one rule: regular files only, links not followed,
never more than a limit, and nothing that could block on a pipe.

What "not available now" means, as cloud services leave files that are named but not there:

- macOS and Windows mark them (`is_placeholder`). They are never read, because that starts a download which
  may take minutes or never end.
- Elsewhere such a file is a hole: its size is right and every byte is NUL. Free blocks are no proof (network
  file systems report none, small files may live in the inode), the bytes are; a crash leaves the same.

Both are an OSError, not a change of the note: the caller keeps what it had and asks again next time.
A network disk that hangs in the middle of a read cannot be interrupted from Python; callers that must
answer meanwhile read in a thread of their own.
"""

from __future__ import annotations

import codecs
import errno
import os
import stat
from typing import BinaryIO

from ..errors import ParseError
from ..types import Item

DEFAULT_MAX_BYTES = 16 * 2**20

_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a pipe opens at once instead of waiting for a writer
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)  # Windows would otherwise change line ends
)
_DATALESS = 0x40000000  # SF_DATALESS, macOS <sys/stat.h>
_RECALL = 0x00001000 | 0x00040000 | 0x00400000  # FILE_ATTRIBUTE_OFFLINE, RECALL_ON_OPEN, RECALL_ON_DATA_ACCESS

_HEAD = 8192
_BOMS = (  # UTF-32 first: its little-endian mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Not among them: bell to carriage return, ESC (terminal logs, ISO-2022-JP), SO and SI (ISO-2022-KR).
_CONTROLS = bytes([*range(0x01, 0x07), *range(0x10, 0x1B), *range(0x1C, 0x20), 0x7F])


class BinaryFile(ParseError):
    """The file holds no text, whatever its name says."""

    kind = "binary"


class FileTooLarge(ParseError):
    """The file has more bytes than the limit."""

    kind = "too-large"


def is_placeholder(status: os.stat_result) -> bool:
    """Whether the system says that the bytes are in the cloud only (macOS, Windows; elsewhere False)."""
    flags: int = getattr(status, "st_flags", 0)
    attributes: int = getattr(status, "st_file_attributes", 0)
    return bool(flags & _DATALESS or attributes & _RECALL)


def is_binary(data: bytes) -> bool:
    """Whether the first 8 kB are no text in any encoding.

    With a UTF-16 or UTF-32 mark: binary if they do not decode. Otherwise as in git, a NUL; or more than 3
    control characters and more than 2 % of them, where random or compressed bytes have 9 % and text of any
    encoding has none. Bytes that are not UTF-8 prove nothing: Latin-1 and Shift_JIS notes are full of them.
    """
    head = data[:_HEAD]
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            try:
                codecs.getincrementaldecoder(encoding)().decode(head)
            except UnicodeDecodeError:
                return True
            return False
    if b"\0" in head:
        return True
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return controls > 3 and controls * 50 > len(head)


def read_regular(path: bytes, max_bytes: int) -> bytes:
    """The bytes of a regular file.

    Raises FileNotFoundError when there is none (a link, pipe or folder is none either), OSError when it
    cannot be read now, FileTooLarge above ``max_bytes``. Costs one open, one stat, one read.
    """
    with open_regular(path) as file:
        status = os.fstat(file.fileno())
        try:
            data = b"" if status.st_size > max_bytes else _read_up_to(file.fileno(), max_bytes + 1)
        except OSError as error:
            raise OSError(error.errno, error.strerror, path.decode("utf-8", "backslashreplace")) from error
    size = max(status.st_size, len(data))
    if size > max_bytes:
        shown = path.decode("utf-8", "backslashreplace")
        raise FileTooLarge(
            f"{shown} has {size:,} bytes, more than the limit of {max_bytes:,}",
            hint="split the file, or leave it out with a line in .indexignore",
        )
    return data


def open_regular(path: bytes) -> BinaryIO:
    """A regular file, open for reading piece by piece, for those that are too large to be read at once.

    Raises as `read_regular` does, but for the size.
    """
    shown = path.decode("utf-8", "backslashreplace")
    try:
        handle = os.open(path, _FLAGS)
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise FileNotFoundError(errno.ENOENT, "not a regular file")
            if is_placeholder(status):
                raise OSError(errno.ENODATA, "its bytes are in the cloud, not on this machine")
            return os.fdopen(handle, "rb")
        except BaseException:
            os.close(handle)
            raise
    except OSError as error:
        if error.errno == errno.ELOOP:  # O_NOFOLLOW met a link
            raise FileNotFoundError(errno.ENOENT, "a link, which is not followed", shown) from error
        raise OSError(error.errno, error.strerror, shown) from error


def read_file(item: Item, max_bytes: int = DEFAULT_MAX_BYTES, *, binary: bool = False) -> bytes:
    """The bytes of an item's file; of a format that is ``binary`` they need not be text.

    Raises FileNotFoundError when it vanished, OSError (with the path) when it cannot be read now, BinaryFile
    and FileTooLarge when it never will be.
    """
    data = read_regular(item.path.encode("utf-8"), max_bytes)
    if data and not data.strip(b"\0"):
        raise OSError(errno.ENODATA, "holds nothing but NUL bytes: not downloaded, or damaged", item.path)
    if not binary and is_binary(data):
        raise BinaryFile(
            f"{item.path} holds binary data, not text",
            hint="give it the suffix of what it is, or leave it out with a line in .indexignore",
        )
    return data


def _read_up_to(handle: int, limit: int) -> bytes:
    """Up to ``limit`` bytes; os.read may return fewer than asked for before the end."""
    parts: list[bytes] = []
    while limit > 0 and (part := os.read(handle, min(limit, 2**20))):
        parts.append(part)
        limit -= len(part)
    return b"".join(parts)
