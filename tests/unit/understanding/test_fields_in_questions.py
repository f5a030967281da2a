"""Fields in questions: what they demand, and what only looks like one."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from second_brain.types import Filter
from second_brain.understanding import Known, Understanding, understand

TOKYO = timezone(timedelta(hours=9))
NOW = datetime(2026, 12, 1, 12, tzinfo=TOKYO)
KNOWN = Known(
    sources=("notes", "仕事"),
    kinds=("markdown", "session"),
    types=("meeting", "daily"),
    projects=("Kotori",),
    languages=("ja", "en"),
    tags=("Pump/Bilge", "会議", "int"),
)


def day(year: int, month: int, number: int = 1) -> datetime:
    """A local midnight."""
    return datetime(year, month, number, tzinfo=TOKYO)


@pytest.mark.parametrize(
    ("text", "left", "demanded"),
    [
        ("type:meeting budget", "budget", {"types": ("meeting",)}),
        ("TYPE:Meeting budget", "budget", {"types": ("meeting",)}),
        ("budget type:meeting, type:daily", "budget", {"types": ("meeting", "daily")}),
        ("budget (type:meeting)", "budget ()", {"types": ("meeting",)}),
        ("source:notes pump", "pump", {"sources": ("notes",)}),
        ("source：仕事 ポンプ", "ポンプ", {"sources": ("仕事",)}),
        ("ポンプ　source:仕事", "ポンプ", {"sources": ("仕事",)}),
        ("kind:session pump", "pump", {"kinds": ("session",)}),
        ('project:"kotori" charger', "charger", {"projects": ("Kotori",)}),
        ("lang:ja pump", "pump", {"languages": ("ja",)}),
        ("tag:pump/bilge alarm", "alarm", {"tags": ("Pump/Bilge",)}),
        ("tag:#pump alarm", "alarm", {"tags": ("Pump",)}),
        ("tag:ｐｕｍｐ tag:会議 alarm", "alarm", {"tags": ("Pump", "会議")}),
        ('title:"pump room" valve', "valve", {"titles": ("pump room",)}),
        ("title:「排水 ポンプ」 交換", "交換", {"titles": ("排水 ポンプ",)}),
        ("title:pump title:room", "", {"titles": ("pump", "room")}),
        ("path:projects/boats valve", "valve", {"path_prefix": "projects/boats"}),
        ('path:"C:\\my notes" valve', "valve", {"path_prefix": "C:\\my notes"}),
        ("after:2026-03-05 pump", "pump", {"since": day(2026, 3, 5)}),
        ("before:2026-03-05 pump", "pump", {"until": day(2026, 3, 5)}),
        ("after:2026-03 before:2026-05 pump", "pump", {"since": day(2026, 3), "until": day(2026, 5)}),
        ("after:2025 pump", "pump", {"since": day(2025, 1)}),
        ("after:2025 after:2026 before:2028 before:2027 x", "x", {"since": day(2026, 1), "until": day(2027, 1)}),
        ("after:yesterday", "", {"since": day(2026, 11, 30)}),
        ('after:"last week" pump', "pump", {"since": day(2026, 11, 23)}),
        ('after:"two weeks ago" pump', "pump", {"since": day(2026, 11, 17)}),
        ("after:2w pump", "pump", {"since": day(2026, 11, 17)}),
        ("after:3m pump", "pump", {"since": day(2026, 9)}),
        ("before:June pump", "pump", {"until": day(2026, 6)}),
        ('before:"3 May 2026" pump', "pump", {"until": day(2026, 5, 3)}),
        ("before:6月 ポンプ", "ポンプ", {"until": day(2026, 6)}),
        ("after:先週 ポンプ", "ポンプ", {"since": day(2026, 11, 23)}),
        ("after：2026年3月５日 ポンプ", "ポンプ", {"since": day(2026, 3, 5)}),
        ("after:半年前 ポンプ", "ポンプ", {"since": day(2026, 6)}),
        ("type:meeting", "", {"types": ("meeting",)}),
        ("tag:会議。", "", {"tags": ("会議",)}),
    ],
)
def test_a_field_demands(text: str, left: str, demanded: dict[str, Any]) -> None:
    """It is taken out of the question, and filters by what exists, as it is spelt there."""
    understood = understand(text, NOW, known=KNOWN)
    assert (understood.text, understood.filter) == (left, Filter(**demanded))
    assert understood.when == (None, None)
    assert len(understood.said) == text.replace("：", ":").count(":") - text.count("C:")


@pytest.mark.parametrize(
    "text",
    [
        "std::map insert",
        "type::meeting",
        "source://notes",
        "http://example.com/type:meeting",
        "https://example.com/?q=tag:int",
        "Pump: weekly",
        "note: see",
        "type: meeting",
        "title: Pump room",
        "tag:",
        'tag:""',
        "ratio 3:4",
        "12:30",
        "会議type:meeting",
        "subtype:meeting",
        '"type:meeting" in the frontmatter',
        "`after:2026`",
        "「source:notes」とは",
        "TypeError: bad title:x",
        "Error: no such file path:/srv/x",
        "path:/srv/x: no such file",
        "FATAL: sorry, too many clients already",
    ],
)
def test_a_colon_in_ordinary_text_is_text(text: str) -> None:
    """Code, addresses, labels, quotes and error messages stay as they are, and nothing is said of them."""
    assert understand(text, NOW, known=KNOWN) == Understanding(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("source:foo pump", "there is no source 'foo', only notes, 仕事"),
        ("type:int x", "there is no type 'int', only daily, meeting"),
        ("tag:pum alarm", "there is no tag 'pum', only Pump/Bilge, int, 会議"),
        (
            "after:2026-13 pump",
            "'2026-13' is no day, month or year; write 2031-05-02, 2031-05, 2031, 2w, yesterday or \"last week\"",
        ),
        ("before:lunch pump", None),
        ("after:2026-02-30 pump", None),
        ("after:2026-00 pump", None),
        ("after:2026-05-00 pump", None),
        ("after:9999y pump", None),
    ],
)
def test_a_value_that_is_none_stays_text_and_is_said(text: str, reason: str | None) -> None:
    """Nothing is hidden by a slip, and the asker learns of it."""
    understood = understand(text, NOW, known=KNOWN)
    assert (understood.text, understood.filter, len(understood.said)) == (text, Filter(), 1)
    field = text.split()[0]
    assert understood.said[0].startswith(f"'{field}' is searched as words: {reason or ''}")


def test_a_field_that_would_leave_nothing_stays_text() -> None:
    """Bounds that exclude each other, and a second path."""
    crossed = understand("after:2027 before:2026 pump", NOW, known=KNOWN)
    assert (crossed.text, crossed.filter) == ("before:2026 pump", Filter(since=day(2027, 1)))
    assert crossed.said[1] == (
        "'before:2026' is searched as words: no time is both from 2027-01-01 on and before 2026-01-01"
    )
    twice = understand("path:a path:b", NOW, known=KNOWN)
    assert (twice.text, twice.filter) == ("path:b", Filter(path_prefix="a"))


def test_nothing_known_makes_every_name_text() -> None:
    """A brain without documents has no types."""
    assert understand("type:meeting", NOW, known=Known()).said == (
        "'type:meeting' is searched as words: there is no type 'meeting'",
    )


def test_fields_and_times_are_read_together() -> None:
    """Only fields and a time: nothing is left to search for, the caller lists."""
    understood = understand("type:meeting last week", NOW, known=KNOWN)
    assert (understood.text, understood.filter) == ("", Filter(types=("meeting",)))
    assert understood.when == (day(2026, 11, 23), day(2026, 11, 30))
    assert understood.said == (
        "'type:meeting' read as the type 'meeting'",
        "'last week' read as 2026-11-23 to 2026-11-29",
    )


def test_what_is_left_keeps_its_quotes_identifiers_and_errors() -> None:
    """Only the joints around what was taken out change."""
    text = "tag:会議  \"排水  ポンプ\"\n  parseHttp_v2  last week, KeyError: 'a  b'  at x.py:3"
    left = "\"排水  ポンプ\"\n  parseHttp_v2, KeyError: 'a  b'  at x.py:3"
    assert understand(text, NOW, known=KNOWN).text == left


def test_pasted_text_is_searched_as_it_is_but_for_fields_at_its_ends() -> None:
    """More than a thousand characters: only what stands before or after the paste was typed for us."""
    log = "12:00 GET path:/healthz type:meeting last week\n" * 40
    assert understand(log, NOW, known=KNOWN) == Understanding(log)
    asked = understand(f"source:notes type:daily {log} lang:en tag:会議", NOW, known=KNOWN)
    assert asked.text == log.strip()
    assert asked.filter == Filter(sources=("notes",), types=("daily",), languages=("en",), tags=("会議",))
    assert len(asked.said) == 4
