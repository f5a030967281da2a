"""What grep would find, and what it would print."""

from __future__ import annotations

from second_brain.evals.answers import Asking, Place
from second_brain.evals.grep import Grep, grep_engine, matching_lines, telling_words, words


def texts(by_name: dict[str, str]) -> dict[Place, str]:
    return {Place(name, 0, len(text)): text for name, text in by_name.items()}


def found(by_name: dict[str, str], question: str, *, remembers: bool = True) -> list[str]:
    return [place.document for place in Grep(texts(by_name), remembers=remembers).search(question)]


def test_words_are_split_at_spaces_and_punctuation() -> None:
    """Letter case is ignored, each word counts once."""
    assert words("How do I mount the USB-disk? The disk!") == {"how", "do", "i", "mount", "the", "usb", "disk"}


def test_japanese_words_are_the_pairs_of_characters() -> None:
    """No space divides words; a run of one character stands for itself."""
    assert words("猫の餌はbrew版") == {"猫の", "の餌", "餌は", "brew", "版"}


def test_document_with_more_of_the_words_comes_first() -> None:
    """The count of distinct words decides, however often each occurs; equal counts follow the path."""
    notes = {"b.md": "pump pump pump", "c.md": "the pump leaks", "a.md": "A PUMP", "d.md": "nothing here"}
    assert found(notes, "Pump leaks?") == ["c.md", "a.md", "b.md"]
    assert found(notes, "Pump leaks?", remembers=False) == ["c.md", "a.md", "b.md"]


def test_words_are_found_inside_of_others() -> None:
    """Like grep without -w."""
    assert found({"a.md": "the pumps"}, "pump") == ["a.md"]


def test_question_without_words_finds_nothing() -> None:
    """Punctuation is no word."""
    assert found({"a.md": "what?"}, "?!") == []


def test_ten_documents_at_most() -> None:
    """The list is as long as those of the other systems."""
    ask = grep_engine(texts({f"{n:02}.md": "pump" for n in range(20)}), Asking())
    assert len(ask("pump").places) == 10


def test_words_of_every_text_tell_nothing() -> None:
    """Who greps leaves them out, unless there are no others."""
    assert telling_words("What is the pump?") == {"pump"}
    assert telling_words("what is it") == {"what", "is", "it"}


def test_lines_are_printed_with_file_and_number() -> None:
    """As ``grep -in`` does."""
    assert matching_lines("What is the pump?", "a.md", "# A\nthe PUMP\nthe end\n") == "a.md:2:the PUMP\n"


def test_an_agent_reads_the_lines_of_what_ranks_first() -> None:
    """Of every text in the list, in its order."""
    ask = grep_engine(texts({"a.md": "pump", "b.md": "a leak\nof the pump"}), Asking(limit=5))
    assert ask("leaking pump, or a leak").text() == "b.md:1:a leak\nb.md:2:of the pump\na.md:1:pump\n"
