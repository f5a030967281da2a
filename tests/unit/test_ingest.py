"""Ingest: what a sync writes, keeps and reports; links; embedding that can stop anywhere."""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from second_brain import ingest
from second_brain.chunking.markdown import MarkdownChunker
from second_brain.errors import ModelError, ParseError, SourceError, SourceRemoved
from second_brain.index.sqlite.store import SqliteIndex
from second_brain.models.hashing import HashingEmbedder
from second_brain.parsing.markdown import MarkdownParser
from second_brain.protocols import Scan
from second_brain.records import Removal
from second_brain.types import Blob, Failure, Filter, Item, SourceReport

NOW = datetime(2031, 5, 2, 12, tzinfo=UTC)
ANY = Filter()


class Shelf:
    """A source in memory: texts by path; a text that is an exception is raised when it is read."""

    kind = "markdown"

    def __init__(self, name: str = "n", exhaustive: bool = True) -> None:
        self.name = name
        self.exhaustive = exhaustive
        self.root = "/n"
        self.texts: dict[str, str | BaseException] = {}
        self.unlisted: tuple[str, ...] = ()
        self.gone: SourceError | None = None
        self.on_read: Callable[[Item], None] = lambda item: None
        self.read_paths: list[str] = []

    def scan(self) -> Scan:
        if self.gone:
            raise self.gone
        items = tuple(
            Item(f"{self.name}/{path}", self.name, f"{self.root}/{path}", "text/markdown", _stamp(text), NOW, 1)
            for path, text in sorted(self.texts.items())
            if not f"{self.name}/{path}".startswith(self.unlisted)
        )
        failures = tuple(Failure(prefix, "walk", "no permission") for prefix in self.unlisted)
        return Scan(items, failures, self.unlisted)

    def read(self, item: Item) -> Blob:
        self.read_paths.append(item.relative)
        self.on_read(item)
        text = self.texts[item.relative]
        if isinstance(text, BaseException):
            raise text
        return Blob(item, text.encode("utf-8"))


def _stamp(text: object) -> str:
    return hashlib.blake2b(repr(text).encode()).hexdigest()[:8]


class Counting(HashingEmbedder):
    """Remembers what it embedded; ``refuse`` says which texts it cannot."""

    def __init__(self, refuse: Callable[[str], bool] = lambda text: False, **settings: int) -> None:
        super().__init__(**settings)
        self.refuse = refuse
        self.texts: list[str] = []
        self.calls = 0

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        self.calls += 1
        if any(self.refuse(text) for text in texts):
            raise RuntimeError("the model cannot take this")
        self.texts += texts
        return super().embed_documents(texts)


@pytest.fixture
def index(tmp_path) -> Iterator[SqliteIndex]:
    made = SqliteIndex(tmp_path / "index.db")
    made.put_source("n", "markdown", "/n")
    yield made
    made.close()


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


def quiet(stage: str, done: int, total: int | None) -> None:
    """Nobody watches."""


READING = ingest.Reading(lambda item: MarkdownParser(), lambda document: MarkdownChunker(), lambda source, label: label)


def sync(index, shelf, **options) -> SourceReport:
    options.setdefault("progress", quiet)
    (report,) = ingest.sync(index, [shelf], READING, now=lambda: NOW, **options).sources
    return report


def embed(index, embedder, **options):
    options.setdefault("progress", quiet)
    return ingest.embed(index, embedder, **options)


def counts(report) -> dict[str, int]:
    names = ("added", "changed", "moved", "unchanged", "deleted", "kept")
    return {name: getattr(report, name) for name in names if getattr(report, name)}


def uris(index) -> list[str]:
    return sorted(document.uri for document in index.recent(ANY, 10_000))


# -- what a sync does ----------------------------------------------------------------------------------------


