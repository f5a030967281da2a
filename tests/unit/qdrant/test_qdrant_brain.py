"""A brain over Qdrant: the same answers as over SQLite, collections, filters, generations, guests."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from second_brain import builds, wiring
from second_brain.errors import BackendMismatch, ConfigError, NotFound
from second_brain.index.qdrant import filters
from second_brain.index.qdrant.store import QdrantIndex
from second_brain.testing.qdrant_server import QdrantServer
from second_brain.types import Filter

NOTES = {
    "pump.md": "---\ntags: [ops/water]\n---\n# Pump\n\nIt lost pressure; the valve leaked.\n",
    "owl.md": "# Owl\n\nAn owl nests above the [[pump]].\n",
    "deep/ledger.md": "---\nstatus: deprecated\n---\n# Ledger\n\nThe pump is paid.\n",
    "議事録.md": "# 会議\n\n第二倉庫の排水ポンプを月曜に交換した。\n",
    "secret.md": "---\nprivacy: secret\n---\n# Vault code\n\nThe pump has the code 4711.\n",
}


@pytest.fixture(scope="module")
def both(make_notes, tmp_path_factory):
    """The same notes over Qdrant and over SQLite alone; tests only ask."""
    copied, plain = (make_notes(tmp_path_factory.mktemp(name)) for name in ("copied", "plain"))
    server = QdrantServer()
    (copied.home / "settings.yaml").write_text(f"index: qdrant\nqdrant:\n  url: {server.url}\n")
    copied.reopen()
    with server.running(), copied.brain, plain.brain:
        for notes in (copied, plain):
            notes.index(NOTES)
        yield copied, plain


def answer(notes, text: str, **options) -> list[tuple[str, float]]:
    result = notes.brain.search(text, now=datetime(2031, 5, 1, tzinfo=UTC), **options)
    assert not [notice for notice in result.notices if "Qdrant" in notice]
    return [(hit.uri, round(hit.score, 4)) for hit in result.hits]


@pytest.mark.parametrize("mode", ["lexical", "dense", "hybrid", "agentic"])
@pytest.mark.parametrize(
    "text",
    ["pump pressure", '"the valve leaked"', "排水ポンプ", "owl path:deep pump", "tag:ops pump", "lea", "`the pump`"],
)
def test_answers_are_those_of_sqlite(both, mode: str, text: str):
    """Whatever is asked, in whatever mode: hits, order and scores."""
    copied, plain = both
    assert isinstance(copied.brain.index, QdrantIndex)
    assert answer(copied, text, mode=mode) == answer(plain, text, mode=mode)


def test_whoever_may_not_see_everything_sees_the_same_as_over_sqlite(both):
    """Hits, and counts in notices."""
    copied, plain = (notes.brain.seen_by("personal") for notes in both)
    for text in ("pump code", "pump code 4711", "排水"):
        found, expected = (guest.search(text, now=datetime(2031, 5, 1, tzinfo=UTC)) for guest in (copied, plain))
        assert [hit.uri for hit in found.hits] == [hit.uri for hit in expected.hits]
        assert "notes/secret.md" not in {hit.uri for hit in found.hits}
        assert found.notices == expected.notices


def test_a_path_or_title_that_means_too_many_documents_is_ranked_by_the_catalogue(both, monkeypatch):
    """Not as a failure: the answer is the same, and nothing is told."""
    copied, plain = both
    monkeypatch.setattr(filters, "MOST_LISTED", 1)
    for filter in (Filter(path_prefix="deep/"), Filter(titles=("o",)), Filter(path_prefix="/")):
        assert answer(copied, "pump", filter=filter) == answer(plain, "pump", filter=filter)


@pytest.fixture
def sorted_sources(copied, tmp_path):
    """Three sources, of which two make a collection, before anything is indexed."""
    for name in ("handbook", "minutes"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.md").write_text(f"# {name}\n\nThe pump stands in the {name}.\n")
        copied.brain.add(tmp_path / name, name=name)
    settings = copied.home / "settings.yaml"
    settings.write_text(f"{settings.read_text()}collections:\n  team: [handbook, minutes]\ndefault_collection: own\n")
    copied.reopen()
    copied.write({"pump.md": "# Pump\n\nIt lost pressure.\n"})
    copied.brain.sync()
    copied.brain.embed()
    return copied


def test_each_collection_is_one_of_qdrants_with_an_alias(sorted_sources):
    """Points are where their source belongs."""
    held = {one.name: one.points for one in sorted_sources.brain.index.collections.listed()}
    assert held == {"brain-own-g1": 1, "brain-team-g1": 2}
    assert sorted_sources.brain.index.collections.aliases() == {
        "brain-own": "brain-own-g1",
        "brain-team": "brain-team-g1",
    }


def test_a_search_asks_one_collection_several_or_all(sorted_sources, server):
    """Only those that are named are asked, and their hits merge by the same scores."""
    brain = sorted_sources.brain
    server.asked.clear()
    team = brain.search("pump", mode="lexical", collections=["team"])
    assert {hit.source for hit in team.hits} == {"handbook", "minutes"}
    assert {line for line in server.asked if "query" in line} == {"POST /collections/brain-team-g1/points/query/batch"}
    every = brain.search("pump", mode="lexical")
    assert {hit.source for hit in every.hits} == {"handbook", "minutes", "notes"}
    scores = {hit.uri: hit.score for hit in every.hits}
    assert all(scores[hit.uri] == pytest.approx(hit.score, abs=1e-4) for hit in team.hits)
    both = brain.search("pump", mode="lexical", collections=["team", "own"])
    assert [hit.uri for hit in both.hits] == [hit.uri for hit in every.hits]
    narrowed = brain.search("pump", collections=["team"], filter=Filter(sources=("minutes",)))
    assert {hit.source for hit in narrowed.hits} == {"minutes"}
    assert not brain.search("pump", collections=["team"], filter=Filter(sources=("notes",))).hits
    with pytest.raises(NotFound, match="there is no collection 'teem'") as caught:
        brain.search("pump", collections=["teem"])
    assert caught.value.hint == "there are: own, team"


def test_collections_are_told_with_what_they_hold_and_how_fresh_they_are(sorted_sources):
    """The default one first."""
    own, team = sorted_sources.brain.collections()
    assert (own.name, own.default, own.sources, own.documents, own.chunks) == ("own", True, ("notes",), 1, 1)
    assert (team.name, team.default, team.sources, team.documents) == ("team", False, ("handbook", "minutes"), 2)
    assert team.synced is not None
    assert own.waiting == 0


def test_a_source_that_moves_to_another_collection_takes_its_points_along(sorted_sources):
    """No point stays behind, none is embedded again."""
    settings = sorted_sources.home / "settings.yaml"
    settings.write_text(settings.read_text().replace("team: [handbook, minutes]", "team: [minutes]"))
    sorted_sources.reopen()
    report = sorted_sources.brain.embed()
    assert (report.embedded, report.notices) == (0, ())
    held = {one.name: one.points for one in sorted_sources.brain.index.collections.listed()}
    assert held == {"brain-own-g1": 2, "brain-team-g1": 1}


def test_a_removed_source_leaves_no_point(sorted_sources):
    """Not even in a collection that no setting names any more."""
    brain = sorted_sources.brain
    for name in ("handbook", "minutes"):
        assert brain.remove(name) == 1
    held = {one.name: one.points for one in brain.index.collections.listed()}
    assert held == {"brain-own-g1": 1, "brain-team-g1": 0}


def test_without_collections_in_the_settings_sources_fall_into_them_by_kind(notes, tmp_path):
    """Notes into the vault, sessions and code each into their own: also on SQLite."""
    code = tmp_path / "code"
    code.mkdir()
    (code / "heron.py").write_text("def heron():\n    return 1\n")
    notes.brain.add(code, name="work", kind="code")
    notes.write({"a.md": "The heron stands.\n"})
    notes.brain.sync()
    assert {one.name: one.sources for one in notes.brain.collections()} == {"vault": ("notes",), "code": ("work",)}
    assert {hit.source for hit in notes.brain.search("heron", collections=["code"]).hits} == {"work"}


def test_a_new_catalogue_does_not_take_the_points_of_another_unless_everything_is_read_again(copied):
    """Two homes with one prefix would delete each other's points; a lost catalogue says how to go on."""
    copied.index(NOTES)
    copied.brain.close()
    for file in copied.home.glob("index.db*"):
        file.unlink()
    copied.reopen()
    with pytest.raises(BackendMismatch, match="belongs to another index"):
        copied.brain.sync()
    copied.brain.sync(rebuild=True)
    copied.brain.embed()
    assert not copied.brain.search("pump").notices
    assert sum(one.points for one in copied.brain.index.collections.listed()) == copied.brain.index.chunk_count()


