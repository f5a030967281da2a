"""A note where it can be edited: in Obsidian, in an editor, in the file manager.

The first two are links that the browser hands to those programs. A browser opens no folder of the disk, so that the
server does: only for the owner, only for a browser on the same machine, and only the folder that the note lies in;
nothing is ever run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.responses import Response

from ...errors import UsageError
from .files import source_of
from .page import Page, Visit, note_url

if TYPE_CHECKING:
    from ...records import Note


@dataclass(frozen=True, slots=True)
class Ways:
    """Where a note can be opened: addresses, '' for none. ``folder``: the server can show its folder."""

    obsidian: str = ""
    editor: str = ""
    folder: bool = False


def ways(visit: Visit, note: Note, line: int = 1) -> Ways:
    """The ways for this visitor. To another machine's programs, only the name of the vault says something."""
    source = source_of(visit.brain, note)
    if source is None:
        return Ways()
    path = note.document.path
    vault = _vault(source.path, Path(path))
    obsidian = editor = ""
    if vault is not None:
        inside = Path(path).relative_to(vault).as_posix()
        obsidian = f"obsidian://open?vault={quote(vault.name, safe='')}&file={quote(inside, safe='')}"
    if visit.near:
        editor = f"vscode://file{Path(path).as_uri().removeprefix('file://')}:{line}"
    return Ways(obsidian, editor, _may_show_folder(visit) and Path(path).exists())


def show_folder(visit: Visit) -> Response:
    """Let the file manager show the folder of a note."""
    note = visit.brain.get(visit.request.path_params["name"])
    command = _file_manager()
    if not _may_show_folder(visit) or command is None:
        raise UsageError("folders are shown only to the owner, in a browser on the server's own machine")
    if source_of(visit.brain, note) is not None:
        folder = Path(note.document.path).parent
        if folder.is_dir():
            threading.Thread(target=_run, args=([*command, str(folder)],), daemon=True).start()
    return visit.go(note_url(note.document.uri))


def _run(command: list[str]) -> None:
    """Run a command to its end, which may be when the window is closed."""
    nothing = subprocess.DEVNULL
    subprocess.run(command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True, check=False)


def _may_show_folder(visit: Visit) -> bool:
    proxied = "x-forwarded-for" in visit.request.headers or "forwarded" in visit.request.headers
    return bool(visit.who and visit.who.owner and visit.near and not proxied and _file_manager())


def _file_manager() -> list[str] | None:
    """The command that shows a folder, None where there is no screen."""
    if sys.platform == "darwin":
        return ["open"]
    if sys.platform == "win32":
        return ["explorer"]
    found = shutil.which("xdg-open")
    return [found] if found and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")) else None


def _vault(root: Path, path: Path) -> Path | None:
    """The Obsidian vault that a note of a source lies in."""
    for folder in path.parents:
        if (folder / ".obsidian").is_dir():
            return folder
        if folder == root:
            break
    return next((folder for folder in (root, *root.parents) if (folder / ".obsidian").is_dir()), None)


PAGES = (Page("/folder/{name:path}", show_folder, methods=("POST",)),)