def test_a_sync_reports_what_differs(index, shelf):
    """Added, changed, moved, unchanged and deleted items are counted apart."""
    shelf.texts = {"a.md": "one", "b.md": "two", "c.md": "three", "d.md": "four"}
    assert counts(sync(index, shelf)) == {"added": 4}
    assert counts(sync(index, shelf)) == {"unchanged": 4}
    shelf.texts = {"a.md": "one", "b.md": "two, changed", "sub/c.md": "three", "e.md": "five"}
    assert counts(sync(index, shelf)) == {"added": 1, "changed": 1, "moved": 1, "unchanged": 1, "deleted": 1}
    assert uris(index) == ["n/a.md", "n/b.md", "n/e.md", "n/sub/c.md"]


def test_what_was_not_changed_is_not_read(index, shelf):
    """The fingerprint alone decides; a new fingerprint with the same bytes is read and not written."""
    shelf.texts = {"a.md": "one", "b.md": "two"}
    sync(index, shelf)
    keys = index.database.rows("SELECT key FROM document ORDER BY key")
    shelf.read_paths.clear()
    sync(index, shelf)
    assert shelf.read_paths == []
    scan = shelf.scan
    shelf.scan = lambda: replace(scan(), items=tuple(replace(item, fingerprint="new") for item in scan().items))
    assert counts(sync(index, shelf)) == {"unchanged": 2}
    assert shelf.read_paths == ["a.md", "b.md"]
    assert index.database.rows("SELECT key FROM document ORDER BY key") == keys
    shelf.read_paths.clear()
    sync(index, shelf)
    assert shelf.read_paths == []


def test_bad_items_are_named_and_skipped_and_tried_again(index, shelf):
    """One that cannot be parsed is asked again when it changes, one that cannot be read at every run."""
    shelf.texts = {"a.md": "one", "b.md": ParseError("b.md holds binary data"), "c.md": OSError(errno.EIO, "I/O error")}
    report = sync(index, shelf)
    assert counts(report) == {"added": 1}
    assert [(failure.uri, failure.kind) for failure in report.failures] == [
        ("n/b.md", "unparsable"),
        ("n/c.md", "unreadable"),
    ]
    shelf.read_paths.clear()
    report = sync(index, shelf)
    assert shelf.read_paths == ["c.md"]
    assert sorted(failure.uri for failure in report.failures) == ["n/b.md", "n/c.md"]
    shelf.texts |= {"b.md": "two", "c.md": "three"}
    report = sync(index, shelf)
    assert (counts(report), report.failures) == ({"added": 2, "unchanged": 1}, ())
    assert uris(index) == ["n/a.md", "n/b.md", "n/c.md"]


@pytest.mark.parametrize("kind", ["binary", "too-large", "unparsable", "unreadable"])
def test_a_failure_keeps_its_kind(index, shelf, kind):
    """The second run, which reads nothing again of what is no text, says the same as the first."""
    error = OSError(errno.EIO, "unparsable: I/O error") if kind == "unreadable" else ParseError("a.md: not understood")
    if kind in ("binary", "too-large"):
        error.kind = kind
    shelf.texts = {"a.md": error}
    first = sync(index, shelf).failures
    assert [failure.kind for failure in first] == [kind]
    assert sync(index, shelf).failures == first


def test_what_cannot_be_read_any_more_is_kept_and_marked(index, shelf):
    """The old text stays until the item is readable again, even if it comes back unchanged."""
    shelf.texts = {"a.md": "heron"}
    sync(index, shelf)
    for trouble in (OSError(errno.EDEADLK, "Resource deadlock avoided"), ParseError("binary")):
        shelf.texts["a.md"] = trouble
        (failure,) = sync(index, shelf).failures
        (document,) = index.find("n/a.md")
        assert document.failure.endswith(failure.message)
        assert index.text(document.key) == "heron"
        shelf.texts["a.md"] = "heron"
        report = sync(index, shelf)
        assert (counts(report), report.failures) == ({"unchanged": 1}, ())
        assert index.find("n/a.md")[0].failure == ""


def test_a_failure_outlives_a_move_of_the_whole_source(index, shelf):
    """An item that turned binary stays marked when the folder of the source gets another name."""
    shelf.texts = {"a.md": "heron", "b.md": "owl"}
    sync(index, shelf)
    shelf.texts["a.md"] = ParseError("binary")
    sync(index, shelf)
    shelf.root = "/elsewhere"
    assert [failure.uri for failure in sync(index, shelf).failures] == ["n/a.md"]
    assert [document.failure for document in index.recent(ANY, 10)] == ["unparsable: binary", ""]
    assert [document.path for document in index.recent(ANY, 10)] == ["/elsewhere/a.md", "/elsewhere/b.md"]