def test_a_copy_that_was_emptied_does_not_answer(copied, server):
    """Restored from an older state it would find nothing and say nothing; the catalogue answers, and says why."""
    copied.index(NOTES)
    index = copied.brain.index
    index.client.delete("brain-vault-g1", list(index.client.ids("brain-vault-g1")))
    copied.reopen()
    result = copied.brain.search("pump")
    assert result.hits
    assert "holds only 0 of the 5 passages that were sent" in result.notices[0]
    copied.brain.embed()
    assert not copied.brain.search("pump").notices


def test_another_embedder_never_meets_the_old_vectors(copied, server):
    """Wider vectors are refused with the way out; until then words still find."""
    copied.index(NOTES)
    index = copied.brain.index
    with pytest.raises(BackendMismatch, match=r"\(256, Cosine\).*\(512, Cosine\)") as caught:
        index.check(512)
    assert "--new-generation" in caught.value.hint
    index.vectors.begin("another-256/1")
    result = copied.brain.search("pump", mode="hybrid")
    assert result.hits


def test_part_b_finds_what_it_needs_in_wiring(copied):
    """The collections of the settings, for whoever makes and promotes generations; None over SQLite."""
    copied.index(NOTES)
    outside = wiring.backend_collections(copied.brain.settings)
    assert outside is not None
    assert outside.promote("g1") == {"brain-vault": "brain-vault-g1"}
    assert outside.drop("g1") == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("index: lucene\n", "'index' is 'lucene'"),
        ("index: qdrant\n", "needs `url` or `path` below `qdrant:`, found neither"),
        ("index: qdrant\nqdrant: {url: 'http://a', path: b}\n", "found both"),
        ("qdrant: {url: 'ftp://a'}\n", "'url' is 'ftp://a'"),
        ("qdrant: {uri: 'http://a'}\n", "unknown key 'uri'"),
        ("qdrant: {key: 12345}\n", "'key' holds no name of a variable"),
        ("qdrant: {quantization: ternary}\n", "'quantization' is 'ternary'"),
        ("qdrant: {replicas: 0}\n", "'replicas' is '0'"),
        ("qdrant: {prefix: 'a b'}\n", "'prefix' is 'a b'"),
        ("collections: [a]\n", "'collections' is a list"),
        ("collections: {Team: [a]}\n", "'Team' is 'Team'"),
        ("collections: {team-g2: [a]}\n", "'team-g2' is 'team-g2'"),
        ("collections: {a: [x], b: [x]}\n", "source 'x' is in 'a' and in 'b'"),
        ("default_collection: ''\n", "'default_collection' is ''"),
    ],
)
def test_what_is_wrong_with_the_settings_is_named(notes, text: str, said: str):
    """With file and line."""
    (notes.home / "settings.yaml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        notes.reopen()
    assert said in str(caught.value)
    assert "settings.yaml:" in str(caught.value)


def test_folders_in_the_settings_start_beside_them(notes, tmp_path, monkeypatch):
    """Called from two folders, `brain` does not make two copies, nor let an agent into another folder."""
    (notes.home / "settings.yaml").write_text("index: qdrant\nqdrant: {path: copy}\nallowed_roots: [drafts]\n")
    monkeypatch.chdir(tmp_path)
    notes.reopen()
    assert notes.brain.settings.qdrant.path == notes.home / "copy"
    assert notes.brain.settings.allowed_roots == (notes.home / "drafts",)


def test_a_key_comes_from_a_variable_that_must_be_set(copied, monkeypatch, server):
    """It is sent, and never stands in the settings."""
    settings = copied.home / "settings.yaml"
    settings.write_text(f"{settings.read_text()}  key: $TEST_QDRANT_KEY\n")
    copied.reopen()
    with pytest.raises(ConfigError, match="TEST_QDRANT_KEY, which is not set"):
        copied.brain.search("pump")
    monkeypatch.setenv("TEST_QDRANT_KEY", "s3same")
    copied.index(NOTES)
    assert server.keys == {"s3same"}


@pytest.mark.parametrize("place", ["server", "folder"])
def test_a_generation_is_built_beside_promoted_rolled_back_and_deleted(copied, tmp_path, place: str):
    """Searches go on meanwhile; aliases and points follow, and the old collection goes with its generation."""
    if place == "folder":
        (copied.home / "settings.yaml").write_text(f"index: qdrant\nqdrant:\n  path: {tmp_path / 'qdrant'}\n")
        copied.reopen()
    brain = copied.brain
    copied.index(NOTES)
    with builds.new_generation(brain) as (new, begun):
        assert begun.generation.name == "g2"
        assert new.sync().notices == ()
        assert new.embed().notices == ()
        builds.finish(new)
        assert brain.search("pump").generation == "g1"
    outside = brain.index.collections
    assert outside.aliases() == {"brain-vault": "brain-vault-g1"}
    assert {held.name: held.points for held in outside.listed()} == {"brain-vault-g1": 5, "brain-vault-g2": 5}
    builds.promote(brain, "g2")
    assert outside.aliases() == {"brain-vault": "brain-vault-g2"}
    result = brain.search("pump pressure")
    assert (result.generation, result.hits[0].uri) == ("g2", "notes/pump.md")
    assert not [notice for notice in result.notices if "Qdrant" in notice]
    builds.rollback(brain)
    assert outside.aliases() == {"brain-vault": "brain-vault-g1"}
    builds.promote(brain, "g2")
    builds.prune(brain, ["g1"])
    assert {held.name for held in outside.listed()} == {"brain-vault-g2"}
    assert brain.search("pump").hits


@pytest.mark.parametrize("name", ["index.db", "my.notes.db", "my.g2.db", "g3.db"])
def test_collections_are_named_after_the_generation_however_its_file_is_called(copied, server, name: str):
    """The first index that is called like a second one is the first still, and has a second one beside it."""
    copied.reopen(BRAIN_INDEX=str(copied.home / name))
    copied.index({"a.md": "gannet"})
    with builds.new_generation(copied.brain) as (new, begun):
        new.sync()
        new.embed()
        builds.finish(new)
    assert begun.generation.name == "g2"
    held = wiring.backend_collections(copied.brain.settings)
    assert held is not None
    assert [found.name for found in held.listed()] == ["brain-vault-g1", "brain-vault-g2"]
    assert held.aliases() == {"brain-vault": "brain-vault-g1"}
    held.client.close()
