"""What a document is weighs: its kind and type, its age, its status."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone

import pytest

from second_brain.ranking.adjust import Adjustments, SourceRules, Traits, decay, is_daily, is_stale

NOW = datetime(2031, 5, 2, 12, tzinfo=UTC)
PLAIN = SourceRules()
YEAR_AGO = NOW.timestamp() - 360 * 86_400


def traits(**values) -> Traits:
    plain = {"kind": "markdown", "type": "", "title": "Weir", "uri": "n/weir.md", "status": "", "stale_after": ""}
    return Traits(**{**plain, "date": YEAR_AGO, **values})


def factors(rules: SourceRules = PLAIN, adjustments: Adjustments | None = None, **values) -> dict[str, float]:
    signals = (adjustments or Adjustments()).signals(traits(**values), rules, NOW)
    assert {signal.operation for signal in signals} <= {"multiply"}
    return {signal.name: round(signal.value, 6) for signal in signals}


def test_decay_halves_with_every_half_life_and_never_lifts_the_future() -> None:
    """``0.5 ** (age / half-life)``; a document dated tomorrow counts as today's, an infinite half-life does nothing."""
    year = 360 * 86_400.0
    assert [signal.value for signal in decay(year, 180)] == pytest.approx([0.25])
    assert [signal.value for signal in decay(-year, 180)] == [1.0]
    assert decay(year, math.inf) == ()


def test_a_note_is_left_alone() -> None:
    """However old it is."""
    assert factors() == {}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"kind": "session", "type": "session"}, {"age": 0.25}),
        ({"kind": "session", "type": "subagent"}, {"kind weight": 0.9, "age": 0.25}),
        ({"type": "session-summary"}, {"kind weight": 1.15, "age": 0.25}),
        ({"type": "Session-Summary"}, {"kind weight": 1.15, "age": 0.25}),
        ({"kind": "code"}, {"kind weight": 0.8}),
        ({"type": "daily"}, {"age": 0.50477}),
        ({"uri": "n/2030-05-07.md", "title": "Tuesday"}, {"age": 0.50477}),
        ({"title": "2030-05-07"}, {"age": 0.50477}),
    ],
)
def test_kinds_and_types_have_weights_and_half_lives(values, expected) -> None:
    """Summaries of sessions weigh more, code and sub-agents less; sessions age in half a year, days in one."""
    assert factors(**values) == expected


def test_a_date_in_a_longer_name_is_no_daily_note() -> None:
    """A meeting of a day is a note like others, and so is a number."""
    assert is_daily(traits(uri="n/20300507.md"))
    assert not is_daily(traits(uri="n/2030-05-07 budget.md"))
    assert not is_daily(traits(title="1234567"))


def test_what_is_said_of_a_source_holds_instead() -> None:
    """Its weight and half-life are taken, not multiplied; each by itself."""
    summary = {"type": "session-summary"}
    assert factors(SourceRules(weight=0.5), **summary) == {"source weight": 0.5, "age": 0.25}
    assert factors(SourceRules(weight=1.0), **summary) == {"age": 0.25}
    assert factors(SourceRules(half_life_days=math.inf), **summary) == {"kind weight": 1.15}
    assert factors(SourceRules(half_life_days=360.0)) == {"age": 0.5}


def test_withdrawn_documents_are_halved_whatever_the_letter_case() -> None:
    """``status: Deprecated`` counts half; a stable one is left alone."""
    assert factors(status="Deprecated") == factors(status="superseded") == {"status": 0.5}
    assert factors(status="superseded by 0007-owls") == {"status": 0.5}
    assert factors(status="stable") == factors(status="not deprecated") == {}
    assert factors(adjustments=Adjustments(withdrawn=0.1), status="archived") == {"status": 0.1}


def test_what_has_passed_its_own_end_loses_less() -> None:
    """It may still be right: a fifth by default."""
    assert factors(stale_after="2031-05-01") == {"stale": 0.8}
    assert factors(stale_after="2032-05-01") == {}


def test_an_end_is_a_moment_or_a_day() -> None:
    """A day ends what it names from its beginning on; a moment counts in its own time zone; nonsense never comes."""
    assert is_stale("2031-05-02", NOW)
    assert not is_stale("2031-05-03", NOW)
    assert is_stale("2031-05-02T12:00:00Z", NOW)
    assert not is_stale("2031-05-02T12:00:01Z", NOW)
    assert is_stale("2031-05-02T20:59:00+09:00", NOW)
    assert is_stale("2031-05-02", NOW.astimezone(timezone(timedelta(hours=9))))
    assert not is_stale("soon", NOW)
    assert not is_stale("", NOW)