def test_a_cloud_placeholder_is_named_as_such(index, shelf):
    """The error that macOS gives for one is explained."""
    shelf.texts = {"a.md": OSError(errno.EDEADLK, "Resource deadlock avoided")}
    (failure,) = sync(index, shelf).failures
    assert "cloud placeholder" in failure.message


def test_an_item_that_vanishes_before_it_is_read_counts_as_deleted(index, shelf):
    """Known or not, it is no failure; what was known of it goes."""
    shelf.texts = {"a.md": "one", "b.md": "two"}
    sync(index, shelf)
    shelf.texts |= {"b.md": FileNotFoundError(), "c.md": FileNotFoundError()}
    report = sync(index, shelf)
    assert (counts(report), report.failures) == ({"unchanged": 1, "deleted": 1}, ())
    assert uris(index) == ["n/a.md"]


def test_only_chosen_items_are_compared(index, shelf):
    """With ``only`` nothing else is read, and nothing else is removed."""
    shelf.texts = {"a.md": "one", "b.md": "two", "c.md": "three"}
    sync(index, shelf)
    shelf.texts = {"a.md": "one, changed", "b.md": "two, changed"}
    report = sync(index, shelf, only=lambda uri: uri == "n/a.md")
    assert counts(report) == {"changed": 1}
    assert uris(index) == ["n/a.md", "n/b.md", "n/c.md"]
    (left,) = index.find("n/b.md")
    assert index.text(left.key) == "two"
    assert counts(sync(index, shelf, only=lambda uri: uri == "n/c.md")) == {"deleted": 1}
    assert uris(index) == ["n/a.md", "n/b.md"]


def test_progress_is_told_from_the_first_to_the_last_item(index, shelf):
    """The stage is the source's name, the total is what must be read."""
    shelf.texts = {"a.md": "one", "b.md": "two"}
    told = []
    sync(index, shelf, progress=lambda *report: told.append(report))
    assert told == [("n", 0, 2), ("n", 1, 2), ("n", 2, 2)]


def test_warnings_of_documents_are_reported_with_their_path(index, shelf):
    """What a note says wrongly is told once, when it is read, and stays with the document."""
    shelf.texts = {"a.md": "---\ntitle: a: b\n---\ntext"}
    (warning,) = sync(index, shelf).warnings
    assert warning.startswith("/n/a.md: line 2: ")
    assert sync(index, shelf).warnings == ()
    assert index.find("n/a.md")[0].warnings == (warning.removeprefix("/n/a.md: "),)


# -- what is missing -----------------------------------------------------------------------------------------


def test_a_source_that_cannot_be_listed_keeps_everything(index, shelf):
    """The report says why, and so does the index until it can be listed again."""
    shelf.texts = {"a.md": "one"}
    sync(index, shelf)
    shelf.gone = SourceError("n does not exist")
    report = sync(index, shelf)
    assert (counts(report), report.unavailable) == ({"kept": 1}, "n does not exist")
    assert index.sources()[0].unavailable == "n does not exist"
    shelf.gone = None
    assert counts(sync(index, shelf)) == {"unchanged": 1}
    assert index.sources()[0].unavailable == ""


def test_an_empty_listing_is_not_believed(index, shelf):
    """A folder without files is more often a disk that is not mounted; asked to, it is believed."""
    shelf.texts = {"a.md": "one", "b.md": "two"}
    sync(index, shelf)
    shelf.texts = {}
    report = sync(index, shelf)
    assert counts(report) == {"kept": 2}
    assert report.unavailable == index.sources()[0].unavailable == "lists no files, but 2 were indexed: they are kept"
    report = sync(index, shelf, prune=True)
    assert (counts(report), report.unavailable) == ({"deleted": 2}, "")
    assert uris(index) == []


