"""The map, the timeline, health and review: what they say, to whom, and that nothing in a note acts on them."""

from __future__ import annotations

import json
import re
import threading
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any
from urllib.parse import quote

import pytest

from second_brain.overview.timeline import month_of
from second_brain.servers.web import health_page, review
from second_brain.servers.web.dates import day_words, month_short, month_words
from second_brain.servers.web.health_page import Recent
from second_brain.servers.web.paging import sheet
from second_brain.servers.web.plots import BOTTOM, HEIGHT, TOP, plot

PAGES = ("/map", "/map/hubs", "/map/orphans", "/map/broken", "/timeline", "/health", "/review", "/review/names")

VAULT = {
    "hub.md": "---\ndate: 2031-05-02\n---\n# Hub\n\n[[one]] [[two]] [[nowhere]]\n",
    "one.md": "# One\n\n[[two]]\n",
    "two.md": "# Two\n",
    "alone.md": "# Alone\n",
    "secret/salary.md": "---\nprivacy: secret\ndate: 2031-05-02\n---\n# Salary of Ada\n\n[[hub]] [[unheard]]\n",
    "secret/two.md": "---\nprivacy: secret\n---\n# Two\n",
}

HOSTILE = "</script><img src=x onerror=alert(1)>\"'&{{7*7}}\u202egnp.exe" + "x" * 10_000


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a server remembers begins empty."""
    monkeypatch.setattr(health_page, "DOCTOR", Recent())
    monkeypatch.setattr(review, "LIKENESSES", review.Likenesses())


def acting(page: str) -> list[str]:
    """What of a page could act: scripts in it, pictures, handlers, styles, and addresses that are none of ours."""
    found: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            given = dict(attrs)
            if tag in ("img", "iframe", "style") or (tag == "script" and "src" not in given):
                found.append(tag)
            found.extend(name for name in given if name == "style" or name.startswith("on"))
            found.extend(
                given[name] or "" for name in ("href", "src") if not (given.get(name) or "/").startswith(("/", "#"))
            )

    Reader().feed(page)
    return found


def drawing(client: Any, query: str = "") -> dict[str, Any]:
    answer = client.get("/map/drawing" + query)
    assert answer.status == 200
    return json.loads(answer.text)


def alike(client: Any) -> str:
    """The pairs, when they are found."""
    for thread in threading.enumerate():
        if thread.name == "likenesses":
            thread.join(20)
    answer = client.get("/review/alike")
    assert "data-finding" not in answer.text
    return answer.words


def test_the_list_of_the_map_is_what_is_drawn(notes: Any, web: Any) -> None:
    """The page lists the nodes of the drawing; the drawing names them with their addresses, edges and colours."""
    notes.index(VAULT)
    page, drawn = web.get("/map"), drawing(web)
    assert set(drawn["titles"]) == {"Hub", "One", "Two", "Salary of Ada"}
    assert [place for place in drawn["edges"] if place not in range(4)] == []
    assert drawn["titles"][0] == "Hub"
    assert drawn["urls"][0] == "/note/notes/hub.md"
    assert drawn["colours"]["folder"]["names"] == ["", "secret"]
    for title in drawn["titles"]:
        assert title in page.words
    assert "nowhere" in page.words
    assert "Alone" in page.words


def test_a_map_begins_at_a_note(notes: Any, web: Any) -> None:
    """One link around it by default, at most three; what is not there is told as on any page."""
    notes.index(VAULT)
    assert drawing(web, "?around=notes/one.md")["titles"] == ["One", "Hub", "Two"]
    assert len(drawing(web, "?around=one&depth=3")["titles"]) == 4
    assert drawing(web, "?around=one&depth=99") == drawing(web, "?around=one&depth=3")
    assert drawing(web, "?around=one&depth=x") == drawing(web, "?around=one")
    assert "Around One" in web.get("/map?around=one").words
    assert web.get("/map?around=unknown").status == 404
    assert web.get("/map/drawing?around=unknown").status == 404
    assert web.get("/map/others").status == 404


def test_the_knowledge_graph_is_drawn_for_who_sees_everything(
    notes: Any, make_web: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no labels, so others get the notes instead, and no word of it."""
    graph = tmp_path / "memory.jsonl"
    lines = [
        {"type": "entity", "name": "Ada", "entityType": "person", "observations": ["tea (source: gone.md)"]},
        {"type": "entity", "name": "Pump", "entityType": "part", "observations": []},
        {"type": "relation", "from": "Ada", "to": "Pump", "relationType": "repairs"},
    ]
    graph.write_text("".join(json.dumps(line) + "\n" for line in lines))
    monkeypatch.setenv("MEMORY_FILE_PATH", str(graph))
    site = make_web()
    notes.index(VAULT)
    owner, guest = site.owner(), site.guest("personal")
    drawn = drawing(owner, "?what=entities")
    assert (drawn["titles"], drawn["labels"], drawn["edges"]) == (["Ada", "Pump"], ["repairs"], [0, 1])
    assert drawing(owner, "?what=entities&around=Pump")["titles"] == ["Pump", "Ada"]
    assert "What is known 1 tea (source: gone.md)" in owner.get("/map?what=entities&around=Ada").words
    assert owner.get("/map?what=entities&around=Nobody").status == 404
    assert "gone.md is gone" in owner.get("/review").words
    assert "Ada" not in json.dumps(drawing(guest, "?what=entities"))
    for page in ("/map?what=entities", "/review", "/review/facts"):
        assert "gone.md" not in guest.get(page).text
        assert "Knowledge graph" not in guest.get(page).words


