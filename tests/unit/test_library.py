"""``Brain``: adding, syncing, asking, reading, what is told of stale notes, and who may see what."""

from __future__ import annotations

import os
import threading
import time
import unicodedata
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from second_brain import Brain, library
from second_brain.errors import Ambiguous, BrainError, ConfigError, NotFound, UsageError
from second_brain.index.lock import sync_lock
from second_brain.types import MODES, Filter

PUBLIC = Filter(privacy=("public",))


@pytest.fixture
def birds(notes):
    """Five notes, indexed and embedded."""
    notes.index(
        {
            "heron.md": "---\naliases: [Grey one, 鷺]\ntags: [bird/wader]\n---\n# The Heron\n\nAt the [[weir]].\n",
            "weir.md": "# Weir\n\nThe heron waits, see [[kelp]] and [[grey one]].\n",
            "a/kelp.md": "# Kelp\n\nDries in two days.\n",
            "b/kelp.md": "# Farming\n\nKelp ropes.\n",
            "daily/2031-05-02.md": "Saw a heron.\n",
        }
    )
    return notes


# -- reading a note ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "notes/heron.md",
        "heron.md",
        "heron",
        "The Heron",
        "the heron",
        "grey one",
        "鷺",
        " heron ",
        "{root}/heron.md",
        "{root}/a/../heron.md",
        "{root}//heron.md",
    ],
)
def test_a_note_is_read_by_any_of_its_names(birds, name):
    """Uri, path below the source, absolute path, title, alias."""
    note = birds.brain.get(name.format(root=birds.root))
    assert note.document.uri == "notes/heron.md"
    assert note.text == (birds.root / "heron.md").read_text(encoding="utf-8")
    assert [(link.target, link.written) for link in note.links] == [("notes/weir.md", "weir")]
    assert [link.source for link in note.backlinks] == ["notes/weir.md"]
    assert note.notes == ()


def test_a_note_is_read_by_a_path_from_where_one_stands(birds, monkeypatch):
    """``./`` and ``../`` start at the working folder."""
    monkeypatch.chdir(birds.root / "a")
    assert birds.brain.get("./kelp.md").document.uri == "notes/a/kelp.md"
    assert birds.brain.get("../heron.md").document.uri == "notes/heron.md"


def test_a_note_is_read_by_the_id_of_a_hit(birds):
    """Whole, or its beginning from four digits on."""
    (hit,) = birds.brain.search("two days", mode="lexical").hits
    assert birds.brain.get(hit.id).document.uri == "notes/a/kelp.md"
    assert birds.brain.get(hit.id[:8]).document.uri == "notes/a/kelp.md"
    with pytest.raises(NotFound):
        birds.brain.get(hit.id[:3])


def test_two_notes_of_one_name_are_named_and_none_is_guessed(birds):
    """The error lists the uris, and any of them can be read."""
    birds.index({"b/other.md": "---\naliases: [kelp]\n---\nx"})
    with pytest.raises(Ambiguous, match=r"2 documents answer to 'kelp\.md'") as caught:
        birds.brain.get("kelp.md")
    assert caught.value.candidates == ["notes/a/kelp.md", "notes/b/kelp.md"]
    assert all(uri in caught.value.hint for uri in caught.value.candidates)
    assert birds.brain.get("b/kelp").document.title == "Farming"
    assert birds.brain.get("Farming").document.uri == "notes/b/kelp.md"


@pytest.mark.parametrize("name", ["", "   ", "nothing", "notes/", "../../etc/hostname", "/etc/hostname", "~/x", "\0"])
def test_what_answers_to_no_name_is_not_found(birds, name):
    """One message, whether such a file exists or not: only what is indexed is read."""
    with pytest.raises(NotFound, match="nothing in the index answers to") as caught:
        birds.brain.get(name)
    assert "brain search" in caught.value.hint


# -- who may see what ----------------------------------------------------------------------------------------