def test_a_sudden_loss_of_most_items_is_not_believed(index, shelf):
    """More than fifty items and more than half: kept until asked; fewer go at once."""
    texts = {f"{number}.md": f"text {number}" for number in range(100)}
    shelf.texts = dict(texts)
    sync(index, shelf)
    shelf.texts = {path: text for path, text in texts.items() if int(path[:-3]) < 49}
    report = sync(index, shelf)
    assert counts(report) == {"unchanged": 49, "kept": 51}
    assert report.unavailable == "lists only 49 files, but 100 were indexed: the missing ones are kept"
    shelf.texts["49.md"] = "text 49"
    assert counts(sync(index, shelf)) == {"unchanged": 50, "deleted": 50}
    assert len(uris(index)) == 50


def test_a_sudden_loss_is_believed_with_prune(index, shelf):
    """What is missing goes, whatever share of the source it is."""
    shelf.texts = {f"{number}.md": f"text {number}" for number in range(100)}
    sync(index, shelf)
    shelf.texts = {"1.md": "text 1"}
    assert counts(sync(index, shelf, prune=True)) == {"unchanged": 1, "deleted": 99}
    assert uris(index) == ["n/1.md"]


def test_a_folder_with_most_notes_may_get_another_name(index, shelf):
    """A move is no loss: each item is read at its new place and gone from the old one, without asking."""
    shelf.texts = {f"old/{number}.md": f"text {number}" for number in range(300)}
    sync(index, shelf)
    embed(index, Counting())
    shelf.texts = {f"new/{number}.md": f"text {number}" for number in range(300)}
    report = sync(index, shelf)
    assert (counts(report), report.unavailable) == ({"moved": 300}, "")
    assert uris(index) == sorted(f"n/new/{number}.md" for number in range(300))
    embedder = Counting()
    assert embed(index, embedder).waiting == 0
    assert embedder.texts == []


def test_what_could_not_be_seen_is_kept(index, shelf):
    """Items below a folder that could not be listed stay; others that are missing go."""
    shelf.texts = {"a.md": "one", "locked/b.md": "two", "locked/c.md": "three", "d.md": "four"}
    sync(index, shelf)
    shelf.unlisted = ("n/locked/",)
    del shelf.texts["d.md"]
    report = sync(index, shelf)
    assert counts(report) == {"unchanged": 1, "deleted": 1, "kept": 2}
    assert [failure.kind for failure in report.failures] == ["walk"]
    assert uris(index) == ["n/a.md", "n/locked/b.md", "n/locked/c.md"]


def test_a_source_that_forgets_removes_nothing(index):
    """Records that a source does not list any more are kept if it does not claim to list all."""
    shelf = Shelf(exhaustive=False)
    shelf.texts = {"a.md": "one", "b.md": "two"}
    sync(index, shelf)
    del shelf.texts["b.md"]
    assert counts(sync(index, shelf)) == {"unchanged": 1, "kept": 1}
    assert uris(index) == ["n/a.md", "n/b.md"]


def test_a_vanished_note_that_comes_back_is_not_embedded_again(index, shelf):
    """Two runs lie between; its vector waited."""
    shelf.texts = {"a.md": "one", "b.md": "two"}
    sync(index, shelf)
    embed(index, Counting())
    text = shelf.texts.pop("b.md")
    sync(index, shelf)
    shelf.texts["sub/b.md"] = text
    sync(index, shelf)
    assert index.vectors.waiting_count() == 0


def test_old_orphans_go_without_an_embedder(index, shelf, monkeypatch):
    """Vectors of deleted notes beyond what is kept for their return are deleted by the sync itself."""
    monkeypatch.setattr("second_brain.index.sqlite.vectors.ORPHANS_KEPT", 1)
    shelf.texts = {f"{number}.md": f"text {number}" for number in range(5)}
    sync(index, shelf)
    embed(index, Counting())
    shelf.texts = {"0.md": "text 0"}
    sync(index, shelf)
    assert index.database.value("SELECT count(*) FROM vector") == 2


# -- stopping ------------------------------------------------------------------------------------------------


