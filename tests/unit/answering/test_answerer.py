"""Answers: what a question turns into, in which order the hits come, and how pages follow one another."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from second_brain import wiring
from second_brain.analysis.tokens import estimated_tokens
from second_brain.answering.packing import packed
from second_brain.errors import ModelError, UsageError
from second_brain.index.sqlite.store import SqliteIndex
from second_brain.protocols import Completion
from second_brain.retrieval import Retriever
from second_brain.types import MODES, RETRIEVED, Filter, Query

NOW = datetime(2031, 5, 2, 12, tzinfo=UTC)


def texts(count: int) -> dict[str, str]:
    """Notes that differ in length and in how often they say it."""
    return {f"{n:02}.md": f"gannet {'dive ' * (n % 7)}{'weir ' * (n % 5)}number {n}.\n" for n in range(count)}


# -- the retriever's order -----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", RETRIEVED)
def test_a_plain_question_gets_the_retrievers_order(notes, mode):
    """The same hits with the same scores, whatever the limit and cap."""
    notes.index(texts(60) | {"long.md": "".join(f"## {n}\n\ngannet {'dive ' * 90}\n\n" for n in range(9))})
    retriever = Retriever(notes.brain.index, notes.brain.embedder)
    for limit in (1, 10, 40):
        for cap in (1, 2, None):
            plain = retriever.search(Query("gannet dive", NOW, limit, mode, per_document=cap))
            answer = notes.brain.search("gannet dive", now=NOW, limit=limit, mode=mode, per_document=cap)
            assert [(hit.id, hit.score, hit.rank) for hit in answer.hits] == [
                (hit.id, hit.score, hit.rank) for hit in plain.hits
            ]
            assert answer.mode == plain.mode


@pytest.mark.parametrize("condensed", [False, True])
def test_an_answer_asks_each_retriever_once(notes, monkeypatch, condensed):
    """Whether there is more than the page is told by one hit more, not by a second search."""
    notes.index(texts(60))
    asked = []
    lexical = SqliteIndex.lexical
    monkeypatch.setattr(SqliteIndex, "lexical", lambda self, *given: asked.append(given) or lexical(self, *given))
    result = notes.brain.search("gannet dive", now=NOW, condensed=condensed)
    assert (len(result.hits), bool(result.cursor), len(asked)) == (10, True, 1)


def test_agentic_gives_one_question_the_hybrid_order(notes):
    """And says that it was agentic."""
    notes.index(texts(30))
    hybrid = notes.brain.search("gannet weir", now=NOW)
    agentic = notes.brain.search("gannet weir", now=NOW, mode="agentic")
    assert [hit.id for hit in agentic.hits] == [hit.id for hit in hybrid.hits]
    assert (hybrid.mode, agentic.mode, agentic.understood) == ("hybrid", "agentic", ())


# -- parts ---------------------------------------------------------------------------------------------------

PARTS = {
    "pump.md": "The bilge pump stopped because of a cable tie in the check valve.\n",
    "bread.md": "Soda bread needs buttermilk, or yoghurt with milk.\n",
    "ines.md": "---\naliases: [Ines]\n---\n# Ines Valderhaug\n\nMessage, not mail.\n",
    "mail.md": "How to reach people by mail: write, wait, write again. Reach for the phone.\n",
    **{f"pump-{n}.md": f"A bilge pump stopped. Why did the pump stop? Case {n}.\n" for n in range(8)},
}


def test_each_part_of_a_question_has_its_hits_among_the_first(notes):
    """Where the whole question drowns one part in the other; the answer says which parts were asked."""
    notes.index(PARTS)
    text = "Why did the bilge pump stop, and what does soda bread need?"
    result = notes.brain.search(text, mode="agentic", limit=3)
    assert "notes/bread.md" in {hit.uri for hit in result.hits}
    assert result.understood == ("asked in parts: Why did the bilge pump stop | what does soda bread need?",)


def test_a_note_that_a_part_names_comes_first_in_it(notes):
    """By title, alias, file name or what links call it."""
    notes.index(PARTS)
    result = notes.brain.search("Why did the pump stop, and how do we reach Ines?", mode="agentic", limit=3)
    assert "notes/ines.md" in {hit.uri for hit in result.hits}


class Chat:
    """Answers with a text, or fails."""

    identity = "fake"

    def __init__(self, answer: str | Exception) -> None:
        self.answer = answer

    def complete(self, messages: object, *, max_tokens: int, deadline_s: float) -> Completion:
        if isinstance(self.answer, Exception):
            raise self.answer
        return Completion(self.answer)


def test_a_chat_model_takes_questions_apart_where_the_settings_say_so(notes, monkeypatch):
    """``decompose: chat``; without it the model is not asked, and when it fails a notice says so."""
    notes.index(PARTS)
    monkeypatch.setattr(wiring, "chat", lambda settings: Chat('["bilge pump", "soda bread"]'))
    assert notes.brain.search("pumps, breads", mode="agentic").understood == ()
    (notes.home / "settings.yaml").write_text("decompose: chat\n")
    notes.reopen()
    result = notes.brain.search("pumps, breads", mode="agentic")
    assert result.understood == ("asked in parts: bilge pump | soda bread",)
    monkeypatch.setattr(wiring, "chat", lambda settings: Chat(ModelError("no connection")))
    failed = notes.brain.search("pumps, breads", mode="agentic")
    assert any("did not take the question apart: no connection" in notice for notice in failed.notices)
    assert failed.hits


def test_other_words_of_the_vault_follow_where_little_was_found(notes):
    """A question by words that finds one note goes on with that note's own words."""
    notes.write(
        {
            "a.md": "The gannet dives near the lighthouse rocks at dusk.\n",
            "b.md": "The lighthouse rocks at dusk are slippery.\n",
            "c.md": "Kelp.\n",
        }
    )
    notes.sync()  # no vectors
    assert notes.found("gannet", mode="hybrid") == ["a.md"]
    assert notes.found("gannet", mode="agentic") == ["a.md", "b.md"]


