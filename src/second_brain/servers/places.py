"""Where may an agent let things be indexed? Below folders that the user allowed, and never where keys are kept."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..memory.location import VARIABLE, memory_file, project_of

if TYPE_CHECKING:
    from ..config import SourceSettings

SECRET_FOLDERS = frozenset(
    (".ssh", ".gnupg", ".aws", ".azure", ".gcloud", ".kube", ".docker", ".password-store", ".mozilla", "Keychains")
)
SYSTEM_FOLDERS = (
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr", "/System",
    "/var/db", "/var/lib", "/var/log", "/var/run", "/var/spool", "/private/etc", "/private/var/db", "C:\\Windows",
)  # fmt: skip
PROJECT_MARKS = (".git", ".claude", ".obsidian", ".mcp.json", "pyproject.toml", "package.json")


def allowed_folder(named: str, *, base: Path | None, roots: Iterable[Path], sources: Sequence[SourceSettings]) -> Path:
    """The place that an agent named, if it may be indexed: below a root or in a source, links resolved.

    In a source it is spelled as the source's own path is.

    Args:
        named: absolute, from ``~``, or from ``base``.
        base: the client's project.
        roots: what the user allowed.
        sources: what is indexed anyway.

    Raises:
        UsageError: with the same words whether it exists or not, unless it lies below an allowed place.
    """
    if not named.strip() or "\0" in named:
        raise UsageError("a path is empty or no path", hint="give a folder")
    path = Path(named.strip()).expanduser()
    try:
        real = ((base or Path.cwd()) / path).resolve()
    except (OSError, RuntimeError):  # a loop of links
        real = Path(path.anchor or "/")
    usable = [root for root in roots if not _forbidden_root(root)]
    owners = [source for source in sources if real.is_relative_to(source.path.resolve())]
    if forbidden(real) or not (owners or any(real.is_relative_to(root.resolve()) for root in usable)):
        shown = ", ".join(str(root) for root in dict.fromkeys([*usable, *(source.path for source in sources)]))
        raise UsageError(
            f"'{named[:200]}' lies outside of the folders that may be indexed: {shown or 'none'}",
            hint="ask the user to add it: brain add PATH, or `allowed_roots` in settings.yaml",
        )
    if not real.exists():
        raise UsageError(f"'{named[:200]}' does not exist", hint="check its spelling")
    if not owners:
        return real
    owner = max(owners, key=lambda source: len(source.path.parts))
    return owner.path / real.relative_to(owner.path.resolve())


def forbidden(path: Path) -> bool:
    """Whether nothing at a resolved path is ever indexed for an agent.

    That is a home and all above it, system folders, and those in which programs keep keys.
    """
    home = Path.home().resolve()
    if home.is_relative_to(path) or path.parent == path:
        return True
    if any(part in SECRET_FOLDERS for part in path.parts):
        return True
    return any(path.is_relative_to(place) for place in SYSTEM_FOLDERS if not home.is_relative_to(place))


def _forbidden_root(root: Path) -> bool:
    """A home may be a root, for what is in it; what is above may not."""
    real = root.resolve()
    return real != Path.home().resolve() and forbidden(real)


def graph_file(project: Path | None, environment: Mapping[str, str]) -> Path | None:
    """The file of the knowledge graph: where the variable says, else the project's; None where there is neither."""
    if project is None:
        return Path(environment[VARIABLE]).expanduser() if environment.get(VARIABLE) else None
    return memory_file(project_of(project), environment)


def project_folder(environment: Mapping[str, str]) -> Path | None:
    """The client's project: what it says, else the current folder if it looks like one; never a home."""
    named = environment.get("CLAUDE_PROJECT_DIR", "")
    if named and not named.startswith("${"):
        found = Path(named)
    else:
        found = Path(os.getcwd())  # noqa: PTH109 - as the shell spells it
        if not any((found / mark).exists() for mark in PROJECT_MARKS):
            return None
    return None if forbidden(found.resolve()) else found
