"""Passages in another script than the question's are credited with the words that they cannot hold."""

from __future__ import annotations

import pytest

from second_brain.ranking.crossing import FEWEST, expected_words
from second_brain.types import Ranking

LATIN, CJK = 1, 2
OWN = [(key, 0.1 * key) for key in range(1, 7)]
SCRIPTS = dict.fromkeys(range(1, 7), LATIN) | {11: CJK, 12: CJK, 13: 0}


def credits(lexical, meaning, scripts=SCRIPTS) -> dict[int, float]:
    return dict(
        expected_words(Ranking("lexical", tuple(lexical)), Ranking("late", tuple(meaning)), scripts, LATIN).entries
    )


def test_the_credit_lies_on_the_line_of_the_others() -> None:
    """Words rise by 10 with each unit of meaning, so a passage of meaning 0.9 is expected to hold 9."""
    found = credits([(key, 10 * score) for key, score in OWN], [*OWN, (11, 0.9), (12, 0.35)])
    assert found == pytest.approx({11: 9.0, 12: 3.5})


def test_own_words_count_where_there_are_more() -> None:
    """A passage in two scripts that holds the words is not credited."""
    assert credits([(key, 10 * score) for key, score in OWN] + [(11, 9.5)], [*OWN, (11, 0.9)]) == {}


def test_where_words_fall_with_meaning_all_are_credited_alike() -> None:
    """The line never falls: nearer in meaning is no reason to expect fewer words."""
    found = credits([(key, 7 - key) for key, _ in OWN], [*OWN, (11, 0.9), (12, 0.1)])
    assert found == pytest.approx({11: 3.5, 12: 3.5})


def test_with_few_passages_of_the_own_script_nothing_is_learned() -> None:
    """Nor without passages in another one, nor of those in none."""
    few = OWN[: FEWEST - 1]
    assert credits(few, [*few, (11, 0.9)]) == {}
    assert credits(OWN, OWN) == {}
    assert credits(OWN, [*OWN, (13, 0.9)]) == {}


def test_equal_meaning_of_all_yields_their_mean() -> None:
    """No spread, no slope."""
    found = credits([(key, float(key)) for key, _ in OWN], [*((key, 0.5) for key, _ in OWN), (11, 0.5)])
    assert found == pytest.approx({11: 3.5})
