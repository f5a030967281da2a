"""The baseline that everybody has: count the words of the question that stand in a file, as grep finds them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from ..analysis.stopwords import STOPWORDS
from .answers import Asking, Engine, Found, Place, capped

_WORD = re.compile(r"\w+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f]+")
"""Runs of kana and Han characters, which no space divides into words."""


def words(question: str) -> set[str]:
    """The words of a question as one would type them after ``rg -i``: small letters; of kana and Han, the bigrams."""
    unspaced, spaced = scripts(question.casefold())
    return {run[i : i + 2] for run in unspaced for i in range(max(1, len(run) - 1))} | set(spaced)


def telling_words(question: str) -> set[str]:
    """The same without the words that every text holds (the, what, です), unless there are no others."""
    every = words(question)
    return every - STOPWORDS or every


def scripts(text: str) -> tuple[list[str], list[str]]:
    """The runs of kana and Han, and the words of the rest."""
    return _UNSPACED.findall(text), _WORD.findall(_UNSPACED.sub(" ", text))


class Grep:
    """Finds words in raw texts, wherever they stand in a line: no index, no analysis, no weights.

    Args:
        texts: by place; equal counts are ordered by it.
        remembers: which texts hold a word, for questions share words. Without, every search reads every text.
    """

    def __init__(self, texts: Mapping[Place, str], *, remembers: bool = True) -> None:
        self._texts = {place: texts[place].casefold() for place in sorted(texts)}
        self._found: dict[str, tuple[Place, ...]] = {}
        self._remembers = remembers

    def search(self, question: str) -> list[Place]:
        """The texts by how many of the question's distinct words they hold; those that hold none are no hits."""
        counts = Counter(place for word in words(question) for place in self._holding(word))
        return sorted(counts, key=lambda place: (-counts[place], place))

    def _holding(self, word: str) -> tuple[Place, ...]:
        found = self._found.get(word)
        if found is None:
            found = tuple(place for place, text in self._texts.items() if word in text)
            if self._remembers:
                self._found[word] = found
        return found


def matching_lines(question: str, name: str, text: str) -> str:
    """What ``grep -in`` prints of a file for the telling words of a question: ``name:number:line``."""
    wanted = telling_words(question)
    return "".join(
        f"{name}:{number}:{line}\n"
        for number, line in enumerate(text.split("\n"), start=1)
        if any(word in line.casefold() for word in wanted)
    )


def grep_engine(texts: Mapping[Place, str], asking: Asking, *, remembers: bool = True) -> Engine:
    """Grep as a system: an agent reads the matching lines of the texts that rank first."""
    grep = Grep(texts, remembers=remembers)

    def ask(question: str) -> Found:
        places = capped(grep.search(question), asking)
        return Found(places, lambda: "".join(matching_lines(question, p.document, texts[p]) for p in places))

    return ask