# -- fields and times ----------------------------------------------------------------------------------------

DATED = {
    "old.md": "---\ndate: 2031-03-10\ntype: meeting\n---\nThe gannet of March.\n",
    "new.md": "---\ndate: 2031-04-20\ntype: meeting\n---\nThe gannet. The gannet. The gannet.\n",
    "log.md": "---\ndate: 2031-04-28\ntype: log\n---\nThe gannet again.\n",
}


def test_a_field_excludes(notes):
    """Only documents of that type; the answer says how the field was read."""
    notes.index(DATED)
    result = notes.brain.search("gannet type:log", now=NOW)
    assert [hit.uri for hit in result.hits] == ["notes/log.md"]
    assert result.understood == ("'type:log' read as the type 'log'",)


def test_a_time_comes_first_and_excludes_nothing(notes):
    """Documents of last month are lifted above better matches; others follow."""
    notes.index(DATED)
    assert notes.found("gannet", mode="lexical", now=NOW)[0] == "new.md"
    result = notes.brain.search("gannet in March 2031", mode="lexical", now=NOW)
    assert result.hits[0].uri == "notes/old.md"
    assert len(result.hits) == 3
    assert "documents of that time come first" in result.understood


def test_two_times_lift_nothing_as_a_whole(notes):
    """The time between them is nobody's wish; in an agentic question each lifts in its own part."""
    notes.index(DATED)
    text = "what of the gannet in March 2031 and what of the gannet on 28 April 2031?"
    plain = notes.brain.search(text, mode="lexical", now=NOW)
    assert len(plain.understood) == 2  # both were read
    retriever = Retriever(notes.brain.index, notes.brain.embedder)
    assert [hit.id for hit in plain.hits] == [hit.id for hit in retriever.search(Query(text, NOW, mode="lexical")).hits]
    result = notes.brain.search(text, mode="agentic", now=NOW)
    assert "documents of that time come first" in result.understood
    assert {hit.uri for hit in result.hits[:3]} == {"notes/old.md", "notes/new.md", "notes/log.md"}


