"""Group SY of the failure cases once more, as it is typed: the commands, and what a person is told."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from second_brain.cli.__main__ import run
from watch_process import WatchProcess

BRAIN = [sys.executable, "-m", "second_brain.entry"]


class Typed:
    """Commands of one home, typed in this process."""

    def __init__(self, home: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.home = home
        self._capture = capture

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code, stdout and stderr."""
        self._capture.readouterr()
        code = run(["--home", str(self.home), *arguments])
        return code, *self._capture.readouterr()

    def index(self) -> dict[str, Any]:
        """What ``brain index --json`` says of the one source, with the number of vectors that were made."""
        code, out, err = self("index", "--json")
        assert code in (0, 3), err
        found = json.loads(out)
        return {**found["sources"][0], "code": code, "embedded": found["embedding"]["embedded"]}

    def found(self, words: str) -> list[str]:
        """The paths below the source of the notes that a search finds."""
        code, out, err = self("search", "--mode", "lexical", "--json", "--limit", "60", words)
        assert code == 0, err
        return [hit["uri"].partition("/")[2] for hit in json.loads(out)["hits"]]


@pytest.fixture
def brain(notes, capsys, monkeypatch) -> Typed:
    """Commands that know the notes."""
    monkeypatch.delenv("BRAIN_INDEX", raising=False)
    return Typed(notes.home, capsys)


def test_sy_1_an_unplugged_disk_is_named_and_its_notes_answer(notes, brain):
    """``index`` says so and ends with 3, ``search`` marks it, and plugged in again nothing is embedded."""
    notes.write({f"{number}.md": f"note {number} of the gannet colony" for number in range(50)})
    assert brain.index()["added"] == 50
    notes.root.rename(notes.root.with_name("away"))
    code, out, err = brain("index")
    assert code == 3
    assert "does not exist" in out + err
    assert len(brain.found("gannet")) == 50
    assert "not available" in brain("search", "gannet")[2]
    assert "not available" in brain("status")[1]
    notes.root.with_name("away").rename(notes.root)
    again = brain.index()
    assert (again["unchanged"], again["embedded"], again["code"]) == (50, 0, 0)


def test_sy_3_a_change_that_keeps_size_and_time_is_found(notes, brain):
    """By the time that the system itself keeps of every change."""
    path, ref = notes.root / "n.md", notes.root.parent / "ref"
    path.write_text("aaaa")
    brain.index()
    shutil.copy2(path, ref)
    time.sleep(0.02)
    path.write_text("bbbb")
    os.utime(path, ns=(ref.stat().st_atime_ns, ref.stat().st_mtime_ns))
    assert brain.index()["changed"] == 1
    assert (brain.found("bbbb"), brain.found("aaaa")) == (["n.md"], [])


def test_sy_5_a_moved_note_is_one_note(notes, brain):
    """At its new path, with its vector, and links to it lead there."""
    notes.write({"a/n.md": "The gannet note.\n", "from.md": "see [[n]]\n"})
    brain.index()
    (notes.root / "b").mkdir()
    (notes.root / "a/n.md").rename(notes.root / "b/n.md")
    moved = brain.index()
    assert (moved["moved"], moved["added"], moved["deleted"], moved["embedded"]) == (1, 0, 0, 0)
    assert brain.found("gannet") == ["b/n.md"]
    assert "notes/b/n.md" in brain("get", "from", "--json")[1]


def test_sy_7_what_changed_while_nothing_ran_is_there_soon_after_a_start(notes, brain):
    """Of a watcher: within seconds results are those of the disk, with nothing told about staleness."""
    notes.write({"edited.md": "gannet one", "deleted.md": "gannet two"})
    watch = WatchProcess(notes.home).ready()
    assert watch.end()[0] == 0
    notes.write({"edited.md": "gannet and avocet", "added.md": "gannet four"})
    (notes.root / "deleted.md").unlink()
    stale = brain("search", "--mode", "lexical", "gannet")
    assert "gone" in stale[1] + stale[2]
    assert "changed" in stale[1] + stale[2]
    watch = WatchProcess(notes.home)
    try:
        watch.until(lambda: sorted(brain.found("gannet")) == ["added.md", "edited.md"])
        assert brain.found("avocet") == ["edited.md"]
    finally:
        watch.end()


