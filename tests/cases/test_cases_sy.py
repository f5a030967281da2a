"""Group SY of the failure cases: an index that follows its files, and never believes a missing disk."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from second_brain import Brain, ingest, wiring
from second_brain.errors import SourceRemoved
from second_brain.models.hashing import HashingEmbedder
from second_brain.retrieval import Retriever
from second_brain.types import Blob, Item, Query


class Counting(HashingEmbedder):
    """Remembers what it embedded; refuses texts that hold ``poison`` while ``broken``."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.broken = False

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        if self.broken and any("poison" in text for text in texts):
            raise RuntimeError("out of memory")
        self.texts += texts
        return super().embed_documents(texts)


def embed(brain, embedder=None):
    """Texts that had to be embedded."""
    embedder = embedder or Counting()
    ingest.embed(brain.index, embedder, progress=lambda *report: None)
    return embedder.texts


def sync_through(brain, source, **options):
    """Sync one source object, as ``Brain.sync`` does with those of the settings."""
    reading = ingest.Reading(wiring.parser, wiring.chunker, brain.settings.label)
    options.setdefault("progress", lambda *report: None)
    return ingest.sync(brain.index, [source], reading, now=lambda: datetime.now(UTC), **options).sources[0]


class Reading:
    """The source of the settings, with something that happens before a file is read."""

    def __init__(self, brain, before) -> None:
        self._inner = wiring.source(brain.sources()[0], brain.settings)
        self._before = before
        self.name, self.kind, self.exhaustive = self._inner.name, self._inner.kind, True

    def scan(self):
        return self._inner.scan()

    def read(self, item: Item) -> Blob:
        self._before(item)
        return self._inner.read(item)


def test_sy_1_an_unplugged_disk(notes):
    """Rows are kept and marked, search answers, and back again nothing is embedded."""
    notes.index({f"{number}.md": f"note {number} of the gannet colony" for number in range(50)})
    away = notes.root.with_name("away")
    notes.root.rename(away)
    report = notes.sync()
    assert (report.kept, report.deleted, report.failures) == (50, 0, ())
    assert "does not exist" in report.unavailable
    result = notes.brain.search("gannet colony", limit=50)
    assert len(result.hits) == 50
    assert any("not available" in notice for notice in result.notices)
    away.rename(notes.root)
    report = notes.sync()
    assert (report.unchanged, report.kept, report.unavailable) == (50, 0, "")
    assert embed(notes.brain) == []
    assert notes.brain.search("gannet").notices == ()


def test_sy_1_a_mount_point_without_its_disk(notes):
    """The folder is there and empty: its notes are kept as well, until it is said that they are gone."""
    notes.index({f"{number}.md": f"note {number} of the gannet colony" for number in range(50)})
    away = notes.root.with_name("away")
    notes.root.rename(away)
    notes.root.mkdir()
    report = notes.sync()
    assert (report.kept, report.deleted) == (50, 0)
    assert report.unavailable
    assert len(notes.brain.search("gannet", limit=50).hits) == 50
    notes.root.rmdir()
    away.rename(notes.root)
    assert notes.sync().unchanged == 50
    assert embed(notes.brain) == []


def test_sy_3_same_size_and_same_time_stamp(notes):
    """The second content is found, though size and time of the file are those of the first."""
    path, ref = notes.root / "n.md", notes.root.parent / "ref"
    path.write_text("aaaa")
    notes.index()
    shutil.copy2(path, ref)
    time.sleep(0.02)
    path.write_text("bbbb")
    os.utime(path, ns=(ref.stat().st_atime_ns, ref.stat().st_mtime_ns))
    assert path.stat().st_mtime_ns == ref.stat().st_mtime_ns
    assert notes.brain.get("n").notes == ("the file changed since it was indexed; run `brain index`",)
    assert notes.index().changed == 1
    assert (notes.found("bbbb"), notes.found("aaaa")) == (["n.md"], [])


def test_sy_5_a_moved_note(notes):
    """One document at the new path, none at the old, its vector reused, links to it lead there."""
    notes.index({"a/n.md": "The gannet note.\n", "from.md": "see [[n]] and [old way](a/n.md)\n"})
    (notes.root / "b").mkdir()
    (notes.root / "a" / "n.md").rename(notes.root / "b" / "n.md")
    report = notes.sync()
    assert (report.moved, report.added, report.deleted) == (1, 0, 0)
    assert embed(notes.brain) == []
    for mode in ("lexical", "dense"):
        assert notes.found("gannet note", mode=mode)[0] == "b/n.md"
    assert notes.brain.status().documents == 2
    assert notes.brain.get("n").document.path == str(notes.root / "b" / "n.md")
    links = {link.written: link.target for link in notes.brain.get("from").links}
    assert links == {"n": "notes/b/n.md", "a/n.md": None}


