"""Reads ``schedule`` of ``settings.yaml``: when the jobs run that nobody starts by hand."""

from __future__ import annotations

import re

from .files import SettingsFile
from .settings import Daily, Every, ScheduleSettings

ALLOWED = "hourly, every 15 min, every 2 hours, a time of day like 04:30, or off"
JOBS = ("index", "distill", "embed")

_EVERY = re.compile(r"every (\d{1,2}) ?(min|minutes?|h|hours?)")
_DAILY = re.compile(r"(\d{1,2}):(\d\d)")


def schedule(file: SettingsFile) -> ScheduleSettings:
    """When each job runs. Raises ConfigError naming what is allowed."""
    value = file.result.value
    value = value.get("schedule") if isinstance(value, dict) else None
    keys = file.mapping(("schedule",), value, JOBS, "schedule")
    plain = ScheduleSettings()

    def when(job: str, otherwise: Every | Daily | None) -> Every | Daily | None:
        return file.scalar(("schedule", job), keys[job], moment, ALLOWED) if job in keys else otherwise

    return ScheduleSettings(
        index=when("index", plain.index), distill=when("distill", plain.distill), embed=when("embed", plain.embed)
    )


def moment(text: str) -> Every | Daily | None:
    """``hourly``, ``every 15 min``, ``04:30`` or ``off`` (None). Raises ValueError.

    A period divides the hour, or counts hours that divide the day: cron and launchd know no others.
    """
    text = " ".join(text.lower().split())
    if text == "off":
        return None
    if text == "hourly":
        return Every(60)
    if found := _EVERY.fullmatch(text):
        count = int(found[1])
        minutes = count if found[2].startswith("min") else count * 60
        if minutes >= 5 and (60 % minutes == 0 or (minutes % 60 == 0 and 1440 % minutes == 0)):
            return Every(minutes)
    if (found := _DAILY.fullmatch(text)) and int(found[1]) < 24 and int(found[2]) < 60:
        return Daily(int(found[1]), int(found[2]))
    raise ValueError(text)
