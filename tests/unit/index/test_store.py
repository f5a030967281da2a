"""The index as a whole: writing items, finding documents, links, filters, keys that stay true."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from second_brain.analysis import match_expression, query_terms
from second_brain.errors import SourceRemoved, StorageError
from second_brain.index.sqlite import schema
from second_brain.index.sqlite.filters import fold_name
from second_brain.index.sqlite.store import SqliteIndex
from second_brain.records import Removal, Touch, Unread
from second_brain.types import Filter, Link

ANY = Filter()
DAY = datetime(2031, 5, 2, tzinfo=UTC)


def search(index, text, filter=ANY, limit=100):
    """Uris of the documents, best first."""
    ranking = index.lexical(match_expression(query_terms(text)), filter, limit)
    found = index.chunks([key for key, _ in ranking.entries])
    return [found[key].document.uri for key, _ in ranking.entries]


def everything(index):
    """Every row of every table, but for keys that only count and times of writing."""
    tables = {
        "item": "uri, path, fingerprint, hash, failure",
        "document": "uri, title, text, privacy, chunks",
        "chunk": "id, ordinal, start, end, context, embedding",
        "alias": "name",
        "tag": "tag",
        "link": "target, resolved",
        "terms_docsize": "sz",
    }
    return {
        table: sorted(index.database.rows(f"SELECT {columns} FROM {table}"), key=repr)
        for table, columns in tables.items()
    }


def test_writing_twice_is_writing_once(index, put):
    """The same item written again leaves the same rows."""
    put("n/a.md", "first", "second", tags=("x",), aliases=("y",))
    once = everything(index)
    put("n/a.md", "first", "second", tags=("x",), aliases=("y",))
    assert everything(index) == once


def test_a_removal_leaves_nothing(index, put):
    """Documents, chunks, terms, tags, names and links go with their item."""
    before = everything(index)
    put("n/a.md", "first", tags=("x",), aliases=("y",), links=(Link("b", "", "b", "wikilink", 0),))
    index.write("n", [Removal("n/a.md")])
    assert everything(index) == before
    assert search(index, "first") == []


def test_a_write_that_fails_changes_nothing(index, put):
    """One impossible change in a batch takes back the whole batch, hashes too."""
    change = put("n/a.md", "first")
    before = everything(index)
    ((document, (chunk,)),) = put("n/b.md", "other").documents
    index.write("n", [Removal("n/b.md")])
    twice = replace(change, hash="new", documents=((document, (chunk, replace(chunk, ordinal=1))),))
    with pytest.raises(StorageError, match="UNIQUE"):
        index.write("n", [Removal("n/a.md"), twice])
    assert everything(index) == before


def test_a_source_that_was_removed_takes_no_changes(index, put):
    """The write says so, and leaves no row."""
    change = put("n/a.md", "first")
    assert index.remove_source("n") == 1
    with pytest.raises(SourceRemoved, match="'n' was removed"):
        index.write("n", [change])
    assert all(rows == [] for rows in everything(index).values())
    assert index.remove_source("n") == 0


def test_an_item_that_cannot_be_read_keeps_what_was_known(index, put):
    """It is marked with the reason until it is read again, changed or not."""
    change = put("n/a.md", "first")
    index.write("n", [Unread(replace(change.item, fingerprint="2"), "no permission", retry=False)])
    assert search(index, "first") == ["n/a.md"]
    (state,) = index.items("n").values()
    assert (state.fingerprint, state.hash, state.failure) == ("2", change.hash, "no permission")
    (found,) = index.find("n/a.md")
    assert found.failure == "no permission"
    index.write("n", [Unread(change.item, "no permission", retry=True)])
    assert index.items("n")["n/a.md"].fingerprint == ""
    index.write("n", [Touch(replace(change.item, path="/moved/n/a.md"))])
    (state,) = index.items("n").values()
    assert (state.path, state.fingerprint, state.failure) == ("/moved/n/a.md", "1", "")


def test_an_item_never_read_is_known_by_its_failure(index, put):
    """It is an item without a document, counted as a failure."""
    item = put("n/b.md", "x").item
    index.write("n", [Removal("n/b.md"), Unread(item, "binary", retry=False)])
    stats = index.stats()
    assert (stats.items, stats.documents, stats.failures) == (1, 0, 1)
    assert index.items("n")["n/b.md"].hash == ""


def test_chunks_quote_their_documents(index, put):
    """Text, place, line and headings of each, whatever the width of the characters."""
    change = put("n/a.md", "🙂 first line\nsecond", "第三 line", "plain")
    stored = index.chunks(list(range(1, 4)))
    assert [(chunk.text, chunk.line, chunk.heading_path) for chunk in stored.values()] == [
        ("🙂 first line\nsecond", 1, ("a",)),
        ("第三 line", 3, ("a",)),
        ("plain", 4, ("a",)),
    ]
    text = index.text(stored[1].document.key)
    assert all(text[chunk.start : chunk.end] == chunk.text for chunk in stored.values())
    assert [chunk.id for chunk in stored.values()] == [chunk.id for chunk in change.documents[0][1]]


def test_a_quote_is_of_the_state_in_which_its_chunk_was_found(index, put, monkeypatch):
    """A document that another process replaces between two reads never lends its text to the old chunk."""
    put("n/a.md", "first")
    other = SqliteIndex(index.path)
    text = index.text

    def meddled(document):
        put("n/a.md", "other", into=other)
        return text(document)

    monkeypatch.setattr(index, "text", meddled)
    assert [chunk.text for chunk in index.chunks([1]).values()] == ["first"]
    other.close()


def test_keys_are_never_used_again(index, put):
    """What was found before a change is gone after it, never another passage."""
    put("n/a.md", "first")
    ranking = index.lexical('"first"', ANY, 10)
    ((key, _),) = ranking.entries
    document = index.chunks([key])[key].document.key
    index.write("n", [Removal("n/a.md")])
    put("n/b.md", "other")
    assert index.chunks([key]) == {}
    assert index.candidates([key]) == {}
    assert index.text(document) == ""


def test_a_new_analyzer_fills_the_terms_again(index, put, monkeypatch):
    """An index of another analyzer version gets new terms from its stored texts when it is opened."""
    put("n/a.md", "first", tags=("x",), aliases=("y",), description="about")
    before = {word: search(index, word) for word in ("first", "x", "y", "about", "a")}
    with index.database.transaction() as connection:
        connection.execute("DELETE FROM terms")
        schema.set_meta(index.database, "analyzer", "0")
    index.close()
    again = SqliteIndex(index.path)
    assert {word: search(again, word) for word in before} == before
    assert set(map(tuple, before.values())) == {("n/a.md",)}
    again.close()


def test_rebuilt_terms_give_the_same_scores(index, put):
    """Nothing of a ranking depends on how the term table came to be."""
    for number in range(30):
        put(f"n/{number}.md", "heron " * (number % 7), f"weir {number}", tags=("bird",))
    before = index.lexical('"heron" OR "weir" OR "bird"', ANY, 100)
    index.rebuild_terms()
    assert index.lexical('"heron" OR "weir" OR "bird"', ANY, 100) == before


# -- filters -------------------------------------------------------------------------------------------------


@pytest.fixture
def library(index, put):
    """Documents that differ in one thing each."""
    index.put_source("m", "markdown", "/m")
    put("n/plain.md", "heron", modified=DAY)
    put("n/sub/tagged.md", "heron", modified=DAY, tags=("Project/Alpha", "x"))
    put("n/sub/tag-like.md", "heron", modified=DAY, tags=("projection",))
    put("n/old.md", "heron", modified=DAY, date=DAY - timedelta(days=30))
    put("n/typed.md", "heron", modified=DAY, type="Épisode")
    put("n/secret.md", "heron", modified=DAY, privacy="secret")
    put("m/plain.md", "heron", modified=DAY)
    return index


ALL = {
    "n/plain.md",
    "n/sub/tagged.md",
    "n/sub/tag-like.md",
    "n/old.md",
    "n/typed.md",
    "n/secret.md",
    "m/plain.md",
}


@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        (Filter(), ALL),
        (Filter(sources=("m",)), {"m/plain.md"}),
        (Filter(sources=("m", "n")), ALL),
        (Filter(types=("Épisode",)), {"n/typed.md"}),
        (Filter(types=("NOTE",)), ALL - {"n/typed.md"}),
        (Filter(types=("note", "Épisode")), ALL),
        (Filter(tags=("project",)), {"n/sub/tagged.md"}),
        (Filter(tags=("#project/alpha/",)), {"n/sub/tagged.md"}),
        (Filter(tags=("project/alpha", "X")), {"n/sub/tagged.md"}),
        (Filter(tags=("project", "y")), set()),
        (Filter(tags=("proj",)), set()),
        (Filter(since=DAY), ALL - {"n/old.md"}),
        (Filter(since=DAY + timedelta(seconds=1)), set()),
        (Filter(until=DAY), {"n/old.md"}),
        (Filter(since=DAY - timedelta(days=30), until=DAY - timedelta(days=29)), {"n/old.md"}),
        (Filter(path_prefix="sub/"), {"n/sub/tagged.md", "n/sub/tag-like.md"}),
        (Filter(path_prefix="n/sub/tag-"), {"n/sub/tag-like.md"}),
        (Filter(path_prefix="/m/"), {"m/plain.md"}),
        (Filter(privacy=("secret",)), {"n/secret.md"}),
        (Filter(privacy=("",)), ALL - {"n/secret.md"}),
        (Filter(privacy=()), set()),
        (Filter(sources=("n",), privacy=("",), path_prefix="p"), {"n/plain.md"}),
    ],
)
def test_a_filter_holds_for_search_and_for_lists(library, filter, expected):
    """Search, recent and find let the same documents through."""
    assert set(search(library, "heron", filter)) == expected
    assert {document.uri for document in library.recent(filter, 100)} == expected
    assert {uri for uri in ALL if library.find(uri, filter)} == expected


def test_recent_is_newest_first_equal_dates_by_uri(library):
    """By the document's own date, else the file's."""
    assert [document.uri for document in library.recent(ANY, 100)] == [*sorted(ALL - {"n/old.md"}), "n/old.md"]
    assert [document.uri for document in library.recent(ANY, 2)] == ["m/plain.md", "n/plain.md"]


# -- names ---------------------------------------------------------------------------------------------------


@pytest.fixture
def named(index, put):
    """Documents whose names are near each other."""
    index.put_source("m", "markdown", "/m")
    put("n/pump.md", "x", title="The Pump")
    put("n/deep/Kelp Farm.md", "x", title="Farming kelp", aliases=("Seaweed", "海藻"))
    put("m/deep/Kelp Farm.md", "x", title="Another farm")
    put("n/owl.md", "x", title="pump")
    put("n/Café.md", "x", title="Straße")
    return index


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("n/pump.md", ["n/pump.md"]),
        ("/n/pump.md", ["n/pump.md"]),
        ("pump.md", ["n/pump.md"]),
        ("pump", ["n/pump.md"]),  # a path without .md comes before a title
        ("the  PUMP", ["n/pump.md"]),
        ("seaweed", ["n/deep/Kelp Farm.md"]),
        ("海藻", ["n/deep/Kelp Farm.md"]),
        ("kelp farm", ["m/deep/Kelp Farm.md", "n/deep/Kelp Farm.md"]),
        ("deep/Kelp Farm", ["m/deep/Kelp Farm.md", "n/deep/Kelp Farm.md"]),
        ("n/deep/Kelp Farm.md", ["n/deep/Kelp Farm.md"]),
        ("/home/other/n/deep/kelp farm.md", []),
        ("STRASSE", ["n/Café.md"]),
        (unicodedata.normalize("NFD", "Café.md"), ["n/Café.md"]),
        ("ｃａｆé", ["n/Café.md"]),
        ("nothing", []),
        ("", []),
        ("'\"; --", []),
        ("n%", []),
    ],
)
def test_find_takes_the_first_rule_that_finds_any(named, name, expected):
    """Uri, path, path below a source, title, alias or file name, end of the path."""
    assert [document.uri for document in named.find(name)] == expected


def test_names_are_compared_without_case_width_and_double_spaces():
    """NFKC, letter case ignored, spaces collapsed."""
    assert fold_name("  ＡＢ　c\tD ") == "ab c d"
    assert fold_name("ガ") == fold_name("ｶﾞ") == fold_name("カ\u3099")


def test_chunks_are_found_by_the_beginning_of_their_id(index, put):
    """Of those that the filter lets through."""
    change = put("n/a.md", "first", "second", privacy="secret")
    id = change.documents[0][1][0].id
    assert [found for _, found in index.chunk_keys(id[:6])] == [id]
    assert index.chunk_keys(id[:6], Filter(privacy=("public",))) == []
    assert index.chunk_keys("zzzz") == []


# -- links ---------------------------------------------------------------------------------------------------


def test_links_show_only_what_the_asker_may_see(index, put):
    """A link to a secret note has no target for others, and a secret note is nobody's backlink."""
    to = tuple(Link(name, "", name, "wikilink", 0) for name in ("secret", "open", "nowhere"))
    put("n/a.md", "x", links=to, privacy="public")
    put("n/secret.md", "x", links=(Link("a", "", "a", "wikilink", 0),), privacy="secret")
    put("n/open.md", "x", links=(Link("a", "Part", "text", "embed", 7),), privacy="public")
    keys = {document.uri: document.key for document in index.recent(ANY, 10)}
    index.resolve_links(
        "n",
        [
            ("n/secret.md", True, keys["n/a.md"], 0),
            ("n/open.md", False, keys["n/a.md"], 1),
            ("n/a.md", False, keys["n/secret.md"], 0),
            ("n/a.md", False, keys["n/open.md"], 0),
        ],
    )
    public = Filter(privacy=("public",))
    assert [link.target for link in index.outgoing(keys["n/a.md"])] == ["n/secret.md", "n/open.md", None]
    assert [link.target for link in index.outgoing(keys["n/a.md"], public)] == [None, "n/open.md", None]
    assert [(link.source, link.anchor, link.kind, link.start) for link in index.backlinks("n/a.md", public)] == [
        ("n/open.md", "Part", "embed", 7)
    ]
    assert [link.source for link in index.backlinks("n/a.md")] == ["n/open.md", "n/secret.md"]


