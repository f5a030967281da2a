"""In a detached process, after a session: it is indexed, and summarized in its own words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta


def bring_in(sessions: Sequence[str]) -> None:
    """Index the sources of sessions and distill those that just ended. One process does it at a time."""
    from .. import wiring
    from ..distill.run import distill
    from ..library import Brain

    def silent(stage: str, done: int, total: int | None) -> None:
        """Progress that nobody watches."""

    with Brain.open() as brain:
        names = [source.name for source in brain.sources() if source.kind in wiring.SESSION_KINDS]
        if not names:
            return
        brain.sync(names)
        if sessions:
            distill(brain, sessions, now=datetime.now(UTC), progress=silent, use_model=False, quiet=timedelta(0))
        brain.embed()
