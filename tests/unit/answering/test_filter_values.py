"""A filter that nothing can pass says so, with what there is instead."""

from __future__ import annotations

import pytest

from second_brain.types import Filter


@pytest.fixture
def library(notes):
    """Three notes with types, tags and a status."""
    notes.index(
        {
            "a.md": "---\ntype: Decision\ntags: [ops/water]\n---\nheron pump\n",
            "b.md": "---\ntype: decision\ntags: [ops]\n---\nheron weir\n",
            "c.md": "---\ntype: runbook\nstatus: Superseded by 0007\n---\nheron kelp\n",
        }
    )
    return notes.brain


@pytest.mark.parametrize(
    ("filter", "said"),
    [
        (Filter(types=("decison",)), "no note has the type 'decison'; there are decision, runbook"),
        (Filter(kinds=("bogus",)), "no note has the kind 'bogus'; there are markdown"),
        (Filter(tags=("#opps",)), "no note has the tag '#opps'; there are ops, ops/water"),
        (Filter(projects=("x",)), "no note has the project 'x'; there are notes"),
    ],
)
def test_a_value_that_nothing_has_is_named(library, filter, said):
    """With those that there are, the nearest first."""
    assert said in [notice.replace("Decision", "decision") for notice in library.search("heron", filter=filter).notices]


@pytest.mark.parametrize("filter", [Filter(types=("RUNBOOK",)), Filter(tags=("ops/",)), Filter(types=("x", "runbook"))])
def test_a_value_that_some_note_has_is_not_named(library, filter):
    """In any letter case; a tag stands for those below it, and one of several types is enough."""
    result = library.search("heron", filter=filter)
    assert result.hits
    assert not [notice for notice in result.notices if notice.startswith("no note has")]


def test_words_that_are_nowhere_do_not_make_a_value_unknown(library):
    """Nothing is found, but not for the filter's sake."""
    result = library.search("zygote", mode="lexical", filter=Filter(types=("runbook",)))
    assert (result.hits, [notice for notice in result.notices if "no note has the" in notice]) == ((), [])


def test_strictly_what_was_superseded_by_something_is_left_out(library):
    """Whatever follows the word in the note's status."""
    assert {hit.uri for hit in library.search("heron").hits} == {"notes/a.md", "notes/b.md", "notes/c.md"}
    assert {hit.uri for hit in library.search("heron", strict=True).hits} == {"notes/a.md", "notes/b.md"}


def test_two_spellings_of_a_type_are_one_facet(library):
    """As filters take them for one; the other facets too."""
    assert [count for _, count in library.facets().types] == [2, 1]
