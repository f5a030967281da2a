"""Lexical search over the index: BM25, filters, ties, the statistics that it is made of."""

from __future__ import annotations

import random

import pytest

from second_brain.analysis import match_expression, query_terms
from second_brain.index.sqlite.store import SqliteIndex
from second_brain.records import Removal
from second_brain.types import Filter

ANY = Filter()


def search(index, text, filter=ANY, limit=10):
    """Chunk ids, best first."""
    ranking = index.lexical(match_expression(query_terms(text)), filter, limit)
    return [chunk.id for chunk in map(index.chunks([key for key, _ in ranking.entries]).get, dict(ranking.entries))]


def scores(index, text, limit=100):
    ranking = index.lexical(match_expression(query_terms(text)), ANY, limit)
    ids = {key: chunk.id for key, chunk in index.chunks([key for key, _ in ranking.entries]).items()}
    return {ids[key]: score for key, score in ranking.entries}


def ids(change):
    return [chunk.id for _, chunks in change.documents for chunk in chunks]


def test_higher_is_better_and_positive(index, put):
    """FTS5's bm25 is negative; here the passage that speaks most of the word has the highest score."""
    often = put("n/a.md", "heron heron heron by the weir")
    once = put("n/b.md", "a heron was seen by nobody in the long grass behind the weir that day")
    for number in range(8):
        put(f"n/other-{number}.md", f"nothing of the kind {number}")
    ranking = index.lexical('"heron"', ANY, 10)
    assert search(index, "heron") == ids(often) + ids(once)
    assert ranking.name == "lexical"
    assert [score for _, score in ranking.entries] == sorted((score for _, score in ranking.entries), reverse=True)
    assert ranking.entries[-1][1] > 0


def test_a_filter_never_comes_back_short(index, put):
    """Three passages of a small source are found behind two hundred better ones of another."""
    index.put_source("few", "markdown", "/few")
    put("n/many.md", *(f"heron heron {number}" for number in range(200)))
    few = put("few/a.md", *(f"a heron among many other words that say nothing {number}" for number in range(3)))
    assert sorted(search(index, "heron", Filter(sources=("few",)), limit=3)) == sorted(ids(few))
    assert sorted(search(index, "heron", Filter(sources=("few",)), limit=100)) == sorted(ids(few))
    assert len(search(index, "heron", limit=100)) == 100


@pytest.mark.parametrize("filter", [ANY, Filter(sources=("n",))])
def test_equal_scores_are_ordered_by_chunk_id_also_where_the_limit_cuts(index, put, filter):
    """Many equal passages: every limit yields the smallest ids, in order, however many more are equal."""
    every = sorted(id for number in range(80) for id in ids(put(f"n/{number:02}.md", "heron", title="same")))
    for limit in (1, 5, 29, 30, 31, 79, 80, 90):
        assert search(index, "heron", filter, limit) == every[:limit]


def test_the_order_of_insertion_does_not_matter(tmp_path, put):
    """The same documents written in another order give the same ids with the same scores."""
    rng = random.Random(4)
    words = ["heron", "weir", "kelp", "pump", "owl"]
    documents = [(f"n/{number}.md", " ".join(rng.choices(words, k=rng.randint(1, 9)))) for number in range(60)]
    answers = []
    for seed in (1, 2):
        index = SqliteIndex(tmp_path / f"{seed}.db")
        index.put_source("n", "markdown", "/n")
        for uri, text in random.Random(seed).sample(documents, len(documents)):
            put(uri, text, into=index)
        answers.append([list(scores(index, text).items()) for text in ("heron", "heron weir", "pump owl kelp")])
        index.close()
    assert answers[0] == answers[1]


def test_what_was_deleted_or_replaced_leaves_no_trace_in_scores(tmp_path, index, put):
    """Scores after many edits are those of an index made from the final texts only."""
    for version in range(5):
        for number in range(30):
            put(f"n/{number}.md", f"heron {'weir ' * ((number + version) % 5)} {number}")
    for number in range(20, 30):
        put(f"n/gone-{number}.md", "heron heron")
    index.write("n", [Removal(f"n/gone-{number}.md") for number in range(20, 30)])
    fresh = SqliteIndex(tmp_path / "fresh.db")
    fresh.put_source("n", "markdown", "/n")
    for number in range(30):
        put(f"n/{number}.md", f"heron {'weir ' * ((number + 4) % 5)} {number}", into=fresh)
    assert scores(index, "heron weir") == scores(fresh, "heron weir")
    assert index.terms.frequencies(["heron", "weir"]) == fresh.terms.frequencies(["heron", "weir"])
    fresh.close()


