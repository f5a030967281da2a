"""Both backends over the same notes in one run: what it costs to fill Qdrant, and to ask either.

    python bench/qdrant.py [--notes 400] [--url http://127.0.0.1:6333]

Without --url (or $QDRANT_URL) Qdrant is a stand-in on loopback: the HTTP, JSON and client of a real server, but the
local mode of qdrant-client behind it, which scans where Qdrant has indexes. So its milliseconds say what our own side
costs, and nothing of Qdrant. Vectors are those of the embedder for tests.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from notes import Writer, write_notes

from second_brain import Brain
from second_brain.types import Mode

QUESTIONS = 40
MODES: tuple[Mode, ...] = ("lexical", "dense", "hybrid")


@contextmanager
def qdrant(url: str) -> Iterator[str]:
    """The address of the server that was named, or of a stand-in in a process of its own."""
    if url:
        yield url
        return
    command = [sys.executable, "-m", "second_brain.testing.qdrant_server"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


def opened(work: Path, name: str, settings: str) -> Brain:
    """A brain over the notes, with these settings."""
    home = work / name
    home.mkdir()
    (home / "models.yaml").write_text("embedder: hashing\n")
    (home / "settings.yaml").write_text(settings)
    brain = Brain.open(home, environment={})
    brain.add(work / "notes", name="notes")
    return brain


def asked(brain: Brain, questions: list[str]) -> Mapping[str, float]:
    """The median milliseconds of a warm answer, by mode."""
    found = {}
    for mode in MODES:
        brain.search(questions[0], mode=mode)
        spent = []
        for question in questions:
            began = time.perf_counter()
            result = brain.search(question, mode=mode)
            spent.append((time.perf_counter() - began) * 1000)
            assert not any("Qdrant" in notice for notice in result.notices), result.notices
        found[mode] = statistics.median(spent)
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=400)
    parser.add_argument("--url", default=os.environ.get("QDRANT_URL", ""))
    given = parser.parse_args()
    writer = Writer(7)
    questions = [writer.sentence(4) if number % 4 else writer.japanese(12) for number in range(QUESTIONS)]
    with tempfile.TemporaryDirectory() as scratch, qdrant(given.url) as url:
        work = Path(scratch)
        write_notes(work / "notes", given.notes)
        prefix = f"bench{os.getpid()}"
        copied = f"index: qdrant\nqdrant:\n  url: {url}\n  prefix: {prefix}\n  timeout_s: 60\n"
        with opened(work, "sqlite", "") as plain:
            began = time.perf_counter()
            plain.sync()
            plain.embed()
            written_s = time.perf_counter() - began
            passages = plain.index.chunk_count()
            sqlite = asked(plain, questions)
        with opened(work, "qdrant", copied) as brain:
            brain.sync()
            brain.embed()
            brain.index.database.rows("INSERT OR REPLACE INTO outbox(id) SELECT id FROM chunk")
            began = time.perf_counter()
            assert brain.index.replicate(lambda *_: None) == ()
            sent_s = time.perf_counter() - began
            other = asked(brain, questions)
            for held in brain.index.collections.listed():  # type: ignore[attr-defined]  # a QdrantIndex
                brain.index.client.drop(held.name)  # type: ignore[attr-defined]
    where = given.url or "a stand-in on loopback"
    print(f"{passages:,} passages; Qdrant: {where}")
    print("| what | SQLite | Qdrant | ratio |")
    print("|---|---|---|---|")
    print(
        f"| passages a second: read, cut, written, embedded; points sent again | {passages / written_s:,.0f} |"
        f" {passages / sent_s:,.0f} | {written_s / sent_s:.2f} |"
    )
    for mode in MODES:
        print(f"| {mode}, median ms | {sqlite[mode]:.1f} | {other[mode]:.1f} | {other[mode] / sqlite[mode]:.1f} |")


if __name__ == "__main__":
    main()
