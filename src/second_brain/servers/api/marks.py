"""By what does somebody who kept an answer know that it still holds?"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

from ... import config

if TYPE_CHECKING:
    from ...library import Brain


def mark(brain: Brain) -> str:
    """16 hex digits that change whenever this view could answer the same question otherwise.

    By what it shows of the index, and by the settings; the time that goes by is not in it. Cost: a few counts.
    """
    from ...index.sqlite.lookups import state

    seen = brain.visible()
    facts = (
        brain.generation,
        brain.clearance,
        seen.index.id,
        config.stamp(brain.settings.home),
        state(seen.index.database, seen.filter),
    )
    return blake2b(repr(facts).encode("utf-8"), digest_size=8).hexdigest()