@pytest.fixture
def secrets(notes):
    """A public source with a secret note, and a source that is secret as a whole."""
    notes.brain.remove("notes")
    notes.brain.add(notes.root, name="notes", privacy="public")
    other = notes.root.parent / "diary"
    other.mkdir()
    (other / "plan.md").write_text("---\nprivacy: public\naliases: [The Plan]\n---\nThe avocet plan. [[open]]\n")
    notes.brain.add(other, name="diary", privacy="secret")
    notes.write(
        {
            "open.md": "An avocet is a wader. See [[Treasure]] and [[hidden]].\n",
            "hidden.md": "---\nprivacy: secret\naliases: [Treasure]\n---\nThe avocet is in the shed. See [[open]].\n",
            "odd.md": "---\nprivacy: top-secret\n---\nAn avocet with a label that nobody knows.\n",
        }
    )
    notes.brain.sync()
    notes.brain.embed()
    return notes


@pytest.mark.parametrize("mode", MODES)
def test_search_shows_only_what_the_asker_may_see(secrets, mode):
    """The stricter of the source's label and the note's holds; an unknown label is the strictest."""
    hits = secrets.brain.search("avocet", mode=mode, filter=PUBLIC).hits
    assert [hit.uri for hit in hits] == ["notes/open.md"]
    assert len(secrets.brain.search("avocet", mode=mode).hits) == 4
    assert secrets.brain.search("avocet", mode=mode, filter=Filter(privacy=())).hits == ()


def test_lists_and_names_show_only_what_the_asker_may_see(secrets):
    """A secret note is not found, not listed, not ambiguous, not linked and links nowhere."""
    brain = secrets.brain
    assert [document.uri for document in brain.recent(filter=PUBLIC)] == ["notes/open.md"]
    for name in ("hidden", "Treasure", "notes/hidden.md", str(secrets.root / "hidden.md"), "The Plan", "diary/plan.md"):
        with pytest.raises(NotFound):
            brain.get(name, filter=PUBLIC)
    hidden = brain.search("shed", mode="lexical").hits[0].id
    with pytest.raises(NotFound):
        brain.get(hidden, filter=PUBLIC)
    note = brain.get("open", filter=PUBLIC)
    assert [(link.written, link.target) for link in note.links] == [("Treasure", None), ("hidden", None)]
    assert note.backlinks == ()
    assert [link.target for link in brain.get("open").links] == ["notes/hidden.md"] * 2
    assert [link.source for link in brain.get("open").backlinks] == ["notes/hidden.md"]


def test_a_stricter_label_holds_from_the_next_question_on(secrets):
    """Nothing need be indexed again for a source that was made secret; after a sync its notes say so."""
    sources = secrets.home / "sources.yaml"
    sources.write_text(sources.read_text().replace("privacy: public", "privacy: work"))
    with Brain.open(secrets.home, environment={}) as brain:
        assert brain.search("avocet", filter=PUBLIC).hits == ()
        assert brain.recent(filter=PUBLIC) == []
        with pytest.raises(NotFound):
            brain.get("open", filter=PUBLIC)
        report = brain.sync(["notes"]).sources[0]
        assert (report.unchanged, report.changed) == (3, 0)
        assert brain.get("open").document.privacy == "work"
        assert [hit.uri for hit in brain.search("avocet", filter=Filter(privacy=("public", "work"))).hits] == [
            "notes/open.md"
        ]
        assert brain.status().waiting == 0


def test_a_looser_label_holds_after_a_sync(secrets):
    """Notes are read again although no file changed, and keep the label that they give themselves."""
    sources = secrets.home / "sources.yaml"
    sources.write_text(sources.read_text().replace("privacy: secret", "privacy: public"))
    with Brain.open(secrets.home, environment={}) as brain:
        brain.sync()
        assert sorted(hit.uri for hit in brain.search("avocet", filter=PUBLIC).hits) == [
            "diary/plan.md",
            "notes/open.md",
        ]
        assert brain.sync().sources[0].unchanged == 3


# -- what is told --------------------------------------------------------------------------------------------