def test_a_time_of_which_nothing_is_lifts_nothing(notes):
    """The order is that of the words alone."""
    notes.index(DATED)
    asked = notes.brain.search("gannet in January 2031", mode="lexical", now=NOW)
    assert "documents of that time come first" not in asked.understood
    assert asked.hits[0].uri == "notes/new.md"


def test_fields_alone_list_by_date(notes):
    """There is nothing to rank by: newest first, in pages too."""
    notes.index(DATED)
    first = notes.brain.search("type:meeting", limit=1, now=NOW)
    assert [hit.uri for hit in first.hits] == ["notes/new.md"]
    second = notes.brain.search("type:meeting", limit=1, now=NOW, cursor=first.cursor)
    assert [(hit.uri, hit.rank) for hit in second.hits] == [("notes/old.md", 2)]
    assert second.cursor == ""
    assert first.hits[0].explanation.replay() == first.hits[0].score


def test_a_wish_for_what_is_newer_is_mild(notes):
    """Of two equal notes the newer comes first; a much better older one stays above."""
    notes.index(
        {
            f"{n}.md": f"---\ndate: 2031-0{n}-01\n---\nThe gannet number {['one', 'two', 'three', 'four'][n - 1]}.\n"
            for n in (1, 2, 3, 4)
        }
    )
    result = notes.brain.search("latest gannet", mode="lexical", now=NOW)
    assert [hit.uri for hit in result.hits] == [f"notes/{n}.md" for n in (4, 3, 2, 1)]
    assert all(hit.explanation.replay() == pytest.approx(hit.score, abs=1e-9) for hit in result.hits)
    notes.index({"best.md": "---\ndate: 2020-01-01\n---\nLatest gannet, latest gannet, latest gannet.\n"})
    assert notes.found("latest gannet", mode="lexical", now=NOW)[0] == "best.md"


def test_strict_leaves_out_what_was_withdrawn(notes):
    """Instead of ranking it lower."""
    notes.index({"a.md": "---\nstatus: Superseded\n---\ngannet\n", "b.md": "gannet at the weir, by the way\n"})
    assert sorted(notes.found("gannet")) == ["a.md", "b.md"]
    assert notes.found("gannet", strict=True) == ["b.md"]


# -- pages ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("condensed", [False, True])
@pytest.mark.parametrize("limit", [1, 7, 10])
def test_rk_4_pages_neither_repeat_nor_miss(notes, mode, condensed, limit):
    """All pages together are every passage once, ranks go on, and the last page has no cursor."""
    notes.index(texts(33) | {f"copy/{n}.md": "gannet, a copy of this very note.\n" for n in range(6)})
    seen, cursor, pages = [], "", 0
    while True:
        page = notes.brain.search("gannet dive", now=NOW, mode=mode, limit=limit, condensed=condensed, cursor=cursor)
        assert len(page.hits) == limit or page.cursor == ""
        assert [hit.rank for hit in page.hits] == list(range(pages * limit + 1, pages * limit + 1 + len(page.hits)))
        seen += [id for hit in page.hits for id in (hit.id, *hit.folded)]
        cursor, pages = page.cursor, pages + 1
        if not cursor:
            break
    assert len(seen) == len(set(seen)) == 39


def test_the_first_pages_are_the_longer_list(notes):
    """Without cursors a longer list begins with the shorter one."""
    notes.index(texts(30))
    every = [hit.id for hit in notes.brain.search("gannet dive", now=NOW, limit=20).hits]
    first = notes.brain.search("gannet dive", now=NOW, limit=5)
    second = notes.brain.search("gannet dive", now=NOW, limit=5, cursor=first.cursor)
    assert [hit.id for hit in (*first.hits, *second.hits)] == every[:10]


def test_a_page_goes_on_behind_any_hit(notes):
    """``cursors`` lead on behind each hit, for a reader that had no room for the rest."""
    notes.index(texts(30))
    every = [hit.id for hit in notes.brain.search("gannet dive", now=NOW, limit=30, condensed=True).hits]
    first = notes.brain.search("gannet dive", now=NOW, limit=10, condensed=True)
    second = notes.brain.search("gannet dive", now=NOW, limit=10, condensed=True, cursor=first.cursors[2])
    assert [hit.id for hit in second.hits] == every[3:13]
    third = notes.brain.search("gannet dive", now=NOW, limit=10, condensed=True, cursor=second.cursors[0])
    assert [hit.id for hit in third.hits] == every[4:14]


