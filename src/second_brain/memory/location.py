"""Which file holds the knowledge graph of a project?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..errors import UsageError

FILE = "memory.jsonl"
VARIABLE = "MEMORY_FILE_PATH"
"""The variable of the reference memory server, which is honoured."""


def project_of(folder: Path) -> Path:
    """The project that a folder belongs to: the nearest folder above with ``.git`` or ``.claude``, else itself."""
    for place in (folder, *folder.parents):
        if (place / ".git").exists() or (place / ".claude").is_dir():
            return place if place != Path.home() else folder
    return folder


def contained(path: Path, project: Path) -> Path:
    """The path, if it lies in the project with all links followed. Raises UsageError.

    A project may be somebody else's work: a link in it must not lead our writing elsewhere.
    """
    real = path.resolve()
    if not real.is_relative_to(project.resolve()):
        raise UsageError(
            f"{path} leads out of the project, to {real}", hint="replace the link by a file or folder of the project"
        )
    return path


def memory_file(project: Path, environment: Mapping[str, str]) -> Path:
    """The graph's file: what the variable names, relative to the project, else ``memory.jsonl`` in it."""
    named = environment.get(VARIABLE, "")
    if not named or named.startswith("${"):  # a placeholder that nobody filled in
        return contained(project / FILE, project)
    path = Path(named).expanduser()
    return path if path.is_absolute() else project / path
