"""Condensing: neighbours become one quote, copies are folded, and nothing is dropped without being named."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from second_brain.answering.condensing import LARGEST, condense
from second_brain.types import Explanation, Hit

PUMP = "The bilge pump on the old boat started every four minutes, all night long, though she was not leaking at all."


def hit(rank: int, uri: str, text: str, start: int = 0, **fields: object) -> Hit:
    made = Hit(
        rank=rank, score=1.0 / rank, id=f"{rank:016x}", uri=uri, path=f"/v/{uri}", title="t", heading_path=(),
        source="n", kind="markdown", type="", date=datetime(2031, 5, 2, tzinfo=UTC), status="", tags=(), privacy="",
        start=start, end=start + len(text), line=1 + start, text=text, notes=(), explanation=Explanation(()),
    )  # fmt: skip
    return replace(made, **fields)


def condensed(*hits: Hit, limit: int = 10, documents: dict[str, str] | None = None) -> list[Hit]:
    texts = documents or {}
    return [group.hit for group in condense(hits, limit, lambda uri, start, end: texts.get(uri, "")[start:end])]


def test_neighbours_become_one_exact_quote():
    """In the place of the better one, from the first character of the earlier one, under the headings they share."""
    whole = "First part.\n\nSecond part."
    second = hit(1, "n/a", "Second part.", 13, heading_path=("A", "C"), notes=("old",))
    first = hit(3, "n/a", "First part.", 0, heading_path=("A", "B"))
    merged, other = condensed(second, hit(2, "n/b", "Another."), first, documents={"n/a": whole})
    assert (merged.text, merged.start, merged.end, merged.line) == (whole, 0, len(whole), 1)
    assert (merged.id, merged.score, merged.heading_path, merged.notes) == (second.id, second.score, ("A",), ("old",))
    assert other.uri == "n/b"


def test_a_gap_with_text_in_it_is_kept():
    """Two passages with a third between them stay two; so do two whose document has changed meanwhile."""
    first, third = hit(1, "n/a", "one", 0), hit(2, "n/a", "two", 5)
    assert len(condensed(first, third, documents={"n/a": "one x two"})) == 2
    assert len(condensed(first, third, documents={"n/a": "one  TWO"})) == 2
    assert len(condensed(first, third, documents={})) == 2
    assert len(condensed(first, third, documents={"n/a": "one  two"})) == 1


def test_a_merged_quote_does_not_grow_without_end():
    """A long document of neighbours is several hits."""
    parts = [f"{number:04} " + "x" * 995 for number in range(8)]
    whole = "".join(parts)
    hits = [hit(number + 1, "n/a", part, number * 1000) for number, part in enumerate(parts)]
    found = condensed(*hits, documents={"n/a": whole})
    assert "".join(each.text for each in sorted(found, key=lambda each: each.start)) == whole
    assert max(len(each.text) for each in found) <= LARGEST


def test_copies_are_folded_into_the_best():
    """The same words with other signs, case and line breaks: one hit, which names the others."""
    copies = (PUMP, PUMP.upper(), PUMP.replace(", ", ",\n> "), PUMP.replace("old boat", "old boats"))
    (best,) = condensed(*(hit(rank, f"n/{rank}", text) for rank, text in enumerate(copies, start=1)))
    assert best.text == PUMP
    assert best.folded == tuple(f"{rank:016x}" for rank in (2, 3, 4))
    assert best.also_in == ("n/2", "n/3", "n/4")


def test_a_revision_is_no_copy():
    """Another number, another sentence, or the opposite in a short note: shown by itself."""
    for first, second in (
        (PUMP, PUMP.replace("four", "4")),
        (
            "Version 1.2 of the manual, valid from 2031-05-01 on. " + PUMP,
            "Version 1.3 of the manual, valid from 2031-05-01 on. " + PUMP,
        ),
        (PUMP, PUMP + " It was the check valve, which a cable tie held open."),
        ("締切は出航の60分前。", "締切は出航の15分前。"),
        ("Do not charge below zero.", "Do charge below zero."),
    ):
        assert len(condensed(hit(1, "n/1", first), hit(2, "n/2", second))) == 2


def test_empty_passages_are_not_alike():
    """Notes without text are different notes."""
    assert len(condensed(hit(1, "n/1", ""), hit(2, "n/2", " - "))) == 2


def test_a_longer_list_begins_with_the_same_hits():
    """Whatever the limit; every hit of the list is a member of one group, up to the first that is one too many."""
    texts = [PUMP, "one", PUMP.upper(), "two", "three", PUMP + "!", "four"]
    hits = [hit(rank, f"n/{rank}", text) for rank, text in enumerate(texts, start=1)]
    every = condense(hits, 10, lambda uri, start, end: "")
    assert sorted(member for group in every for member in group.members) == list(range(7))
    for limit in (1, 2, 3, 4):
        some = condense(hits, limit, lambda uri, start, end: "")
        assert [group.hit.id for group in some] == [group.hit.id for group in every[:limit]]
        used = sorted(member for group in some for member in group.members)
        assert used == list(range(len(used)))
