from __future__ import annotations

from datetime import UTC, datetime

import pytest

from second_brain import Brain, builds, generations, library, wiring
from second_brain.errors import NotFound, StorageError, UsageError
from second_brain.generations import promotion

NOW = datetime(2031, 5, 2, tzinfo=UTC)


def measured(value: float) -> generations.Measured:
    return generations.Measured("nDCG@5", value, 40, NOW)


def comparing(before: float, after: float, worse: str = ""):
    return lambda current, candidate: generations.Comparison(measured(before), measured(after), worse)


def test_a_promotion_holds_for_the_next_question_of_everybody(folder):
    """The brain that promotes, and one that was open before and follows."""
    folder.season("autumn")
    folder.build()
    with Brain.open(folder.home, environment={}) as other:
        other.search("pump")
        done = builds.promote(folder.brain, "g2")
        assert (done.current, done.before, done.comparison, done.overridden) == ("g2", "g1", None, ())
        assert folder.seasons() == {"autumn"}
        assert other.search("pump").generation == "g1"
        other.follow()
        assert (other.search("pump").generation, other.status().generation) == ("g2", "g2")
    assert folder.states() == {"g1": "old", "g2": "current"}


def test_rollback_goes_back_and_once_more_forward(folder):
    """The one that was current before is the previous one, either way."""
    with pytest.raises(UsageError, match="none before it is kept"):
        builds.rollback(folder.brain)
    folder.season("autumn")
    folder.build()
    builds.promote(folder.brain, "g2")
    done = builds.rollback(folder.brain)
    assert (done.current, done.before, folder.seasons()) == ("g1", "g2", {"spring"})
    assert builds.rollback(folder.brain).current == "g2"
    assert folder.seasons() == {"autumn"}


def test_a_question_in_flight_ends_on_the_generation_that_it_began_with(folder, monkeypatch):
    """Promoted between the ranking and the reading of the hits: all of the answer is of the old one."""
    folder.season("autumn")
    folder.build()
    looked = library.file_notes

    def promote_first(index, uri, path):
        if folder.brain.roster().current == "g1":
            builds.promote(folder.brain, "g2")
        return looked(index, uri, path)

    monkeypatch.setattr(library, "file_notes", promote_first)
    result = folder.brain.search("pump")
    assert result.generation == "g1"
    assert all("spring" in hit.text for hit in result.hits)
    assert folder.brain.search("pump").generation == "g2"


# -- what is refused -----------------------------------------------------------------------------------------


def test_a_half_built_one_is_refused(folder):
    """Even if its counts are right: it may not hold everything yet."""
    folder.build(embed=False)
    with builds.new_generation(folder.brain) as (new, _):
        new.embed()
    with pytest.raises(UsageError, match="'g2' was not promoted: 'g2' is half-built") as caught:
        builds.promote(folder.brain, "g2")
    assert caught.value.hint == "in spite of that: brain promote g2 --force"
    assert builds.promote(folder.brain, "g2", force=True).overridden == (
        "'g2' is half-built: go on with `brain index --new-generation`",
    )


def test_one_without_vectors_is_refused(folder):
    """Search by meaning would find less."""
    folder.build()
    with folder.brain.at("g2") as new:
        new.index.database.rows("UPDATE chunk SET vector = NULL WHERE key % 4 = 0")
    with pytest.raises(UsageError, match="3 of its 12 passages have no vector yet"):
        builds.promote(folder.brain, "g2")


def test_one_that_could_read_less_is_refused(folder):
    """Files that the current one has read."""
    (folder.root / "1.md").write_bytes(b"\x00\x01\x02" * 100)
    folder.build()
    with pytest.raises(UsageError, match="1 files could not be read, in the current one 0"):
        builds.promote(folder.brain, "g2")


def test_one_with_far_fewer_documents_is_refused(folder):
    """Nine tenths of those of the current one are the least."""
    (folder.root / "1.md").unlink()
    folder.build()
    assert generations.shortcomings(folder.brain.settings, "g2") == []
    (folder.root / "2.md").unlink()
    folder.build()
    with pytest.raises(UsageError, match="it holds 10 documents, the current one 12"):
        builds.promote(folder.brain, "g2")
    assert builds.promote(folder.brain, "g2", force=True).current == "g2"


