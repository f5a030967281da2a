from __future__ import annotations

from second_brain.chunking.markdown import SLACK
from second_brain.chunking.turns import TurnChunker
from second_brain.parsing.transcript import TranscriptParser
from second_brain.testing.chunker_contract import check_chunks
from second_brain.testing.parser_contract import make_blob
from second_brain.transcripts import Entry, Fact, Head, Transcript, encode
from second_brain.types import Chunk, Document

TIME = "2031-05-01T09:00:00.000Z"


def document(*lines: Entry | Fact, session: str = "s1") -> Document:
    data = encode(Transcript(Head("x", session), (Fact("cwd", "/home/mina/pump"), *lines)))
    (made,) = TranscriptParser().parse(make_blob(data, f"agent/{session}.jsonl"))
    return made


def chunks(*lines: Entry | Fact, session: str = "s1", max_chars: int = 1200) -> list[Chunk]:
    made = document(*lines, session=session)
    found = list(TurnChunker(max_chars).chunk(made))
    check_chunks(made, found)
    return found


def exchange(number: int, answer: str = "Because.") -> list[Entry]:
    time = f"2031-05-{number:02d}T09:00:00.000Z"
    return [Entry("user", f"Question {number}?", time), Entry("assistant", answer, time, f"m{number}")]


def test_a_chunk_for_each_exchange():
    """With title, project and its own day as context, and the heading as its path."""
    first, second = chunks(Fact("ai-title", "Leak"), *exchange(1), *exchange(2))
    assert (first.text.split("\n")[0], second.text.split("\n")[0]) == (
        "## 1 · 2031-05-01 09:00 · Question 1?",
        "## 2 · 2031-05-02 09:00 · Question 2?",
    )
    assert (first.context, second.context) == ("Leak\npump\n2031-05-01", "Leak\npump\n2031-05-02")
    assert second.heading_path == ("2 · 2031-05-02 09:00 · Question 2?",)


def test_a_long_exchange_is_cut_between_what_was_said():
    """Later pieces name the question; none is over the budget."""
    answers = [Entry("assistant", f"Answer {number}. " + "word " * 100, TIME, f"m{number}") for number in range(9)]
    found = chunks(Fact("ai-title", "Leak"), Entry("user", "Why does it leak?", TIME), *answers)
    assert len(found) > 3
    assert all(len(chunk.text) <= 1200 * SLACK for chunk in found)
    assert all(chunk.text.startswith("Answer") for chunk in found[1:])
    assert [chunk.context for chunk in found[:2]] == [
        "Leak\npump\n2031-05-01",
        "Leak\npump\n2031-05-01\nWhy does it leak?",
    ]


def test_a_question_that_is_the_title_is_not_said_twice():
    """Nor is a day that nothing is known of."""
    found = chunks(Entry("user", "Why?"), Entry("assistant", "word " * 600))
    assert {chunk.context for chunk in found} == {"Why?\npump"}


def test_origins_of_copies_are_equal_and_tell_pieces_apart():
    """Whatever number the exchange has in the copy; a piece that goes on has another."""
    long = "word " * 600
    first = chunks(*exchange(1), *exchange(2, long))
    copy = chunks(Entry("user", "Something before."), *exchange(1), *exchange(2, long), *exchange(3), session="s2")
    grown = chunks(*exchange(1, "Because. And also."), session="s3")
    assert len({chunk.origin for chunk in first}) == len(first)
    assert [chunk.origin for chunk in copy[1 : len(first) + 1]] == [chunk.origin for chunk in first]
    assert copy[-1].origin not in {chunk.origin for chunk in first}
    assert grown[0].origin != first[0].origin


def test_equal_words_at_other_times_have_other_origins():
    """A short answer that is given in many sessions is found in each."""
    one = chunks(Entry("user", "Go on.", "2031-05-01T09:00:00Z"))
    other = chunks(Entry("user", "Go on.", "2031-05-02T09:00:00Z"), session="s2")
    assert one[0].origin != other[0].origin