def test_what_links_call_a_document_is_known(index, put):
    """By the text of links that is not their target, letter case ignored, from notes that the asker may see."""
    put("n/owl.md", "x", privacy="public")
    put("n/a.md", "x", links=(Link("owl", "", "The Night Bird", "wikilink", 0), Link("owl", "", "owl", "wikilink", 9)))
    put("n/b.md", "x", links=(Link("owl", "", "hidden name", "wikilink", 0),), privacy="secret")
    keys = {document.uri: document.key for document in index.recent(ANY, 10)}
    links = [("n/a.md", 0), ("n/a.md", 1), ("n/b.md", 0)]
    index.resolve_links("n", [("n/owl.md", False, keys[uri], ordinal) for uri, ordinal in links])
    owl = index.database.value("SELECT key FROM chunk WHERE document = ?", (keys["n/owl.md"],))
    assert index.linked_as("the night bird") == {keys["n/owl.md"]: owl}
    assert index.linked_as("hidden name") == {keys["n/owl.md"]: owl}
    assert index.linked_as("hidden name", Filter(privacy=("public", ""))) == {}
    assert index.linked_as("owl") == {}
    assert index.linked_as("nothing") == {}


def test_words_that_lead_to_many_documents_name_none(index, put):
    """Like "here"."""
    for number in range(5):
        put(f"n/{number}.md", "x")
    put("n/hub.md", "x", links=tuple(Link(str(number), "", "here", "markdown", 0) for number in range(5)))
    keys = {document.uri: document.key for document in index.recent(ANY, 10)}
    for known in (3, 5):
        index.resolve_links("n", [(f"n/{number}.md", False, keys["n/hub.md"], number) for number in range(known)])
        assert len(index.linked_as("here")) == (3 if known == 3 else 0)


