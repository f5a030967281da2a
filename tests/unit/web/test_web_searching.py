"""The search page and its fragments."""

from __future__ import annotations

import re
from typing import Any

import pytest
from starlette.datastructures import QueryParams

from second_brain.servers.web.asking import Asked, asked
from second_brain.servers.web.signals import bars
from second_brain.types import Explanation, Signal

NOTES = {
    "pump.md": "---\ntype: Runbook\ntags: [ops/pumps, urgent]\ndate: 2031-05-02\n---\n"
    "# Pump\n\nThe valve of the pump sticks.\n",
    "log.md": "---\ntype: log\ntags: [ops]\ndate: 2030-04-01\n---\n# Log\n\nThe pump was <b>replaced</b> & tested.\n",
    "日記.md": "---\ndate: 2031-04-01\n---\n# 日記\n\n排水ポンプを月曜に交換した。\n",
}


@pytest.fixture
def indexed(notes: Any) -> Any:
    notes.index(NOTES)
    return notes


def hits(text: str) -> list[str]:
    """The titles of the hits, in order."""
    return re.findall(r'class="hit-link"[^>]*>([^<]*)<', text)


def quotes(text: str) -> list[str]:
    """The quotes of the hits, in order."""
    return [re.sub("<[^>]*>", "", found) for found in re.findall(r'<p class="quote"[^>]*>(.*?)</p>', text)]


def links(text: str) -> dict[str, str]:
    """Where the choices of the facets lead, by what they say."""
    found = re.findall(r'<a data-ask href="([^"]*)" rel="nofollow"><span>([^<]*)</span> <i>(\d+)</i>', text)
    return {f"{name} {count}": href.replace("&amp;", "&") for href, name, count in found}


def test_the_page_works_without_a_script(indexed: Any, web: Any) -> None:
    """A form that asks by its address; the answer stands in the page."""
    page = web.get("/?q=valve+pump")
    assert '<form class="ask" role="search" action="/" method="get">' in page.text
    assert 'value="valve pump"' in page.text
    assert hits(page.text)[0] == "Pump"
    assert "The <mark>valve</mark> of the <mark>pump</mark> sticks." in page.text


def test_the_fragment_holds_the_same_hits_without_the_frame(indexed: Any, web: Any) -> None:
    """What scripts put into the page."""
    part = web.get("/found?q=valve+pump")
    assert hits(part.text) == hits(web.get("/?q=valve+pump").text)
    assert "<html" not in part.text


def test_while_one_types_words_answer_alone(indexed: Any, web: Any) -> None:
    """The beginning of a word finds; when typing stops, meaning counts too."""
    typing, settled = web.get("/found?q=val&typing=1"), web.get("/found?q=val")
    assert hits(typing.text)[0] == "Pump"
    assert "· Words" in typing.words
    assert "· Both" in settled.words


def test_quotes_are_escaped(indexed: Any, web: Any) -> None:
    """What a note holds is text, and so is what was asked."""
    page = web.get("/?q=replaced+%3Cscript%3Ealert(1)%3C/script%3E")
    assert "&lt;b&gt;<mark>replaced</mark>&lt;/b&gt; &amp; tested" in page.text
    assert "<script>alert" not in page.text


def test_filters_are_in_the_address_and_can_be_taken_off(indexed: Any, web: Any) -> None:
    """Each choice leads to the search narrowed by it, each chosen one to the search without it."""
    page = web.get("/?q=pump")
    narrowed = links(page.text)["log 1"]
    assert narrowed == "/?q=pump&type=log"
    answer = web.get(narrowed)
    assert hits(answer.text) == ["Log"]
    assert 'href="/?q=pump" aria-label="Take off the filter Type: log"' in answer.text
    assert '<input type="hidden" name="type" value="log">' in answer.text


def test_facets_count_by_everything_that_narrows(indexed: Any, web: Any) -> None:
    """Type, tag, language and month; sources, projects and labels only where there are several."""
    found = links(web.get("/?q=pump").text)
    assert {"Runbook 1", "log 1", "ops 1", "ops/pumps 1", "2031-05 1", "2030-04 1"} <= set(found)
    assert found["2031-05 1"] == "/?q=pump&since=2031-05-01&until=2031-05-31"
    assert hits(web.get(found["2030-04 1"]).text) == ["Log"]
    assert "notes 3" not in found


def test_privacy_is_a_facet(notes: Any, web: Any) -> None:
    """Counted by the label that holds."""
    notes.index({"a.md": "---\nprivacy: secret\n---\nvalve a", "b.md": "valve b"})
    found = links(web.get("/").text)
    assert {"personal 1", "secret 1"} <= set(found)
    assert hits(web.get("/?q=valve&privacy=secret").text) == ["a"]


def test_why_a_hit_is_shown_in_place(indexed: Any, web: Any) -> None:
    """A bar for each step of the score, and the score."""
    text = web.get("/?q=valve").text
    assert "its words" in text
    assert re.search(r'<rect class="gain" x="0\.0" width="[1-9][\d.]*"', text)


