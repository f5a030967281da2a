"""Words of time in questions: what is read, what is taken out, and what must not be read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from second_brain.understanding import Known, understand

TOKYO = timezone(timedelta(hours=9))
NOW = datetime(2026, 12, 1, 12, tzinfo=TOKYO)  # a Tuesday
NOTHING = Known()


def read(text: str) -> tuple[str, str, str]:
    """What is left of a question, and the first day and the day after the last of its time; '' for no bound."""
    understood = understand(text, NOW, known=NOTHING)
    since, until = (moment.date().isoformat() if moment else "" for moment in understood.when)
    return understood.text, since, until


TAKEN_OUT = [
    ("what did I write yesterday", "what did I write", "2026-11-30", "2026-12-01"),
    ("yesterday's standup", "standup", "2026-11-30", "2026-12-01"),
    ("what broke today?", "what broke?", "2026-12-01", "2026-12-02"),
    ("the call of the day before yesterday", "the call of", "2026-11-29", "2026-11-30"),
    ("who called last night", "who called", "2026-11-30", "2026-12-01"),
    ("what did we decide this morning", "what did we decide", "2026-12-01", "2026-12-02"),
    ("pump failure last week", "pump failure", "2026-11-23", "2026-11-30"),
    ("last week's meeting about pumps", "meeting about pumps", "2026-11-23", "2026-11-30"),
    ("last week, the pump failed", "the pump failed", "2026-11-23", "2026-11-30"),
    ("WHAT HAPPENED LAST WEEK", "WHAT HAPPENED", "2026-11-23", "2026-11-30"),
    ("decisions of this week", "decisions of", "2026-11-30", "2026-12-07"),
    ("expenses this month", "expenses", "2026-12-01", "2027-01-01"),
    ("expenses last month", "expenses", "2026-11-01", "2026-12-01"),
    ("goals for this year", "goals for", "2026-01-01", "2027-01-01"),
    ("what did we buy last year", "what did we buy", "2025-01-01", "2026-01-01"),
    ("accounts since last month", "accounts", "2026-11-01", ""),
    ("what was true before last week", "what was true", "", "2026-11-23"),
    ("what was true until last week", "what was true", "", "2026-11-30"),
    ("changes over the past week", "changes", "2026-11-24", "2026-12-02"),
    ("changes in the past 10 days", "changes", "2026-11-21", "2026-12-02"),
    ("changes in the last ten days", "changes", "2026-11-21", "2026-12-02"),
    ("changes during the last 3 months", "changes", "2026-09-01", "2026-12-02"),
    ("errors of the last 48 hours", "errors of", "2026-11-29", "2026-12-02"),
    ("what changed in the last few days", "what changed", "2026-11-28", "2026-12-02"),
    ("pump failure 3 days ago", "pump failure", "2026-11-27", "2026-11-30"),
    ("two weeks ago the pump failed", "the pump failed", "2026-11-13", "2026-11-22"),
    ("two weeks ago pump failure", "pump failure", "2026-11-13", "2026-11-22"),
    ("the visit a month ago", "the visit", "2026-10-17", "2026-11-17"),
    ("the visit a couple of months ago", "the visit", "2026-09-16", "2026-10-17"),
    ("the visit half a year ago", "the visit", "2026-05-10", "2026-06-24"),
    ("the visit a year ago", "the visit", "2025-06-01", "2026-06-03"),
    ("the call last Friday", "the call Friday", "2026-11-27", "2026-11-28"),
    ("last tuesday's call", "tuesday's call", "2026-11-24", "2026-11-25"),
    ("accounts last March", "accounts March", "2026-03-01", "2026-04-01"),
    ("accounts in last december", "accounts december", "2025-12-01", "2026-01-01"),
    ("accounts this November", "accounts November", "2026-11-01", "2026-12-01"),
    ("昨日は何をした", "何をした", "2026-11-30", "2026-12-01"),
    ("一昨日の夕方", "夕方", "2026-11-29", "2026-11-30"),
    ("今日の予定", "予定", "2026-12-01", "2026-12-02"),
    ("おととい会った人", "会った人", "2026-11-29", "2026-11-30"),
    ("先週の会議", "会議", "2026-11-23", "2026-11-30"),
    ("先週、ポンプが壊れた", "ポンプが壊れた", "2026-11-23", "2026-11-30"),
    ("先々週の会議", "会議", "2026-11-16", "2026-11-23"),
    ("今週決めたこと", "決めたこと", "2026-11-30", "2026-12-07"),
    ("先週の金曜日の会議", "金曜日の会議", "2026-11-27", "2026-11-28"),
    ("先月もらった部品", "もらった部品", "2026-11-01", "2026-12-01"),
    ("先月の15日の会議", "15日の会議", "2026-11-15", "2026-11-16"),
    ("今月の支出", "支出", "2026-12-01", "2027-01-01"),
    ("去年の検査", "検査", "2025-01-01", "2026-01-01"),
    ("昨年の検査", "検査", "2025-01-01", "2026-01-01"),
    ("一昨年の検査", "検査", "2024-01-01", "2025-01-01"),
    ("今年の目標", "目標", "2026-01-01", "2027-01-01"),
    ("昨年度の決算", "決算", "2025-04-01", "2026-04-01"),
    ("去年の3月の会議", "3月の会議", "2025-03-01", "2025-04-01"),
    ("今年五月三日の会議", "五月三日の会議", "2026-05-03", "2026-05-04"),
    ("三日前の夕食", "夕食", "2026-11-27", "2026-11-30"),
    ("２週間前の会議", "会議", "2026-11-13", "2026-11-22"),
    ("約1か月前の見積", "見積", "2026-10-17", "2026-11-17"),
    ("半年前の検査", "検査", "2026-05-10", "2026-06-24"),
    ("二年前に買ったポンプ", "買ったポンプ", "2024-06-01", "2025-06-03"),
    ("先月から調子が悪い", "調子が悪い", "2026-11-01", ""),
    ("先月まで動いていた", "動いていた", "", "2026-12-01"),
    ("ここ一週間の変更", "変更", "2026-11-24", "2026-12-02"),
    ("この３日間の記録", "記録", "2026-11-28", "2026-12-02"),
    ("過去10年の売上", "売上", "2016-12-01", "2026-12-02"),
    ("直近3か月の売上", "売上", "2026-09-01", "2026-12-02"),
    ("ポンプ 先週 故障", "ポンプ 故障", "2026-11-23", "2026-11-30"),
]

LEFT_IN = [
    ("the pump in March 2026", "2026-03-01", "2026-04-01"),
    ("March 2026 budget", "2026-03-01", "2026-04-01"),
    ("pump since June", "2026-06-01", ""),
    ("second pump in march", "2026-03-01", "2026-04-01"),
    ("trips in December", "2026-12-01", "2027-01-01"),
    ("on 3 May 2026", "2026-05-03", "2026-05-04"),
    ("May 3 2026", "2026-05-03", "2026-05-04"),
    ("May 3rd, 2026 regatta", "2026-05-03", "2026-05-04"),
    ("the talk on May 3", "2026-05-03", "2026-05-04"),
    ("the talk on 24 December", "2025-12-24", "2025-12-25"),
    ("what was said on 2026-03-05?", "2026-03-05", "2026-03-06"),
    ("2026/3/5の会議", "2026-03-05", "2026-03-06"),
    ("what did we pay in 2024", "2024-01-01", "2025-01-01"),
    ("what did we pay before 2024", "", "2024-01-01"),
    ("notes from March to May", "2026-03-01", "2026-06-01"),
    ("between November and March 2026", "2025-11-01", "2026-04-01"),
    ("from 2019 to this day", "2019-01-01", ""),
    ("from 2024-01 to 2024-03", "2024-01-01", "2024-04-01"),
    ("between 2024 and 2025", "2024-01-01", "2026-01-01"),
    ("in March 2026 and in April 2026", "2026-03-01", "2026-05-01"),
    ("2026年3月の予算", "2026-03-01", "2026-04-01"),
    ("２０２６年３月", "2026-03-01", "2026-04-01"),
    ("2026年3月5日に何をした", "2026-03-05", "2026-03-06"),
    ("3月5日の会議", "2026-03-05", "2026-03-06"),
    ("12月24日の会議", "2025-12-24", "2025-12-25"),
    ("3月の会議", "2026-03-01", "2026-04-01"),
    ("三月に植えた", "2026-03-01", "2026-04-01"),
    ("令和8年3月の会議", "2026-03-01", "2026-04-01"),
    ("令和八年三月五日", "2026-03-05", "2026-03-06"),
    ("令和元年5月", "2019-05-01", "2019-06-01"),
    ("平成30年に買った", "2018-01-01", "2019-01-01"),
    ("2024年に買ったポンプ", "2024-01-01", "2025-01-01"),
    ("2024年以降の契約", "2024-01-01", ""),
    ("2024年より前の契約", "", "2024-01-01"),
    ("2025年11月から3月までの記録", "2025-11-01", "2026-04-01"),
    ("last month number", "2026-11-01", "2026-12-01"),
    ("yesterday", "2026-11-30", "2026-12-01"),
    ("last week?", "2026-11-23", "2026-11-30"),
    ("昨日", "2026-11-30", "2026-12-01"),
    ("先週", "2026-11-23", "2026-11-30"),
]

NOT_READ = [
    "the 2019 plan",
    "may I change the valve",
    "this may break",
    "things that last may break",
    "code checked in may fail",
    "march of the penguins",
    "the last march was long",
    "a second pump",
    "sun screen",
    "mar the surface",
    "dec 5000 mains",
    "august visitors",
    "version 3.50.7",
    "version 2026.3",
    "2026-03-05-meeting.md",
    "daily/2026-03-05",
    "build-2026-03-05",
    "2026-03-05T10:00:00",
    "1024 bytes in 2000 steps",
    "rendered in 2000 px",
    "on 31 February 2026",
    "the last 10 days of July",
    "the last week of July",
    "last word on pumps",
    "how long does a pump last",
    "a battery should last week after week",
    "what will last year round",
    "even today the wall stands",
    "USA Today crossword",
    "This Week in Rust",
    "today.md",
    "Date.today()",
    "last-week",
    "last_week",
    "git log --since yesterday",
    '"last week" in the log',
    "“先週” という語",
    "「今日」という曲",
    "`yesterday`",
    "TypeError: last week is not defined",
    "エラー: 先月のデータがありません",
    "Traceback (most recent call last)",
    "https://example.com/today",
    "python datetime get last month number",
    "get yesterday date",
    "66 million years ago",
    "tomorrow",
    "in March 2030",
    "what did Tesla do in 1886",
    "今日本で流行っている歌",
    "今日子さんの連絡先",
    "昨今日本では",
    "今日では珍しい",
    "昨日の日付を取得",
    "昨年比の売上",
    "今月号",
    "今月末の締切",
    "締切の三日前",
    "出港3日前の点検",
    "三日前までに予約",
    "3日前後",
    "3年前半",
    "何年前",
    "百年前",
    "2019年の計画",
    "2019年モデル",
    "2025年度予算",
    "2030年問題",
    "毎年3月に植える",
    "翌年3月5日",
    "何年6月",
    "3月までに終える",
    "2006年の選挙では10月に補選",
    "3か月点検",
    "2026年13月",
    "2027年3月",
    "1946年から1990年には何回",
    "日本年金機構",
    "絵本日記",
    "最近傍探索",
    "最近接点",
    "明日の予定",
]


@pytest.mark.parametrize(("text", "left", "since", "until"), TAKEN_OUT)
def test_words_that_mean_another_time_every_day_are_taken_out(text: str, left: str, since: str, until: str) -> None:
    """They say when, and no note written then holds them."""
    assert read(text) == (left, since, until)


@pytest.mark.parametrize(("text", "since", "until"), LEFT_IN)
def test_dates_that_a_note_may_hold_are_left_in(text: str, since: str, until: str) -> None:
    """A month or a day is both a time and words; so is a time that is all there is."""
    assert read(text) == (text, since, until)


@pytest.mark.parametrize("text", NOT_READ)
def test_what_only_looks_like_a_time_is_words(text: str) -> None:
    """Verbs, names, versions, files, code, quotes, deadlines, history and the future."""
    understood = understand(text, NOW, known=NOTHING)
    assert (understood.text, understood.when, understood.recent, understood.said) == (text, (None, None), False, ())


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("the latest on the soil test", "on the soil test"),
        ("most recent fare table", "fare table"),
        ("what did we buy recently?", "what did we buy?"),
        ("newest draft", "draft"),
        ("latest version of the app", "latest version of the app"),
        ("latest", "latest"),
        ("最新の見積もり", "見積もり"),
        ("最近買った本", "買った本"),
        ("最近の会議は何の話だった?", "会議は何の話だった?"),
        ("直近の会議", "会議"),
        ("一番新しい契約", "契約"),
        ("最新版の見積", "最新版の見積"),
        ("最近", "最近"),
    ],
)
def test_a_wish_for_what_is_newer_is_a_preference(text: str, left: str) -> None:
    """It is no time: nothing says how new."""
    understood = understand(text, NOW, known=NOTHING)
    assert (understood.text, understood.recent, understood.when) == (left, True, (None, None))


def test_what_was_read_is_said() -> None:
    """A sentence for each thing, with the words as typed and the days as understood."""
    assert understand("latest on 先週の accounts since last March", NOW, known=NOTHING).said == (
        "'latest' read as a wish for what is newer",
        "'先週の' read as 2026-11-23 to 2026-11-29",
        "'last March' read as 2026-03-01 to 2026-03-31",
    )
    assert understand("pump since June", NOW, known=NOTHING).said == ("'since June' read as 2026-06-01 or later",)
    assert understand("pump before 2024", NOW, known=NOTHING).said == ("'before 2024' read as before 2024-01-01",)
    assert understand("what broke today", NOW, known=NOTHING).said == ("'today' read as 2026-12-01",)


def test_a_time_of_words_is_no_filter_but_narrows_one() -> None:
    """The filter stays as fields made it; ``narrowed`` is both."""
    understood = understand("pump last week", NOW, known=NOTHING)
    assert understood.filter == type(understood.filter)()
    assert (understood.narrowed.since, understood.narrowed.until) == understood.when
    both = understand("pump in 2026 after:2026-11", NOW, known=NOTHING)
    assert both.filter.since == both.narrowed.since == datetime(2026, 11, 1, tzinfo=TOKYO)
    assert both.narrowed.until == datetime(2027, 1, 1, tzinfo=TOKYO)
    assert both.filter.until is None


def test_days_are_those_of_the_asker() -> None:
    """The same moment is another day elsewhere, and midnights have the offset of their own season."""
    moment = datetime(2026, 11, 30, 20, tzinfo=UTC)
    assert understand("pump today", moment, known=NOTHING).when[0] == datetime(2026, 11, 30, tzinfo=UTC)
    assert understand("pump today", moment.astimezone(TOKYO), known=NOTHING).when[0] == datetime(
        2026, 12, 1, tzinfo=TOKYO
    )
    oslo = understand("pump in July 2026", moment.astimezone(ZoneInfo("Europe/Oslo")), known=NOTHING)
    assert [edge.isoformat() for edge in oslo.when if edge] == [
        "2026-07-01T00:00:00+02:00",
        "2026-08-01T00:00:00+02:00",
    ]


def test_a_time_before_the_oldest_note_is_words() -> None:
    """Nothing was written then: the question is about it."""
    known = Known(oldest=datetime(2025, 2, 1, tzinfo=TOKYO))
    assert understand("the storm in 2019", NOW, known=known).when == (None, None)
    assert understand("the storm in 2025", NOW, known=known).when[0] == datetime(2025, 1, 1, tzinfo=TOKYO)


@pytest.mark.parametrize("now", [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, tzinfo=UTC)])
def test_no_time_lies_beyond_the_calendar(now: datetime) -> None:
    """What would is words."""
    for text in ("999 years ago", "pump last year", "pump today", "一昨年の検査", "in December"):
        since, until = understand(text, now, known=NOTHING).when
        assert since is None or until is None or since < until
