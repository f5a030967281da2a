"""Lets passages in another script than the question's take part: they cannot hold its words, whatever they say."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..types import Ranking

FEWEST = 5
"""Passages in the question's script from which something can be learned about the others."""


def expected_words(lexical: Ranking, meaning: Ranking, scripts: Mapping[int, int], own: int) -> Ranking:
    """The lexical scores that passages in another script would have, told from how near they are in meaning.

    Among the candidates in the question's own script the lexical score is fitted by a line over the score by meaning;
    where that line lies at a passage in another script is what it is credited with, unless its own score is higher. So
    it is neither held against it that it has none of the words, nor does it pass one that has many of them.

    Args:
        lexical: what was found by word; a passage that it does not list holds none of the words.
        meaning: what was compared by meaning, with scores of one scale for all scripts.
        scripts: of each candidate, its script.
        own: the question's script.

    Returns:
        The credits, by chunk, in the order of ``meaning``; none where there is too little to learn from.
    """
    words = dict(lexical.entries)
    others = [(key, score) for key, score in meaning.entries if scripts.get(key, own) not in (0, own)]
    alike = [(words.get(key, 0.0), score) for key, score in meaning.entries if scripts.get(key) == own]
    if not others or len(alike) < FEWEST:
        return Ranking("expected words", ())
    held, near = np.array(alike).T
    spread = near - near.mean()
    slope = max(0.0, float(spread @ held) / max(float(spread @ spread), 1e-12))
    level = float(held.mean())
    credits = ((key, round(level + slope * (score - float(near.mean())), 6)) for key, score in others)
    return Ranking("expected words", tuple((key, credit) for key, credit in credits if credit > words.get(key, 0.0)))