def test_bars_lie_where_the_score_stands() -> None:
    """Added steps end where the next begins; a factor below one takes away from the end."""
    made = bars(Explanation((Signal("a", "add", 0.3), Signal("b", "add", 0.1), Signal("age", "multiply", 0.5))))
    assert [(bar.effect, bar.left, bar.width, bar.lost) for bar in made] == [
        ("+0.300", 0.0, 75.0, False),
        ("+0.100", 75.0, 25.0, False),
        ("×0.5", 50.0, 50.0, True),
    ]
    assert bars(Explanation(())) == []


def test_what_has_no_vector_yet_is_told(notes: Any, web: Any) -> None:
    """The notices of a search stand above its hits."""
    notes.write({"a.md": "The valve."})
    notes.sync()
    assert "vector" in web.get("/?q=valve").words


def test_quotes_are_lines_joined_as_their_script_joins_them(notes: Any, web: Any) -> None:
    """No blank within Japanese where a line was wrapped, one between English lines; no markup."""
    notes.index({"a.md": "排水ポンプの異音について、" * 30, "b.md": "the *pump* of\n- [x] **two**\nlines"})
    (japanese, *_), (english, *_) = quotes(web.get("/?q=異音").text), quotes(web.get("/?q=pump").text)
    assert len(japanese) > 120
    assert " " not in japanese.removesuffix(" …")
    assert english == "the pump of two lines"


def test_an_empty_index_teaches(web: Any) -> None:
    """Which commands fill it."""
    assert "brain add ~/notes" in web.get("/").text


def test_the_first_page_lists_what_is_new(indexed: Any, web: Any) -> None:
    """Newest first, and examples of questions; no complaint about a question that nobody asked."""
    page = web.get("/")
    assert hits(page.text) == ["Pump", "日記", "Log"]
    assert "no word" not in page.words


def test_nothing_found_teaches(indexed: Any, web: Any) -> None:
    """That the filters leave notes out, and what else may help."""
    page = web.get("/?q=valve&type=log&mode=lexical")
    assert hits(page.text) == []
    assert "Search without the filters: one note holds these words" in page.words
    assert 'href="/?q=valve&amp;mode=lexical"' in page.text
    assert "Search by meaning too" in page.words


def test_more_hits_come_as_a_list_to_append(notes: Any, web: Any) -> None:
    """The next page by its cursor, without the frame, facets and counts."""
    notes.index({f"n{number:02}.md": f"# N{number:02}\n\nThe pump number {number}." for number in range(25)})
    first = web.get("/?q=pump").text
    more = re.search(r'data-more href="([^"]*)"', first)[1].replace("&amp;", "&")
    second = web.get(more.replace("/?", "/found?")).text
    assert second.lstrip().startswith('<li class="hit')
    assert len(hits(first)) == len(hits(second)) == 10
    assert not set(hits(first)) & set(hits(second))


@pytest.mark.parametrize(
    ("query", "status"),
    [("q=a&since=yesterdayish", 400), ("q=a&source=nobody", 404), ("q=a&cursor=zzz", 400), ("q=a&mode=none", 200)],
)
def test_an_address_that_asks_for_what_there_is_not_is_told_so(indexed: Any, web: Any, query: str, status: int) -> None:
    """In words, with what can be done."""
    assert web.get(f"/?{query}").status == status


def test_an_address_keeps_what_it_says() -> None:
    """Read and written, it is the same; twice the same filter is one; days replace each other."""
    address = "/?q=a+b&mode=dense&source=x&tag=a%2Fb&tag=c&since=2031-01-01"
    question = asked(QueryParams(address.partition("?")[2]))
    assert question.address() == address
    assert question.with_("tag", "c") == question
    assert question.with_("since", "2030").chosen == (("source", "x"), ("tag", "a/b"), ("tag", "c"), ("since", "2030"))
    assert question.without("source", "x").chosen[0] == ("tag", "a/b")
    assert Asked("a").in_month("2032-02").chosen == (("since", "2032-02-01"), ("until", "2032-02-29"))
    assert Asked("a").in_month("2031").chosen == (("since", "2031-01-01"), ("until", "2031-12-31"))


def test_hits_say_that_their_file_changed(indexed: Any, web: Any) -> None:
    """The quote is of what was indexed."""
    (indexed.root / "pump.md").write_text("# Pump\n\nAnother text altogether.\n")
    assert "the file changed since it was indexed" in web.get("/?q=valve").words


def test_pages_are_in_japanese_too(indexed: Any, web: Any) -> None:
    """For whom prefers it; what notes say stays in their language."""
    page = web.get("/?q=ポンプ", accept_language="ja")
    assert "絞り込み" in page.text
    assert 'lang="ja">排水<mark>ポンプ</mark>を月曜に交換した。' in page.text


def test_every_word_is_there_in_both_languages() -> None:
    """None is empty, and both hold the same values."""
    from second_brain.servers.web.strings import WORDS

    for name, (english, japanese) in WORDS.items():
        assert english, name
        assert japanese, name
        assert set(re.findall(r"{\w+", english)) - {"{n"} == set(re.findall(r"{\w+", japanese)) - {"{n"}, name