def test_interrupted_it_goes_on_where_it_stopped(index, shelf):
    """What was written stays, the rest is read by the next run, and the end is that of an undisturbed one."""
    shelf.texts = {f"{number:03}.md": f"text {number} [[{number + 1:03}]]" for number in range(600)}

    def stop(item: Item) -> None:
        if item.relative == "400.md":
            raise KeyboardInterrupt

    shelf.on_read = stop
    with pytest.raises(KeyboardInterrupt):
        sync(index, shelf)
    written = len(uris(index))
    assert 0 < written <= 400
    assert index.sources()[0].synced is None
    shelf.on_read = lambda item: None
    shelf.read_paths.clear()
    assert counts(sync(index, shelf)) == {"added": 600 - written, "unchanged": written}
    assert len(shelf.read_paths) == 600 - written
    assert (index.stats().documents, index.stats().unresolved_links) == (600, 1)


def test_a_slow_source_is_written_as_it_is_read(index, shelf, monkeypatch):
    """A batch is written after some seconds even if it is small, so that little is lost and a removal is noticed."""
    clock = iter(range(0, 10_000, 3))
    monkeypatch.setattr(ingest.time, "monotonic", lambda: float(next(clock)))
    shelf.texts = {f"{number}.md": f"text {number}" for number in range(9)}

    def remove(item: Item) -> None:
        if item.relative == "5.md":
            index.remove_source("n")

    shelf.on_read = remove
    with pytest.raises(SourceRemoved):
        sync(index, shelf)
    assert shelf.read_paths[-1] in ("5.md", "6.md")
    assert uris(index) == []


