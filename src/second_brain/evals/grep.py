"""The baseline that everybody has: count the words of the question that stand in a file, as grep finds them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from .measures import DEPTH

_WORD = re.compile(r"\w+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f]+")
"""Runs of kana and Han characters, which no space divides into words."""


def words(question: str) -> set[str]:
    """The words of a question as one would type them after ``rg -i``: small letters; of kana and Han, the bigrams."""
    return set(_words(question.casefold()))


def _words(question: str) -> Iterator[str]:
    for run in _UNSPACED.findall(question):
        yield from (run[i : i + 2] for i in range(max(1, len(run) - 1)))
    yield from _WORD.findall(_UNSPACED.sub(" ", question))


class Grep:
    """Finds words in raw texts, wherever they stand in a line: no index, no analysis, no weights.

    Args:
        texts: by document; equal counts are ordered by its name.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = {document: texts[document].casefold() for document in sorted(texts)}
        self._found: dict[str, tuple[str, ...]] = {}

    def search(self, question: str) -> list[str]:
        """The ``DEPTH`` documents that hold most of the question's distinct words; those that hold none are no hits."""
        counts = Counter(document for word in words(question) for document in self._holding(word))
        return sorted(counts, key=lambda document: (-counts[document], document))[:DEPTH]

    def _holding(self, word: str) -> tuple[str, ...]:
        """The documents that hold the word; remembered, for questions share words."""
        if word not in self._found:
            self._found[word] = tuple(document for document, text in self._texts.items() if word in text)
        return self._found[word]
