"""Pictures that lie in a vault beside its notes, and the text of a note as it is.

A picture is sent only where a note shows it that the visitor may see, and only from below the root of that note's
source: folders hold more than notes, and who may see one note may not see every file. What is sent is sandboxed: an
SVG cannot act, even when it is opened by itself.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from starlette.responses import Response

from ...errors import NotFound
from .page import Page, Visit, with_query

if TYPE_CHECKING:
    from ...config import SourceSettings
    from ...library import Brain
    from ...records import Note

TYPES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "avif": "image/avif",
    "svg": "image/svg+xml",
    "bmp": "image/bmp",
    "ico": "image/x-icon",
}
"""What is sent, by ending."""

LARGEST = 20_000_000
"""Bytes of a picture that is sent."""

SANDBOX = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"
"""For what comes from a vault as it is: no script, no request, no form, no origin."""

MOST_LISTED = 50_000
LISTED_FOR_S = 60.0


def show_picture(visit: Visit) -> Response:
    """A picture: ``/file/<uri of the note that shows it>?of=<as the note names it>``."""
    note = visit.brain.get(visit.request.path_params["name"])
    written = visit.argument("of")
    found = picture_of(visit.brain, note, written) if written and written in unquote(note.text) else None
    data = _read(found) if found else None
    if found is None or data is None:
        raise NotFound(f"there is no picture '{written[:200]}' that this note shows")
    headers = {"Content-Security-Policy": SANDBOX, "Cache-Control": "private, max-age=300"}
    return Response(data, headers=headers, media_type=TYPES[_ending(found.name)])


def show_raw(visit: Visit) -> Response:
    """The text of a note, as it is kept (secrets are masked in it): ``/raw/<uri>``."""
    note = visit.brain.get(visit.request.path_params["name"])
    headers = {"Content-Security-Policy": SANDBOX}
    return Response(note.text.encode("utf-8", "replace"), headers=headers, media_type="text/plain; charset=utf-8")


def picture_url(note: Note, written: str) -> str:
    """The address of a picture that a note names."""
    return with_query("/file/" + quote(note.document.uri), of=written)


def raw_url(uri: str) -> str:
    """The address of a note's text."""
    return "/raw/" + quote(uri)


def source_of(brain: Brain, note: Note) -> SourceSettings | None:
    """The source of a note, if it is a folder that this view shows."""
    found = next((source for source in brain.sources() if source.name == note.document.source), None)
    return found if found is not None and found.path.is_dir() else None


def picture_of(brain: Brain, note: Note, written: str) -> Path | None:
    """The picture that a note means: beside it, from the root of its vault, or the only one of this name in it."""
    source = source_of(brain, note)
    if source is None or "\0" in written or _ending(written) not in TYPES:
        return None
    root = Path(os.path.realpath(source.path))
    named = PurePosixPath(written.replace("\\", "/").lstrip("/"))
    beside = Path(note.document.path).parent
    for folder in (beside, root):
        if found := _inside(root, folder / named):
            return found
    elsewhere = _pictures.named(root).get(named.name)
    return _inside(root, Path(elsewhere)) if elsewhere else None


def _inside(root: Path, path: Path) -> Path | None:
    """The file, links followed, if it lies below the root, not in a hidden folder."""
    try:
        real = Path(os.path.realpath(path))
        if any(part.startswith(".") for part in real.relative_to(root).parts):  # ValueError: it lies elsewhere
            return None
        return real if stat.S_ISREG(real.stat().st_mode) and _ending(real.name) in TYPES else None
    except (OSError, ValueError):
        return None


def _read(path: Path) -> bytes | None:
    """The bytes of a file that is not too large."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError:
        return None
    return data if len(data) <= LARGEST else None


def _ending(name: str) -> str:
    return name.rpartition(".")[2].lower()


class _Pictures:
    """Where the pictures below a folder are, by name; listed again when that is a minute ago."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listed: dict[Path, tuple[float, dict[str, str]]] = {}

    def named(self, root: Path) -> dict[str, str]:
        """Path by file name; of several with one name the first in order of folders."""
        with self._lock:
            when, found = self._listed.get(root, (0.0, {}))
            if not when or time.monotonic() - when > LISTED_FOR_S:
                found = self._list(root)
                self._listed[root] = time.monotonic(), found
            return found

    @staticmethod
    def _list(root: Path) -> dict[str, str]:
        found: dict[str, str] = {}
        seen = 0
        for folder, folders, names in os.walk(root):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            seen += len(names)
            for name in names:
                if _ending(name) in TYPES:
                    found.setdefault(name, os.path.join(folder, name))  # noqa: PTH118
            if seen > MOST_LISTED:
                break
        return found


_pictures = _Pictures()

PAGES = (
    Page("/file/{name:path}", show_picture, part=True),
    Page("/raw/{name:path}", show_raw),
)
