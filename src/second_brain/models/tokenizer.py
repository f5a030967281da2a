"""Text to the token ids of multilingual-e5-small: a SentencePiece unigram model over a mapped trie.

Building such a tokenizer from its 250,000 pieces takes one to two seconds, which a command that answers one
question cannot spend. Here the pieces lie in a file that is mapped (``marisa-trie``), so that a new process
has its tokenizer within two milliseconds.

    normalize   replace code points by the model's table, then runs of spaces by one
    split       at spaces; each word begins with the mark U+2581, and no piece holds the mark elsewhere
    segment     the pieces with the highest sum of scores (Viterbi), word by word

A character that no piece covers is one unknown token, scored 10 below the lowest piece. Counts equal those
of the weights' own engine; so do ids, but for segmentations whose scores are equal (`)` and `))))` or the
other way round), which the engine decides by the rounding of its sum over all that came before.
Source: Kudo, Subword Regularization, ACL 2018; Kudo and Richardson, SentencePiece, EMNLP 2018.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import marisa_trie
import numpy as np

from .weights import Floats

_TRIE, _IDS, _SCORES, _TABLE = "pieces.marisa", "piece-ids.i4", "piece-scores.f4", "replacements.txt"

_MARK = "\u2581"
_LONGEST_PIECE = 16
_UNKNOWN_PENALTY = 10.0

_MEMO_WORDS = 50_000
_MEMO_LENGTH = 24
"""Longer words (whole sentences, where a script has no spaces) hardly ever come again."""


def write_tokenizer(
    folder: Path, pieces: list[str], scores: Floats, replacements: Mapping[int, str], *, unknown: int
) -> None:
    """Write the files that `Tokenizer` maps; ``pieces`` and ``scores`` are by id. Takes half a second."""
    known = [piece for id_, piece in enumerate(pieces) if id_ != unknown]
    longest = max(map(len, known))
    if longest > _LONGEST_PIECE or any(_MARK in piece[1:] for piece in known):
        raise ValueError(f"pieces of up to {longest} characters, or with an inner mark, are not supported")
    trie = marisa_trie.Trie(known)
    ids = np.empty(len(known), dtype=np.int32)
    for id_, piece in enumerate(pieces):
        if id_ != unknown:
            ids[trie.key_id(piece)] = id_
    trie.save(str(folder / _TRIE))
    ids.tofile(folder / _IDS)
    scores[ids].tofile(folder / _SCORES)
    table = ["".join(map(chr, replacements)), *replacements.values()]
    (folder / _TABLE).write_bytes("\0".join(table).encode("utf-8"))


class Tokenizer:
    """Token ids of texts, without the ids that open and close a sequence. Safe to use from several threads."""

    def __init__(self, folder: Path, *, unknown: int) -> None:
        self._trie = marisa_trie.Trie()
        self._trie.mmap(str(folder / _TRIE))
        ids = np.memmap(folder / _IDS, dtype=np.int32, mode="r")
        scores = np.memmap(folder / _SCORES, dtype=np.float32, mode="r")
        if not len(self._trie) == ids.size == scores.size:
            raise ValueError(f"{len(self._trie)} pieces, {ids.size} ids and {scores.size} scores do not match")
        # Views of plain memory: an element costs a quarter of what it costs through numpy.
        self._ids, self._scores = ids.data, scores.data
        self._unknown = unknown
        self._unknown_score = float(scores.min()) - _UNKNOWN_PENALTY
        points, *values = (folder / _TABLE).read_bytes().decode("utf-8").split("\0")
        self._replacements = dict(zip(map(ord, points), values, strict=True))
        # Half a pair has no UTF-8: it becomes what the replacement character does.
        half = self._replacements.get(0xFFFD, "\ufffd")
        self._replacements.update(dict.fromkeys(range(0xD800, 0xE000), half))
        self._memo: dict[str, list[int]] = {}

    def encode(self, text: str, limit: int | None = None) -> list[int]:
        """The ids of a text, at most ``limit``. Never empty: a text that normalizes to nothing is one mark."""
        text = text.translate(self._replacements)
        *words, last = text.split(" ")
        ids: list[int] = []
        for word in words:
            if word:
                ids += self._word(word)
                if limit is not None and len(ids) >= limit:
                    return ids[:limit]
        # A space at the very end stands for a token of its own, as does a text of nothing.
        ids += self._word(last)
        return ids[:limit]

    def count(self, texts: Iterable[str]) -> list[int]:
        """The number of ids of each text."""
        return [len(self.encode(text)) for text in texts]

    def _word(self, word: str) -> list[int]:
        if len(word) > _MEMO_LENGTH:
            return self._segment(_MARK + word)
        ids = self._memo.get(word)
        if ids is None:
            ids = self._segment(_MARK + word)
            if len(self._memo) >= _MEMO_WORDS:
                self._memo.clear()
            self._memo[word] = ids
        return ids

    def _segment(self, word: str) -> list[int]:
        """The best path: of equal ones, that which reaches a place first. Linear in the word's length."""
        length = len(word)
        best = [0.0] + [-1e30] * length
        come_from = [0] * (length + 1)
        piece = [-1] * (length + 1)
        prefixes, scores = self._trie.iter_prefixes_with_ids, self._scores
        for start in range(length):
            base = best[start]
            for prefix, key in prefixes(word[start : start + _LONGEST_PIECE]):
                end = start + len(prefix)
                score = base + scores[key]
                if score > best[end]:
                    best[end], come_from[end], piece[end] = score, start, key
            score = base + self._unknown_score
            if score > best[start + 1]:
                best[start + 1], come_from[start + 1], piece[start + 1] = score, start, -1
        ids: list[int] = []
        end = length
        while end:
            key = piece[end]
            ids.append(self._ids[key] if key >= 0 else self._unknown)
            end = come_from[end]
        ids.reverse()
        return ids
