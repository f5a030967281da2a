from __future__ import annotations

import json

import pytest

from second_brain import Brain, builds, config, generations
from second_brain.errors import NotFound, StorageError, UsageError
from second_brain.generations.pointer import file_of


def pointer(folder):
    return folder.home / "index.generations.json"


def test_without_a_pointer_there_is_one_generation(folder):
    """It is called g1, its file is the one that the settings name, and no pointer is made for it."""
    assert folder.states() == {"g1": "current"}
    assert folder.brain.generation == "g1"
    assert folder.brain.settings.index == folder.home / "index.db"
    assert not pointer(folder).exists()


@pytest.mark.parametrize(
    ("index", "second"), [("index.db", "index.g2.db"), ("notes.v1.db", "notes.v1.g2.db"), ("brain", "brain.g2")]
)
def test_files_are_named_after_the_first_one(tmp_path, index, second):
    """From any generation's settings the same files are found."""
    first = config.load(tmp_path, index=tmp_path / index, environment={})
    assert file_of(first, "g2") == tmp_path / second
    (tmp_path / index).touch()
    placed = generations.placed(first)
    assert (placed.index, placed.generation) == (tmp_path / index, "g1")
    on_second = config.load(tmp_path, index=tmp_path / second, environment={})
    from dataclasses import replace

    assert generations.first_index(replace(on_second, generation="g2")) == tmp_path / index


DAMAGES = {
    "empty": b"",
    "half": b'{"current": "g2", "prev',
    "zeros": bytes(300),
    "other": b"[1, 2]",
    "nameless": b'{"current": "g7"}',
    "outside": b'{"current": "../x", "generations": [{"name": "../x", "state": "current"}]}',
    "two": b'{"current": "g1", "next": 3, "generations": [{"name": "g1", "state": "current"},'
    b' {"name": "g2", "state": "current"}]}',
    "twice": b'{"generations": [{"name": "g1", "state": "current"}, {"name": "g1", "state": "old"}]}',
    "taken": b'{"next": 1, "generations": [{"name": "g1", "state": "current"}]}',
    "unknown": b'{"previous": "g4", "generations": [{"name": "g1", "state": "current"}]}',
    "state": b'{"generations": [{"name": "g1", "state": "best"}]}',
    "gone": None,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_wrong_with_the_pointer_is_never_passed_over(folder, damage):
    """Every question fails with a message that names the file, what is wrong, and how to choose."""
    folder.build()
    builds.promote(folder.brain, "g2")
    content = DAMAGES[damage]
    if content is None:
        pointer(folder).unlink()
    else:
        pointer(folder).write_bytes(content)
    folder.reopen()
    with pytest.raises(StorageError, match="it is unknown which index is the current one") as caught:
        folder.brain.search("pump")
    assert str(pointer(folder)) in str(caught.value)
    assert "`brain generations repair NAME`, of g1, g2" in caught.value.hint
    (finding,) = folder.brain.doctor()
    assert (finding.name, finding.severity, finding.message) == ("generations", "error", str(caught.value))


def test_who_follows_is_told_as_well(folder):
    """A server that had the index open says what is wrong, and goes on when it is mended."""
    folder.build()
    sound = pointer(folder).read_bytes()
    pointer(folder).write_bytes(b"{")
    with pytest.raises(StorageError):
        folder.brain.follow()
    pointer(folder).write_bytes(sound)
    folder.brain.follow()
    assert folder.seasons() == {"spring"}


def test_a_newer_pointer_is_refused(folder):
    """A layout of later needs a later program."""
    folder.build()
    found = json.loads(pointer(folder).read_text())
    pointer(folder).write_text(json.dumps({**found, "layout": 2}))
    with pytest.raises(StorageError, match="newer second-brain") as caught:
        folder.brain.roster()
    assert "upgrade" in caught.value.hint


def test_repair_writes_the_pointer_from_the_files_that_are_there(folder):
    """The chosen one answers, the one before it can be gone back to, and the damaged pointer is kept."""
    folder.season("autumn")
    folder.build()
    folder.setting("settings.yaml", "redact: off\n")
    folder.build()
    pointer(folder).write_bytes(b"{")
    folder.reopen()
    aside = builds.repair(folder.brain, "g2")
    assert aside.read_bytes() == b"{"
    assert folder.states() == {"g1": "old", "g2": "current", "g3": "ready"}
    assert folder.seasons() == {"autumn"}
    assert builds.rollback(folder.brain).current == "g1"
    assert folder.seasons() == {"spring"}
    folder.setting("settings.yaml", "late: off\n")
    assert folder.build() == "g4"


def test_repair_leaves_a_sound_pointer_alone(folder):
    """It is for where it is unknown which generation is current, not another way to promote."""
    folder.build()
    with pytest.raises(UsageError, match="nothing is wrong with it; 'g1' is the current one"):
        builds.repair(folder.brain, "g2")
    pointer(folder).unlink()
    with pytest.raises(NotFound, match="no index file of generation 'g9'") as caught:
        builds.repair(folder.brain, "g9")
    assert caught.value.hint == "there are: g1, g2"


def test_a_brain_is_opened_on_a_generation_by_name(folder):
    """Whichever is current, before and after promotions."""
    folder.season("autumn")
    folder.build()
    with Brain.open(folder.home, environment={}, generation="g2") as brain:
        assert (brain.generation, "autumn" in brain.search("pump").hits[0].text) == ("g2", True)
        builds.promote(folder.brain, "g2")
        builds.rollback(folder.brain)
        brain.follow()
        assert brain.search("pump").generation == "g2"
    with (
        Brain.open(folder.home, environment={}, generation="g9") as brain,
        pytest.raises(NotFound, match="no generation 'g9'") as caught,
    ):
        brain.search("pump")
    assert caught.value.hint == "there are: g1, g2"


@pytest.mark.parametrize(
    ("file", "says", "remedy"),
    [
        ("index.g3.db", "the ready generation 'g3' is gone", "`brain generations prune g3` forgets it"),
        ("index.db", "the old generation 'g1' is gone", "`brain generations prune g1` forgets it"),
        ("index.g2.db", "the current generation 'g2' is gone", "`brain rollback` goes back to the one before"),
    ],
)
def test_status_and_doctor_say_the_same_of_a_file_that_is_gone(folder, file, says, remedy):
    """And neither calls a generation ready that has none."""
    folder.build()
    builds.promote(folder.brain, "g2")
    folder.setting("settings.yaml", "late: off\n")
    assert folder.build() == "g3"
    current = folder.brain.roster().current
    pinned = "g1" if file == "index.g2.db" else current
    with Brain.open(folder.home, environment={}, generation=pinned) as brain:
        ready = "generation 'g3' is ready: brain promote g3"
        assert ready in brain.status().notices
        folder.brain.close()
        (folder.home / file).unlink()
        (notice,) = (notice for notice in brain.status().notices if "is gone" in notice)
        (finding,) = (finding for finding in brain.doctor() if "is gone" in finding.message)
        assert notice == f"{finding.message}: {finding.remedy}"
        assert says in finding.message
        assert remedy in finding.remedy
        assert (ready in brain.status().notices) == (file != "index.g3.db")


def test_a_home_without_an_index_has_no_file_that_is_gone(tmp_path):
    """Before the first run there is nothing to miss."""
    with Brain.open(tmp_path, environment={}) as brain:
        assert not any("is gone" in notice for notice in brain.status().notices)
        assert not any("is gone" in finding.message for finding in brain.doctor())
