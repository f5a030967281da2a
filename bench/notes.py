"""Makes folders of notes for the benchmarks: the same seed gives the same bytes."""

from __future__ import annotations

import random
import re
from pathlib import Path

SYLLABLES = re.findall("..", "kalomitersuverpadonigrashimontebaquizoelaniprecodefuly")
KANJI = "設計確認電池排水会議検索記録温度更新障害復旧手順装置倉庫交換調整配管点検報告予算計画試験結果原因対策部品水位"
KANA = "のをにはがとでもからまでした"


class Writer:
    """Prose with a Zipf-distributed vocabulary of 30,000 words, a tenth of it Japanese."""

    def __init__(self, seed: int, words: int = 30_000) -> None:
        self.rng = random.Random(seed)
        self.words = ["".join(self.rng.choices(SYLLABLES, k=self.rng.randint(1, 4))) for _ in range(words)]
        self.cumulative = []
        total = 0.0
        for rank in range(1, words + 1):
            total += 1 / rank
            self.cumulative.append(total)

    def sentence(self, length: int = 14) -> str:
        chosen = self.rng.choices(self.words, cum_weights=self.cumulative, k=length)
        return " ".join(chosen).capitalize() + "."

    def japanese(self, length: int = 40) -> str:
        parts = []
        while sum(map(len, parts)) < length:
            parts.append("".join(self.rng.choices(KANJI, k=2)) + self.rng.choice(KANA))
        return "".join(parts) + "。"

    def note(self, number: int, size: int = 2_000) -> str:
        tags = ", ".join(self.rng.choices(self.words[:200], k=2))
        lines = ["---", f"title: {self.sentence(4)[:-1]} {number}", f"tags: [{tags}]", "date: 2026-03-14", "---", ""]
        japanese = number % 10 == 0
        length = 0
        while length < size:
            lines += [f"## {self.sentence(3)[:-1]}", ""]
            for _ in range(3):
                text = " ".join(self.japanese() if japanese else self.sentence() for _ in range(3))
                length += len(text.encode())
                lines += [text, ""]
            lines += [f"- see [[{self.sentence(2)[:-1]}]] and `{self.rng.choice(self.words)}_{number}`", ""]
        return "\n".join(lines)


def write_notes(folder: Path, count: int, *, seed: int = 1, size: int = 2_000) -> None:
    """Write ``count`` notes of about ``size`` bytes into 50 subfolders."""
    writer = Writer(seed)
    for number in range(count):
        path = folder / f"part-{number % 50:02d}" / f"note-{number:05d}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(writer.note(number, size), encoding="utf-8")
