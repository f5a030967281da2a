"""Dense search: vectors in SQLite, the matrix beside it, orphans, filters, ties."""

from __future__ import annotations

import random
import shutil
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from second_brain.errors import EmbedderMismatch
from second_brain.index.sqlite import vectors
from second_brain.index.sqlite.store import SqliteIndex
from second_brain.records import Removal
from second_brain.types import Filter, embedding_hash

ANY = Filter()
DIMENSIONS = 32


def vector_of(text: str):
    """A unit vector that depends on the text alone."""
    vector = np.random.default_rng(list(text.encode())).standard_normal(DIMENSIONS).astype(np.float32)
    return vector / np.linalg.norm(vector)


def embed(index, embedder="fake/1", limit=100_000):
    """Give every waiting text its vector; returns the texts."""
    index.vectors.begin(embedder)
    waiting = index.vectors.waiting(limit)
    if waiting:
        index.vectors.add(embedder, [hash for hash, _ in waiting], np.stack([vector_of(text) for _, text in waiting]))
    return [text for _, text in waiting]


def search(index, text, filter=ANY, limit=10):
    """(chunk id, score) best first; the query is a document's embedding text, or any other."""
    ranking = index.dense(vector_of(text), filter, limit)
    ids = {key: chunk.id for key, chunk in index.chunks([key for key, _ in ranking.entries]).items()}
    return [(ids[key], score) for key, score in ranking.entries]


def ids(change):
    return [chunk.id for _, chunks in change.documents for chunk in chunks]


@pytest.fixture
def many(index, put):
    """300 passages in 60 documents, embedded, the matrix written."""
    for number in range(60):
        put(f"n/{number}.md", *(f"passage {number} {part}" for part in range(5)))
    embed(index)
    assert index.vectors.refresh()
    return index


QUESTIONS = ("17\npassage 17 3", "something else", "第十七")


def answers(index):
    return [search(index, text, limit=limit) for text in QUESTIONS for limit in (1, 10, 299, 1000)]


def test_the_nearest_passage_is_first_with_its_cosine(many):
    """A passage is nearest to itself; every score is its cosine within the error of one byte a dimension."""
    found = search(many, "17\npassage 17 3", limit=300)
    assert found[0][1] == pytest.approx(1.0, abs=1e-4)
    exact = {
        chunk.id: float(vector_of(f"{chunk.document.title}\n{chunk.text}") @ vector_of("17\npassage 17 3"))
        for chunk in many.chunks(range(1, 301)).values()
    }
    assert dict(found) == pytest.approx(exact, abs=0.01)


def test_a_stored_vector_is_nearly_the_one_given(many):
    """The cosine of a vector and its stored form is at least 0.9999."""
    chunks = many.chunks(range(1, 301))
    for key, chunk in chunks.items():
        given = vector_of(f"{chunk.document.title}\n{chunk.text}")
        assert 0.9999 <= many.vectors.similarities([key], given)[key] <= 1.00001


def deleted(path):
    path.unlink()


def truncated(path):
    path.write_bytes(path.read_bytes()[:-100])


def cut_in_its_head(path):
    path.write_bytes(path.read_bytes()[:50])


def emptied(path):
    path.write_bytes(b"")


def of_another_program(path):
    path.write_bytes(random.Random(1).randbytes(path.stat().st_size))


