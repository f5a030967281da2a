from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from running_brain import Brain


@pytest.fixture
def golden(brain: Brain, indexed: Path, tmp_path: Path) -> None:
    """A question in the home, whose answer is in a note."""
    (indexed / "x.md").write_text("# Deck\n\nThe capstan was greased.\n")
    brain("index", "--quiet")
    question = {"id": "1", "query": "capstan greased", "relevant": [{"path": "notes/x.md", "grade": 2}]}
    (tmp_path / "home" / "golden.jsonl").write_text(json.dumps(question) + "\n")


def test_building_promoting_and_going_back(brain: Brain, indexed: Path) -> None:
    """Each command says what is so now, and what to type next."""
    built = brain("index", "--new-generation")
    assert built.code == 0
    assert "building generation 'g2' beside 'g1', which goes on answering" in built.err
    assert built.out.splitlines()[-1] == "g2 is ready; make it answer with `brain promote g2`"
    assert "taken over from the generation that answers" in built.out
    assert "brain promote g2" in brain("status").err
    promoted = brain("promote", "g2")
    assert promoted.out.splitlines()[0] == "g2 answers now, 'g1' is kept; `brain rollback` goes back"
    assert "was not measured" in promoted.err
    assert "generation g2" in brain("status").out
    assert json.loads(brain("search", "--json", "pump").out)["generation"] == "g2"
    assert brain("rollback").out.splitlines()[0].startswith("g1 answers now")
    assert brain("promote", "g1").out == "'g1' is the current generation already\n"


def test_the_list(brain: Brain, indexed: Path) -> None:
    """A row each, and as JSON everything that is known."""
    brain("index", "--new-generation", "--quiet")
    header, *rows = brain("generations").out.splitlines()
    assert header.split()[:4] == ["state", "documents", "passages", "vectors"]
    assert [row.split()[:2] for row in rows] == [["g1", "current"], ["g2", "ready"]]
    found = json.loads(brain("generations", "--json").out)
    assert (found["current"], found["previous"], found["promoting"]) == ("g1", "", "")
    first, second = found["generations"]
    assert (first["documents"], first["vectors"]) == (second["documents"], second["vectors"])
    assert first["documents"] == 3
    assert (first["embedder"], first["analyzer"], first["chunker"]) == (
        second["embedder"],
        second["analyzer"],
        second["chunker"],
    )
    assert len(second["settings"]) == 12


@pytest.mark.usefixtures("golden")
def test_golden_questions_are_asked_of_both(brain: Brain) -> None:
    """The list shows what they said."""
    brain("index", "--new-generation", "--quiet")
    promoted = brain("promote", "g2", "--json")
    assert promoted.code == 0
    measured = json.loads(promoted.out)["measured"]
    assert (measured["before"]["value"], measured["after"]["value"], measured["after"]["questions"]) == (1.0, 1.0, 1)
    assert brain("generations").out.count("nDCG@5 1.000 (1 questions)") == 2


@pytest.mark.usefixtures("golden")
def test_one_that_answers_worse_needs_force(brain: Brain, indexed: Path) -> None:
    """The numbers are told, with an interval; the old one goes on answering."""
    (indexed / "x.md").write_text("# Nothing\n\nof interest\n")
    (indexed / "y.md").write_text("# Deck\n\nThe capstan was greased.\n")
    brain("index", "--new-generation", "--quiet")
    refused = brain("promote", "g2")
    assert refused.code == 1
    assert "it answers worse: nDCG@5 falls from 1.000 to" in refused.err
    assert "95 % interval" in refused.err
    assert "brain promote g2 --force" in refused.err
    assert "generation g1" in brain("status").out
    forced = brain("promote", "g2", "--force")
    assert forced.code == 0
    assert "in spite of: it answers worse" in forced.err


def test_a_golden_file_that_is_not_there_is_wrong_usage(brain: Brain, indexed: Path) -> None:
    """A typing error does not promote unmeasured."""
    brain("index", "--new-generation", "--quiet")
    assert brain("promote", "g2", "--golden", "nowhere.jsonl").code == 2


def test_a_new_generation_holds_all_sources(brain: Brain, indexed: Path) -> None:
    """It cannot be built of a part."""
    refused = brain("index", "--new-generation", "notes")
    assert refused.code == 2
    assert "leave the names out" in refused.err


def test_without_vectors_it_stays_half_built(brain: Brain, indexed: Path) -> None:
    """`--no-embed` leaves them for the next run."""
    built = json.loads(brain("index", "--new-generation", "--no-embed", "--json").out)
    assert (built["generation"], built["continued"], built["ready"]) == ("g2", False, False)
    refused = brain("promote", "g2")
    assert (refused.code, "half-built" in refused.err) == (1, True)
    built = json.loads(brain("index", "--new-generation", "--json").out)
    assert (built["generation"], built["continued"], built["ready"]) == ("g2", True, True)


def test_pruning(brain: Brain, indexed: Path) -> None:
    """Nothing to do, a name that goes, one that nobody knows."""
    assert brain("generations", "prune").out == "nothing to delete\n"
    brain("index", "--new-generation", "--quiet")
    assert brain("generations", "prune", "g2").out.startswith("deleted: g2 (")
    unknown = brain("generations", "prune", "g2")
    assert (unknown.code, "there is no generation 'g2'" in unknown.err) == (1, True)


def test_the_embedder_that_stays_is_told(brain: Brain, indexed: Path, tmp_path: Path, monkeypatch) -> None:
    """After `brain index` and `brain embed`, with what to type to change it."""
    from second_brain.generations import vectors

    monkeypatch.setattr(vectors, "IN_PLACE_BELOW", 1)
    (tmp_path / "home" / "models.yaml").write_text("embedder: e5-small\n")
    for command in ("index", "embed"):
        outcome = brain(command)
        assert outcome.code == 0
        assert "note: the index holds vectors of 'hashing-256/1', the settings ask for 'e5-small-q4/" in outcome.err
        assert "brain index --new-generation" in outcome.err
    assert brain("embed", "--quiet").err == ""


def test_consumers_that_pin_another_generation_are_reported(brain: Brain, indexed: Path, tmp_path: Path) -> None:
    """After a promotion and after a rollback, by name and with what they expect."""
    seen = datetime.now(UTC).isoformat()
    pinned = [{"name": name, "version": "0.1.0", "expects": of, "seen": seen} for name, of in (("a", "g1"), ("b", ""))]
    (tmp_path / "home" / "fleet.json").write_text(json.dumps(pinned))
    brain("index", "--new-generation", "--quiet")
    told = brain("promote", "g2").err
    assert "'a' expects 'g1' and is refused until it follows" in told
    assert "'b'" not in told
    assert "is refused" not in brain("rollback").err
    (stale,) = json.loads(brain("rollback", "--json").out)["stale"]
    assert stale["name"] == "a"


@pytest.mark.parametrize("command", [["promote", "g2"], ["rollback"], ["generations"], ["generations", "prune"]])
def test_guests_may_not(brain: Brain, indexed: Path, command: list[str]) -> None:
    """Who may not see everything learns nothing about builds, and changes none."""
    refused = brain("--privacy", "work", *command)
    assert (refused.code, "may not" in refused.err) == (1, True)
