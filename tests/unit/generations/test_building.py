from __future__ import annotations

import pytest

from second_brain import Brain, builds
from second_brain.errors import EmbedderMismatch, IndexLocked, UsageError
from second_brain.generations import vectors
from second_brain.index.sqlite.store import SqliteIndex


def rows(path, sql):
    index = SqliteIndex(path)
    try:
        return index.database.rows(sql)
    finally:
        index.close()


def test_a_build_does_not_touch_the_current_one(folder):
    """The file that answers has the same bytes afterwards."""
    folder.brain.close()
    before = (folder.home / "index.db").read_bytes()
    folder.season("autumn")
    assert folder.build() == "g2"
    folder.brain.close()
    assert (folder.home / "index.db").read_bytes() == before
    assert folder.states() == {"g1": "current", "g2": "ready"}
    assert folder.seasons() == {"spring"}


def test_without_a_source_nothing_is_begun(tmp_path):
    """What could only stay half-built does not stand in the list."""
    with (
        Brain.open(tmp_path, environment={}) as brain,
        pytest.raises(UsageError, match="names no source"),
        builds.new_generation(brain),
    ):
        pass
    assert not [path.name for path in tmp_path.iterdir() if "g2" in path.name or "generations" in path.name]


def test_a_build_leaves_the_terms_of_an_older_analyzer_alone(folder):
    """A server of the old version goes on answering from them; whoever asks with the new one rebuilds them first."""
    folder.brain.index.database.rows("UPDATE meta SET value = 'older' WHERE key = 'analyzer'")
    folder.reopen()
    folder.build()
    assert folder.brain.contents("g1").analyzer == "older"
    builds.promote(folder.brain, "g2")
    assert folder.brain.contents("g1").analyzer == "older"
    builds.rollback(folder.brain)
    assert folder.seasons() == {"spring"}
    assert folder.brain.contents("g1").analyzer == folder.brain.contents("g2").analyzer


def test_a_half_built_one_is_continued(folder):
    """What was read is not read again; it is ready only when its vectors are made."""
    assert folder.build(embed=False) == "g2"
    assert folder.states()["g2"] == "building"
    with builds.new_generation(folder.brain) as (new, begun):
        assert (begun.generation.name, begun.continued) == ("g2", True)
        (report,) = new.sync().sources
        assert (report.added, report.unchanged) == (0, 12)
        new.embed()
        builds.finish(new)
    assert folder.states()["g2"] == "ready"


def test_a_ready_one_is_brought_up_to_date(folder):
    """With the same settings no other is begun."""
    folder.build()
    folder.season("autumn")
    assert folder.build() == "g2"
    builds.promote(folder.brain, "g2")
    assert folder.seasons() == {"autumn"}


@pytest.mark.parametrize("change", ["redact: off\n", "late: off\n"])
def test_other_settings_begin_another(folder, change):
    """A half-built one of other settings is given up, and its number is not given again."""
    folder.build(embed=False)
    folder.setting("settings.yaml", change)
    with builds.new_generation(folder.brain) as (_, begun):
        assert (begun.generation.name, begun.continued, begun.given_up) == ("g3", False, ("g2",))
    assert folder.states() == {"g1": "current", "g2": "failed", "g3": "building"}
    assert builds.prune(folder.brain).deleted == ("g2",)
    assert builds.prune(folder.brain, ["g3"]).deleted == ("g3",)
    assert folder.build() == "g4"


def test_another_embedder_begins_another(folder, wide):
    """It makes all vectors anew, and the one that answers keeps its own."""
    folder.setting("models.yaml", "embedder: wide\n")
    assert folder.build() == "g2"
    assert wide.texts == 12
    assert folder.brain.contents("g1").embedder == "hashing-256/1"
    assert folder.brain.contents("g2").embedder == "wide-512/1"


def test_two_at_once_build_the_same_only_once(folder):
    """The second says that it is being built."""
    with builds.new_generation(folder.brain):
        with pytest.raises(IndexLocked, match="'g2' is being built by another process"):
            folder.build()
        assert any("'g2' is being built" in notice for notice in folder.brain.status().notices)
    assert any("'g2' is half-built" in notice for notice in folder.brain.status().notices)


def test_vectors_of_equal_texts_are_taken_over(folder, wide):
    """Only what is new is embedded; what is taken over is the same to the last byte."""
    folder.setting("models.yaml", "embedder: wide\n")
    folder.brain.embed()
    assert wide.texts == 12
    (folder.root / "new.md").write_text("# New\n\nAn osprey.\n")
    folder.build()
    assert wide.texts == 13
    same = "SELECT hex(hash), hex(data) FROM vector ORDER BY hash"
    taken, kept = rows(folder.home / "index.g2.db", same), rows(folder.home / "index.db", same)
    assert len(taken) == 13
    assert set(kept) < set(taken)


