"""Faults with Markdown structure that users of such products met, as far as parser and chunker can show them."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import pytest

from second_brain.chunking.markdown import MarkdownChunker
from second_brain.parsing.markdown import MarkdownParser
from second_brain.testing.parser_contract import make_blob
from second_brain.types import Chunk, Document, embedding_hash


def read(text: str, uri: str = "notes/note.md") -> tuple[Document, Sequence[Chunk]]:
    (document,) = MarkdownParser().parse(make_blob(text, uri))
    return document, MarkdownChunker().chunk(document)


def test_md_1_comments_in_a_fence_are_no_headings() -> None:
    """One section, and the fence in one piece."""
    text = "# Setup\n\n```sh\n# mount disk\nmount /dev/x1\n```\nThen reboot.\n"
    document, chunks = read(text)
    assert [section.path for section in document.sections] == [("Setup",)]
    assert [chunk.text for chunk in chunks] == [text.rstrip()]


def test_md_3_inline_pictures() -> None:
    """Two megabytes of base64 are one word; the sentence beside them stays."""
    document, chunks = read("The pump is blue.\n\n![p](data:image/png;base64," + "QUJD" * 500_000 + ")\n")
    assert [chunk.text for chunk in chunks] == ["The pump is blue.\n\n![p](data:image/png;base64,omitted)"]
    assert "QUJD" not in document.text


GIANT_LINE = "lorem " * 5_000_000 + "\n\nendmarker-zeta\n"
CHANGE_LOG = "# Changes\n\n" + "".join(
    f"- Fixed number {i} of the faults in the pump room (#{i})\n" for i in range(220_000)
)

GIANT = """
import sys; from pathlib import Path
from second_brain.chunking.cutting import fits
from second_brain.chunking.markdown import SLACK, MarkdownChunker
from second_brain.parsing.markdown import MarkdownParser
from second_brain.testing.chunker_contract import check_chunks
from second_brain.testing.parser_contract import make_blob
(document,) = MarkdownParser().parse(make_blob(Path(sys.argv[1]).read_bytes(), "notes/note.md"))
chunks = MarkdownChunker().chunk(document)
assert all(fits(chunk.text, 0, len(chunk.text), 1200 * SLACK) for chunk in chunks)
check_chunks(document, chunks)
sys.stdout.write(chunks[-1].text)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("text", "end"), [(GIANT_LINE, "endmarker-zeta"), (CHANGE_LOG, "(#219999)")])
def test_md_4_a_giant_text_is_read_and_cut_in_bounded_time(tmp_path: Path, text: str, end: str) -> None:
    """30 MB in one line and 12 MB without inner headings: every chunk is within its limit, the end is there.

    Takes seconds; ten minutes are for a machine that does much else, and would not do for anything quadratic.
    """
    (tmp_path / "giant.md").write_text(text, encoding="utf-8")
    command = [sys.executable, "-c", GIANT, str(tmp_path / "giant.md")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith(end)


def test_md_4_memory_is_a_small_multiple_of_the_text() -> None:
    """A tenth of the change log, for the memory of the whole: Python's own allocations stay below ten times it."""
    text = CHANGE_LOG[: len(CHANGE_LOG) // 10]
    tracemalloc.start()
    read(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12 * len(text)


def test_md_6_a_move_embeds_nothing_and_an_edit_only_what_it_touches() -> None:
    """Folder and file times are in no embedded text, so a cache by its hash answers."""
    sections = [f"## Part {i}\n\n{'The pump of this part is fine. ' * 20}\n\n" for i in range(30)]
    _, before = read("# Rooms\n\n" + "".join(sections), "notes/old/rooms.md")
    _, moved = read("# Rooms\n\n" + "".join(sections), "notes/new/rooms.md")
    cache = {embedding_hash(chunk.embedding_text) for chunk in before}
    assert len(cache) == 30
    assert {embedding_hash(chunk.embedding_text) for chunk in moved} == cache
    sections[3] = sections[3].replace("fine", "worn")
    _, edited = read("# Rooms\n\n" + "".join(sections), "notes/new/rooms.md")
    assert len({embedding_hash(chunk.embedding_text) for chunk in edited} - cache) == 1
