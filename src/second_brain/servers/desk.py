"""One consumer's place: its view of the brain, and where it may let things be indexed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import NotAllowed
from .brains import Brains
from .places import allowed_folder

if TYPE_CHECKING:
    from ..library import Brain

Report = Callable[[str, int, int | None], None]
"""Progress of a long call; raises Cancelled when the client does not want it any more."""

MOST_NOTICES = 5


class Cancelled(BaseException):
    """The client took its request back. No error: nothing on the way may take it for one."""


@dataclass(slots=True)
class Desk:
    """What tools work with.

    ``label`` is the highest privacy label that this consumer may see, '' for all that the server may. ``project`` is
    the client's folder, ``roots`` are further ones that the client named; ``graph`` is the file of the knowledge graph.
    ``news`` is said with the next answer.
    """

    brains: Brains
    label: str = ""
    read_only: bool = False
    project: Path | None = None
    roots: tuple[Path, ...] = ()
    graph: Path | None = None
    news: list[str] = field(default_factory=list)

    @property
    def brain(self) -> Brain:
        """The view of now."""
        return self.brains.seen_by(self.label)

    def whole(self, deed: str) -> Brain:
        """The brain for a change. Raises NotAllowed where this consumer may change nothing."""
        brain = self.brain
        if self.read_only or brain.clearance:
            raise NotAllowed(f"this connection is read-only: it may not {deed}", hint="tell the user what you wanted")
        return brain

    def has_model(self, brain: Brain, *, wait_s: float) -> bool:
        """Whether a search by meaning can be answered, after so many seconds."""
        return self.brains.has_model(brain, wait_s=wait_s)

    def allowed(self, brain: Brain, paths: Sequence[str]) -> list[Path]:
        """The places that may be indexed. Raises UsageError for the first that may not."""
        roots = [*([self.project] if self.project else []), *self.roots, *brain.settings.allowed_roots]
        return [allowed_folder(path, base=self.project, roots=roots, sources=brain.sources()) for path in paths]