def test_sy_5_a_moved_folder(notes):
    """Three hundred notes in a folder that gets another name: no guard is raised, nothing embedded, no row doubled."""
    notes.index({f"old/{number}.md": f"note {number} [[{number + 1}]]" for number in range(300)})
    (notes.root / "old").rename(notes.root / "new")
    report = notes.sync()
    assert (report.moved, report.added, report.deleted, report.kept, report.unavailable) == (300, 0, 0, 0, "")
    assert embed(notes.brain) == []
    status = notes.brain.status()
    assert (status.documents, status.links, status.unresolved_links) == (300, 300, 1)
    assert notes.brain.get("7").links[0].target == "notes/new/8.md"


def test_sy_5_a_note_that_takes_the_place_of_another(notes):
    """Two notes swap their paths: each path answers with its new text."""
    notes.index({"a.md": "gannet", "b.md": "avocet"})
    for old, new in (("a.md", "c"), ("b.md", "a.md"), ("c", "b.md")):
        (notes.root / old).rename(notes.root / new)
    notes.sync()
    assert (notes.found("gannet"), notes.found("avocet")) == (["b.md"], ["a.md"])
    assert notes.brain.status().documents == 2


def test_sy_7_changes_while_nothing_ran(notes):
    """A question asked before the next sync marks what is stale; one sync brings all of it."""
    notes.index({"edited.md": "gannet one", "deleted.md": "gannet two", "same.md": "gannet three"})
    notes.brain.close()
    notes.write({"edited.md": "gannet and avocet", "added.md": "gannet four"})
    (notes.root / "deleted.md").unlink()
    with Brain.open(notes.home, environment={}) as brain:
        told = {hit.title: hit.notes for hit in brain.search("gannet", mode="lexical").hits}
        assert "changed" in told["edited"][0]
        assert "gone" in told["deleted"][0]
        assert told["same"] == ()
        (report,) = brain.sync().sources
        assert (report.added, report.changed, report.deleted, report.unchanged) == (1, 1, 1, 1)
        found = {hit.title: hit.notes for hit in brain.search("gannet", mode="lexical").hits}
        assert found == {"edited": (), "added": (), "same": ()}
        assert [hit.title for hit in brain.search("avocet", mode="lexical").hits] == ["edited"]


def test_sy_9_files_that_vanish_between_listing_and_reading(notes):
    """The 47 others are indexed, the three are as deleted, nothing failed."""
    notes.write({f"{number}.md": f"gannet {number}" for number in range(50)})
    for name in ("7", "8", "9"):
        (notes.root / f"{name}.md").touch()

    def vanish(item: Item) -> None:
        if item.relative in ("7.md", "8.md", "9.md"):
            Path(item.path).unlink()

    notes.brain.index.put_source("notes", "markdown", str(notes.root))
    report = sync_through(notes.brain, Reading(notes.brain, vanish))
    assert (report.added, report.failures) == (47, ())
    notes.write({f"{number}.md": f"gannet {number} again" for number in range(10)})
    report = sync_through(notes.brain, Reading(notes.brain, vanish))
    assert (report.changed, report.added, report.deleted, report.failures) == (7, 0, 0, ())
    notes.write({"7.md": "gannet"})
    notes.sync()
    notes.write({"7.md": "gannet once more"})
    report = sync_through(notes.brain, Reading(notes.brain, vanish))
    assert (report.deleted, report.failures) == (1, ())
    assert notes.brain.status().documents == 47


def test_sy_10_a_cloud_placeholder_over_a_known_note(notes):
    """Size without content, or a stub in its place: the old text stays, one failure, read when it is back."""
    notes.index({"n.md": "the gannet plan\n", "n2.md": "the avocet plan\n"})
    os.truncate(notes.root / "n.md", 0)
    os.truncate(notes.root / "n.md", 4096)
    (notes.root / "n2.md").rename(notes.root / ".n2.md.icloud")
    report = notes.sync()
    assert [failure.uri for failure in report.failures] == ["notes/n.md"]
    assert (report.deleted, report.kept) == (0, 1)
    assert (notes.found("gannet"), notes.found("avocet")) == (["n.md"], ["n2.md"])
    (hit,) = notes.brain.search("gannet", mode="lexical").hits
    assert any("could not be read" in note for note in hit.notes)
    asked: list[str] = []
    report = sync_through(notes.brain, Reading(notes.brain, lambda item: asked.append(item.relative)))
    assert (asked, len(report.failures)) == (["n.md"], 1)  # tried again, though nothing about the file has changed
    notes.write({"n.md": "the gannet plan, second version\n"})
    (notes.root / ".n2.md.icloud").rename(notes.root / "n2.md")
    report = notes.sync()
    assert (report.failures, report.kept) == ((), 0)
    assert notes.found("second version") == ["n.md"]
    assert [hit.notes for hit in notes.brain.search("gannet avocet", mode="lexical").hits] == [(), ()]


