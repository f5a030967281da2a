"""Days and months in words, in English and Japanese; the machine's locale has no say."""

from __future__ import annotations

from datetime import date

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
DAYS_JA = "月火水木金土日"


def day_words(language: str, day: date) -> str:
    """``Tuesday, 3 November 2026``, ``2026年11月3日（火）``."""
    if language == "ja":
        return f"{day.year}年{day.month}月{day.day}日（{DAYS_JA[day.weekday()]}）"
    return f"{DAYS[day.weekday()]}, {day.day} {MONTHS[day.month - 1]} {day.year}"


def month_words(language: str, month: date) -> str:
    """``November 2026``, ``2026年11月``."""
    return f"{month.year}年{month.month}月" if language == "ja" else f"{MONTHS[month.month - 1]} {month.year}"


def month_short(language: str, month: date) -> str:
    """``Nov``, ``11月``."""
    return f"{month.month}月" if language == "ja" else MONTHS[month.month - 1][:3]