def test_a_hit_says_when_its_file_changed_or_is_gone(birds):
    """Found by what was indexed, told by one look at the disk; a sync clears it."""
    (birds.root / "weir.md").write_text("# Weir\n\nThe heron left.\n")
    (birds.root / "heron.md").unlink()
    notes = {hit.title: hit.notes for hit in birds.brain.search("heron", mode="lexical").hits}
    assert notes == {
        "The Heron": ("the file is gone or its disk is not there; run `brain index`",),
        "Weir": ("the file changed since it was indexed; run `brain index`",),
        "2031-05-02": (),
    }
    assert birds.brain.get("weir").notes == notes["Weir"]
    birds.sync()
    assert [hit.notes for hit in birds.brain.search("heron", mode="lexical").hits] == [(), ()]


def test_an_old_index_says_so(birds):
    """More than a day after the last comparison with the disk, with the number of days."""
    now = datetime.now(UTC)
    assert birds.brain.search("heron", now=now).notices == ()
    for days, said in ((1.5, "a day ago"), (9.5, "9 days ago")):
        (notice,) = birds.brain.search("heron", now=now + timedelta(days=days)).notices
        assert said in notice
        assert "brain index" in notice


def test_an_empty_index_says_what_to_type(notes):
    """The first question of somebody new is answered with the first commands."""
    result = notes.brain.search("anything")
    assert result.hits == ()
    assert "nothing is indexed yet: type `brain index`" in result.notices
    with Brain.open(notes.home / "none", environment={}) as stranger:
        notices = stranger.search("anything").notices
    assert any("brain add" in notice and "brain index" in notice for notice in notices)


def test_who_may_see_nothing_is_not_told_to_add_notes(birds):
    """The same words whether there are notes above the label or none: that nothing bears a label low enough."""
    (said,) = birds.brain.seen_by("public").search("heron").notices
    assert "with this label" in said
    assert "brain add" not in said
    with Brain.open(birds.home / "none", environment={}) as stranger:
        assert stranger.seen_by("public").search("heron").notices == (said,)


def test_a_source_that_is_not_there_is_named(birds):
    """Its notes are found, each hit and the answer say that the disk is missing."""
    birds.root.rename(birds.root.with_name("away"))
    birds.brain.sync()
    result = birds.brain.search("two days", mode="lexical")
    assert [hit.uri for hit in result.hits] == ["notes/a/kelp.md"]
    assert "gone" in result.hits[0].notes[0]
    (notice,) = result.notices
    assert "'notes' was not available" in notice
    assert any("'notes' was not available" in notice for notice in birds.brain.status().notices)


# -- asking --------------------------------------------------------------------------------------------------


def test_every_mode_finds_by_its_own_means(birds):
    """The result names the mode that answered."""
    for mode in MODES:
        result = birds.brain.search("kelp ropes", mode=mode)
        assert (result.mode, result.hits[0].uri) == (mode, "notes/b/kelp.md")


def test_a_question_that_cannot_be_meant_is_refused(birds):
    """No hits at all, or a source that nobody knows."""
    with pytest.raises(UsageError, match="at least 1, not 0"):
        birds.brain.search("heron", limit=0)
    with pytest.raises(UsageError, match="at least 1, not -1"):
        birds.brain.recent(limit=-1)
    for ask in (birds.brain.search, lambda text, filter: birds.brain.recent(filter=filter), birds.brain.get):
        with pytest.raises(NotFound, match="no source is named 'birds'; sources: notes"):
            ask("heron", filter=Filter(sources=("birds",)))


def test_weights_and_ages_come_from_the_settings(birds):
    """``weight`` and ``half_life_days`` of sources.yaml are signals of every score."""
    file = birds.home / "sources.yaml"
    file.write_text(file.read_text() + "  weight: 0.5\n  half_life_days: 30\n")
    with Brain.open(birds.home, environment={}) as brain:
        for hit in brain.search("heron").hits:
            assert {"source weight", "age"} <= {signal.name for signal in hit.explanation.signals}
            assert hit.explanation.replay() == pytest.approx(hit.score, abs=1e-9)


