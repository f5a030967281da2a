"""What is made once for a view and state of the index."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from second_brain.overview.kept import MOST, Kept, stamp_of
from second_brain.types import Filter


def test_a_value_is_made_once_for_a_state_and_view(notes: Any) -> None:
    """Asked again, also by many at once, it is the same; for another label it is another; after a change anew."""
    notes.index({"a.md": "# A\n"})
    made: list[object] = []

    def make(visible: Any) -> object:
        made.append(visible.filter)
        return object()

    kept = Kept(make)
    with ThreadPoolExecutor(8) as pool:
        values = set(pool.map(lambda _: kept.of(notes.brain.visible()), range(16)))
    assert (len(values), len(made)) == (1, 1)
    kept.of(notes.brain.seen_by("work").visible())
    kept.of(notes.brain.visible())
    assert len(made) == 2
    notes.index({"b.md": "# B\n\n[[a]]\n"})
    kept.of(notes.brain.visible())
    assert len(made) == 3


def test_links_that_lead_elsewhere_now_are_another_state(notes: Any) -> None:
    """A note that a link was written for in advance changes where the link leads: that is another state."""
    notes.index({"a.md": "# A\n\n[[b]]\n"})
    before = stamp_of(notes.brain.visible())
    assert stamp_of(notes.brain.visible()) == before
    notes.index({"b.md": "# B\n"})
    assert stamp_of(notes.brain.visible()) != before


def test_only_a_few_views_are_kept(notes: Any) -> None:
    """The one that was asked for longest ago goes."""
    notes.index({"a.md": "# A\n"})
    made: list[Filter] = []
    kept = Kept(lambda visible: made.append(visible.filter))
    for number in (*range(MOST + 1), 0):
        kept.of(notes.brain.visible(Filter(types=(f"t{number}",))))
    assert len(made) == MOST + 2
