from __future__ import annotations

import gc
import weakref

import pytest

from second_brain import builds, generations


def test_other_settings_keep_the_index_open(folder):
    """What was mapped and remembered of it stays; only another backend opens it anew."""
    index = folder.brain.index
    folder.setting("settings.yaml", "late: off\n")
    assert folder.brain.settings.late is False
    assert folder.brain.index is index


def test_another_backend_opens_the_index_anew(folder, tmp_path):
    """From the file alone to one with a copy in Qdrant, without a restart."""
    pytest.importorskip("qdrant_client")
    index = folder.brain.index
    folder.setting("settings.yaml", f"index: qdrant\nqdrant:\n  path: {tmp_path / 'qdrant'}\n")
    assert type(folder.brain.index) is not type(index)


def test_the_old_index_closes_with_the_last_who_uses_it(folder):
    """Not at the swap: a question in flight still reads it."""
    folder.build()
    old = weakref.ref(folder.brain.index)
    with folder.brain._shared.followed.held() as held:
        builds.promote(folder.brain, "g2")
        assert held.index.get() is old()
        assert folder.brain.generation == "g1"
        del held
    assert folder.brain.generation == "g2"
    gc.collect()
    assert old() is None


def test_what_is_held_inside_what_is_held_is_the_same(folder):
    """A call that calls another sees one generation; afterwards the outer one still holds."""
    folder.build()
    followed = generations.Followed(folder.brain.settings_as_read, lambda settings: folder.brain.index)
    with followed.held() as outer:
        builds.promote(folder.brain, "g2")
        followed.take(followed.settings)
        with followed.held() as inner:
            assert inner is outer
        assert followed.now() is outer
    assert followed.now().settings.generation == "g2"


def test_the_stamp_changes_with_every_swap(folder):
    """Whoever looks sees it, however quickly one follows the other."""
    folder.build()
    builds.promote(folder.brain, "g2")
    for _ in range(20):
        before = generations.stamp(folder.brain.settings)
        builds.rollback(folder.brain)
        assert generations.stamp(folder.brain.settings) != before