@pytest.mark.parametrize("page", PAGES)
def test_a_page_shows_no_word_or_number_of_what_a_label_hides(notes: Any, site: Any, page: str) -> None:
    """A guest's page over a vault with secret notes is the one over a vault without them."""
    notes.index(VAULT)
    guest = site.guest("personal")
    alike(guest) if page == "/review" else None
    answer = guest.get(page + "?month=2031-05")
    assert answer.status == 200
    assert "Salary" not in answer.text
    assert "unheard" not in answer.text

    def told(text: str) -> str:
        return re.sub(r'value="[0-9a-f]{40}"|\d+ minutes? ago|\d\d:\d\d', "", text)

    before = told(answer.text)
    for name in ("secret/salary.md", "secret/two.md"):
        (notes.root / name).unlink()
    notes.index()
    alike(guest) if page == "/review" else None
    assert told(guest.get(page + "?month=2031-05").text) == before


@pytest.mark.parametrize("page", PAGES)
def test_titles_are_text_and_nothing_else(notes: Any, web: Any, page: str) -> None:
    """Markup, quotes and direction marks of a title, alias, link, type or status are shown, and act nowhere."""
    name = HOSTILE[:60]
    quoted = json.dumps(HOSTILE)
    front = f"---\ndate: 2031-05-02\ntitle: {quoted}\ntype: {quoted}\nstatus: {json.dumps('superseded ' + name)}\n---\n"
    notes.index(
        {
            "a.md": front + f"[[{name.replace('|', '')}]] [[b]]\n",
            "b.md": front + "[[a]]\n",
            "c.md": front,
            "d.md": f"---\naliases: [{quoted}]\n---\n# D\n\n[[a]] api_key = 'sk-ant-api03-{'a1B2' * 24}-AAAAAA'\n",
        }
    )
    alike(web)
    for language in ("en", "ja"):
        answer = web.get(page + "?month=2031-05", accept_language=language)
        assert answer.status == 200
        assert "<img src=x" not in answer.text
        assert "\u202e" not in answer.text
        assert "49\u27e8" not in answer.text
        assert acting(answer.text) == []
        assert len(answer.body) < 400_000
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "\u202e" not in web.get("/map/drawing").text


def test_arguments_that_mean_nothing_do_no_harm(notes: Any, web: Any) -> None:
    """Months, pages, depths and names of any kind lead to a page, or to one that says what is wrong."""
    notes.index(VAULT)
    for value in ("", "-1", "0", "1e9", "9" * 400, "２", "'\"<", "\0", "2031-99", "..%2F"):
        for path in ("/timeline?month=", "/map?nodes=", "/map/hubs?page=", "/review?alike=", "/health?secrets="):
            assert web.get(path + quote(value)).status == 200, path + value
        for path in ("/map?around=", "/review/compare?a=hub&b=", "/timeline?source=", "/review/compare?a="):
            assert web.get(path + quote(value)).status in (200, 300, 400, 404), path + value


