"""Which notes are nearly the same."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from second_brain.overview.likenesses import COMMON, Likeness, likenesses, shingles, sketch
from second_brain.overview.review import Sketches

WORDS = [f"word{n}" for n in range(4000)]


def prose(seed: int, count: int = 200) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=count))


def found(texts: dict[int, str]) -> list[Likeness]:
    whole = {key: shingles(text) for key, text in texts.items()}
    return likenesses({key: sketch(each) for key, each in whole.items()}, whole.__getitem__)


def test_the_same_text_is_wholly_alike_whatever_its_case_blanks_and_marks() -> None:
    """Letter case, blanks, list marks and quote marks make no difference."""
    text = prose(1)
    assert found({1: text, 2: "> " + text.upper().replace(" ", "\n* "), 3: prose(2)}) == [Likeness(1, 2, 1.0, 1.0)]


def test_the_likeness_is_the_part_that_both_share() -> None:
    """With the last quarter written anew, about three fifths of what either says is in both: 3 / (3 + 1 + 1)."""
    start = prose(1, 300)
    (pair,) = found({1: f"{start} {prose(2, 100)}", 2: f"{start} {prose(3, 100)}"})
    assert 0.55 <= pair.alike <= 0.7


def test_a_note_within_a_longer_one_says_so() -> None:
    """All of the shorter note stands in the longer."""
    text = prose(1, 300)
    (pair,) = found({1: text, 2: f"{text} {prose(2, 100)}"})
    assert pair.within > 0.98 > pair.alike


def test_stubs_are_alike_to_nothing() -> None:
    """Notes with hardly any text are left out, also equal ones."""
    assert found({1: "# To do", 2: "# To do", 3: ""}) == []


def test_what_a_template_says_makes_no_pair() -> None:
    """Text in more notes than ``COMMON`` is a template's: notes that share only that are no pairs."""
    template = prose(0, 60)
    assert found({n: f"{template} {prose(n, 30)}" for n in range(1, COMMON + 40)}) == []


def test_many_copies_are_told_with_the_first_of_them() -> None:
    """A text that stands in a hundred notes is a hundred copies less one, not a template."""
    text = prose(1)
    pairs = found(dict.fromkeys(range(1, COMMON + 42), text))
    assert [(pair.first, pair.second) for pair in pairs] == [(1, n) for n in range(2, COMMON + 42)]


def test_japanese_needs_no_blanks() -> None:
    """Shingles are of characters."""
    text = "点検のとき、ポンプの逆止弁が開いたままだった。清掃してから再度試運転を行い、圧力を記録した。" * 3
    pairs = found({1: text + "以上。", 2: text + "翌日もう一度見る。", 3: prose(1)})
    assert [(pair.first, pair.second) for pair in pairs] == [(1, 2)]


def test_lone_surrogates_and_long_texts_are_read() -> None:
    """No text makes it fail, and a long one is looked at up to its bound."""
    assert len(shingles("\ud800" + prose(1))) > 100
    assert len(shingles("x" * 5_000_000)) == 1
    assert shingles("short").dtype == np.uint64


def test_pairs_follow_the_index(notes: Any) -> None:
    """A changed note is compared anew, a removed one is in no pair, notes of a day and hidden ones neither."""
    text = prose(1)
    secret = "---\nprivacy: secret\n---\n"
    notes.index({"a.md": text, "b.md": text + " more", "2031-05-02.md": text, "c.md": secret + text})
    sketches = Sketches()

    def titles(brain: Any) -> set[tuple[str, str]]:
        return {(pair.first.uri, pair.second.uri) for pair in sketches.pairs(brain.visible())}

    assert titles(notes.brain.seen_by("personal")) == {("notes/a.md", "notes/b.md")}
    assert titles(notes.brain) == {("notes/a.md", "notes/b.md"), ("notes/a.md", "notes/c.md")}
    notes.index({"b.md": prose(7), "c.md": secret + prose(8)})
    assert titles(notes.brain) == set()
    notes.index({"b.md": text})
    (notes.root / "a.md").unlink()
    notes.sync()
    assert titles(notes.brain) == set()


def test_progress_is_told_up_to_the_last_note(notes: Any) -> None:
    """First what is known already, at the end all; a second time there is nothing to read."""
    notes.index({f"{n}.md": prose(n) for n in range(3)})
    sketches = Sketches()
    told: list[tuple[int, int]] = []
    sketches.pairs(notes.brain.visible(), progress=lambda *numbers: told.append(numbers))
    assert told == [(0, 3), (3, 3)]
    told.clear()
    sketches.pairs(notes.brain.visible(), progress=lambda *numbers: told.append(numbers))
    assert told == [(3, 3)]
