"""The loop that follows files, over real folders and a real index."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from second_brain import Brain
from second_brain.errors import DiskFull, MissingExtra, ModelError
from second_brain.sources.markdown import MarkdownSource
from second_brain.watching import listening, watcher
from second_brain.watching.pacing import Pace
from second_brain.watching.watcher import Event, Watcher

FAST = Pace(quiet_s=0.05, patience_s=0.5, poll_s=0.1, look_s=0.05)


class Running:
    """A watcher in a thread, and what it told."""

    def __init__(self, brain: Brain, pace: Pace = FAST) -> None:
        self.events: list[Event] = []
        self.watcher = Watcher(brain, self.events.append, pace)
        self.thread = threading.Thread(target=self.watcher.run)
        self.thread.start()

    def named(self, name: str) -> list[Event]:
        return [event for event in list(self.events) if event.name == name]

    def until(self, holds: Callable[[], Any]) -> Any:
        ends = time.monotonic() + 20
        while time.monotonic() < ends:
            if found := holds():
                return found
            time.sleep(0.01)
        raise AssertionError(f"it did not come to be: {self.events[-8:]}")

    def end(self) -> None:
        self.watcher.stop()
        self.thread.join(20)
        assert not self.thread.is_alive()


@pytest.fixture
def run(notes) -> Iterator[Callable[..., Running]]:
    """Starts watchers of the notes that have compared everything once; all are ended."""
    started: list[Running] = []

    def start(pace: Pace = FAST) -> Running:
        one = Running(notes.brain, pace)
        started.append(one)
        one.until(lambda: one.named("compared") or one.named("unavailable"))
        return one

    yield start
    for one in started:
        one.end()


def test_a_change_is_found_by_word_and_by_meaning(notes, run):
    """What was there before it began, what is changed, and what goes."""
    notes.write({"a.md": "gannet"})
    running = run()
    assert notes.found("gannet") == ["a.md"]
    notes.write({"b.md": "avocet"})
    running.until(lambda: notes.found("avocet", mode="dense") == ["b.md", "a.md"])
    (notes.root / "a.md").unlink()
    running.until(lambda: notes.found("gannet") == [])
    running.until(lambda: running.named("compared")[-1].words == "notes: 1 deleted")
    assert sum(int(str(event.data["made"])) for event in running.named("embedded")) == 2


def test_what_the_source_leaves_out_is_no_reason_to_run(notes, run):
    """Git's own files, ignored folders, an editor's leftovers, and the index itself where it lies among the notes."""
    home = notes.root / "brain"
    for folder in (home, notes.root / ".git/refs", notes.root / "node_modules"):
        folder.mkdir(parents=True)
    notes.write({".gitignore": "node_modules/\n", "a.md": "gannet"})
    (home / "models.yaml").write_text("embedder: hashing\n")
    with Brain.open(home, environment={}) as brain:
        brain.add(notes.root, name="notes")
        running = Running(brain)
        try:
            running.until(lambda: running.named("embedded"))
            time.sleep(0.6)
            before = len(running.named("compared"))
            for number in range(20):
                notes.write({f".git/refs/{number}": "x", f"node_modules/{number}.md": "x", "a.md~": str(number)})
                time.sleep(0.02)
            time.sleep(0.8)
            assert len(running.named("compared")) == before
            notes.write({"b.md": "avocet"})
            running.until(lambda: brain.search("avocet", mode="lexical").hits)
            running.until(lambda: len(running.named("embedded")) == 2)
            time.sleep(0.8)
            assert len(running.named("compared")) <= before + 3
        finally:
            running.end()


def test_a_disk_that_is_unplugged_and_comes_back(notes, run):
    """Its notes stay, it is told once each way, and what changed meanwhile is found."""
    notes.write({"a.md": "gannet"})
    running = run()
    away = notes.root.with_name("away")
    notes.root.rename(away)
    running.until(lambda: running.named("unavailable"))
    assert notes.found("gannet") == ["a.md"]
    (away / "b.md").write_text("avocet")
    time.sleep(0.3)
    away.rename(notes.root)
    running.until(lambda: notes.found("avocet") and running.named("listening"))
    assert len(running.named("unavailable")) == 1
    assert [event.words for event in running.named("listening")] == ["source 'notes' is there again"]
    notes.write({"c.md": "bittern"})
    running.until(lambda: notes.found("bittern"))


def test_sources_that_come_and_go_in_the_settings(notes, run, tmp_path):
    """Another process adds one and removes one: no restart is needed."""
    notes.write({"a.md": "gannet"})
    running = run()
    more = tmp_path / "more"
    more.mkdir()
    (more / "m.md").write_text("avocet")
    with Brain.open(notes.home, environment={}) as other:
        other.add(more, name="more")
    running.until(lambda: notes.found("avocet"))
    (more / "n.md").write_text("bittern")
    running.until(lambda: notes.found("bittern"))
    with Brain.open(notes.home, environment={}) as other:
        other.remove("more")
    running.until(lambda: running.named("settings")[-1].data["sources"] == ["notes"])
    (more / "o.md").write_text("dunlin")
    notes.write({"b.md": "fulmar"})
    running.until(lambda: notes.found("fulmar"))
    assert (notes.found("dunlin"), running.named("trouble")) == ([], [])


def test_a_source_inside_of_another_takes_its_files_over(notes, run):
    """Each note is in one of the two, whichever is named in the settings by now."""
    notes.write({"a.md": "gannet", "inner/b.md": "gannet too"})
    running = run()
    with Brain.open(notes.home, environment={}) as other:
        other.add(notes.root / "inner", name="inner")
    running.until(lambda: {hit.uri for hit in notes.brain.search("gannet").hits} == {"notes/a.md", "inner/b.md"})
    with Brain.open(notes.home, environment={}) as other:
        other.remove("inner")
    running.until(lambda: {hit.uri for hit in notes.brain.search("gannet").hits} == {"notes/a.md", "notes/inner/b.md"})
    assert running.named("trouble") == []


def test_our_own_files_are_no_reason_to_run_where_they_could_be_documents(notes, monkeypatch):
    """Not even for a source that takes every file, with the index among them."""
    monkeypatch.setattr(MarkdownSource, "media_type", lambda self, name: "text/markdown")
    home = notes.root / "brain"
    home.mkdir()
    (home / "models.yaml").write_text("embedder: hashing\n")
    with Brain.open(home, environment={}) as brain:
        brain.add(notes.root, name="notes")
        running = Running(brain)
        try:
            running.until(lambda: running.named("compared"))
            time.sleep(1.0)
            assert len(running.named("compared")) == 1
            notes.write({"any.thing": "gannet"})
            running.until(lambda: brain.search("gannet", mode="lexical").hits)
            time.sleep(1.5)
            assert len(running.named("compared")) <= 3  # the file may be seen twice: made, then filled
        finally:
            running.end()


def test_settings_that_became_wrong_are_told_once_and_the_old_ones_hold(notes, run):
    """Until they are right again."""
    running = run()
    (notes.home / "settings.yaml").write_text("schedule: {index: sometimes}\n")
    running.until(lambda: running.named("trouble"))
    notes.write({"a.md": "gannet"})
    running.until(lambda: notes.found("gannet"))
    time.sleep(0.3)
    assert [event.data["message"].endswith("'index' is 'sometimes'") for event in running.named("trouble")] == [True]


def test_a_run_that_fails_is_told_once_and_tried_again(notes, run, monkeypatch):
    """A full disk, a locked index: what happened meanwhile is not forgotten."""
    running = run()
    real, failed = notes.brain.sync, []

    def failing(*targets, **options):
        if len(failed) < 3:
            failed.append(1)
            raise DiskFull("no room", hint="make some")
        return real(*targets, **options)

    monkeypatch.setattr(notes.brain, "sync", failing)
    notes.write({"a.md": "gannet"})
    running.until(lambda: notes.found("gannet"))
    assert len(failed) == 3
    assert [event.data for event in running.named("trouble")] == [{"message": "no room", "hint": "make some"}]


def test_it_ends_in_the_midst_of_a_run(notes):
    """Soon, without an error, and what was written is sound."""
    notes.write({f"{number}.md": f"gannet {number} " * 200 for number in range(3000)})
    running = Running(notes.brain)
    running.until(lambda: running.named("watching"))
    time.sleep(0.2)
    began = time.monotonic()
    running.end()
    assert time.monotonic() - began < 10
    assert running.events[-1].name == "stopped"
    assert notes.brain.status().documents < 3000
    assert [finding.message for finding in notes.brain.doctor() if finding.severity == "error"] == []


def test_a_model_that_is_missing_is_told_once_and_words_are_found(notes, run, monkeypatch):
    """Vectors are tried again after the next change."""
    tried = []

    def broken(**options):
        tried.append(1)
        raise ModelError("the model is not here", hint="fetch it")

    monkeypatch.setattr(notes.brain, "embed", broken)
    notes.write({"a.md": "gannet"})
    running = run()
    notes.write({"b.md": "avocet"})
    running.until(lambda: len(tried) == 2)
    assert notes.found("avocet") == ["b.md"]
    assert {event.words for event in running.named("trouble")} == {"no vectors are made: the model is not here"}


def test_a_flood_is_listened_to_anew(notes, run, monkeypatch):
    """When so much happens that the system may have dropped some, folders that came unseen are found nevertheless."""
    monkeypatch.setattr(watcher, "FLOOD", 10)
    running = run()
    listener = running.watcher._sources["notes"].listener
    notes.write({f"{number}.md": "gannet" for number in range(60)})
    running.until(lambda: len(notes.found("gannet", limit=100)) == 60)
    running.until(lambda: running.watcher._sources["notes"].listener not in (None, listener))
    notes.write({"x/y/z.md": "avocet"})
    running.until(lambda: notes.found("avocet"))
    assert (notes.found("avocet"), running.named("trouble")) == (["x/y/z.md"], [])


def test_everything_is_compared_now_and_then_whatever_is_told(notes, run, monkeypatch):
    """Should the system tell nothing at all."""
    monkeypatch.setattr(Watcher, "_counts", lambda self, watched, happening: False)
    running = run(Pace(quiet_s=0.05, look_s=0.05, recheck_s=0.3))
    notes.write({"a.md": "gannet"})
    running.until(lambda: notes.found("gannet"))


def test_a_network_drive_is_polled(notes, run, monkeypatch):
    """And who watches is known with it."""
    monkeypatch.setattr(watcher, "network_drive", lambda path: "nfs4")
    running = run()
    notes.write({"a.md": "gannet"})
    running.until(lambda: notes.found("gannet"))
    assert running.named("polling")[0].data["reason"] == "on a network drive (nfs4)"
    assert running.watcher._sources["notes"].listener is None


def test_without_watchfiles_the_command_that_installs_it_is_named(notes, monkeypatch):
    """At once."""
    import builtins

    real = builtins.__import__

    def missing(name: str, *rest: Any, **more: Any) -> Any:
        if name == "watchfiles":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(MissingExtra) as caught:
        Watcher(notes.brain, lambda event: None)
    assert caught.value.hint == "pip install 'second-brain[watch]'"


def test_a_listener_that_ends_by_itself_leaves_the_source_polled(notes, run, monkeypatch):
    """It is told, and changes arrive all the same."""
    real = listening.library().watch

    def dying(*paths, **options):
        yield set()
        raise RuntimeError("the engine stopped")

    monkeypatch.setattr("watchfiles.watch", dying)
    running = run()
    running.until(lambda: running.named("polling"))
    monkeypatch.setattr("watchfiles.watch", real)
    notes.write({"a.md": "gannet"})
    running.until(lambda: notes.found("gannet"))
    assert "the engine stopped" in running.named("polling")[0].words


def test_the_paths_of_a_watched_home_may_be_anything(make_notes, tmp_path):
    """Spaces, quotes, per cent, letters of any language."""
    notes = make_notes(tmp_path / "a b" / "100% 'q' \"d\"" / "日本")
    running = Running(notes.brain)
    try:
        running.until(lambda: running.named("compared"))
        (notes.root / "ü ö").mkdir()
        (notes.root / "ü ö" / "ñ.md").write_text("gannet")
        running.until(lambda: notes.found("gannet"))
    finally:
        running.end()
        notes.brain.close()
    assert Path(notes.home, "index.db").exists()
