from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

from second_brain.moments import local, parse_moment, shown

NOW = datetime(2031, 5, 2, 3, 0, tzinfo=UTC)  # 12:00 in Tokyo, still 1 May in Los Angeles


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Set the local time zone of this process."""

    def use(name: str) -> None:
        monkeypatch.setenv("TZ", name)
        time.tzset()

    before = os.environ.get("TZ")
    yield use
    monkeypatch.undo()
    assert os.environ.get("TZ") == before
    time.tzset()


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("2031-05-02", "2031-05-01T15:00:00+00:00"),
        ("today", "2031-05-01T15:00:00+00:00"),
        ("Yesterday", "2031-04-30T15:00:00+00:00"),
        ("7d", "2031-04-24T15:00:00+00:00"),
        ("2w", "2031-04-17T15:00:00+00:00"),
        ("3m", "2031-02-01T15:00:00+00:00"),
        ("1Y", "2030-05-01T15:00:00+00:00"),
        ("2031-05-02T09:30", "2031-05-02T00:30:00+00:00"),
        ("2031-05-02 09:30:15", "2031-05-02T00:30:15+00:00"),
        ("2031-05-02T09:30Z", "2031-05-02T09:30:00+00:00"),
        ("2031-05-02T09:30-07:00", "2031-05-02T16:30:00+00:00"),
    ],
)
def test_every_form_names_a_moment_in_the_local_time_zone(zone: Callable[[str], None], text: str, start: str) -> None:
    """Days begin at local midnight, times without an offset are local, an offset is obeyed."""
    zone("Asia/Tokyo")
    assert parse_moment(text, NOW).astimezone(UTC).isoformat() == start


def test_the_same_word_means_another_day_elsewhere(zone: Callable[[str], None]) -> None:
    """'today' is the day on the user's wall, not in UTC."""
    zone("America/Los_Angeles")
    assert parse_moment("today", NOW).astimezone(UTC) == datetime(2031, 5, 1, 7, tzinfo=UTC)


@pytest.mark.parametrize("text", ["2031-05-02", "today", "1d", "1m"])
def test_an_end_includes_its_whole_day(zone: Callable[[str], None], text: str) -> None:
    """As an exclusive upper bound a day is the first moment of the next one."""
    zone("Asia/Tokyo")
    start, end = parse_moment(text, NOW), parse_moment(text, NOW, end=True)
    assert (end - start).total_seconds() == 86_400


def test_an_end_with_a_time_is_that_time(zone: Callable[[str], None]) -> None:
    """Only days are widened."""
    zone("Asia/Tokyo")
    assert parse_moment("2031-05-02T09:30", NOW, end=True) == parse_moment("2031-05-02T09:30", NOW)


def test_a_day_of_changing_clocks_has_its_own_length(zone: Callable[[str], None]) -> None:
    """The end of a day is the next local midnight, which may be 23 hours away."""
    zone("Europe/Berlin")
    start, end = (parse_moment("2031-03-30", NOW, end=end) for end in (False, True))
    assert end.timestamp() - start.timestamp() == 23 * 3600


@pytest.mark.parametrize(
    ("today", "text", "day"),
    [
        ("2031-05-31", "3m", "2031-02-28"),
        ("2032-02-29", "1y", "2031-02-28"),
        ("2031-01-15", "1m", "2030-12-15"),
        ("2031-12-31", "1m", "2031-11-30"),
        ("2031-01-31", "25m", "2028-12-31"),
    ],
)
def test_months_end_on_the_last_day_where_they_are_shorter(
    zone: Callable[[str], None], today: str, text: str, day: str
) -> None:
    """Three months before 31 May is the last of February."""
    zone("UTC")
    assert parse_moment(text, datetime.fromisoformat(today + "T12:00+00:00")).date().isoformat() == day


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "2031",
        "2031-13-01",
        "2031-02-30",
        "2031-5-2",
        "20310502",
        "2031-W18",
        "7",
        "7x",
        "-7d",
        "9999y",
        "99999d",
        "1.5d",
        "2031-05-02T25:00",
        "2031-05-02T",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    """What is not one of the forms, or not in the calendar, is never guessed at."""
    with pytest.raises((ValueError, OverflowError)):
        parse_moment(text, NOW)


def test_moments_are_shown_in_local_time(zone: Callable[[str], None]) -> None:
    """A session late in the evening in UTC was in the morning of the next day in Tokyo."""
    zone("Asia/Tokyo")
    moment = datetime(2031, 5, 1, 21, 30, tzinfo=UTC)
    assert shown(moment) == "2031-05-02 06:30"
    assert local(moment).isoformat() == "2031-05-02T06:30:00+09:00"


@pytest.mark.parametrize("name", ["Asia/Tokyo", "America/Los_Angeles"])
def test_a_bare_day_stays_that_day_in_every_zone(zone: Callable[[str], None], name: str) -> None:
    """A note dated 2031-05-02, stored as midnight UTC, is not shown as 1 May in America."""
    zone(name)
    moment = datetime(2031, 5, 2, tzinfo=UTC)
    assert shown(moment) == "2031-05-02"
    assert local(moment).isoformat() == "2031-05-02T00:00:00+00:00"


def test_the_ends_of_the_calendar_can_be_shown(zone: Callable[[str], None]) -> None:
    """A note with an absurd date does not break a listing."""
    zone("Asia/Tokyo")
    assert shown(datetime(9999, 12, 31, 23, 59, tzinfo=UTC)).startswith("9999-12-31")
    zone("America/Los_Angeles")
    assert shown(datetime(1, 1, 1, 0, 1, tzinfo=UTC))
