"""Group WA of the failure cases: what happens to files while ``brain watch`` looks on."""

from __future__ import annotations

import errno
import os
import subprocess
import threading
import time
from collections.abc import Iterator

import pytest
import watchfiles

from second_brain.watching.pacing import Pace
from second_brain.watching.presence import claimed, watching
from second_brain.watching.watcher import Event, Watcher
from watch_process import WatchProcess


@pytest.fixture
def watch(notes) -> Iterator[WatchProcess]:
    """A watcher of the notes, in a process of its own."""
    notes.write({"still.md": "the still one"})
    notes.index()
    process = WatchProcess(notes.home).ready()
    yield process
    process.end()


def test_wa_1_a_hundred_saves_are_few_runs(notes, watch):
    """By a temporary file and a rename, and by delete and create: at the end the last text, found all the while."""
    notes.write({"renamed.md": "gannet 0", "created.md": "avocet 0"})
    watch.until(lambda: notes.found("gannet") and notes.found("avocet"))
    runs = len(watch.named("compared"))
    renamed, created, lost = notes.root / "renamed.md", notes.root / "created.md", 0
    began = time.monotonic()
    for number, (one, other) in enumerate([("gannet", "avocet")] * 99 + [("gannet fulmar", "avocet turnstone")], 1):
        draft = notes.root / ".renamed.md.tmp"
        draft.write_text(f"{one} {number}")
        draft.replace(renamed)
        created.unlink()
        created.write_text(f"{other} {number}")
        if number % 10 == 0:
            lost += not notes.found("gannet")
        time.sleep(max(0.0, began + number * 0.05 - time.monotonic()))
    watch.until(lambda: notes.found("fulmar") and notes.found("turnstone"), "the last text")
    time.sleep(2.0)  # what is not over yet would run now
    assert len(watch.named("compared")) - runs <= 10
    assert lost == 0
    assert (notes.found("fulmar"), notes.found("turnstone")) == (["renamed.md"], ["created.md"])
    assert notes.brain.status().documents == 3


def test_wa_2_files_written_at_once_in_new_folders(notes, watch):
    """Fifty times a path of new folders and a note in it, in one shell line: all are found."""
    script = 'for n in $(seq 50); do mkdir -p "v$n/a/b/c" && echo lanternfish > "v$n/a/b/c/n.md"; done'
    subprocess.run(["sh", "-c", script], cwd=notes.root, check=True)
    watch.until(lambda: len(notes.found("lanternfish", limit=60)) == 50, "fifty notes")
    (notes.root / "v7/a/b/c/later.md").write_text("cuttlefish")
    watch.until(lambda: notes.found("cuttlefish"), "a note in a new folder")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EMFILE])
def test_wa_4_the_limit_of_watches_leads_to_polling(notes, monkeypatch, number):
    """One plain message, changes arrive all the same, and whoever asks is told of the polling."""

    def full(*paths, **options):
        raise OSError(number, f"{os.strerror(number)} (os error {number})")

    monkeypatch.setattr(watchfiles, "watch", full)
    notes.index({"a.md": "gannet"})
    events: list[Event] = []
    watcher = Watcher(notes.brain, events.append, Pace(poll_s=0.1, look_s=0.05, quiet_s=0.05))
    with claimed(notes.brain.settings.index) as alone:
        assert alone
        thread = threading.Thread(target=watcher.run)
        thread.start()
        try:
            ends = time.monotonic() + 20
            while not any(event.name == "compared" for event in events):
                assert time.monotonic() < ends
                time.sleep(0.01)
            notes.write({"b.md": "avocet"})
            while not notes.found("avocet"):
                assert time.monotonic() < ends
                time.sleep(0.01)
            known = watching(notes.brain.settings.index)
        finally:
            watcher.stop()
            thread.join(20)
    told = [event for event in events if event.name in ("polling", "trouble")]
    assert [event.data["source"] for event in told] == ["notes"]
    assert "fs.inotify.max_user_watches" in told[0].words
    assert known is not None
    assert "limit" in known.polling["notes"]
    assert watching(notes.brain.settings.index) is None