def test_frequencies_count_chunks(index, put):
    """A term counts once a chunk, a term that nobody used counts none."""
    put("n/a.md", "heron heron", "heron and owl")
    assert index.terms.frequencies(["heron", "owl", "gannet"]) == {"heron": 2, "owl": 1, "gannet": 0}


def test_no_score_is_above_the_bound(index, put):
    """The bound holds for any mix of words, lengths and fields."""
    rng = random.Random(9)
    words = [f"word{number}" for number in range(12)]
    for number in range(80):
        put(f"n/{number}.md", " ".join(rng.choices(words, k=rng.choice((1, 2, 5, 60)))), title=rng.choice(words))
    for _ in range(40):
        query = query_terms(" ".join(rng.sample(words, rng.randint(1, 4))))
        ranking = index.lexical(match_expression(query), ANY, 1)
        frequencies = list(index.terms.frequencies(query.terms).values())
        assert ranking.entries[0][1] <= index.terms.bound(frequencies, index.chunk_count())


def test_title_headings_tags_and_names_are_searched(index, put):
    """A passage is found by what its document says of itself."""
    change = put(
        "n/stem-word.md", "body", title="titleword", tags=("tagword",), aliases=("aliasword",), description="aboutword"
    )
    put("n/other.md", "another")
    for word in ("titleword", "tagword", "aliasword", "aboutword", "stem-word", "body"):
        assert search(index, word) == ids(change), word


def test_weights_of_fields_change_the_order(tmp_path, put):
    """A heavier title lifts what is named by the word above what only holds it."""
    answers = []
    for weights in ({"title": 0.1, "heading": 0.1, "names": 0.1}, {"title": 30.0}):
        index = SqliteIndex(tmp_path / f"{len(answers)}.db", field_weights=weights)
        index.put_source("n", "markdown", "/n")
        named = put("n/a.md", "something about birds", title="heron", into=index)
        holds = put("n/b.md", "heron heron heron", title="birds", into=index)
        answers.append(search(index, "heron") == ids(named) + ids(holds))
        index.close()
    assert answers == [False, True]


def test_no_words_and_no_room_find_nothing(index, put):
    """An empty expression or a limit of 0 is an empty ranking, not an error."""
    put("n/a.md", "heron")
    assert index.lexical("", ANY, 10).entries == ()
    assert index.lexical(match_expression(query_terms("???")), ANY, 10).entries == ()
    assert index.lexical('"heron"', ANY, 0).entries == ()


def test_frequencies_under_a_filter_count_what_it_lets_through(index, put):
    """So do totals; a filter that hides nothing counts as none."""
    put("n/a.md", "heron", 'heron and "owl"', privacy="public")
    put("n/b.md", "heron gannet", privacy="secret")
    public, all_ = Filter(privacy=("public",)), Filter(privacy=("public", "secret"))
    words = ["heron", "owl", "gannet", "zebra", '"']
    assert index.terms.frequencies(words, public) == {"heron": 2, "owl": 1, "gannet": 0, "zebra": 0, '"': 0}
    assert index.terms.frequencies(words, all_) == index.terms.frequencies(words)
    assert [index.terms.count(filter) for filter in (ANY, public, all_, Filter(privacy=()))] == [3, 2, 3, 0]
    assert [index.terms.count(per_document=cap) for cap in (1, 2, 3)] == [2, 3, 3]
    assert [index.vectors.waiting_count(filter) for filter in (ANY, public)] == [3, 2]


def test_an_absolute_prefix_is_found_in_either_unicode_form(index, put):
    """The disk may spell a name composed or decomposed, and so may the one who asks."""
    import unicodedata

    composed, decomposed = (unicodedata.normalize(form, "n/ガ/a.md") for form in ("NFC", "NFD"))
    for uri, other in ((composed, decomposed), (decomposed, composed)):
        change = put(uri, "heron")
        for prefix in (f"/{uri}", f"/{other}"):
            assert search(index, "heron", Filter(path_prefix=prefix.removesuffix("a.md"))) == ids(change)
        index.write("n", [Removal(uri)])
