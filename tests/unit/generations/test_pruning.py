from __future__ import annotations

import subprocess
import sys

import pytest

from second_brain import Brain, builds
from second_brain.errors import UsageError

HOLDING = """
import sys
from second_brain import Brain
with Brain.open(sys.argv[1], environment={}, generation=sys.argv[2]) as brain:
    brain.search("pump")
    print("open", flush=True)
    sys.stdin.read()
"""


def several(folder) -> None:
    """g1 and g2 were current, g3 is, g4 and g5 are ready, g6 is half-built."""
    for turn in range(4):
        folder.setting("settings.yaml", f"late: {('on', 'off')[turn % 2]}\nredact: {('on', 'off')[turn // 2]}\n")
        name = folder.build()
        if turn < 2:
            builds.promote(folder.brain, name)
    (folder.home / "models.yaml").write_text("embedder: e5-small\n")
    folder.brain.follow()
    folder.build(embed=False)
    assert folder.states() == {
        "g1": "old",
        "g2": "old",
        "g3": "current",
        "g4": "ready",
        "g5": "ready",
        "g6": "building",
    }


def test_by_rule_only_what_nobody_goes_back_to_is_deleted(folder):
    """The current and the previous one stay, and what may still be promoted; with a file goes what belongs to it."""
    several(folder)
    pruned = builds.prune(folder.brain)
    assert (pruned.deleted, pruned.open) == (("g1",), ())
    assert pruned.bytes > 100_000
    left = {path.name for path in folder.home.iterdir() if path.name.startswith("index.db")}
    assert left == {"index.db.generations.lock"}
    assert list(folder.states()) == ["g2", "g3", "g4", "g5", "g6"]
    assert builds.prune(folder.brain).deleted == ()


def test_what_was_passed_over_is_deleted(folder):
    """A later one was promoted: the one between is not waited for any more."""
    several(folder)
    builds.promote(folder.brain, "g5")
    assert builds.prune(folder.brain).deleted == ("g1", "g2", "g4")
    assert folder.states() == {"g3": "old", "g5": "current", "g6": "building"}


def test_one_that_a_process_has_open_is_kept(folder):
    """It is named, and goes the next time."""
    several(folder)
    holding = subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(folder.home), "g1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holding:
        assert holding.stdout
        assert holding.stdout.readline() == "open\n"
        pruned = builds.prune(folder.brain)
        assert (pruned.deleted, pruned.open) == ((), ("g1",))
        assert (folder.home / "index.db").exists()
        assert holding.stdin
        holding.stdin.close()
    assert builds.prune(folder.brain).deleted == ("g1",)


def test_named_ones_are_deleted_unless_they_are_in_use(folder):
    """A ready one that nobody wants; the current one never."""
    several(folder)
    assert builds.prune(folder.brain, ["g4", "g2"]).deleted == ("g4", "g2")
    assert folder.brain.roster().previous == ""
    with pytest.raises(UsageError, match="'g3' is the current generation"):
        builds.prune(folder.brain, ["g3"])
    with builds.new_generation(folder.brain):
        assert builds.prune(folder.brain, ["g6"]).open == ("g6",)


def test_a_crash_in_the_middle_is_finished_by_the_next(folder, monkeypatch):
    """What belongs to the file goes first and the name last: nothing is left that no name leads to."""
    several(folder)
    from second_brain.generations import pruning

    def dies(first, found):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(pruning, "write", dies)
        with pytest.raises(KeyboardInterrupt):
            builds.prune(folder.brain)
    assert not (folder.home / "index.db").exists()
    assert any("'g1' is gone" in finding.message for finding in folder.brain.doctor())
    assert builds.prune(folder.brain).deleted == ("g1",)
    assert not any(finding.severity == "warning" for finding in folder.brain.doctor())


def test_a_follower_lets_go_of_what_is_not_current_any_more(folder):
    """A server that asked once after the promotion keeps nothing of the old one open."""
    folder.build()
    with Brain.open(folder.home, environment={}) as server:
        server.search("pump")
        builds.promote(folder.brain, "g2")
        assert builds.prune(folder.brain, ["g1"]).open == ("g1",)
        server.follow()
        server.search("pump")
        assert builds.prune(folder.brain, ["g1"]).deleted == ("g1",)
        assert server.search("pump").hits