# -- whole ---------------------------------------------------------------------------------------------------


def test_items_that_another_chunker_cut_are_read_again(index, put):
    """Once: then the index says whose passages it holds."""
    put("n/a.md", "first")
    index.expect_chunks(7)
    assert [state.hash for state in index.items("n").values()] == [""]
    put("n/a.md", "first")
    index.expect_chunks(7)
    assert [state.hash for state in index.items("n").values()] == ["hash of first"]


def test_compact_gives_space_back(index, put):
    """After a large removal the file shrinks, and what is left is found."""
    put("n/keep.md", "heron")
    put("n/large.md", *(f"{number} " + "lorem ipsum " * 50 for number in range(500)))
    index.write("n", [Removal("n/large.md")])
    before = index.stats().file_bytes
    index.compact()
    assert index.stats().file_bytes < before / 3
    assert search(index, "heron") == ["n/keep.md"]


def test_stats_count_what_is_there(index, put):
    """Sources, items, documents, chunks, those that wait, links and those that lead nowhere."""
    links = (Link("c", "", "c", "wikilink", 0), Link("pump.png", "", "", "embed", 9))
    put("n/a.md", "first", "second", links=links)
    put("n/b.md", "三")
    assert index.stats().unresolved_links == 0, "they were not looked up yet"
    index.resolve_links("n", [])
    stats = index.stats()
    assert (stats.sources, stats.items, stats.documents, stats.chunks, stats.waiting) == (1, 2, 2, 3, 3)
    assert (stats.links, stats.unresolved_links, stats.failures, stats.embedder) == (2, 1, 0, "")
    assert stats.text_bytes == len("first\nsecond") + len("三".encode())
    assert (stats.file_bytes > 0, stats.matrix_bytes) == (True, 0)
    (state,) = index.sources()
    assert (state.name, state.kind, state.path, state.synced) == ("n", "markdown", "/n", None)
    assert (state.items, state.documents, state.chunks, state.waiting, state.failures) == (2, 2, 3, 3, 0)


def test_a_source_says_when_it_was_compared_and_why_not(index):
    """A comparison that could not be made leaves the time of the last one."""
    index.mark_synced("n", DAY)
    index.mark_synced("n", DAY + timedelta(days=1), unavailable="its disk is not there")
    (state,) = index.sources()
    assert (state.synced, state.unavailable) == (DAY, "its disk is not there")
    index.mark_synced("n", DAY + timedelta(days=2))
    (state,) = index.sources()
    assert (state.synced, state.unavailable) == (DAY + timedelta(days=2), "")