def test_the_clock_of_the_first_page_holds_for_the_next(notes):
    """What "last month" means does not change while somebody reads."""
    notes.index(DATED)
    first = notes.brain.search("gannet last month", mode="lexical", limit=1, now=NOW)
    later = NOW + timedelta(days=40)
    second = notes.brain.search("gannet last month", mode="lexical", limit=1, now=later, cursor=first.cursor)
    assert [hit.uri for hit in (*first.hits, *second.hits)] == ["notes/new.md", "notes/log.md"]


def test_a_cursor_is_refused_when_the_index_has_changed(notes):
    """By a note more, or one less."""
    notes.index(texts(30))
    cursor = notes.brain.search("gannet", limit=5).cursor
    notes.sync()  # nothing changed
    assert notes.brain.search("gannet", limit=5, cursor=cursor).hits
    (notes.root / "00.md").unlink()
    notes.sync()
    with pytest.raises(UsageError, match="index has changed"):
        notes.brain.search("gannet", limit=5, cursor=cursor)


# -- copies, confidence, budget ------------------------------------------------------------------------------


def test_copies_are_folded_for_a_reader_and_named(notes):
    """One hit for six notes of the same text; without ``condensed`` there are six."""
    notes.index(
        {f"{n}.md": "The gannet dives at the weir.\n" for n in range(6)} | {"other.md": "A gannet elsewhere.\n"}
    )
    result = notes.brain.search("gannet weir", condensed=True)
    assert len(result.hits) == 2
    assert len(result.hits[0].folded) == len(set(result.hits[0].also_in)) == 5
    assert len(notes.brain.search("gannet weir").hits) == 7


def test_nothing_that_fits_is_said_and_the_nearest_listed(notes):
    """Half of the words of a question stand nowhere: a notice and a low confidence; hits all the same."""
    notes.index(texts(30))
    known = notes.brain.search("gannet dive", mode="lexical")
    assert known.confidence > 0.9
    assert not any("nothing matches well" in notice for notice in known.notices)
    unknown = notes.brain.search("zeppelin hangar mooring number", mode="lexical")
    assert unknown.confidence < 0.25
    assert unknown.notices[0].startswith("nothing matches well")
    assert unknown.hits
    assert notes.brain.search("zeppelin", mode="lexical").confidence == 0.0


def test_mc_6_an_answer_keeps_its_budget_and_leads_on(notes):
    """Long notes that all hold one word, fifty hits asked for: each text within its budget, all notes in the end."""
    notes.index({f"{n:03}.md": f"Note {n}. " + f"gannet {n} " * 900 for n in range(40)})
    cursor, seen = "", []
    for _ in range(200):
        page = notes.brain.search("gannet", mode="lexical", limit=50, per_document=1, condensed=True, cursor=cursor)
        answer = packed(page, budget_tokens=2000)
        assert estimated_tokens(answer.text) <= answer.tokens <= 2000
        seen += [excerpt.uri for excerpt in answer.excerpts]
        cursor = answer.cursor
        if not cursor:
            break
    assert len(seen) == len(set(seen)) == 40


def test_privacy_holds_for_every_part_and_list(notes):
    """Fields, dates, names, parts, other words and pages never show what the asker may not see."""
    notes.index({name: text.replace("---\n", "---\nprivacy: secret\n", 1) for name, text in DATED.items()} | PARTS)
    may_see = Filter(privacy=("public", "work", "personal"))
    for text in ("gannet", "type:log", "gannet in March 2031", "latest gannet", "what is the gannet, and who is Ines?"):
        for mode in MODES:
            result = notes.brain.search(text, mode=mode, now=NOW, filter=may_see, limit=50)
            assert not {hit.uri.partition("/")[2] for hit in (*result.hits, *result.rolled_up)} & set(DATED)
            assert not any("2031-0" in said for said in result.understood if "March" not in said)