def test_one_that_answers_worse_is_refused(folder):
    """What was measured is kept, whether it was promoted or not."""
    folder.build()
    with pytest.raises(UsageError, match="'g2' was not promoted: it falls by a lot"):
        builds.promote(folder.brain, "g2", compare=comparing(0.8, 0.5, "it falls by a lot"))
    found = folder.brain.roster()
    assert (found.current, found.named("g2").golden) == ("g1", measured(0.5))
    done = builds.promote(folder.brain, "g2", force=True, compare=comparing(0.8, 0.5, "it falls by a lot"))
    assert (done.current, done.overridden, done.comparison.after) == ("g2", ("it falls by a lot",), measured(0.5))


def test_a_measurement_that_fails_refuses_unless_it_is_forced(folder):
    """A golden set with an error in it is an error, and no reason to be stuck."""
    folder.build()

    def fails(current: str, candidate: str) -> generations.Comparison:
        raise UsageError("golden.jsonl:3: 'grade' is 0")

    with pytest.raises(UsageError, match="'grade' is 0"):
        builds.promote(folder.brain, "g2", compare=fails)
    done = builds.promote(folder.brain, "g2", compare=fails, force=True)
    assert done.overridden == ("its answers could not be measured: golden.jsonl:3: 'grade' is 0",)


def test_one_whose_file_is_gone_cannot_be_promoted(folder):
    """Not even by force: it would be an empty index."""
    folder.build()
    (folder.home / "index.g2.db").unlink()
    with pytest.raises(UsageError, match="'g2' cannot be read: there is no file"):
        builds.promote(folder.brain, "g2")
    with pytest.raises(StorageError, match="is gone"):
        builds.promote(folder.brain, "g2", force=True)
    assert not (folder.home / "index.g2.db").exists()
    with pytest.raises(NotFound):
        builds.promote(folder.brain, "g3")


def test_one_that_is_being_built_cannot_be_promoted(folder):
    """Not even by force: another process writes into it."""
    folder.build(embed=False)
    with builds.new_generation(folder.brain), pytest.raises(UsageError, match="is being built by another process"):
        builds.promote(folder.brain, "g2", force=True)


def test_only_who_sees_everything_may_promote(folder):
    """Nor roll back, nor delete, nor build."""
    folder.build()
    guest = folder.brain.seen_by("work")
    for deed in (
        lambda: builds.promote(guest, "g2"),
        lambda: builds.rollback(guest),
        lambda: builds.prune(guest),
        lambda: builds.repair(guest, "g2"),
        lambda: builds.new_generation(guest).__enter__(),
    ):
        with pytest.raises(UsageError, match="may not"):
            deed()
    assert not any("generation" in notice for notice in guest.status().notices)


# -- an engine outside of the file ---------------------------------------------------------------------------


def test_a_crash_between_the_alias_and_the_pointer_can_be_seen_and_completed(folder):
    """The old one answers, status and doctor say what did not end, and promoting again ends it."""
    folder.build()
    settings, asked = folder.brain.settings, []

    def dies(placed):
        asked.append(placed.generation)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        promotion.promote(settings, "g2", than="g1", outside=dies)
    assert folder.brain.roster().promoting == "g2"
    assert folder.brain.search("pump").generation == "g1"
    assert any("promotion of generation 'g2' did not end" in notice for notice in folder.brain.status().notices)
    (finding,) = [f for f in folder.brain.doctor() if f.severity == "warning"]
    assert "`brain promote g2` completes it, `brain promote g1` undoes it" in finding.remedy
    promotion.promote(settings, "g2", than="g1", outside=lambda placed: asked.append(placed.generation))
    assert asked == ["g2", "g2"]
    assert (folder.brain.roster().current, folder.brain.roster().promoting) == ("g2", "")


def test_a_promotion_that_did_not_end_can_be_undone(folder):
    """To promote the current one leads the alias back to it."""
    folder.build()
    settings, asked = folder.brain.settings, []

    def dies(placed):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        promotion.promote(settings, "g2", than="g1", outside=dies)
    done = promotion.promote(settings, "g1", than="g1", outside=lambda placed: asked.append(placed.generation))
    assert (done.current, done.before, asked) == ("g1", "g1", ["g1"])
    assert folder.brain.roster().promoting == ""


# -- by the rules of now -------------------------------------------------------------------------------------


