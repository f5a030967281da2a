"""What clients send as what tools take."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from second_brain.errors import UsageError
from second_brain.servers.arguments import Arguments


def given(**values: Any) -> Arguments:
    return Arguments(values, tuple(values))


@pytest.mark.parametrize(
    ("sent", "taken"),
    [("5", 5), (5.0, 5), (" 7 ", 7), (1e9, 50), ("1e9", 50), (float("inf"), 50), (None, 3), (10**400, 50)],
)
def test_numbers_are_taken_where_they_are_plain(sent, taken):
    """What is above the highest counts as the highest; null as left out."""
    assert given(n=sent).number("n", 3, low=1, high=50) == taken


@pytest.mark.parametrize("sent", [0, -1, "-1", "many", True, [5], {"n": 5}, float("nan"), 2.5, "2.5", ""])
def test_other_numbers_are_refused_in_one_sentence(sent):
    """It names the value and what was expected."""
    with pytest.raises(UsageError, match=r"^'n' is .*expected a whole number from 1 to 50$"):
        given(n=sent).number("n", 3, low=1, high=50)


@pytest.mark.parametrize(
    ("sent", "taken"),
    [
        (["a", " b "], ("a", "b")), ("a", ("a",)), ("a, b", ("a", "b")), ('["a", "b"]', ("a", "b")), (None, ()),
        ([], ()), ("", ()), ("[broken", ("[broken",)), ([1, 2.5], ("1", "2.5")),
    ],
)  # fmt: skip
def test_lists_are_taken_in_every_form_that_clients_send(sent, taken):
    """A list, a text alone, commas, JSON in a text."""
    assert given(tags=sent).texts("tags") == taken


def test_a_path_may_hold_a_comma():
    """It is one path."""
    assert given(paths="/notes/a, b").texts("paths", commas=False) == ("/notes/a, b",)


@pytest.mark.parametrize(
    ("sent", "taken"), [("true", True), ("YES", True), (1, True), ("off", False), (False, False), (None, False)]
)
def test_flags_are_taken_as_words_too(sent, taken):
    """Yes and no in the usual spellings."""
    assert given(confirm=sent).flag("confirm") is taken


def test_what_is_no_flag_is_refused():
    """A guess could confirm what nobody confirmed."""
    with pytest.raises(UsageError, match="expected true or false"):
        given(confirm="maybe").flag("confirm")


def test_a_moment_is_a_day_or_a_time():
    """Local where it names no zone."""
    assert given(since="2031-05-02T09:30+00:00").moment("since") == datetime(2031, 5, 2, 9, 30, tzinfo=UTC)
    assert given(since="2031-05-02").moment("since") == datetime(2031, 5, 2).astimezone()
    with pytest.raises(UsageError, match="expected a day like"):
        given(since="soon").moment("since")


def test_an_unknown_argument_is_named_with_the_nearest():
    """Silence would be taken for agreement."""
    with pytest.raises(UsageError, match="no argument 'limt'") as caught:
        Arguments({"limt": 3}, ("query", "limit"))
    assert "did you mean 'limit'" in caught.value.hint


def test_a_wrong_choice_is_named_with_what_is_allowed():
    """And the nearest one."""
    with pytest.raises(UsageError, match="expected one of: lexical, hybrid; did you mean 'hybrid'"):
        given(mode="hybird").choice("mode", ("lexical", "hybrid"), "hybrid")


@pytest.mark.parametrize("sent", [None, "x", [], ["a"], '{"broken'])
def test_objects_are_at_least_one_object(sent):
    """A single one and JSON in a text are understood, nothing else."""
    assert given(entities='{"name": "A"}').objects("entities") == [{"name": "A"}]
    with pytest.raises(UsageError, match="expected a list of objects"):
        given(entities=sent).objects("entities")
