"""New files that replace none, and changes of files that overwrite nobody's: whoever else writes at the same time."""

from __future__ import annotations

import os
import re
import tempfile
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from ..config import write_atomically
from ..errors import ConfigError, IndexLocked, StorageError
from ..index.lock import file_lock, lock_elsewhere

T = TypeVar("T")

WAIT_S = 20.0
LONGEST_NAME = 150
"""Bytes of a file's name: room is left for what editors and file systems add."""


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Nobody else of us writes into the folder meanwhile. Raises IndexLocked, StorageError."""
    try:
        lock = file_lock(lock_elsewhere(folder), wait_s=WAIT_S)
    except TimeoutError as error:
        raise IndexLocked(
            f"{folder}: another process has been writing there for more than {WAIT_S:.0f} s",
            hint="wait for it, or stop it, and try again",
        ) from error
    except OSError as error:
        raise StorageError(f"{folder}: cannot be written ({error.strerror})", hint="check its permissions") from error
    with lock:
        yield


def create(path: Path, text: str) -> Path:
    """Write a new file, whole or not at all; if the name is taken, with ``-2``, ``-3`` ... behind it. The path used.

    Raises StorageError.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".brain-", suffix=".tmp", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            Path(temporary).chmod(0o666 & ~_umask())
            for name in _names(path):
                try:
                    os.link(temporary, name)  # fails where the name is taken, whoever took it
                except FileExistsError:
                    continue
                return name
        finally:
            Path(temporary).unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(
            f"{path}: cannot be written ({error.strerror})", hint="check its folder and free space"
        ) from error
    raise StorageError(f"{path}: a thousand files of that name exist already")


def change(path: Path, edit: Callable[[str], str]) -> None:
    """Replace a file's text by what ``edit`` makes of it. '' stands for a file that is not there.

    Raises:
        ConfigError: somebody changed the file meanwhile, or it is not UTF-8; it is as they left it.
        StorageError: it cannot be read or written.
    """
    before = text_of(path)
    after = edit(before)
    if after == before:
        return
    if text_of(path) != before:
        raise ConfigError(f"{path} was changed by somebody else meanwhile", hint="type the command again")
    try:
        write_atomically(path, after)
    except OSError as error:
        raise StorageError(
            f"{path}: cannot be written ({error.strerror})", hint="check its folder and free space"
        ) from error


def text_of(path: Path) -> str:
    """The file's text, line ends as they are; '' without a file. Raises ConfigError, StorageError."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: byte {error.start} is not UTF-8", hint="save the file as UTF-8") from error
    except OSError as error:
        raise StorageError(f"{path}: cannot be read ({error.strerror})", hint="check its permissions") from error


def slug(title: str, room: int = LONGEST_NAME) -> str:
    """A title as part of a file's name: letters and digits of any script, at most ``room`` bytes, never empty."""
    text = unicodedata.normalize("NFC", title).casefold()
    text = re.sub(r"[\W_]+", "-", text).strip("-")
    while len(text.encode("utf-8")) > room:
        text = text[:-1].rstrip("-")
    return text or "untitled"


def one_line(text: str) -> str:
    """A text without line breaks, control characters and what would end a heading."""
    return " ".join("".join(c for c in text if c.isprintable() or c.isspace()).split()).lstrip("# ").strip()


def _names(path: Path) -> Iterator[Path]:
    yield path
    for number in range(2, 1000):
        yield path.with_name(f"{path.stem}-{number}{path.suffix}")


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