def test_labels_of_now_hold_in_what_is_promoted(folder):
    """A note that was made secret after the build is not shown to guests, though the file was read before."""
    folder.build()
    sources = (folder.home / "sources.yaml").read_text()
    folder.setting("sources.yaml", sources.replace("privacy: personal", "privacy: secret"))
    builds.promote(folder.brain, "g2")
    with folder.brain.at("g2") as new:
        assert new.index.database.rows("SELECT DISTINCT privacy FROM document") == [("secret",)]


def test_secrets_are_masked_in_what_is_promoted(folder):
    """It was built with `redact: off`, which does not hold any more."""
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    (folder.root / "key.md").write_text(f"# Key\n\nThe token is {key}.\n")
    folder.setting("settings.yaml", "redact: off\n")
    folder.build()
    folder.setting("settings.yaml", "redact: on\n")
    builds.promote(folder.brain, "g2")
    assert key not in folder.brain.get("key.md").text
    assert "The token is" in folder.brain.get("key.md").text


def test_a_removed_source_is_forgotten_by_every_generation(folder):
    """To go back brings nothing back that was to be forgotten."""
    folder.build()
    builds.promote(folder.brain, "g2")
    folder.setting("settings.yaml", "redact: off\n")
    folder.build()
    assert folder.brain.remove("notes") == 12
    assert {name: folder.brain.contents(name).documents for name in ("g1", "g2", "g3")} == {
        "g1": 0,
        "g2": 0,
        "g3": 0,
    }


def test_a_removed_source_is_forgotten_also_beside_one_whose_file_is_gone(folder):
    """Neither a file that is missing nor one that was given up keeps the others from forgetting."""
    folder.build(embed=False)
    folder.setting("settings.yaml", "redact: off\n")
    folder.build()
    folder.setting("settings.yaml", "late: off\n")
    folder.build()
    (folder.home / "index.g3.db").unlink()
    assert folder.states()["g2"] == "failed"
    assert folder.brain.remove("notes") == 12
    assert {name: folder.brain.contents(name).documents for name in ("g2", "g4")} == {"g2": 0, "g4": 0}


def test_one_whose_file_is_gone_is_forgotten_by_qdrant_too(folder, tmp_path):
    """What told to delete it does so: nothing of it is needed for that but its name."""
    pytest.importorskip("qdrant_client")
    folder.setting("settings.yaml", f"index: qdrant\nqdrant:\n  path: {tmp_path / 'qdrant'}\n")
    folder.reopen()
    folder.brain.sync()
    folder.brain.embed()
    folder.brain.close()
    folder.build()
    builds.promote(folder.brain, "g2")
    folder.brain.close()
    for file in folder.home.glob("index.db*"):
        file.unlink()
    assert builds.prune(folder.brain, ["g1"]).deleted == ("g1",)
    collections = wiring.backend_collections(folder.brain.settings)
    assert collections is not None
    assert [found.name for found in collections.listed()] == ["brain-vault-g2"]
    collections.client.close()


def test_the_aliases_of_qdrant_follow(folder, tmp_path):
    """What others read by its alias is the generation that answers here; a deleted one is gone there too."""
    pytest.importorskip("qdrant_client")
    folder.setting("settings.yaml", f"index: qdrant\nqdrant:\n  path: {tmp_path / 'qdrant'}\n")
    folder.reopen()
    folder.brain.sync()
    folder.brain.embed()

    def held() -> tuple[dict[str, str], list[str]]:
        folder.brain.close()
        collections = wiring.backend_collections(folder.brain.settings)
        assert collections is not None
        try:
            return collections.aliases(), [found.name for found in collections.listed()]
        finally:
            collections.client.close()

    folder.season("autumn")
    folder.brain.close()  # a folder of local mode is for one at a time
    folder.build()
    assert held() == ({"brain-vault": "brain-vault-g1"}, ["brain-vault-g1", "brain-vault-g2"])
    builds.promote(folder.brain, "g2")
    assert held()[0] == {"brain-vault": "brain-vault-g2"}
    assert folder.seasons() == {"autumn"}
    folder.brain.close()
    builds.rollback(folder.brain)
    builds.prune(folder.brain, ["g2"])
    assert held() == ({"brain-vault": "brain-vault-g1"}, ["brain-vault-g1"])
    assert folder.seasons() == {"spring"}