def test_token_codes_are_taken_over_with_their_vectors(folder):
    """They belong to the same texts; with late interaction off none are."""
    index = folder.brain.index
    index.database.rows("INSERT INTO token SELECT key, randomblob(96) FROM vector")
    current = folder.brain.settings.index
    codes = "SELECT hex(v.hash), hex(t.codes) FROM token t JOIN vector v ON v.key = t.vector ORDER BY 1"

    def taken(*, with_codes: bool) -> list[tuple[str, str]]:
        with builds.new_generation(folder.brain) as (new, _):
            new.sync()
            new.index.database.rows("UPDATE chunk SET vector = NULL")
            new.index.database.rows("DELETE FROM vector")
            found = vectors.take_over(
                new.index, current, "hashing-256/1", codes=with_codes, progress=lambda *report: None
            )
            assert found == 12
            return new.index.database.rows(codes)

    assert taken(with_codes=False) == []
    assert taken(with_codes=True) == index.database.rows(codes) != []


def test_nothing_is_taken_over_from_another_embedder(folder, wide):
    """Vectors are never mixed."""
    folder.setting("models.yaml", "embedder: wide\n")
    with builds.new_generation(folder.brain) as (new, _):
        new.sync()
        assert builds.take_over(new) == 0


# -- an index keeps its embedder -----------------------------------------------------------------------------


def test_a_small_index_gets_other_vectors_in_place(folder, wide):
    """Few passages take a few minutes at most: `brain embed` makes them anew, as it always did."""
    folder.setting("models.yaml", "embedder: wide\n")
    assert "run `brain embed`" in folder.brain.embedder_notice()
    assert folder.brain.search("pump").mode == "hybrid"  # by the embedder of the vectors, until they are dropped
    assert folder.brain.embed().embedded == 12
    assert folder.brain.contents("g1").embedder == "wide-512/1"
    assert folder.brain.embedder_notice() == ""


def test_a_large_index_keeps_its_embedder(folder, wide, monkeypatch):
    """New texts get vectors of the embedder that is there, and search by meaning never stops."""
    monkeypatch.setattr(vectors, "IN_PLACE_BELOW", 5)
    folder.setting("models.yaml", "embedder: wide\n")
    (folder.root / "new.md").write_text("# New\n\nAn osprey.\n")
    folder.brain.sync()
    assert folder.brain.embed().embedded == 1
    held = folder.brain.contents("g1")
    assert (held.embedder, held.waiting, wide.texts) == ("hashing-256/1", 0, 0)
    assert "brain index --new-generation" in folder.brain.embedder_notice()
    assert folder.brain.embedder_notice() in folder.brain.status().notices
    assert folder.brain.search("osprey").mode == "hybrid"
    assert folder.brain.embed(in_place=True).embedded == 13
    assert folder.brain.contents("g1").embedder == "wide-512/1"


def test_beside_other_generations_an_index_keeps_its_embedder(folder, wide):
    """While the next one is built, and after a rollback: an hourly run does not turn the old one into the new one."""
    folder.setting("models.yaml", "embedder: wide\n")
    folder.build()
    (folder.root / "new.md").write_text("# New\n\nAn osprey.\n")
    folder.brain.sync()
    assert folder.brain.embed().embedded == 1
    assert folder.brain.contents("g1").embedder == "hashing-256/1"
    assert "brain index --new-generation" in folder.brain.embedder_notice()
    builds.promote(folder.brain, "g2")
    folder.brain.embed()
    assert folder.brain.embedder_notice() == ""
    builds.rollback(folder.brain)
    folder.brain.embed()
    held = folder.brain.contents("g1")
    assert (held.embedder, held.waiting) == ("hashing-256/1", 0)
    assert folder.brain.search("osprey").mode == "hybrid"


def test_a_newer_version_of_the_same_embedder_takes_over_in_place(folder, wide, monkeypatch):
    """After an upgrade nobody can ask with the old version: its vectors make room, however many there are."""
    monkeypatch.setattr(vectors, "IN_PLACE_BELOW", 5)
    folder.setting("models.yaml", "embedder: wide\n")
    folder.brain.embed(in_place=True)
    made = wide.__init__

    def newer(self, cache_dir=None):
        made(self, cache_dir)
        self.identity = "wide-512/2"

    monkeypatch.setattr(wide, "__init__", newer)
    folder.reopen()
    assert "run `brain embed`" in folder.brain.embedder_notice()
    assert folder.brain.embed().embedded == 12
    assert folder.brain.contents("g1").embedder == "wide-512/2"


def test_an_embedder_that_is_gone_is_not_replaced_in_silence(folder, wide, monkeypatch):
    """Its vectors stay, words answer, and the error names both and what to type."""
    folder.setting("models.yaml", "embedder: wide\n")
    folder.brain.embed()
    monkeypatch.setattr(vectors, "IN_PLACE_BELOW", 5)
    monkeypatch.setattr(wide, "__init__", None)
    folder.setting("models.yaml", "embedder: hashing\n")
    folder.reopen()
    with pytest.raises(EmbedderMismatch, match=r"'wide-512/1'.*is not installed.*'hashing-256/1'") as caught:
        folder.brain.embed()
    assert "brain index --new-generation" in caught.value.hint
    assert "brain embed --in-place" in caught.value.hint
    assert folder.brain.search("pump").mode == "lexical"
    assert folder.brain.contents("g1").waiting == 0