def test_many_threads_may_ask_while_one_indexes(birds):
    """Every question is answered from one state of the index, never from half of a note."""
    failures: list[object] = []
    done = threading.Event()

    def ask() -> None:
        try:
            while not done.is_set():
                for hit in birds.brain.search("heron weir", mode="hybrid").hits:
                    assert hit.text.strip()
                birds.brain.get("weir")
        except BaseException as error:  # the test reports whatever it was
            failures.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for round_ in range(15):
        birds.index({"weir.md": f"# Weir\n\nThe heron waits {round_}.\n", f"new-{round_}.md": f"heron {round_}"})
    done.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(birds.found("heron", limit=100)) == 3 + 15


# -- sources and syncing -------------------------------------------------------------------------------------


def test_a_target_names_a_source_a_folder_or_a_note(birds):
    """Only what lies there is compared."""
    birds.write({"a/kelp.md": "changed a", "b/kelp.md": "changed b", "weir.md": "changed weir"})
    assert birds.sync(targets=[birds.root / "a"]).changed == 1
    assert birds.sync(targets=[birds.root / "b" / "kelp.md", birds.root / "a"]).changed == 1
    assert birds.sync(targets=["notes"]).changed == 1
    assert birds.sync(targets=[birds.root / "a", birds.root]).unchanged == 5


def test_a_target_that_is_gone_is_removed(birds):
    """A note or a folder that was deleted is compared like any other; its neighbours are not."""
    (birds.root / "weir.md").unlink()
    (birds.root / "a" / "kelp.md").unlink()
    (birds.root / "a").rmdir()
    (birds.root / "heron.md").unlink()
    assert birds.sync(targets=[birds.root / "weir.md"]).deleted == 1
    assert birds.sync(targets=[birds.root / "a"]).deleted == 1
    assert [document.title for document in birds.brain.recent()].count("The Heron") == 1
    with pytest.raises(NotFound, match=r"weir\.md does not exist, and nothing of it is indexed"):
        birds.brain.sync([birds.root / "weir.md"])


def test_a_target_that_never_was_is_named(birds):
    """A slip of the hand is no silent success; a folder without notes is one."""
    for target in ("typo.md", "a/typo", "heron.md/x"):
        with pytest.raises(NotFound, match="does not exist") as caught:
            birds.brain.sync([birds.root / target])
        assert "brain index notes" in caught.value.hint
    (birds.root / "empty").mkdir()
    assert birds.sync(targets=[birds.root / "empty"]).deleted == 0


@pytest.mark.parametrize("on_disk", ["NFC", "NFD"])
def test_a_target_is_found_in_either_unicode_form(notes, on_disk):
    """A folder that is decomposed on disk is meant by its composed name, and the other way round."""
    name = {form: unicodedata.normalize(form, "ガ/é.md") for form in ("NFC", "NFD")}
    other = name["NFD" if on_disk == "NFC" else "NFC"]
    notes.write({name[on_disk]: "one"})
    assert notes.sync(targets=[notes.root / other]).added == 1
    notes.write({name[on_disk]: "one, changed"})
    assert notes.sync(targets=[(notes.root / other).parent]).changed == 1
    (notes.root / name[on_disk]).unlink()
    notes.write({"b.md": "another"})
    assert notes.sync(targets=[notes.root / other]).deleted == 1


def test_a_path_prefix_is_taken_as_it_is_meant(birds):
    """Dots and doubled slashes count for nothing, in paths below a source and in absolute ones."""
    for prefix in ("a/", "./a/", "a//kelp", f"{birds.root}/a", f"{birds.root}//a/./kelp"):
        assert [d.uri for d in birds.brain.recent(filter=Filter(path_prefix=prefix))] == ["notes/a/kelp.md"], prefix
    assert len(birds.brain.recent(filter=Filter(path_prefix="./"))) == 5


def test_many_threads_share_one_index_and_one_embedder(notes, monkeypatch):
    """The first use by eight threads at once makes one of each."""
    made: list[object] = []
    start = threading.Barrier(8)

    def counted(name: str) -> None:
        make = getattr(library.wiring, name)
        monkeypatch.setattr(
            library.wiring, name, lambda *of, **more: made.append(of) or time.sleep(0.01) or make(*of, **more)
        )

    counted("index")
    counted("embedder")

    def use() -> None:
        start.wait()
        notes.brain.index.stats()
        notes.brain.embedder()

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 2