def a_folder(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("harm", [deleted, truncated, cut_in_its_head, emptied, of_another_program, a_folder])
def test_a_harmed_matrix_changes_no_answer(many, harm):
    """With the matrix deleted, cut or foreign, the rows in SQLite give the same ids and scores."""
    before = answers(many)
    many.close()
    harm(many.vectors.matrix_path)
    again = SqliteIndex(many.path)
    assert answers(again) == before
    assert answers(many) == before
    again.vectors.refresh()
    assert answers(again) == before
    again.close()


def test_the_matrix_of_another_index_is_not_read(many, tmp_path, put):
    """A matrix copied beside another index, as by a careless restore, is ignored."""
    other = SqliteIndex(tmp_path / "other.db")
    other.put_source("n", "markdown", "/n")
    change = put("n/only.md", "the only passage", into=other)
    embed(other)
    shutil.copyfile(many.vectors.matrix_path, other.vectors.matrix_path)
    assert [id for id, _ in search(other, "anything")] == ids(change)
    other.close()


def test_a_stale_matrix_answers_for_the_state_of_now(many, put):
    """An old matrix put back after changes (deleted, changed and new passages) gives today's answers."""
    old = many.vectors.matrix_path.read_bytes()
    many.write("n", [Removal(f"n/{number}.md") for number in range(30)])
    put("n/40.md", "passage 40 in other words")
    put("n/new.md", "a new passage")
    embed(many)
    many.vectors.matrix_path.unlink()
    expected = answers(many)
    many.vectors.matrix_path.write_bytes(old)
    again = SqliteIndex(many.path)
    assert answers(again) == expected
    assert len(answers(again)[3]) == 30 * 5 - 5 + 1 + 1
    again.close()


def test_rows_newer_than_the_matrix_are_found_at_once(many, put):
    """No rewrite is needed, neither in this process nor in one that has the old matrix mapped."""
    reader = SqliteIndex(many.path)
    assert len(search(reader, "x", limit=1000)) == 300
    change = put("n/new.md", "a new passage")
    embed(many)
    for index in (many, reader):
        assert search(index, "new\na new passage", limit=1) == [(ids(change)[0], pytest.approx(1.0, abs=1e-4))]
    reader.close()


def test_deleted_passages_are_gone_at_once(many):
    """In the process that deletes, and in another that has the matrix mapped."""
    reader = SqliteIndex(many.path)
    assert len(search(reader, "x", limit=1000)) == 300
    many.write("n", [Removal(f"n/{number}.md") for number in range(50)])
    for index in (many, reader):
        assert len(search(index, "x", limit=1000)) == 50
        assert len(search(index, "x", limit=50)) == 50
    reader.close()


def test_deleted_passages_take_no_place_before_there_is_a_matrix(index, put):
    """What was read into memory for one search is not taken for the state of the next."""
    for number in range(20):
        put(f"n/{number}.md", f"passage {number}")
    embed(index)
    assert len(search(index, "x", limit=20)) == 20
    index.write("n", [Removal(f"n/{number}.md") for number in range(10)])
    assert len(search(index, "x", limit=10)) == 10


def test_rewriting_the_matrix_changes_no_answer(many, put):
    """Before and after the rewrite ids and scores are equal, also for a reader that had the old one mapped."""
    reader = SqliteIndex(many.path)
    answers(reader)
    many.write("n", [Removal(f"n/{number}.md") for number in range(30)])
    put("n/new.md", *(f"a new passage {number}" for number in range(60)))
    embed(many)
    before = answers(many)
    assert answers(reader) == before
    assert many.vectors.refresh()
    assert not many.vectors.refresh()
    assert answers(many) == before
    assert answers(reader) == before
    reader.close()


def test_a_folder_without_room_for_the_matrix_is_no_error(many, put):
    """It cannot be written: nothing fails, no half file is left, the rows answer."""
    before = answers(many)
    a_folder(many.vectors.matrix_path)
    (many.vectors.matrix_path / "in the way").touch()
    assert not many.vectors.refresh()
    assert answers(many) == before
    assert sorted(path.name for path in many.path.parent.glob("*.new")) == []


def test_a_text_that_comes_back_is_not_embedded_again(many, put):
    """Its vector was kept as an orphan, is joined again at once, and is found although the matrix lacks it."""
    change = put("n/7.md", "passage 7 rewritten")
    many.vectors.refresh()
    assert embed(many) == ["7\npassage 7 rewritten"]
    many.write("n", [Removal("n/7.md")])
    assert ids(change)[0] not in dict(search(many, "7\npassage 7 rewritten", limit=1000))
    put("n/7.md", "passage 7 rewritten")
    assert many.vectors.waiting_count() == 0
    assert search(many, "7\npassage 7 rewritten", limit=1)[0][0] == ids(change)[0]


def test_orphans_come_back_after_the_matrix_was_written_without_them(many, put):
    """Removed, the matrix rewritten, then moved elsewhere: 0 texts to embed and the same scores."""
    before = dict(search(many, QUESTIONS[1], limit=1000))
    many.write("n", [Removal(f"n/{number}.md") for number in range(40)])
    assert many.vectors.refresh()
    for number in range(40):
        put(f"n/moved/{number}.md", *(f"passage {number} {part}" for part in range(5)))
    assert embed(many) == []
    after = dict(search(many, QUESTIONS[1], limit=1000))
    assert sorted(after.values()) == sorted(before.values())


def test_a_filter_never_comes_back_short(index, put):
    """Three passages of a small source are found behind two hundred nearer ones of another."""
    index.put_source("few", "markdown", "/few")
    put("n/many.md", *(f"near {number}" for number in range(200)))
    few = put("few/a.md", "far 1", "far 2", "far 3")
    embed(index)
    ranked = [id for id, _ in search(index, "many\nnear 7", limit=203)]
    assert len(ranked) == 203
    found = [id for id, _ in search(index, "many\nnear 7", Filter(sources=("few",)), limit=3)]
    assert found == [id for id in ranked if id in ids(few)]
    index.vectors.refresh()
    assert [id for id, _ in search(index, "many\nnear 7", Filter(sources=("few",)), limit=3)] == found


def test_equal_texts_share_a_vector_and_keep_their_own_privacy(index, put):
    """A secret note with the text of a public one is not let through with it."""
    open_ = put("n/a.md", "the same text", title="same", privacy="public")
    secret = put("n/b.md", "the same text", title="same", privacy="secret")
    assert len(embed(index)) == 1
    assert {id for id, _ in search(index, "x")} == {*ids(open_), *ids(secret)}
    assert [id for id, _ in search(index, "x", Filter(privacy=("public",)))] == ids(open_)
    assert search(index, "x", Filter(privacy=())) == []


@pytest.mark.parametrize("filter", [ANY, Filter(sources=("n",))])
def test_equal_scores_are_ordered_by_chunk_id_also_where_the_limit_cuts(index, put, filter):
    """Equal passages of twenty notes: every limit yields the smallest ids, in order."""
    every = sorted(id for number in range(20) for id in ids(put(f"n/{number:02}.md", "heron", title="same")))
    embed(index)
    for limit in (1, 5, 19, 20, 30):
        assert [id for id, _ in search(index, "q", filter, limit)] == every[:limit]


def test_scores_that_are_equal_as_shown_are_cut_by_chunk_id(index, put):
    """Cosines of 0.21306835 and 0.21306775 are one score: which passages are listed depends on their ids alone."""
    changes = [put(f"n/{number}.md", f"text {number}") for number in range(40)]
    index.vectors.begin("fake/1")
    waiting = index.vectors.waiting(100)
    rows = np.tile(np.array([127] * 22 + [21] + [0] * 9, dtype=np.float32), (len(waiting), 1))
    rows[::2, 30:] = 1.0
    index.vectors.add("fake/1", [hash for hash, _ in waiting], rows / np.linalg.norm(rows, axis=1, keepdims=True))
    every = sorted(id for change in changes for id in ids(change))
    for limit in (3, 17, 40):
        ranking = index.dense(np.eye(DIMENSIONS, dtype=np.float32)[0], ANY, limit)
        found = index.chunks([key for key, _ in ranking.entries])
        assert [(found[key].id, score) for key, score in ranking.entries] == [(id, 0.213068) for id in every[:limit]]


def test_the_order_of_insertion_does_not_matter(tmp_path, put):
    """The same documents written in another order give the same ids with the same scores."""
    documents = [(f"n/{number}.md", f"passage {number % 25}") for number in range(100)]
    found = []
    for seed in (1, 2):
        index = SqliteIndex(tmp_path / f"{seed}.db")
        index.put_source("n", "markdown", "/n")
        for uri, text in random.Random(seed).sample(documents, len(documents)):
            put(uri, text, title="same", into=index)
        embed(index)
        found.append([search(index, text, limit=limit) for text in ("same\npassage 3", "q") for limit in (7, 100)])
        index.close()
    assert found[0] == found[1]


def test_more_equal_scores_than_sqlite_takes_parameters(index, put):
    """33,000 passages that tie are ranked like ten."""
    put("n/a.md", "first")
    embed(index)
    count = 33_000
    with index.database.transaction() as connection:
        connection.execute(
            "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
            " INSERT INTO vector(hash, data) SELECT CAST(printf('%016d', i) AS BLOB), v.data FROM n, vector v",
            (count,),
        )
        connection.execute(
            "INSERT INTO chunk(id, document, ordinal, start, end, heading_path, context, embedding, vector)"
            " SELECT printf('%08d', v.key), 1, v.key, 0, 0, '[]', '', v.hash, v.key FROM vector v WHERE v.key > 1"
        )
    ranking = index.dense(vector_of("a\nfirst"), ANY, 5)
    assert len(ranking.entries) == 5
    every = index.dense(vector_of("a\nfirst"), ANY, 100_000)
    assert len(every.entries) == count + 1
    assert len(index.candidates([key for key, _ in every.entries])) == count + 1


def test_the_same_text_again_replaces_its_value(many, put):
    """One row, the new value, also for a reader that has the old matrix mapped."""
    reader = SqliteIndex(many.path)
    assert search(reader, "17\npassage 17 3", limit=1)[0][1] == pytest.approx(1.0, abs=1e-4)
    rows = many.database.rows("SELECT v.hash FROM chunk c JOIN vector v ON v.key = c.vector WHERE c.key = 1")
    many.vectors.add("fake/1", [rows[0][0]], vector_of("another meaning")[None])
    for index in (many, reader):
        key, score = index.dense(vector_of("another meaning"), ANY, 1).entries[0]
        assert (key, score) == (1, pytest.approx(1.0, abs=1e-4))
    assert many.database.value("SELECT count(*) FROM vector") == 300
    reader.close()


def test_another_embedder_drops_the_vectors_of_the_first(many):
    """Nothing of two embedders is ever compared; the texts wait again, and going back works too."""
    assert many.vectors.begin("other/1") == 300
    assert search(many, "x") == []
    assert many.vectors.waiting_count() == 300
    assert many.vectors.begin("fake/1") == 0
    assert search(many, "x") == []  # the matrix of the first lies there still
    embed(many)
    assert len(search(many, "x", limit=1000)) == 300


def test_the_matrix_of_another_width_is_not_read(many):
    """The old matrix lies there still while the first vectors of a narrower embedder are searched."""
    many.vectors.begin("narrow/1")
    ((hash, _),) = many.vectors.waiting(1)
    many.vectors.add("narrow/1", [hash], np.eye(1, 16, dtype=np.float32))
    for index in (many, SqliteIndex(many.path)):
        ((_, score),) = index.dense(np.eye(1, 16, dtype=np.float32)[0], ANY, 10).entries
        assert score == 1.0
        index.close()


def test_vectors_of_a_displaced_embedder_are_refused(many):
    """An embedding run that was overtaken by one with another model ends with an error that names both."""
    hashes = [hash for (hash,) in many.database.rows("SELECT hash FROM vector LIMIT 2")]
    many.vectors.begin("other/1")
    with pytest.raises(EmbedderMismatch, match=r"'other/1'.*'fake/1'"):
        many.vectors.add("fake/1", hashes, np.stack([vector_of("a"), vector_of("b")]))
    assert many.database.value("SELECT count(*) FROM vector") == 0


def test_a_vector_whose_text_went_away_meanwhile_is_an_orphan(index, put):
    """The note was deleted while it was embedded: nothing points to the vector, nothing finds it."""
    put("n/a.md", "first")
    index.vectors.begin("fake/1")
    ((hash, text),) = index.vectors.waiting(10)
    index.write("n", [Removal("n/a.md")])
    assert index.vectors.add("fake/1", [hash], vector_of(text)[None]) == 0
    assert index.database.value("SELECT count(*) FROM vector WHERE orphaned IS NULL") == 0
    assert search(index, text) == []
    put("n/a.md", "first")
    assert index.vectors.waiting_count() == 0


def test_texts_wait_in_the_order_of_their_documents_newest_first(index, put):
    """By date, then uri, then place in the document; equal texts once."""
    day = datetime(2031, 5, 2, tzinfo=UTC)
    put("n/old.md", "o1", "o2", modified=day - timedelta(days=9))
    put("n/new.md", "n1", "n2", "n1", modified=day)
    put("n/dated.md", "d1", modified=day, date=day + timedelta(days=9))
    put("n/newer.md", "same", modified=day + timedelta(days=1), title="t")
    put("n/newest.md", "same", modified=day + timedelta(days=2), title="t")
    texts = [text for _, text in index.vectors.waiting(100)]
    assert texts == ["dated\nd1", "t\nsame", "new\nn1", "new\nn2", "old\no1", "old\no2"]
    assert [text for _, text in index.vectors.waiting(3)][:2] == texts[:2]


def test_a_refused_text_never_hides_the_others(index, put):
    """A text to skip that stands in many passages takes no place of those that wait behind it."""
    day = datetime(2031, 5, 2, tzinfo=UTC)
    put("n/new.md", *["refused"] * 50, modified=day)
    put("n/old.md", "good", modified=day - timedelta(days=1))
    skip = [hash for hash, text in index.vectors.waiting(100) if text == "new\nrefused"]
    assert [text for _, text in index.vectors.waiting(1, skip)] == ["old\ngood"]


def test_a_text_is_read_with_its_own_document(index, put, monkeypatch):
    """A document that another process replaces while texts are collected never lends its text to another's hash."""
    put("n/a.md", "first")
    other = SqliteIndex(index.path)
    value = index.database.value

    def meddled(sql, parameters=()):
        if sql.startswith("SELECT text"):
            put("n/a.md", "other", into=other)
        return value(sql, parameters)

    monkeypatch.setattr(index.database, "value", meddled)
    assert index.vectors.waiting(10) == [(embedding_hash("a\nfirst"), "a\nfirst")]
    other.close()


def test_old_orphans_are_dropped_when_there_are_many(many, monkeypatch):
    """A quarter of the live vectors stays for its return, the oldest orphans go; answers do not change."""
    monkeypatch.setattr(vectors, "ORPHANS_KEPT", 10)
    for number in range(40):
        many.write("n", [Removal(f"n/{number}.md")])
    before = answers(many)
    assert many.vectors.prune() == 200 - 25
    assert many.vectors.prune() == 0
    assert answers(many) == before
    left = {embedding_hash(f"{number}\npassage {number} {part}") for number in range(35, 60) for part in range(5)}
    assert {hash for (hash,) in many.database.rows("SELECT hash FROM vector")} == left


def test_an_index_without_vectors_finds_nothing(index, put):
    """Neither an empty index nor one that waits for its vectors is an error."""
    assert index.dense(vector_of("x"), ANY, 10).entries == ()
    put("n/a.md", "first")
    assert index.dense(vector_of("x"), ANY, 10).entries == ()
    assert not index.vectors.refresh()
    assert index.vectors.embedder == ""
    embed(index)
    assert index.dense(vector_of("x"), ANY, 0).entries == ()
    assert index.vectors.embedder == "fake/1"


def test_the_matrix_goes_with_the_last_vector(many):
    """When nothing is left to search, no file of old vectors is left either."""
    many.write("n", [Removal(f"n/{number}.md") for number in range(60)])
    many.vectors.refresh()
    assert not many.vectors.matrix_path.exists()
    assert search(many, "x") == []


# -- token codes ---------------------------------------------------------------------------------------------


def codes_of(text: str):
    """Codes that depend on the text alone: one token a word, two bytes each."""
    return np.array([[len(word), ord(word[0]) % 256] for word in text.split()], dtype=np.uint8)


def embed_with_codes(index):
    """Give every text without token codes vector and codes; returns the texts."""
    index.vectors.begin("fake/1", codes=True)
    waiting = index.vectors.waiting(1000, codes=True)
    texts = [text for _, text in waiting]
    if texts:
        rows = np.stack([vector_of(text) for text in texts])
        index.vectors.add("fake/1", [hash for hash, _ in waiting], rows, [codes_of(text) for text in texts])
    return texts


def coded(index):
    """By passage, its stored codes; a passage without any is left out."""
    chunks = index.chunks([key for (key,) in index.database.rows("SELECT key FROM chunk")])
    return {chunks[key].text: codes.tolist() for key, codes in index.vectors.codes(list(chunks), 2).items()}


def expected(*passages):
    return {text: codes_of(f"{title}\n{text}").tolist() for title, text in passages}


def test_codes_are_kept_with_the_vector_of_their_text(index, put):
    """Equal texts share them, in whatever document."""
    put("n/a.md", "the heron", "an owl at night")
    put("n/b/a.md", "the heron")
    assert len(embed_with_codes(index)) == 2
    assert coded(index) == expected(("a", "the heron"), ("a", "an owl at night"))
    assert index.database.value("SELECT count(*) FROM token") == 2
    assert embed_with_codes(index) == []


def test_codes_come_back_with_their_text(index, put):
    """A note that moves, or goes away and comes back, is not embedded again."""
    put("n/a.md", "the heron")
    embed_with_codes(index)
    index.write("n", [Removal("n/a.md")])
    assert coded(index) == {}
    put("n/moved/a.md", "the heron")
    assert embed_with_codes(index) == []
    assert coded(index) == expected(("a", "the heron"))


def test_codes_go_with_their_vector(index, put, monkeypatch):
    """Pruned orphans, and vectors of another embedder, leave none behind."""
    monkeypatch.setattr(vectors, "ORPHANS_KEPT", 0)
    put("n/a.md", "the heron")
    put("n/b.md", "an owl", "a gannet", "a kite", "a crow")
    embed_with_codes(index)
    index.write("n", [Removal("n/b.md")])
    assert index.vectors.prune() == 4
    assert index.database.value("SELECT count(*) FROM token") == 1
    index.vectors.begin("other/1", codes=True)
    assert index.database.value("SELECT count(*) FROM token") == 0


def test_chunks_whose_vector_has_no_codes_wait_for_them_when_they_are_wanted(index, put):
    """After those without a vector; meanwhile their vectors answer."""
    put("n/old.md", "the heron", modified=datetime(2030, 1, 1, tzinfo=UTC))
    embed(index)
    assert index.vectors.waiting(10) == []
    put("n/new.md", "an owl", modified=datetime(2020, 1, 1, tzinfo=UTC))
    assert (index.vectors.waiting_count(), index.vectors.uncoded_count()) == (1, 1)
    assert search(index, "old\nthe heron")[0][1] == pytest.approx(1, abs=1e-3)
    assert embed_with_codes(index) == ["new\nan owl", "old\nthe heron"]
    assert coded(index) == expected(("new", "an owl"), ("old", "the heron"))
    assert (index.vectors.waiting_count(), index.vectors.uncoded_count()) == (0, 0)
    assert search(index, "old\nthe heron")[0][1] == pytest.approx(1, abs=1e-3)


def test_codes_that_nobody_wants_are_dropped(index, put):
    """Embedding with late interaction off leaves vectors only."""
    put("n/a.md", "the heron")
    embed_with_codes(index)
    index.vectors.begin("fake/1")
    assert coded(index) == {}
    assert index.vectors.waiting_count() == 0


def test_the_same_text_again_replaces_its_codes(index, put):
    """Codes of an earlier value are never compared with a later one."""
    put("n/a.md", "the heron")
    embed_with_codes(index)
    (hash,) = (hash for (hash,) in index.database.rows("SELECT hash FROM vector"))
    index.vectors.add("fake/1", [hash], vector_of("x")[None], [np.array([[1, 2]], dtype=np.uint8)])
    assert coded(index) == {"the heron": [[1, 2]]}
    index.vectors.add("fake/1", [hash], vector_of("x")[None])
    assert coded(index) == {}


# -- scripts -------------------------------------------------------------------------------------------------


def near(direction: int, share: float, text: str):
    """A unit vector that depends on the text, and lies near one axis."""
    vector = vector_of(text) * (1 - share)
    vector[direction] += share
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def in_two_scripts(put, index, latin=10, japanese=10):
    """Notes in two scripts whose vectors lie near an axis each; returns the vectors by text."""
    found = {}
    for number in range(latin):
        put(f"n/{number}.md", f"heron {number}", title="")
        found[f"heron {number}"] = near(0, 0.6, f"l{number}")
    for number in range(japanese):
        put(f"n/ja-{number}.md", f"鷺は堰に立つ {number}", title="")
        found[f"鷺は堰に立つ {number}"] = near(1, 0.6, f"j{number}")
    index.vectors.begin("fake/1")
    waiting = index.vectors.waiting(100)
    index.vectors.add("fake/1", [hash for hash, _ in waiting], np.stack([found[text.strip()] for _, text in waiting]))
    return found


def test_scripts_are_aligned_by_their_means(index, put):
    """Passages in another script gain most of what their mean lacks; those in the query's own stay as they are."""
    vectors_of = in_two_scripts(put, index)
    query = near(0, 0.6, "query")
    plain = dict(index.dense(query, ANY, 20).entries)
    ranking = index.dense(query, ANY, 20, script=1)
    means = {True: [], False: []}
    for text, vector in vectors_of.items():
        means[text.isascii()].append(float(vector @ query))
    own, other = np.mean(means[True]), np.mean(means[False])
    assert ranking.shifts == {2: pytest.approx(0.85 * (own - other), abs=2e-4)}
    chunks = index.chunks([key for key, _ in ranking.entries])
    for key, score in ranking.entries:
        gain = 0.0 if chunks[key].text.isascii() else ranking.shifts[2]
        assert score == pytest.approx(plain[key] + gain, abs=1e-5)
    assert [score for _, score in ranking.entries] == sorted((score for _, score in ranking.entries), reverse=True)


def test_a_few_passages_tell_nothing_of_their_script(index, put):
    """Nor does a query without letters."""
    in_two_scripts(put, index, japanese=7)
    query = near(0, 0.6, "query")
    assert index.dense(query, ANY, 20, script=1).shifts == {}
    assert index.dense(query, ANY, 20, script=2).shifts == {}
    assert index.dense(query, ANY, 20).shifts == {}


def test_the_mapped_matrix_knows_the_scripts_too(index, put):
    """The same scores with the matrix file as from the rows, and with rows that are newer than it."""
    in_two_scripts(put, index)
    query = near(0, 0.6, "query")
    before = index.dense(query, ANY, 20, script=1)
    assert index.vectors.refresh()
    assert index.dense(query, ANY, 20, script=1) == before
    put("n/newer.md", "梟は小屋に住む", title="")
    index.vectors.begin("fake/1")
    ((hash, _),) = index.vectors.waiting(5)
    index.vectors.add("fake/1", [hash], near(1, 0.6, "newer")[None])
    after = index.dense(query, ANY, 30, script=1)
    assert len(after.entries) == 21
    index.vectors.matrix_path.unlink()
    assert SqliteIndex(index.path).dense(query, ANY, 30, script=1) == after


def test_what_was_found_otherwise_stands_behind_the_nearest(index, put):
    """With its score, shifted as all others, in the order of scores; what has no vector is left out."""
    in_two_scripts(put, index)
    put("n/waits.md", "an owl", title="")
    query = near(0, 0.6, "query")
    every = index.dense(query, ANY, 30, script=1).entries
    first, rest = every[:3], every[3:]
    waits = index.database.value("SELECT key FROM chunk WHERE vector IS NULL")
    also = [key for key, _ in (*rest[::-1], *first)] + [waits]
    assert index.dense(query, ANY, 3, script=1, also=also).entries == every
