"""What every index must keep to, whatever ranks its passages: subclass ``IndexContract`` and give it an index.

The SQLite file is the reference: the same documents and questions give the same rankings everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from ..analysis.scripts import script_of
from ..index.sqlite.store import SqliteIndex
from ..protocols import Vectors
from ..records import Change, Removal, Replacement, Touch
from ..types import Chunk, Document, Filter, Item, Ranking, chunk_id

WHEN = datetime(2031, 4, 5, 9, 30, tzinfo=UTC)
DIMENSIONS = 16
EMBEDDER = "contract-16/1"
CODE_BYTES = 2
TOLERANCE = 1e-3
"""Of BM25: another backend adds up in fewer digits."""

DRIFT = 0.1
"""Of BM25 after changes: another backend may weigh with the average length of a while ago."""

OTHERS = {
    "notes": "the heron stands beside the pump and waits for a frog",
    "docs": "a pump loses pressure when its valve leaks",
    "code": "def open_valve(pressure): return pressure * 2",
}
_TEXT = (
    "valve pump heron tulip granite ledger sonata harbour lantern marble quarry saddle thimble velvet walnut yarrow"
    " 排水 ポンプ 倉庫 会議 議事録 交換 月曜 設計 насос клапан 温度 计算 설비 교체 gen-zk42 parseHttpResponse C++"
)
WORDS = _TEXT.split()


def vector_of(text: str) -> Vectors:
    """A unit vector that follows from the text."""
    generator = np.random.default_rng(int.from_bytes(text.encode("utf-8")[:32].ljust(8, b"\0"), "big") % 2**63)
    row = generator.normal(size=DIMENSIONS).astype(np.float32)
    return np.asarray(row / np.linalg.norm(row))


def document(uri: str, passages: tuple[str, ...], **traits: object) -> tuple[Item, Document, tuple[Chunk, ...]]:
    """A document of some passages, as a source and a chunker would make it."""
    text = "\n".join(passages)
    source = uri.partition("/")[0]
    traits = {"kind": "markdown", "type": "note", "title": Path(uri).stem, "privacy": "personal", **traits}
    made = Document(uri=uri, source=source, text=text, modified=WHEN, **traits)  # type: ignore[arg-type]
    chunks, start = [], 0
    seen: dict[str, int] = {}
    for ordinal, passage in enumerate(passages):
        occurrence = seen[passage] = seen.get(passage, -1) + 1
        end = start + len(passage)
        id = chunk_id(uri, passage, occurrence)
        chunks.append(Chunk(id, uri, ordinal, start, end, passage, (made.title,), made.title))
        start = end + 1
    item = Item(uri, source, f"/data/{uri}", "text/markdown", str(len(text)), WHEN, len(text))
    return item, made, tuple(chunks)


def put(index: SqliteIndex, uri: str, *passages: str, **traits: object) -> None:
    """Write a document whole, without telling the copy yet."""
    item, made, chunks = document(uri, passages, **traits)
    write(index, item.source, Replacement(item, f"{made.text}{traits}", ((made, chunks),)))


def write(index: SqliteIndex, source: str, *changes: Change) -> None:
    """Apply changes to a source that may be new."""
    index.put_source(source, "markdown", f"/data/{source}")
    index.write(source, changes)


def embed(index: SqliteIndex) -> None:
    """Give every passage that waits a vector and token codes that follow from its text."""
    if index.vectors.embedder != EMBEDDER:
        index.vectors.begin(EMBEDDER, codes=True)
    while waiting := index.vectors.waiting(500):
        hashes, texts = [hash for hash, _ in waiting], [text for _, text in waiting]
        codes = [np.frombuffer((text * 2).encode("utf-8")[: 4 * CODE_BYTES], dtype=np.uint8) for text in texts]
        index.vectors.add(
            EMBEDDER,
            hashes,
            np.array([vector_of(text) for text in texts]),
            [code[: len(code) // CODE_BYTES * CODE_BYTES].reshape(-1, CODE_BYTES) for code in codes],
        )
    index.vectors.refresh()


def bring_in_step(index: SqliteIndex) -> None:
    """Tell the copy everything."""
    embed(index)
    assert index.replicate(lambda *_: None) == ()


def fill(index: SqliteIndex) -> None:
    """The corpus that most rules are looked at with."""
    put(index, "notes/pump.md", "The pump lost pressure on Monday.", "Valve torque is 42 Nm.", tags=("Ops/Water",))
    put(index, "notes/heron.md", OTHERS["notes"], date=datetime(2031, 4, 1, tzinfo=UTC), status="draft")
    put(index, "notes/議事録.md", "第二倉庫の排水ポンプを月曜に交換した。", language="ja", tags=("ops",))
    put(index, "notes/café.md", "Le café est fermé.", language="fr", type="Recipe", privacy="public")
    put(index, "docs/manual.md", OTHERS["docs"], kind="pdf", project="Plant", privacy="work", title="Pump manual")
    put(
        index,
        "docs/old.md",
        "A pump painted green.",
        status="Deprecated: see the manual",
        date=datetime(2030, 1, 2, 8, tzinfo=UTC),
    )
    put(index, "code/valve.py", OTHERS["code"], kind="code", privacy="secret")
    for number in range(40):
        words = [WORDS[(number * step) % len(WORDS)] for step in (1, 3, 5, 7, 11)]
        put(index, f"notes/many/{number:02}.md", " ".join(words), f"walnut {'tulip ' * (number % 4)}")
    for name in ("twin-a", "twin-b", "twin-c"):
        put(index, f"notes/{name}.md", "Exactly the same words stand here.", title="twin")


FILTERS: Mapping[str, Filter] = {
    "none": Filter(),
    "sources": Filter(sources=("docs", "code")),
    "kinds, letter case": Filter(kinds=("PDF",)),
    "types": Filter(types=("recipe",)),
    "projects": Filter(projects=("plant",)),
    "languages": Filter(languages=("ja", "FR")),
    "titles": Filter(titles=("ump", "MANUAL")),
    "tags": Filter(tags=("#ops",)),
    "deep tag": Filter(tags=("ops/water",)),
    "since": Filter(since=datetime(2031, 4, 1, 12, tzinfo=timezone(timedelta(hours=9)))),
    "since a bare day": Filter(since=datetime(2031, 4, 1, tzinfo=timezone(timedelta(hours=-7)))),
    "until": Filter(until=datetime(2031, 4, 1, tzinfo=UTC)),
    "path below the source": Filter(path_prefix="many/0"),
    "absolute path": Filter(path_prefix="/data/docs"),
    "path of a uri": Filter(path_prefix="notes/he"),
    "privacy": Filter(privacy=("public", "work")),
    "nothing allowed": Filter(privacy=()),
    "labels": Filter(labels=("personal",), privacy=("public", "personal")),
    "uris": Filter(uris=("notes/pump.md", "docs/manual.md", "notes/none.md")),
    "without status": Filter(without_status=("deprecated", "DRAFT")),
    "several": Filter(sources=("notes",), tags=("ops",), privacy=("personal",), without_status=("draft",)),
}
QUERIES: tuple[tuple[str, ...], ...] = (
    ("pump",),
    ("pump", "pressur"),
    ("valv", "heron"),
    ("exact", "same", "word"),
    ("排水", "ポンプ"),
    ("насос", "клапан"),
    ("walnut", "tulip"),
    ("café", "cafe"),
    ("parsehttprespons", "c++"),
    ("unheard",),
)


class IndexContract:
    """The rules. ``make`` opens an index on a file; opened again on the same file it is the same index.

    ``documents`` are written by the rule about many passages, ten each.
    """

    documents = 300

    @classmethod
    def make(cls, path: Path) -> SqliteIndex:
        """The index under test."""
        raise NotImplementedError

    @classmethod
    @contextmanager
    def opened(
        cls, folder: Path, fills: Callable[[SqliteIndex], None] = fill
    ) -> Iterator[tuple[SqliteIndex, SqliteIndex]]:
        """The index under test, filled and in step, and the reference, filled in the same way."""
        with closing(cls.make(folder / "index.db")) as index, closing(SqliteIndex(folder / "reference.db")) as plain:
            for each in (index, plain):
                fills(each)
                bring_in_step(each)
            yield index, plain

    @pytest.fixture(scope="class")
    @classmethod
    def filled(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SqliteIndex, SqliteIndex]]:
        """The index under test and the reference, for rules that change neither."""
        with cls.opened(tmp_path_factory.mktemp("filled")) as both:
            yield both

    def test_words_rank_as_in_the_reference(self, filled: tuple[SqliteIndex, SqliteIndex]) -> None:
        """The same passages with the same BM25, in the same order, in every script."""
        index, plain = filled
        for terms in QUERIES:
            assert_same_words(index, plain, terms, Filter(), 50)

    def test_a_word_that_most_passages_hold_orders_them_still(self, tmp_path: Path) -> None:
        """Its weight is a millionth of a rare one's, and no less exact."""

        def common(index: SqliteIndex) -> None:
            for number in range(1, 9):
                put(index, f"notes/{number}.md", "pump " * number + "of many words " * (9 - number))

        with self.opened(tmp_path, common) as (index, plain):
            best = [
                ids_by_key(each)[each.searching().lexical(("pump",), Filter(), 8).entries[0][0]]
                for each in (index, plain)
            ]
            assert best[0] == best[1]
            found, expected = (
                [score for _, score in each.searching().lexical(("pump",), Filter(), 8).entries]
                for each in (index, plain)
            )
            assert found == pytest.approx(expected, rel=1e-4)
            assert len(set(found)) > 1

    def test_phrases_and_beginnings_of_words_rank_as_in_the_reference(
        self, filled: tuple[SqliteIndex, SqliteIndex]
    ) -> None:
        """A quoted phrase weighs as a word of its own, a beginning stands for the words that begin so."""
        index, plain = filled
        assert_same_words(index, plain, ("pump",), Filter(), 9, phrases=(("valv", "torqu"),))
        assert_same_words(index, plain, ("pum", "zzz"), Filter(), 9, prefixed=("pum", "zzz"))

    def test_meaning_ranks_as_in_the_reference(self, filled: tuple[SqliteIndex, SqliteIndex]) -> None:
        """The same neighbours with the same cosines, also those of other scripts and those that others found."""
        index, plain = filled
        for text in ("pump\nThe pump lost pressure on Monday.", "anything", "排水ポンプ"):
            vector, script = vector_of(text), script_of(text)
            assert_same_nearest(index, plain, vector, Filter(), 20)
            assert_same_nearest(index, plain, vector, Filter(), 20, script=script)
        first = next(iter(keys_by_id(plain).values()))
        ranked = index.searching().dense(vector_of("anything"), Filter(), 1, also=(first,))
        assert len(ranked.entries) in (1, 2)

    @pytest.mark.parametrize("name", FILTERS)
    def test_a_filter_lets_through_what_it_does_in_the_reference(
        self, name: str, filled: tuple[SqliteIndex, SqliteIndex]
    ) -> None:
        """No passage more, none less, in both rankings, whatever part of a filter is asked for."""
        filter = FILTERS[name]
        index, plain = filled
        for terms in (("pump", "valv", "walnut", "cafe", "ポンプ", "heron"), ("same",)):
            assert_same_words(index, plain, terms, filter, 200)
        vector = vector_of("anything")
        assert_same_nearest(index, plain, vector, filter, 200, script=1)

    def test_every_part_of_a_filter_is_asked_for(self) -> None:
        """A part that is new is looked at here too."""
        asked = {part.name for part in fields(Filter) for one in FILTERS.values() if getattr(one, part.name)}
        assert asked == {part.name for part in fields(Filter)}

    def test_equal_scores_are_ordered_by_id_also_where_the_limit_cuts(
        self, filled: tuple[SqliteIndex, SqliteIndex]
    ) -> None:
        """Which of three equals come first never depends on how they are stored."""
        index, _ = filled
        ids = ids_by_key(index)
        for limit in (1, 2, 3):
            found = [ids[key] for key, _ in index.searching().lexical(("exact",), Filter(), limit).entries]
            twins = sorted(id for id in ids.values() if id in found or limit == 3)
            assert found == sorted(found)
            assert len(found) == limit <= len(twins)
        whole = [ids[key] for key, _ in index.searching().lexical(("exact",), Filter(), 3).entries]
        assert [ids[key] for key, _ in index.searching().lexical(("exact",), Filter(), 2).entries] == whole[:2]

    def test_of_many_equals_the_first_by_id_are_found(self, tmp_path: Path) -> None:
        """However few are asked for: not those that happen to be stored first."""

        def equals(index: SqliteIndex) -> None:
            for number in range(60):
                put(index, f"notes/{number:02}.md", "Exactly the same words.", title="twin")
            for number in range(60):  # so that the word is not in most of the passages
                put(index, f"docs/{number:02}.md", f"walnut {number}", title="other")

        with self.opened(tmp_path, equals) as (index, plain):
            for each in (index, plain):
                ids = ids_by_key(each)
                every = each.searching().lexical(("same",), Filter(), 100).entries
                assert len(every) == 60
                assert len({round(score, 3) for _, score in every}) == 1
                found = [ids[key] for key, _ in each.searching().lexical(("same",), Filter(), 10).entries]
                assert found == sorted(ids[key] for key, _ in every)[:10]

    def test_token_codes_come_back_as_they_were_written(self, filled: tuple[SqliteIndex, SqliteIndex]) -> None:
        """Of each passage asked for, bit for bit."""
        index, _ = filled
        keys = list(ids_by_key(index))
        expected = index.vectors.codes(keys, CODE_BYTES)
        found = index.searching().codes(keys, CODE_BYTES)
        assert {key: value.tolist() for key, value in found.items()} == {
            key: value.tolist() for key, value in expected.items()
        }
        assert len(found) == len(keys)

    def test_writing_twice_is_writing_once(self, tmp_path: Path) -> None:
        """The same documents again, told again, leave the same rankings."""

        def twice(index: SqliteIndex) -> None:
            fill(index)
            bring_in_step(index)
            fill(index)

        with self.opened(tmp_path, twice) as (index, plain):
            assert_same_words(index, plain, ("pump", "walnut"), Filter(), 200)
            assert index.chunk_count() == plain.chunk_count()

    def test_what_is_deleted_is_found_no_more(self, tmp_path: Path) -> None:
        """By word or meaning, and it takes no place of others; neither does a source that was removed."""
        with self.opened(tmp_path) as (index, plain):
            for each in (index, plain):
                write(each, "notes", Removal("notes/pump.md"))
                each.remove_source("docs")
                bring_in_step(each)
            assert_same_words(index, plain, ("pump", "pressur"), Filter(), 50, tolerance=DRIFT)
            assert_same_nearest(index, plain, vector_of("anything"), Filter(), 500)
            assert not index.searching().lexical(("torqu",), Filter(), 5).entries

    def test_a_change_is_found_and_what_it_replaced_is_not(self, tmp_path: Path) -> None:
        """New words are found, old ones are not; a new label, tag or place counts at once."""
        with self.opened(tmp_path) as (index, plain):
            for each in (index, plain):
                put(each, "notes/heron.md", "An egret came instead.", privacy="secret", tags=("birds",))
                item, _, _ = document("notes/pump.md", ("x",))
                write(each, "notes", Touch(replace(item, path="/elsewhere/pump.md")))
                bring_in_step(each)
            for filter in (
                Filter(),
                Filter(privacy=("secret",)),
                Filter(tags=("birds",)),
                Filter(path_prefix="/elsewhere"),
                Filter(path_prefix="/data/notes/pump"),
            ):
                assert_same_words(index, plain, ("egret", "heron", "pump"), filter, 50, tolerance=DRIFT)

    def test_a_label_that_became_stricter_hides_before_the_copy_knows(self, tmp_path: Path) -> None:
        """The catalogue has the last word: no copy that lags behind shows what may not be seen."""
        with self.opened(tmp_path) as (index, _):
            seen = Filter(privacy=("public",))
            search = index.searching()
            assert search.lexical(("cafe",), seen, 5).entries
            index.relabel("notes", lambda own: "secret")
            assert not search.lexical(("cafe",), seen, 5).entries
            assert not search.dense(vector_of("anything"), seen, 5).entries

    def test_opened_again_it_answers_the_same(self, tmp_path: Path) -> None:
        """What was told stays told."""
        with self.opened(tmp_path) as (index, _):
            before = index.searching().lexical(("pump", "valv"), Filter(), 20)
        with closing(self.make(tmp_path / "index.db")) as again:
            search = again.searching()
            assert search.lexical(("pump", "valv"), Filter(), 20) == before
            assert search.notices() == ()

    def test_many_passages_rank_as_in_the_reference(self, tmp_path: Path) -> None:
        """More than one request holds, and more than one page."""

        def many(index: SqliteIndex) -> None:
            changes: list[Change] = []
            for number in range(self.documents):
                passages = tuple(
                    " ".join(WORDS[(number * 7 + place * 3 + step * step) % len(WORDS)] for step in range(4 + place))
                    + f" {number}.{place}"
                    for place in range(10)
                )
                item, made, chunks = document(f"notes/{number:03}.md", passages)
                changes.append(Replacement(item, "x", ((made, chunks),)))
            write(index, "notes", *changes)

        with self.opened(tmp_path, many) as (index, plain):
            assert index.chunk_count() == 10 * self.documents
            assert_same_words(index, plain, ("valv", "排水", "granit"), Filter(), 100)
            assert_same_nearest(index, plain, vector_of("anything"), Filter(), 100, script=1)

    def test_an_empty_index_finds_nothing_and_says_no_error(self, tmp_path: Path) -> None:
        """Before the first document, and with a limit of nothing."""
        with self.opened(tmp_path, lambda index: None) as (index, _):
            assert index.searching().lexical(("pump",), Filter(), 5).entries == ()
            assert index.searching().dense(vector_of("x"), Filter(), 5).entries == ()
            assert index.searching().lexical(("pump",), Filter(), 0).entries == ()
            assert index.searching().codes([], CODE_BYTES) == {}


