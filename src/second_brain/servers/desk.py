"""One consumer's place: its view of the brain, and where it may let things be indexed."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import UsageError
from ..library import Brain

Report = Callable[[str, int, int | None], None]
"""Progress of a long call; raises when the client does not want it any more."""

SECRET_FOLDERS = frozenset((".ssh", ".gnupg", ".aws", ".kube", ".docker", ".password-store", "Keychains"))
SYSTEM_FOLDERS = (
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/proc",
    "/root/.ssh",
    "/run",
    "/sbin",
    "/sys",
    "/usr",
    "/var",
)


class Cancelled(Exception):
    """The client took its request back."""


@dataclass(slots=True)
class Desk:
    """What tools work with. ``brain`` shows only what this consumer may see.

    ``owner`` is the whole brain, for what changes the index; None where nothing may be changed.
    ``roots`` are folders below which the consumer may let things be indexed.
    """

    brain: Brain
    owner: Brain | None
    roots: tuple[Path, ...] = ()
    project: Path | None = None
    _ready: threading.Event = field(default_factory=threading.Event)
    _warming: threading.Lock = field(default_factory=threading.Lock)

    def warm(self) -> None:
        """Begin to load the model, if nobody did; a search meanwhile goes by word."""
        if self._warming.acquire(blocking=False):
            threading.Thread(target=self._load, daemon=True).start()

    def can_embed(self, *, wait_s: float) -> bool:
        """Whether the model is loaded, or failed to; waits a little."""
        self.warm()
        return self._ready.wait(wait_s)

    def _load(self) -> None:
        try:
            self.brain.embedder().embed_queries(["warm"])
        except Exception:  # a search will meet the same error, and tell it
            return
        finally:
            self._ready.set()

    def whole(self, deed: str) -> Brain:
        """The brain for a change. Raises UsageError where this consumer may change nothing."""
        if self.owner is None:
            raise UsageError(f"this connection is read-only: it may not {deed}", hint="tell the user what you wanted")
        return self.owner

    def allowed_folder(self, named: str) -> Path:
        """The folder that may be indexed, links resolved.

        Raises UsageError with the same words whether it exists or not, unless it lies below an allowed root.
        """
        text = named.strip()
        path = Path(text).expanduser()
        if not path.is_absolute():
            path = (self.project or Path.cwd()) / path
        try:
            real = path.resolve()
        except (OSError, RuntimeError):
            real = path
        known = [source.path for source in self.brain.sources()]
        roots = [*self.roots, *known]
        inside = any(real.is_relative_to(root.resolve()) for root in roots)
        if not inside or forbidden(real):
            shown = ", ".join(str(root) for root in roots) or "none"
            raise UsageError(
                f"'{text[:200]}' lies outside of the folders that may be indexed: {shown}",
                hint="ask the user to add it: brain add PATH, or `allowed_roots` in settings.yaml",
            )
        if not real.exists():
            raise UsageError(f"'{text[:200]}' does not exist")
        return real


def forbidden(path: Path) -> bool:
    """Whether a folder is never indexed for an agent: the root, a home itself, system folders, those of keys."""
    home = Path.home().resolve()
    if path in (Path(path.anchor), home, home.parent) or path == Path("/tmp"):
        return True
    if any(part in SECRET_FOLDERS for part in path.parts):
        return True
    return any(
        path == Path(place) or path.is_relative_to(place) for place in SYSTEM_FOLDERS if not home.is_relative_to(place)
    )


def project_folder(environment: dict[str, str] | os._Environ[str]) -> Path | None:
    """The client's project: what it says, else the current folder if it looks like one."""
    named = environment.get("CLAUDE_PROJECT_DIR", "")
    if named and not named.startswith("${"):
        return Path(named)
    here = Path.cwd()
    marks = (".git", ".obsidian", ".mcp.json", "pyproject.toml", "package.json")
    return here if any((here / mark).exists() for mark in marks) else None


def usable_roots(settings_roots: Sequence[Path], project: Path | None) -> tuple[Path, ...]:
    """Allowed roots that are no forbidden places."""
    found = [*settings_roots, *([project] if project else [])]
    return tuple(root for root in dict.fromkeys(found) if not forbidden(root.resolve()))
