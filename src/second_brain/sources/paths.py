r"""What a file is called on disk, and what in the index.

On disk a name is bytes. In the index it is text: ``/`` between segments, Unicode in composed form (NFC),
so that one note has one identity on every system. Bytes are decoded as UTF-8 whatever the locale says:
under ``LC_ALL=C`` Python would hand out ``\udce4``-like stand-ins, and the same note would get another uri.
"""

# Paths are bytes here, which pathlib does not take.
from __future__ import annotations

import os
import unicodedata
from collections import Counter
from collections.abc import Collection


def disk_bytes(path: str | os.PathLike[str]) -> bytes:
    """The bytes that name a path to the operating system.

    Takes both kinds of text that reach us: what the system handed out (arguments, ``Path.cwd()``; in the
    locale's encoding) and what was written in a file or an answer (plain Unicode, which a C locale cannot
    encode).
    """
    text = os.fspath(path)
    try:
        return os.fsencode(text)
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogateescape")


def absolute(path: str | os.PathLike[str]) -> bytes:
    """The bytes of the absolute path, without ``.`` and ``..``; links are kept."""
    return disk_bytes(os.path.abspath(path))


def joined(folder: bytes, *names: bytes) -> bytes:
    """The path of something in a folder. An absolute name replaces the folder, an empty one is left out."""
    return os.path.join(folder, *filter(None, names))


def nearest_with(folder: bytes, name: bytes) -> bytes | None:
    """The folder itself or the nearest above it that holds something of this name."""
    while not os.path.lexists(joined(folder, name)):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder


def compose(text: str) -> str:
    """The text in NFC: ``e`` + combining acute becomes ``é``, ``か`` + voicing mark becomes ``が``."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def uri_names(names: Collection[bytes]) -> dict[bytes, str]:
    """The uri segment for each name of one folder; names that are not UTF-8 are left out.

    A segment is the name in NFC. Where a folder holds the same name in two forms, only the one that is NFC
    on disk gets it and the others keep their own form, so that all stay apart.
    """
    segments: dict[bytes, str] = {}
    decomposed: list[bytes] = []
    for name in names:
        try:
            text = name.decode("utf-8")
        except UnicodeDecodeError:
            continue
        segments[name] = compose(text)
        if segments[name] != text:
            decomposed.append(name)
    if decomposed:
        forms = Counter(segments.values())
        for name in decomposed:
            if forms[segments[name]] > 1:
                segments[name] = name.decode("utf-8")
    return segments


def normalize_relative(text: str, windows: bool = os.name == "nt") -> str:
    r"""A path or prefix that a person or an agent typed, in the form that uris have.

    Composed, single ``/`` between segments, no ``.`` segments; a leading and a trailing ``/`` are kept, as
    ``Sub/`` and ``Sub`` are different prefixes. On Windows ``\`` counts as ``/``; elsewhere it is a letter.
    """
    if windows:
        text = text.replace("\\", "/")
    parts = [part for part in compose(text).split("/") if part not in ("", ".")]
    head = "/" if text.startswith("/") else ""
    tail = "/" if parts and text.endswith("/") else ""
    return head + "/".join(parts) + tail