def test_nothing_is_set_aside_while_vectors_are_written(birds):
    """``compact`` and ``doctor --fix`` wait for a running embed."""
    birds.brain.index.database.rows("DROP TABLE terms")
    for work in (lambda: birds.brain.doctor(fix=True), birds.brain.compact):
        done = threading.Event()
        thread = threading.Thread(target=lambda work=work, done=done: (work(), done.set()))
        with sync_lock(birds.brain.settings.index, purpose="embed", progress=lambda *report: None):
            thread.start()
            assert not done.wait(0.3)
        thread.join()
        assert done.is_set()


def test_a_source_that_may_not_be_seen_is_not_named(secrets):
    """Its disk is not there: the owner is told, the asker who may not see it is not."""
    (secrets.root.parent / "diary").rename(secrets.root.parent / "away")
    secrets.brain.sync()
    assert any("diary" in notice for notice in secrets.brain.search("avocet").notices)
    assert not any("diary" in notice for notice in secrets.brain.search("avocet", filter=PUBLIC).notices)


def test_a_target_that_is_nowhere_is_named(birds, tmp_path):
    """A folder outside is not read, a word that is no source is not taken for one."""
    with pytest.raises(NotFound, match="lies in no source") as caught:
        birds.brain.sync([tmp_path])
    assert "brain add" in caught.value.hint
    with pytest.raises(NotFound, match="no source is named 'birds'"):
        birds.brain.sync(["birds"])


def test_without_a_source_there_is_nothing_to_sync(tmp_path):
    """The error says what to type."""
    with Brain.open(tmp_path / "home", environment={}) as brain, pytest.raises(UsageError) as caught:
        brain.sync()
    assert "brain add" in caught.value.hint


def test_rebuild_reads_everything_and_embeds_nothing(birds):
    """The result is the same index."""
    before = [(hit.id, hit.score) for hit in birds.brain.search("heron weir").hits]
    report = birds.sync(rebuild=True)
    assert (report.changed, report.added, report.unchanged) == (5, 0, 0)
    assert birds.brain.status().waiting == 0
    assert [(hit.id, hit.score) for hit in birds.brain.search("heron weir").hits] == before


def test_a_removed_source_is_forgotten_and_its_files_stay(birds):
    """Nothing of it is found, listed or counted; adding it again embeds nothing."""
    assert birds.brain.remove("notes") == 5
    assert birds.brain.sources() == ()
    assert birds.brain.recent() == []
    assert birds.brain.status().chunks == 0
    assert (birds.root / "heron.md").exists()
    with pytest.raises(NotFound, match="no source is named 'notes'"):
        birds.brain.remove("notes")
    birds.brain.add(birds.root, name="again")
    birds.brain.sync()
    assert birds.brain.status().waiting == 0


def test_a_source_that_left_the_settings_is_told_and_can_be_removed(birds):
    """It was taken out by hand: its notes are found until it is removed."""
    (birds.home / "sources.yaml").unlink()
    with Brain.open(birds.home, environment={}) as brain:
        assert brain.search("two days", mode="lexical").hits
        assert brain.search("two days", mode="lexical", filter=PUBLIC).hits == ()
        assert any("brain remove notes" in notice for notice in brain.status().notices)
        assert brain.remove("notes") == 5


def test_status_counts_what_waits(notes):
    """Documents, chunks and vectors; what to do about the rest."""
    notes.write({"a.md": "one [[b]] [[c]]", "b.md": "two", "bad.md": b"\x00\x01"})
    notes.sync()
    status = notes.brain.status()
    assert (status.documents, status.chunks, status.embedded, status.waiting) == (2, 2, 0, 2)
    assert (status.links, status.unresolved_links, status.failures) == (2, 1, 1)
    assert any("2 of 2 passages wait" in notice for notice in status.notices)
    notes.brain.embed()
    status = notes.brain.status()
    assert (status.embedded, status.waiting, status.embedder) == (2, 0, status.wanted_embedder)
    assert status.notices == ()
    assert status.last_sync is not None
    assert datetime.now(UTC) - status.last_sync < timedelta(minutes=1)