def test_sy_10_thousands_of_deadlocks_are_one_failure_each_and_no_retry(notes):
    """``EDEADLK`` is asked once a run; what was known stays; the next run asks again."""
    notes.index({f"{number}.md": f"gannet {number}" for number in range(20)})
    asked = []

    def deadlock(item: Item) -> None:
        asked.append(item.relative)
        raise OSError(errno.EDEADLK, "Resource deadlock avoided", item.path)

    notes.write({f"{number}.md": f"gannet {number}, changed" for number in range(20)})
    report = sync_through(notes.brain, Reading(notes.brain, deadlock))
    assert len(asked) == len(report.failures) == 20
    assert all("cloud placeholder" in failure.message for failure in report.failures)
    assert len(notes.found("gannet", limit=50)) == 20
    report = sync_through(notes.brain, Reading(notes.brain, deadlock))
    assert len(asked) == 40
    assert notes.sync().changed == 20


def test_sy_10_a_slow_file_stops_nobody_who_asks(notes):
    """While one process reads, another searches; what was read before is already there."""
    notes.index({"known.md": "gannet"})
    notes.write({f"{number:02}.md": f"avocet {number}" for number in range(3)})
    answered = []

    def slow(item: Item) -> None:
        with Brain.open(notes.home, environment={}) as other:
            answered.append([hit.title for hit in other.search("gannet").hits][:1])

    sync_through(notes.brain, Reading(notes.brain, slow))
    assert answered == [["known"]] * 3


def test_sy_12_notes_whose_vectors_failed_once(notes):
    """The second run embeds exactly the five; status shows 35 of 40 before and 40 of 40 after."""
    notes.write({f"{number}.md": f"note {number}" for number in range(35)})
    notes.write({f"bad-{number}.md": f"poison {number}" for number in range(5)})
    notes.sync()
    embedder = Counting()
    embedder.broken = True
    report = ingest.embed(notes.brain.index, embedder, progress=lambda *report: None)
    assert (report.embedded, report.waiting, len(report.failures)) == (35, 5, 5)
    status = notes.brain.status()
    assert (status.embedded, status.chunks) == (35, 40)
    assert any("5 of 40" in notice for notice in status.notices)
    result = Retriever(notes.brain.index, lambda: embedder).search(Query("bad-3", datetime.now(UTC)))
    assert "bad-3" in [hit.title for hit in result.hits]
    assert any("5 passages have no vector" in notice for notice in result.notices)
    embedder.broken = False
    embedder.texts.clear()
    assert sorted(embed(notes.brain, embedder)) == [f"bad-{number}\npoison {number}" for number in range(5)]
    status = notes.brain.status()
    assert (status.embedded, status.chunks, status.notices) == (40, 40, ())


def test_sy_13_a_source_removed_from_another_process_during_a_sync(notes, monkeypatch):
    """The slow sync stops long before its end with one error; no row of the source is left."""
    notes.write({f"{number:03}.md": f"gannet {number}" for number in range(500)})
    script = (
        "import sys; from second_brain import Brain\n"
        "with Brain.open(sys.argv[1], environment={}) as brain: print(brain.remove('notes'))"
    )
    read: list[str] = []
    monkeypatch.setattr(ingest, "BATCH_ITEMS", 64)

    def slow(item: Item) -> None:
        read.append(item.relative)
        if item.relative == "020.md":
            done = subprocess.run([sys.executable, "-c", script, str(notes.home)], capture_output=True, text=True)
            assert (done.returncode, done.stderr) == (0, "")

    notes.brain.index.put_source("notes", "markdown", str(notes.root))
    with pytest.raises(SourceRemoved, match="'notes' was removed while it was being indexed") as caught:
        sync_through(notes.brain, Reading(notes.brain, slow))
    assert 20 < len(read) <= 64  # the next batch notices
    assert caught.value.hint
    database = notes.brain.index.database
    for table in ("source", "item", "document", "chunk", "terms_docsize", "link"):
        assert database.value(f"SELECT count(*) FROM {table}") == 0
    assert [finding.message for finding in notes.brain.doctor() if finding.severity == "error"] == []
    with Brain.open(notes.home, environment={}) as brain:
        assert brain.sources() == ()


def test_sy_13_a_source_removed_during_embedding(notes):
    """The run ends in peace: its vectors belong to nobody."""
    notes.write({f"{number}.md": f"gannet {number}" for number in range(200)})
    notes.sync()

    class Removing(Counting):
        def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
            if not self.texts:
                with Brain.open(notes.home, environment={}) as other:
                    other.remove("notes")
            return super().embed_documents(texts)

    embedder = Removing()
    report = ingest.embed(notes.brain.index, embedder, progress=lambda *report: None)
    assert (report.embedded, report.waiting, report.failures) == (0, 0, ())
    assert notes.brain.status().chunks == 0


def test_sy_7_a_file_that_was_added_unnoticed_is_told(notes):
    """No server need run: the folders tell that something was added or went; after the next index they are silent."""
    notes.write({"a/kelp.md": "Kelp dries in two days.\n"})
    notes.sync()
    assert not any("since the last run" in notice for notice in notes.brain.search("kelp", mode="lexical").notices)
    notes.write({"a/heron.md": "The heron stood at the weir.\n"})
    told = notes.brain.search("heron", mode="lexical")
    assert told.hits == ()
    assert any("added, renamed or removed" in notice for notice in told.notices)
    notes.sync()
    assert notes.brain.search("heron", mode="lexical").notices == ()
