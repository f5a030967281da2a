"""What grep would find."""

from __future__ import annotations

from second_brain.evals.grep import Grep, words


def test_words_are_split_at_spaces_and_punctuation() -> None:
    """Letter case is ignored, each word counts once."""
    assert words("How do I mount the USB-disk? The disk!") == {"how", "do", "i", "mount", "the", "usb", "disk"}


def test_japanese_words_are_the_pairs_of_characters() -> None:
    """No space divides words; a run of one character stands for itself."""
    assert words("猫の餌はbrew版") == {"猫の", "の餌", "餌は", "brew", "版"}


def test_document_with_more_of_the_words_comes_first() -> None:
    """The count of distinct words decides, however often each occurs; equal counts follow the path."""
    grep = Grep({"b.md": "pump pump pump", "c.md": "the pump leaks", "a.md": "A PUMP", "d.md": "nothing here"})
    assert grep.search("Pump leaks?") == ["c.md", "a.md", "b.md"]


def test_words_are_found_inside_of_others() -> None:
    """Like grep without -w."""
    assert Grep({"a.md": "the pumps"}).search("pump") == ["a.md"]


def test_ten_documents_at_most() -> None:
    """The list is as long as those of the other systems."""
    assert len(Grep({f"{n:02}.md": "pump" for n in range(20)}).search("pump")) == 10


def test_question_without_words_finds_nothing() -> None:
    """Punctuation is no word."""
    assert Grep({"a.md": "what?"}).search("?!") == []