def test_two_homes_never_mix(tmp_path, birds):
    """Each has its own sources and its own index."""
    with Brain.open(tmp_path / "other home", environment={}) as brain:
        assert brain.sources() == ()
        assert brain.recent() == []
        assert brain.settings.index != birds.brain.settings.index


def test_a_closed_brain_opens_again(birds):
    """Closing is for files, not for the object."""
    birds.brain.close()
    assert birds.brain.search("heron").hits


def test_an_embedder_that_nobody_knows_is_an_error_of_the_settings(birds):
    """Only what needs it fails; the message lists what there is."""
    (birds.home / "models.yaml").write_text("embedder: wonder\n")
    with Brain.open(birds.home, environment={}) as brain:
        assert brain.search("heron", mode="lexical").hits
        with pytest.raises(ConfigError, match="'wonder'") as caught:
            brain.embed()
        assert "hashing" in caught.value.hint


def test_recent_lists_notes_by_their_date(birds):
    """Own dates and dates of files in one order, under any filter."""
    os.utime(birds.root / "weir.md", (0, 0))
    birds.index({"future.md": "---\ndate: 2999-01-01\n---\nx"})
    uris = [document.uri for document in birds.brain.recent()]
    assert uris[0] == "notes/future.md"
    assert len(uris) == 6
    assert [document.uri for document in birds.brain.recent(limit=1)] == uris[:1]
    assert [document.uri for document in birds.brain.recent(filter=Filter(tags=("bird",)))] == ["notes/heron.md"]


def test_every_error_of_a_wrong_question_has_a_hint_or_names_what_there_is(birds):
    """Nobody is left with a bare no."""
    questions = (
        lambda: birds.brain.get("nothing"),
        lambda: birds.brain.get("kelp.md"),
        lambda: birds.brain.sync(["nothing"]),
        lambda: birds.brain.remove("nothing"),
        lambda: birds.brain.add(birds.root / "nowhere"),
        lambda: birds.brain.add(birds.root),
    )
    for ask in questions:
        with pytest.raises(BrainError) as caught:
            ask()
        assert caught.value.hint


def test_names_in_either_unicode_form_are_one_note(notes):
    """A file whose name is decomposed on disk answers to both spellings."""
    decomposed = unicodedata.normalize("NFD", "Café ガ.md")
    notes.index({decomposed: "An espresso.\n"})
    for name in ("Café ガ.md", decomposed, str(notes.root / "Café ガ.md"), str(notes.root / decomposed)):
        note = notes.brain.get(name)
        assert (note.document.uri, note.notes) == ("notes/Café ガ.md", ())
    assert Path(notes.brain.get(decomposed).document.path) == notes.root / decomposed


@pytest.mark.slow
def test_status_counts_each_source_once(notes):
    """That looks at all its passages; asked again of the same state it counts none."""
    notes.index({"a.md": "gannet", "b.md": "egret"})
    connection = notes.brain.index.database.connection
    asked = []
    connection.exec_trace = lambda cursor, statement, values: asked.append(statement) or True
    for brain, expected in ((notes.brain, 1), (notes.brain, 0), (notes.brain.seen_by("personal"), 1)):
        asked.clear()
        status = brain.status()
        assert [source.documents for source in status.sources] == [2]
        assert status.documents == 2
        assert sum("FROM source o" in statement for statement in asked) == expected


def test_status_counts_passages_without_token_codes(notes):
    """After late interaction was off, the vectors are there and their codes are not, until they are made."""
    (notes.home / "models.yaml").write_text("embedder: e5-small\n")
    settings = notes.home / "settings.yaml"
    notes.write({"heron.md": "The heron stood at the weir.\n"})

    def notices(late: str, *, embed: bool) -> tuple[str, ...]:
        settings.write_text(f"late: {late}\n")
        with Brain.open(notes.home, environment={}) as brain:
            brain.sync()
            if embed:
                brain.embed()
            return brain.status().notices

    assert notices("off", embed=True) == ()
    assert any("1 passages have no token codes" in notice for notice in notices("on", embed=False))
    assert notices("on", embed=True) == ()