def test_a_month_stands_day_by_day(notes: Any, web: Any) -> None:
    """In either language, with the filters that were chosen kept in the addresses of other months."""
    notes.index(VAULT)
    page = web.get("/timeline?month=2031-05&type=note")
    assert "Friday, 2 May 2031" in page.words
    assert "Hub" in page.words
    assert "/timeline?month=2031-04&amp;type=note" in page.text
    assert "2031年5月2日（金）" in web.get("/timeline?month=2031-05", accept_language="ja").words
    assert "Nothing in this month." in web.get("/timeline?month=2031-05&type=plan").words
    assert web.get("/timeline?source=unknown").status == 404


def test_a_day_with_many_notes_is_folded(notes: Any, web: Any) -> None:
    """The first dozen is shown, the others are folded; beyond two hundred the search lists them."""
    notes.index({f"{n:03}.md": f"---\ndate: 2031-05-02\n---\n# Note {n:03}\n" for n in range(230)})
    page = web.get("/timeline?month=2031-05")
    assert "218 more" in page.words
    assert "Note 199" in page.words
    assert "Note 200" not in page.words
    assert "/?since=2031-05-02&amp;until=2031-05-02" in page.text


def test_like_notes_are_found_and_compared(notes: Any, web: Any) -> None:
    """A pair is told with how alike it is, and leads to both notes side by side."""
    text = " ".join(f"word{n}" for n in range(200))
    notes.index({"a.md": f"# First\n\n{text}\n", "b.md": f"# Second\n\n{text}\nand a last line\n"})
    web.get("/review")
    words = alike(web)
    assert re.search(r"9\d% the same First Second Compare", words)
    page = web.get("/review/compare?a=notes/a.md&b=notes/b.md")
    assert "and a last line" in page.words
    assert "notes/b.md" in page.words
    assert "The texts are the same." in web.get("/review/compare?a=a.md&b=a.md").words


def test_a_hidden_note_cannot_be_compared(notes: Any, site: Any) -> None:
    """For who may not see it, it is not there."""
    notes.index(VAULT)
    guest = site.guest("personal")
    for query in ("?a=hub&b=notes/secret/salary.md", "?a=notes/secret/salary.md&b=hub"):
        answer = guest.get("/review/compare" + query)
        assert answer.status == 404
        assert "Ada" not in answer.text


