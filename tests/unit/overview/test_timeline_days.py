"""What was written and worked on, by day."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

import pytest

from second_brain import Brain
from second_brain.overview import timeline
from second_brain.types import Filter


@pytest.fixture(params=["UTC", "Asia/Tokyo", "America/Los_Angeles"])
def zone(request: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The machine is in this time zone."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def note(day: str, title: str = "", **properties: str) -> str:
    lines = "".join(f"{key}: {value}\n" for key, value in properties.items())
    return f"---\ndate: {day}\n{lines}---\n# {title or day}\n"


def titles(days: list[timeline.Day]) -> dict[str, list[str]]:
    return {day.day: [outline.title for outline in day.written] for day in days}


def test_a_bare_day_is_that_day_in_every_zone(notes: Any, zone: str) -> None:
    """The first and the last day of a month belong to it, whatever the machine's clock; newest first."""
    notes.index(
        {f"{day}.md": note(f"2031-05-{day:02}", f"Day {day}") for day in (1, 31)} | {"x.md": note("2031-06-01")}
    )
    found = timeline.of_month(notes.brain.visible(), date(2031, 5, 1))
    assert titles(found) == {"2031-05-31": ["Day 31"], "2031-05-01": ["Day 1"]}


def test_a_moment_belongs_to_the_day_on_the_readers_wall(notes: Any, zone: str) -> None:
    """Half past three in the morning of June in UTC is still May in Los Angeles, and stands there with its time."""
    notes.write({"late.md": "# Late\n"})
    moment = datetime(2031, 6, 1, 3, 30, tzinfo=UTC)
    os.utime(notes.root / "late.md", (moment.timestamp(), moment.timestamp()))
    notes.sync()
    local = moment.astimezone()
    (day,) = timeline.of_month(notes.brain.visible(), local.date().replace(day=1))
    assert (day.day, day.written[0].time) == (f"{local:%Y-%m-%d}", f"{local:%H:%M}")


def test_sessions_stand_beside_notes_with_their_summaries(notes: Any, tmp_path: Any) -> None:
    """A summary names its session, and stands with it although it was written the day after."""
    path = tmp_path / "sessions" / "-boats" / "5f0c1f6e-0f4b-4a55-9d0e-2f6a4f0e7b11.jsonl"
    path.parent.mkdir(parents=True)
    common = {"sessionId": path.stem, "cwd": "/boats/kotori", "timestamp": "2031-05-02T12:00:00Z"}
    lines = [
        {**common, "type": "user", "message": {"role": "user", "content": "Why does the pump run?"}},
        {
            **common,
            "type": "assistant",
            "message": {"role": "assistant", "content": [{"type": "text", "text": "Valve."}]},
        },
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    notes.brain.add(tmp_path / "sessions", name="sessions", kind="claude-session-jsonl")
    session = f"sessions/-boats/{path.name}"
    notes.write(
        {
            "summary.md": note("2031-05-03", "Why the pump ran", type="session-summary", session=session),
            "plain.md": note("2031-05-02", "A plain note"),
            "lost.md": note(
                "2031-05-02", "Of a session elsewhere", type="session-summary", session="sessions/gone.jsonl"
            ),
        }
    )
    notes.brain.sync()
    (day,) = timeline.of_month(notes.brain.visible(), date(2031, 5, 1))
    assert [outline.title for outline in day.written] == ["Of a session elsewhere", "A plain note"]
    (entry,) = day.sessions
    assert entry.session.uri == session
    assert [summary.title for summary in entry.summaries] == ["Why the pump ran"]
    assert "kotori" in day.projects


def test_the_heat_map_has_every_day_of_twelve_months(notes: Any) -> None:
    """Weeks begin on Monday; the busiest day is darkest, a day without anything has level 0."""
    files = {f"busy{n}.md": note("2031-05-02") for n in range(8)} | {"quiet.md": note("2031-01-06")}
    notes.index(files)
    weeks = timeline.heat_map(notes.brain.visible(), date(2031, 5, 1))
    squares = [square for week in weeks for square in week]
    assert (squares[0].day, squares[-1].day, len(squares)) == (date(2030, 6, 1), date(2031, 5, 31), 365)
    assert all(week[0].day.weekday() == 0 for week in weeks[1:])
    levels = {square.day: square.level for square in squares if square.level}
    assert levels == {date(2031, 5, 2): 4, date(2031, 1, 6): 1}


def test_months_go_to_the_ends_of_the_calendar_and_no_farther() -> None:
    """The month before the first and after the last is that one; what is no month is today's."""
    today = date(2031, 5, 20)
    assert timeline.months_from(date(1, 1, 1), -5) == date(1, 1, 1)
    assert timeline.months_from(date(9999, 12, 1), 7) == date(9999, 11, 1)
    assert timeline.months_from(date(2031, 11, 1), 3) == date(2032, 2, 1)
    assert timeline.month_of("2030-02", today) == date(2030, 2, 1)
    for nonsense in ("", "2030", "2030-13", "０2030-01", "x" * 10_000):
        assert timeline.month_of(nonsense, today) == date(2031, 5, 1)


def test_a_filter_and_a_label_hold_for_days_and_choices(notes: Any) -> None:
    """Counts, days and choices are of what the view and the filter let through."""
    notes.index(
        {
            "a.md": note("2031-05-02", "Open", type="plan"),
            "b.md": note("2031-05-02", "Hidden", type="salary", privacy="secret"),
        }
    )
    brain: Brain = notes.brain.seen_by("personal")
    assert timeline.choices(brain.visible())["type"] == ("plan",)
    assert titles(timeline.of_month(brain.visible(), date(2031, 5, 1))) == {"2031-05-02": ["Open"]}
    assert timeline.of_month(brain.visible(Filter(types=("salary",))), date(2031, 5, 1)) == []
    squares = [square for week in timeline.heat_map(brain.visible(), date(2031, 5, 1)) for square in week]
    assert sum(square.written for square in squares) == 1


def test_the_latest_day_is_not_of_the_future(notes: Any) -> None:
    """A note that names a day to come does not move the page there; an empty index shows today."""
    today = date(2031, 5, 20)
    assert timeline.latest(notes.brain.visible(), today) == today
    notes.index({"a.md": note("2031-04-03"), "b.md": note("2099-01-01")})
    assert timeline.latest(notes.brain.visible(), today) == date(2031, 4, 3)
