"""When jobs run: as the settings say it, as each system takes it, and which moment is next."""

from __future__ import annotations

import subprocess
import time
from datetime import datetime

import pytest

from second_brain import config
from second_brain.config import Daily, Every, ScheduleSettings
from second_brain.config.schedule import moment
from second_brain.errors import ConfigError
from second_brain.schedule import cron, launchd, systemd, tasks
from second_brain.schedule.jobs import Job, described, jobs_of, next_run


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("hourly", Every(60)),
        ("Every 15 min", Every(15)),
        ("every 5 minutes", Every(5)),
        ("every 2 hours", Every(120)),
        ("every 1 hour", Every(60)),
        ("04:30", Daily(4, 30)),
        ("4:05", Daily(4, 5)),
        ("off", None),
    ],
)
def test_times_are_read_as_people_write_them(text, when):
    """And written again in the same words."""
    assert moment(text) == when
    if when:
        assert moment(described(when)) == when


UNEVEN = ("every 7 min", "every 1 min", "every 0 min", "every 90 min", "every 5 hours")
NO_TIMES = ("", "sometimes", "24:00", "4:60", "4:5", "-1:30")


@pytest.mark.parametrize("text", [*UNEVEN, *NO_TIMES])
def test_other_times_are_refused(text):
    """Those too that cron could not repeat evenly."""
    with pytest.raises(ValueError, match=f"^{text.lower()}$"):
        moment(text)


def test_the_settings_name_the_times_and_what_is_wrong_with_them(tmp_path):
    """The defaults stand for what is not named; `off` takes a job away; an error names line and what is allowed."""
    assert config.load(tmp_path).schedule == ScheduleSettings(Every(60), Daily(4, 30), Daily(5, 0))
    file = tmp_path / "settings.yaml"
    file.write_text('schedule:\n  index: every 15 min\n  distill: off\n  embed: "03:10"\n')
    settings = config.load(tmp_path)
    assert settings.schedule == ScheduleSettings(Every(15), None, Daily(3, 10))
    assert jobs_of(settings) == (Job("index", Every(15)), Job("embed", Daily(3, 10)))
    for text, line in (("schedule:\n  index: often\n", 2), ("schedule:\n\n  lint: hourly\n", 3)):
        file.write_text(text)
        with pytest.raises(ConfigError, match=f"settings.yaml:{line}: ") as caught:
            config.load(tmp_path)
        assert "allowed" in caught.value.hint


@pytest.mark.parametrize(
    ("when", "calendars"),
    [
        (Every(15), ("*-*-* *:0/15:00", "*/15 * * * *", [0, 15, 30, 45], ("/SC", "MINUTE", "/MO", "15"))),
        (Every(60), ("*-*-* 0/1:00:00", "0 * * * *", [0], ("/SC", "HOURLY", "/MO", "1"))),
        (Every(480), ("*-*-* 0/8:00:00", "0 */8 * * *", [0, 8, 16], ("/SC", "HOURLY", "/MO", "8"))),
        (Daily(4, 30), ("*-*-* 04:30:00", "30 4 * * *", [(4, 30)], ("/SC", "DAILY", "/ST", "04:30"))),
    ],
)
def test_each_system_is_told_the_same_moments(when, calendars):
    """In its own way of writing."""
    unit, line, agent, task = calendars
    assert (systemd.calendar(when), cron.calendar(when), tasks.calendar(when)) == (unit, line, task)
    entries = [tuple(entry.values()) for entry in launchd.calendar(when)]
    if when == Every(480):
        assert entries == [(hour, 0) for hour in agent]
    else:
        assert entries == [entry if isinstance(entry, tuple) else (entry,) for entry in agent]


@pytest.mark.parametrize("when", [Every(5), Every(15), Every(60), Every(120), Every(720), Daily(0, 0), Daily(23, 59)])
def test_systemd_understands_the_calendar(when):
    """As its own program says, where that is installed."""
    try:
        done = subprocess.run(["systemd-analyze", "calendar", systemd.calendar(when)], capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("no systemd-analyze here")
    assert done.returncode == 0, done.stderr


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone()


@pytest.fixture
def berlin(monkeypatch):
    """A place with summer time."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_the_next_moment_is_after_now_and_by_the_wall_clock(berlin):
    """Also over the days when summer time begins and ends."""
    now = at("2031-03-29T10:07:00")
    assert next_run(Every(15), now) == at("2031-03-29T10:15:00")
    assert next_run(Every(15), at("2031-03-29T10:15:00")) == at("2031-03-29T10:30:00")
    assert next_run(Every(480), now) == at("2031-03-29T16:00:00")
    assert next_run(Every(480), at("2031-03-29T23:00:00")) == at("2031-03-30T00:00:00")
    assert next_run(Daily(10, 7), now) == at("2031-03-30T10:07:00")
    assert next_run(Daily(4, 30), now).isoformat() == "2031-03-30T04:30:00+02:00"
    assert next_run(Daily(4, 30), at("2031-10-25T12:00:00")).isoformat() == "2031-10-26T04:30:00+01:00"