def test_sy_9_files_that_vanish_while_they_are_indexed_are_no_failure(notes, brain):
    """Another process deletes a third of them in the meantime."""
    notes.write({f"{number:04}.md": f"gannet {number} " * 60 for number in range(1500)})
    indexing = subprocess.Popen(
        [*BRAIN, "--home", str(notes.home), "index", "--json", "--no-embed"], stdout=subprocess.PIPE
    )
    ends = time.monotonic() + 30
    while not notes.brain.status().documents and time.monotonic() < ends:
        time.sleep(0.005)
    for number in range(1000, 1500):
        (notes.root / f"{number:04}.md").unlink()
    out, _ = indexing.communicate(timeout=60)
    (report,) = json.loads(out)["sources"]
    assert (indexing.returncode, report["failures"]) == (0, [])
    brain.index()
    assert notes.brain.status().documents == 1000


def test_sy_10_a_placeholder_is_one_line_and_its_old_text_stays(notes, brain):
    """Size and no content over a known note, a stub in the place of another; both are read when they are back."""
    notes.write({"n.md": "the gannet plan\n", "n2.md": "the avocet plan\n"})
    brain.index()
    os.truncate(notes.root / "n.md", 0)
    os.truncate(notes.root / "n.md", 4096)
    (notes.root / "n2.md").rename(notes.root / ".n2.md.icloud")
    began = time.monotonic()
    code, out, err = brain("index")
    assert (code, time.monotonic() - began < 20) == (3, True)
    assert sum("n.md" in line for line in (out + err).splitlines()) == 1
    assert (brain.found("gannet"), brain.found("avocet")) == (["n.md"], ["n2.md"])
    notes.write({"n.md": "the gannet plan, again\n"})
    (notes.root / ".n2.md.icloud").rename(notes.root / "n2.md")
    assert brain.index()["code"] == 0
    assert brain.found("again") == ["n.md"]


def test_sy_12_vectors_that_could_not_be_made_are_made_by_the_next_run(notes, brain):
    """While the model is not there everything else is done, and ``status`` says how many wait."""
    notes.write({f"{number}.md": f"gannet {number}" for number in range(35)})
    brain.index()
    notes.write({f"late-{number}.md": f"gannet {number} late" for number in range(5)})
    (notes.home / "models.yaml").write_text("embedder: none-such\n")
    code, _, err = brain("index")
    assert code == 1
    assert "none-such" in err
    (notes.home / "models.yaml").write_text("embedder: hashing\n")
    before = json.loads(brain("status", "--json")[1])
    assert (before["embedded"], before["chunks"]) == (35, 40)
    assert brain.index()["embedded"] == 5
    after = json.loads(brain("status", "--json")[1])
    assert (after["embedded"], after["chunks"]) == (40, 40)


def test_sy_13_a_source_removed_by_another_command_ends_the_run(notes, brain):
    """Within seconds, with one message and exit code 1; no row of it is left."""
    notes.write({f"{number:04}.md": f"gannet {number} " * 60 for number in range(3000)})
    indexing = subprocess.Popen(
        [*BRAIN, "--home", str(notes.home), "index", "--quiet"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    ends = time.monotonic() + 30
    while not notes.brain.status().documents and time.monotonic() < ends:
        time.sleep(0.005)
    assert brain("remove", "notes", "--yes")[0] == 0
    began = time.monotonic()
    _, said = indexing.communicate(timeout=60)
    assert time.monotonic() - began < 15
    assert indexing.returncode == 1
    assert said.count("was removed while it was being indexed") == 1
    assert said.count("error:") == 1
    database = notes.brain.index.database
    for table in ("source", "item", "document", "chunk", "link"):
        assert database.value(f"SELECT count(*) FROM {table}") == 0