def test_killed_before_the_links_were_resolved(index, shelf, monkeypatch):
    """The next run resolves them although nothing changed since."""
    shelf.texts = {"a.md": "[[b]]", "b.md": "x"}
    with monkeypatch.context() as patch:
        patch.setattr(index, "resolve_links", lambda *arguments: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            sync(index, shelf)
    assert links(index) == {("n/a.md", "b"): None}
    assert counts(sync(index, shelf)) == {"unchanged": 2}
    assert links(index) == {("n/a.md", "b"): "n/b.md"}


# -- links ---------------------------------------------------------------------------------------------------


def links(index) -> dict[tuple[str, str], str | None]:
    return {(uri, target): resolved for _, _, uri, target, resolved in index.links_of("n")}


def test_links_follow_their_target(index, shelf):
    """A target that appears, moves, vanishes or gets an alias changes where links lead, without reading their note."""
    shelf.texts = {"a.md": "[[b]] and [[other name]]"}
    sync(index, shelf)
    assert links(index) == {("n/a.md", "b"): None, ("n/a.md", "other name"): None}
    shelf.read_paths.clear()
    shelf.texts["b.md"] = "---\naliases: [Other name]\n---\nx"
    sync(index, shelf)
    assert links(index) == {("n/a.md", "b"): "n/b.md", ("n/a.md", "other name"): "n/b.md"}
    shelf.texts["deep/b.md"] = shelf.texts.pop("b.md")
    sync(index, shelf)
    assert links(index) == {("n/a.md", "b"): "n/deep/b.md", ("n/a.md", "other name"): "n/deep/b.md"}
    shelf.texts["other name.md"] = "a file wins over an alias"
    sync(index, shelf)
    assert links(index)["n/a.md", "other name"] == "n/other name.md"
    del shelf.texts["deep/b.md"], shelf.texts["other name.md"]
    sync(index, shelf)
    assert links(index) == {("n/a.md", "b"): None, ("n/a.md", "other name"): None}
    assert "a.md" not in shelf.read_paths


def test_links_lead_by_the_same_rules_after_any_history(index, shelf, tmp_path):
    """Links of an index that grew are those of an index made at once."""
    shelf.texts = {"a.md": "[[b]] [[x/c]] [[d]]", "x/b.md": "[[a]]"}
    sync(index, shelf)
    shelf.texts |= {"b.md": "[[c]]", "x/c.md": "[[d]]", "y/d.md": "[[../a]]"}
    sync(index, shelf)
    del shelf.texts["x/b.md"]
    sync(index, shelf)
    fresh = SqliteIndex(tmp_path / "fresh.db")
    fresh.put_source("n", "markdown", "/n")
    sync(fresh, shelf)
    assert links(index) == links(fresh)
    assert None not in links(fresh).values()
    fresh.close()


# -- embedding -----------------------------------------------------------------------------------------------


def test_every_waiting_chunk_gets_its_vector_once(index, shelf):
    """A second run has nothing to do; progress ends at the total."""
    shelf.texts = {f"{number}.md": f"text {number}" for number in range(150)}
    sync(index, shelf)
    embedder, told = Counting(), []
    report = embed(index, embedder, progress=lambda *report: told.append(report))
    assert (report.embedded, report.waiting, report.failures) == (150, 0, ())
    assert len(embedder.texts) == 150
    assert (told[0], told[-1]) == (("embed", 0, 150), ("embed", 150, 150))
    assert embed(index, embedder).embedded == 0
    assert len(embedder.texts) == 150


def test_equal_notes_are_two_documents_with_one_vector(index, shelf):
    """What is the same is embedded once; the record is never merged."""
    shelf.texts = {"a/note.md": "the same text", "b/note.md": "the same text"}
    sync(index, shelf)
    embedder = Counting()
    assert embed(index, embedder).embedded == 2
    assert embedder.texts == ["note\nthe same text"]
    assert uris(index) == ["n/a/note.md", "n/b/note.md"]
    ranking = index.dense(embedder.embed_queries(["same text"])[0], ANY, 10)
    assert len(ranking.entries) == 2
    assert len({score for _, score in ranking.entries}) == 1


def test_a_limit_stops_early_and_the_next_run_goes_on(index, shelf):
    """Newest documents come first."""
    shelf.texts = {f"{number}.md": f"---\ndate: 2031-01-{number:02}\n---\ntext {number}" for number in range(1, 29)}
    sync(index, shelf)
    embedder = Counting()
    report = embed(index, embedder, limit=5)
    assert (report.embedded, report.waiting) == (5, 23)
    assert [text.splitlines()[0] for text in embedder.texts] == ["28", "27", "26", "25", "24"]
    assert embed(index, embedder).waiting == 0
    assert len(embedder.texts) == 28


def test_interrupted_embedding_keeps_what_was_done(index, shelf):
    """Whole batches are kept; the next run embeds the rest only."""
    shelf.texts = {f"{number}.md": f"text {number}" for number in range(200)}
    sync(index, shelf)
    embedder = Counting()

    def stop(stage: str, done: int, total: int | None) -> None:
        if done >= 64:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embed(index, embedder, progress=stop)
    assert index.vectors.waiting_count() == 136
    embed(index, embedder)
    assert len(embedder.texts) == len(set(embedder.texts)) == 200


def test_a_text_that_the_embedder_refuses_is_named_and_the_rest_goes_on(index, shelf):
    """Its batch is halved until it stands alone; the report names it; it is tried again at the next run."""
    shelf.texts = {f"{number}.md": f"text {number}" for number in range(64)} | {"bad.md": "poison"}
    sync(index, shelf)
    embedder = Counting(refuse=lambda text: "poison" in text)
    report = embed(index, embedder)
    assert (report.embedded, report.waiting) == (64, 1)
    (failure,) = report.failures
    assert failure.kind == "embedding"
    assert "'bad'" in failure.message
    assert "the model cannot take this" in failure.message
    assert embedder.calls < 20
    embedder.refuse = lambda text: False
    assert embed(index, embedder).embedded == 1
    assert index.vectors.waiting_count() == 0


def test_refused_texts_do_not_use_up_the_limit(index, shelf):
    """With a limit of one, the one that can be embedded is, however often the refused text stands before it."""
    shelf.texts = {f"sub{number}/bad.md": "poison" for number in range(30)} | {"z.md": "---\ndate: 2001-01-01\n---\nx"}
    sync(index, shelf)
    report = embed(index, Counting(refuse=lambda text: "poison" in text), limit=1)
    assert (report.embedded, report.waiting, len(report.failures)) == (1, 30, 1)


def test_an_error_of_the_embedder_itself_stops_the_run(index, shelf):
    """A model that cannot run is no fault of a text: it is raised at once, not tried for each."""

    class Broken(Counting):
        def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
            self.calls += 1
            raise ModelError("the model file is damaged")

    shelf.texts = {f"{number}.md": f"text {number}" for number in range(64)}
    sync(index, shelf)
    embedder = Broken()
    with pytest.raises(ModelError, match="damaged"):
        embed(index, embedder)
    assert embedder.calls == 2  # the second time with a plain text


def test_a_text_on_which_the_model_fails_is_no_fault_of_the_model(index, shelf):
    """The model's own error for one text of many stops nothing; alone, it is named at every run and raises nothing."""

    class Choosy(Counting):
        def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
            if any("poison" in text for text in texts):
                raise ModelError(f"the model failed on {len(texts)} texts")
            return super().embed_documents(texts)

    shelf.texts = {f"{number}.md": f"text {number}" for number in range(100)} | {"bad.md": "poison"}
    sync(index, shelf)
    for embedded in (100, 0):
        report = embed(index, Choosy())
        assert (report.embedded, report.waiting) == (embedded, 1)
        (failure,) = report.failures
        assert failure.message == "'bad': ModelError: the model failed on 1 texts"


def test_a_model_that_fails_on_a_whole_batch_is_broken(index, shelf):
    """It takes the plain text that it is tried with and no other: one error, not a thousand failures."""

    class Broken(Counting):
        def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
            self.calls += 1
            if texts == [ingest.PLAIN_TEXT]:
                return super().embed_documents(texts)
            raise ModelError("the model file is damaged")

    shelf.texts = {f"{number}.md": f"text {number}" for number in range(1000)}
    sync(index, shelf)
    embedder = Broken()
    with pytest.raises(ModelError, match="damaged"):
        embed(index, embedder)
    assert embedder.calls < 2 * ingest.EMBED_BATCH + 2


def test_a_run_that_another_embedder_overtook_ends(index, shelf):
    """It does not embed the same texts for ever; the index keeps to the newer choice."""

    class Overtaken(Counting):
        def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
            assert self.calls < 5
            index.vectors.begin("another/1")
            return super().embed_documents(texts)

    shelf.texts = {"a.md": "one"}
    sync(index, shelf)
    with pytest.raises(ModelError, match="another/1"):
        embed(index, Overtaken())
    assert index.vectors.embedder == "another/1"


def test_notes_that_arrive_while_others_are_embedded_are_not_counted_against_it(index, shelf):
    """The report counts what was embedded, and the run goes on until nothing waits."""

    class Busy(Counting):
        def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
            if self.calls == 0:
                shelf.texts |= {f"new-{number}.md": f"new {number}" for number in range(20)}
                sync(index, shelf)
            return super().embed_documents(texts)

    shelf.texts = {f"{number}.md": f"text {number}" for number in range(10)}
    sync(index, shelf)
    report = embed(index, Busy())
    assert (report.embedded, report.waiting) == (30, 0)


def test_a_note_that_goes_while_it_is_embedded_leaves_no_vector_behind(index, shelf):
    """Its vector waits as an orphan, found by nobody."""

    class Busy(Counting):
        def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
            index.write("n", [Removal("n/a.md")])
            return super().embed_documents(texts)

    shelf.texts = {"a.md": "one", "b.md": "two"}
    sync(index, shelf)
    embedder = Busy()
    report = embed(index, embedder)
    assert (report.embedded, report.waiting) == (1, 0)
    assert len(index.dense(embedder.embed_queries(["one"])[0], ANY, 10).entries) == 1


def test_another_embedder_embeds_everything_anew(index, shelf):
    """Vectors of the first are dropped, none are mixed."""
    shelf.texts = {"a.md": "one", "b.md": "two"}
    sync(index, shelf)
    embed(index, Counting(dimensions=256))
    wider = Counting(dimensions=384)
    assert embed(index, wider).embedded == 2
    assert index.vectors.embedder == wider.identity
    assert index.vectors.similarities([1], np.zeros(384, dtype=np.float32)) == {1: 0.0}
