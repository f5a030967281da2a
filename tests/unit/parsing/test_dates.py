"""Which day a note speaks of."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from second_brain.parsing.dates import day_of_name, is_day_name, parse_time


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2031-04-05", (2031, 4, 5)),
        (" 2031-04-05 ", (2031, 4, 5)),
        ("20310405", (2031, 4, 5)),
        ("2031-04-05T10:00:00+09:00", (2031, 4, 5, 1)),
        ("2031-04-05T10:00:00Z", (2031, 4, 5, 10)),
        ("2031-04-05 10:30", (2031, 4, 5, 10, 30)),
        ("2031/4/5", (2031, 4, 5)),
        ("2031.04.05 9:05", (2031, 4, 5, 9, 5)),
        ("2031年4月5日", (2031, 4, 5)),
        ("2031年4月5日 9:05:06", (2031, 4, 5, 9, 5, 6)),
        ("[[2031-04-05]]", (2031, 4, 5)),
    ],
)
def test_dates_as_people_write_them(text: str, moment: tuple[int, ...]) -> None:
    """A bare day is its midnight in UTC; an offset is taken into account."""
    assert parse_time(text) == datetime(*moment, tzinfo=UTC)  # type: ignore[misc,arg-type]


@pytest.mark.parametrize(
    "text", ["", "soon", "2031", "2031-04", "2031-13-45", "2031-W14-6", "{{date}}", "0001-01-01T00:00:00+14:00"]
)
def test_what_is_no_day_is_none(text: str) -> None:
    """Impossible and vague dates are not guessed."""
    assert parse_time(text) is None


@pytest.mark.parametrize(
    ("stem", "day", "daily"),
    [
        ("2031-04-05", (2031, 4, 5), True),
        ("20310405", (2031, 4, 5), True),
        ("2031年4月5日", (2031, 4, 5), True),
        ("2031-04-05 Visit", (2031, 4, 5), False),
        ("2031_4_5", (2031, 4, 5), False),
        ("20310405-visit", (2031, 4, 5), False),
        ("203104051230 Zettel", (2031, 4, 5), False),
        ("20310405123059", (2031, 4, 5), False),
        ("2031年4月5日 会議", (2031, 4, 5), False),
        ("Visit 2031-04-05", None, False),
        ("2031-13-45", None, False),
        ("2031-04-056", None, False),
        ("99999999", None, False),
        ("12345678", None, False),
        ("203104", None, False),
        ("", None, False),
    ],
)
def test_days_in_file_names(stem: str, day: tuple[int, int, int] | None, daily: bool) -> None:
    """A name that begins with a day has its date; one that is a day is a daily note."""
    assert day_of_name(stem) == (datetime(*day, tzinfo=UTC) if day else None)
    assert is_day_name(stem) is daily