def ids_by_key(index: SqliteIndex) -> dict[int, str]:
    """The id of every passage by its key."""
    return dict(index.database.rows("SELECT key, id FROM chunk ORDER BY id"))


def keys_by_id(index: SqliteIndex) -> dict[str, int]:
    """The key of every passage by its id."""
    return {id: key for key, id in ids_by_key(index).items()}


def assert_same_words(
    index: SqliteIndex,
    reference: SqliteIndex,
    terms: Sequence[str],
    filter: Filter,
    limit: int,
    *,
    phrases: Sequence[tuple[str, ...]] = (),
    prefixed: Sequence[str] = (),
    tolerance: float = TOLERANCE,
) -> None:
    """Both rank alike by words."""
    search, other = index.searching(), reference.searching()
    found = search.lexical(terms, filter, limit, phrases=phrases, prefixed=prefixed)
    expected = other.lexical(terms, filter, limit, phrases=phrases, prefixed=prefixed)
    assert search.notices() == ()
    _assert_alike(index, reference, found, expected, tolerance)


def assert_same_nearest(
    index: SqliteIndex, reference: SqliteIndex, vector: Vectors, filter: Filter, limit: int, *, script: int = 0
) -> None:
    """Both rank alike by meaning, to the last digit."""
    search, other = index.searching(), reference.searching()
    found = search.dense(vector, filter, limit, script=script)
    expected = other.dense(vector, filter, limit, script=script)
    assert search.notices() == ()
    _assert_alike(index, reference, found, expected, 0.0)


def _assert_alike(
    index: SqliteIndex, reference: SqliteIndex, found: Ranking, expected: Ranking, tolerance: float
) -> None:
    """The same passages in the same order, with scores that differ by no more than ``tolerance``.

    Only passages whose scores lie closer than that may change places, also across the end of the list.
    """
    assert [score for _, score in found.entries] == pytest.approx(
        [score for _, score in expected.entries], abs=tolerance
    )
    ids, others = ids_by_key(index), ids_by_key(reference)
    known = {others[key]: score for key, score in expected.entries}
    last = min(known.values(), default=0.0)
    scores = [known.get(ids[key], last) for key, _ in found.entries]
    assert all(abs(score - last) <= tolerance for key, score in found.entries if ids[key] not in known)
    assert all(better >= worse - tolerance for better, worse in pairwise(scores))