def test_what_failed_while_comparing_is_told_and_tried_again(
    notes: Any, web: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search for likenesses that failed says so, and the next visit begins another."""
    notes.index({"a.md": "# A\n"})

    def failing(self: Any, *given: Any, **named: Any) -> Any:
        raise RuntimeError("the disk is wet")

    with monkeypatch.context() as patched:
        patched.setattr("second_brain.overview.review.Sketches.pairs", failing)
        assert "could not be compared" in web.get("/review").words
    assert "Nothing found." in alike(web)


def test_health_tells_what_is_indexed_and_what_the_doctor_finds(notes: Any, web: Any) -> None:
    """Figures, sources and room; findings come by themselves, or at once for who asks without a script."""
    notes.index(VAULT)
    page = web.get("/health")
    assert "notes markdown 6 6 0 0 0 minutes ago" in page.words
    assert "No evaluations yet: brain eval" in page.words
    assert "g1 answers" in page.words
    assert "Looking through the whole index" in page.words
    assert "· the file is sound ·" in web.get("/health/findings").words
    assert "· the file is sound ·" in web.get("/health?look=1").words


def test_the_doctor_disturbs_nobody(notes: Any, web: Any) -> None:
    """While it looks, pages, searches and writes of other threads go on: its connection is its own."""
    notes.index(VAULT)
    ended = threading.Event()
    problems: list[BaseException] = []

    def search() -> None:
        while not ended.is_set():
            try:
                notes.brain.search("hub", mode="lexical")
                notes.brain.get("notes/one.md")
            except BaseException as error:
                problems.append(error)
                return

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for number in range(10):
            health_page.DOCTOR = Recent()
            assert web.get("/health/findings").status == 200
            notes.write({"new.md": f"# New {number}\n"})
            notes.sync()
    finally:
        ended.set()
        for thread in threads:
            thread.join()
    assert problems == []


def test_a_guest_is_told_nothing_of_the_whole(notes: Any, site: Any) -> None:
    """No sizes, generations, evaluations, counts of requests, jobs or paths: only what is of their label."""
    notes.index({**VAULT, "key.md": "---\nprivacy: secret\n---\nAKIA" + "Z7Q3M5K2J4N6P2R4" + "\n"})
    owner, guest = site.owner(), site.guest("personal")
    parts = ("Room on disk", "Generations", "Quality", "Answers of this server", "runs by itself")
    mine, theirs = owner.get("/health").words, guest.get("/health?look=1").words
    for part in parts:
        assert part in mine
        assert part not in theirs
    assert str(notes.home) not in theirs
    assert "key.md" not in theirs
    assert "Secrets found 0" in theirs


def test_secrets_are_counted_by_rule_and_never_shown(notes: Any, web: Any) -> None:
    """Each document with how often which rule found something."""
    key = "AKIA" + "Z7Q3M5K2J4N6P2R4"
    notes.index({"key.md": f"# Keys\n\naws_access_key_id = {key}\n"})
    page = web.get("/health")
    assert "Secrets found 1" in page.words
    assert "notes/key.md" in page.words
    assert key not in page.text


def test_evaluations_are_drawn_over_time(notes: Any, web: Any) -> None:
    """A line for each mode; the last run's questions are the ones that are compared."""
    notes.index(VAULT)
    history = notes.brain.settings.index.with_name("eval-history.jsonl")
    common = {
        "version": "1", "generation": "g1", "embedder": "hashing", "golden": "mine", "data": "d", "questions": 40,
        "documents": 6, "primary": "nDCG@5", "latency_ms": {},
    }  # fmt: skip
    runs = [
        {**common, "when": "2031-05-01T12:00:00+00:00", "values": {"lexical": {"nDCG@5": 0.5}}},
        {**common, "when": "2031-05-02T12:00:00+00:00", "values": {m: {"nDCG@5": 0.6} for m in ("lexical", "hybrid")}},
        {**common, "when": "2031-05-03T12:00:00+00:00", "values": {"lexical": {"nDCG@5": 0.7}}, "data": "e"},
    ]
    history.write_text("".join(json.dumps(run) + "\n" for run in runs))
    page = web.get("/health")
    assert "nDCG@5 of 40 questions (mine)" in page.words
    assert "2031-05-03: lexical 0.700" in page.words
    assert page.text.count("<polyline") == 3  # lexical is interrupted where the questions changed


def test_a_plot_keeps_within_its_box() -> None:
    """Values at the top are at the top; names of lines do not cover each other; no values are no lines."""
    drawn = plot({"a": [0.5, None, 0.9], "b": [None, 0.9, 0.9]}, ["x", "y", "z"], breaks=[2])
    heights = [y for line in drawn.lines for _, y, _ in line.points]
    assert min(heights) >= TOP
    assert max(heights) <= HEIGHT - BOTTOM
    assert abs(drawn.lines[0].label_y - drawn.lines[1].label_y) >= 12
    assert len(drawn.lines[0].pieces) == 2
    assert plot({}, []).lines == ()
    assert len(plot({"a": [0.5]}, ["x"]).lines[0].points) == 1


def test_a_sheet_is_never_beyond_the_list() -> None:
    """Nonsense is the first sheet, too large a number the last; an empty list has one empty sheet."""
    entries = list(range(25))
    assert list(sheet(entries, "3", 10).entries) == [20, 21, 22, 23, 24]
    assert (sheet(entries, "99", 10).number, sheet(entries, "0", 10).number, sheet(entries, "x", 10).number) == (
        3,
        1,
        1,
    )
    assert (sheet(entries, "1", 10).previous, sheet(entries, "1", 10).next) == ("", "2")
    assert (sheet([], "5").sheets, sheet([], "5").next) == (1, "")


def test_what_was_found_is_asked_again_after_a_while() -> None:
    """Within a minute the same answer; for somebody else their own."""
    now = [0.0]
    recent: Recent[int] = Recent(60, clock=lambda: now[0])
    asked: list[int] = []

    def ask() -> int:
        asked.append(1)
        return len(asked)

    assert [recent.of("me", ask), recent.of("me", ask), recent.of("you", ask)] == [1, 1, 2]
    now[0] = 61
    assert recent.of("me", ask) == 3


def test_days_are_said_in_both_languages() -> None:
    """Whatever the machine's locale is."""
    day = month_of("2031-05", datetime.now(UTC).date())
    assert (day_words("en", day), day_words("ja", day)) == ("Thursday, 1 May 2031", "2031年5月1日（木）")
    assert (month_words("en", day), month_words("ja", day)) == ("May 2031", "2031年5月")
    assert (month_short("en", day), month_short("ja", day)) == ("May", "5月")
