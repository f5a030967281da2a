"""Passages of a note."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from second_brain.chunking.cutting import fits
from second_brain.chunking.markdown import SLACK, MarkdownChunker
from second_brain.parsing.markdown import MarkdownParser
from second_brain.testing.chunker_contract import check_chunks
from second_brain.testing.parser_contract import make_blob
from second_brain.types import Chunk, Document


def read(text: str, uri: str = "notes/sub/Sample.md") -> Document:
    (document,) = MarkdownParser().parse(make_blob(text, uri))
    return document


class Sections(MarkdownChunker):
    """Every section is a passage, however small."""

    together = 0.0


def chunks(text: str, max_chars: int = 1200, chunker: type[MarkdownChunker] = Sections) -> Sequence[Chunk]:
    document = read(text)
    found = chunker(max_chars).chunk(document)
    check_chunks(document, found)
    return found


def texts(text: str, max_chars: int = 1200) -> list[str]:
    return [chunk.text for chunk in chunks(text, max_chars)]


def joined(text: str, max_chars: int = 1200) -> list[tuple[str, tuple[str, ...]]]:
    return [(chunk.text, chunk.heading_path) for chunk in chunks(text, max_chars, MarkdownChunker)]


def test_small_sections_beside_one_another_are_one_chunk() -> None:
    """The quote is exact, from the first heading to the end of the last text; the path is what they share."""
    assert joined("# A\n\na\n\n## B\n\nb\n\n\n## C\n\nc\n") == [("# A\n\na\n\n## B\n\nb\n\n\n## C\n\nc", ("A",))]
    assert joined("# A\n\n## B\n\nb\n\n### C\n\nc\n") == [("# A\n\n## B\n\nb\n\n### C\n\nc", ("A", "B"))]
    assert joined("# A\n\na\n\n# B\n\nb\n") == [("# A\n\na\n\n# B\n\nb", ())]


def test_sections_are_joined_up_to_a_weight() -> None:
    """The next one begins a new chunk; what weighs more by itself is joined to nothing."""
    sections = [f"## Part {number}\n\n{'x' * 130}\n\n" for number in range(10)]
    found = chunks("".join(sections), chunker=MarkdownChunker)
    assert [chunk.text.count("## Part") for chunk in found] == [3, 3, 3, 1]
    assert all(fits(chunk.text, 0, len(chunk.text), MarkdownChunker.together) for chunk in found)
    large = "y" * 490
    assert len(joined(f"## A\n\nsmall\n\n## B\n\n{large}\n\n## C\n\nsmall\n")) == 3


def test_no_joined_chunk_is_over_a_small_budget() -> None:
    """The budget holds for joined sections too."""
    sections = [f"## Part {number}\n\n{'x' * 30}\n\n" for number in range(4)]
    assert [text.count("## Part") for text, _ in joined("".join(sections), max_chars=100)] == [2, 2]


def test_japanese_sections_are_small_by_what_they_say() -> None:
    """A character of Japanese weighs three."""
    assert len(joined(f"## 一\n\n{'鷺' * 90}\n\n## 二\n\n{'鷺' * 90}\n")) == 2
    assert len(joined(f"## 一\n\n{'鷺' * 70}\n\n## 二\n\n{'鷺' * 70}\n")) == 1


def test_a_section_that_fits_is_one_chunk_with_its_heading() -> None:
    """Also when it is short, for a chunker that joins nothing."""
    found = chunks("before\n\n# A\n\na\n\n## B\n\nb\n\n\n")
    assert [(chunk.text, chunk.heading_path) for chunk in found] == [
        ("before", ()),
        ("# A\n\na", ("A",)),
        ("## B\n\nb", ("A", "B")),
    ]


def test_a_heading_with_nothing_below_goes_with_the_next_section() -> None:
    """It takes the path of the section that has the text; a last one stands alone."""
    found = chunks("# A\n\n## B\n\n### C\ntext\n\n## D\n")
    assert [(chunk.text, chunk.heading_path) for chunk in found] == [
        ("# A\n\n## B\n\n### C\ntext", ("A", "B", "C")),
        ("## D", ("A", "D")),
    ]


def test_a_heading_with_nothing_below_stands_alone_before_a_section_that_it_would_break() -> None:
    """A section that fits by itself stays whole."""
    section = "## B\n" + "x" * 60
    assert texts(f"# {'A' * 20}\n\n{section}", max_chars=60) == [f"# {'A' * 20}", section]


def test_many_headings_with_nothing_below_are_cut_into_chunks() -> None:
    """An outline of headings is text too."""
    found = texts("".join(f"# Heading {i}\n" for i in range(40)), max_chars=100)
    assert len(found) > 3
    assert all(len(text) <= 100 * SLACK for text in found)


def test_a_long_section_is_cut_between_blocks() -> None:
    """Paragraphs, items and fences stay whole where they fit."""
    fence = "```sh\n" + "make pump\n" * 5 + "```"
    found = texts(f"# A\n\n{'one ' * 14}one\n\n- item one\n- item two\n\n{fence}\n\nlast", max_chars=100)
    assert found == [f"# A\n\n{'one ' * 14}one\n\n- item one\n- item two", f"{fence}\n\nlast"]


def test_a_giant_table_or_fence_is_cut_at_lines() -> None:
    """No row is broken."""
    rows = [f"| row {i} | {'x' * (i % 30)} |" for i in range(100)]
    found = texts("| a | b |\n|---|---|\n" + "\n".join(rows), max_chars=200)
    assert [row for text in found for row in text.split("\n")][2:] == rows
    code = [f"    line {i}" for i in range(200)]
    found = texts("```\n" + "\n".join(code) + "\n```", max_chars=200)
    assert [line for text in found for line in text.split("\n")][1:-1] == code


def test_a_small_rest_stays_with_what_it_belongs_to() -> None:
    """A section over the budget by less than an eighth is not cut."""
    assert len(texts("word " * 26, max_chars=120)) == 1
    parts = texts("word " * 28, max_chars=120)
    assert len(parts) == 2
    assert min(map(len, parts)) >= 120 / 8


def test_japanese_is_cut_at_about_a_third_of_the_characters() -> None:
    """Behind a full stop, so that a chunk holds as many tokens as an English one."""
    found = texts("排水ポンプを月曜に交換した。" * 100)
    assert all(text.endswith("。") for text in found)
    assert 380 <= len(found[0]) <= 400
    assert all(fits(text, 0, len(text), 1200 * SLACK) for text in found)


def test_one_giant_line_is_cut_everywhere_it_must() -> None:
    """Without blank, sentence or line break, between characters."""
    found = texts("x" * 10_000, max_chars=1000)
    assert [len(text) for text in found] == [1000] * 9 + [1000]


def test_the_context_names_title_headings_and_day() -> None:
    """Line by line; a heading that repeats the title is left out; the description is on the first chunk only."""
    text = (
        "---\ndate: 2031-04-05\ndescription: What to check.\n---\n"
        "# Pump\n\nintro\n\n## Seals\n\n### *Outer*\n\ntext\n\n## Other\n\nmore\n"
    )
    assert [chunk.context for chunk in chunks(text)] == [
        "Pump\n2031-04-05\nWhat to check.",
        "Pump\nSeals > Outer\n2031-04-05",
        "Pump\nOther\n2031-04-05",
    ]


def test_the_context_of_a_daily_note_says_its_day_once() -> None:
    """Its title is its day already."""
    (chunk,) = MarkdownChunker().chunk(read("text", "notes/2031-04-05.md"))
    assert chunk.context == "2031-04-05"


def test_the_context_holds_neither_path_nor_file_times() -> None:
    """Moving or touching a file embeds nothing again."""
    document = read("# A\n\ntext\n")
    moved = replace(document, uri="notes/elsewhere/b.md", modified=datetime(2040, 1, 1, tzinfo=UTC))
    (before,), (after,) = MarkdownChunker().chunk(document), MarkdownChunker().chunk(moved)
    assert before.embedding_text == after.embedding_text == "A\n# A\n\ntext"
    assert before.id != after.id


def test_the_context_stays_short() -> None:
    """A title or heading of a page does not crowd out the text."""
    (chunk,) = chunks(f"---\ntitle: {'t' * 999}\ndescription: {'d' * 999}\n---\n# {'h' * 999}\n\ntext\n")
    assert [len(line) for line in chunk.context.split("\n")] == [200, 80, 200]


def test_a_note_without_text_is_one_empty_chunk() -> None:
    """So that it is found by its title; its place is where the text would begin."""
    for text in ("", "---\ntitle: Kelp farm\n---", "---\ntitle: Kelp farm\n---\n\n \n"):
        (chunk,) = chunks(text)
        body_start = read(text).body_start
        assert (chunk.text, chunk.start, chunk.end, chunk.ordinal) == ("", body_start, body_start, 0)
        assert chunk.embedding_text.strip() in ("Kelp farm", "Sample")


def test_equal_passages_have_their_own_ids() -> None:
    """The record is never deduplicated; ids count the repetitions."""
    found = chunks("# A\n\ntext\n\n# B\n\n# A\n\ntext\n\n# A\n\ntext\n")
    assert [chunk.text for chunk in found] == ["# A\n\ntext", "# B\n\n# A\n\ntext", "# A\n\ntext"]
    assert len({chunk.id for chunk in found}) == 3


def test_an_edit_changes_the_chunks_that_it_touches() -> None:
    """All others keep id and embedding text."""
    sections = [f"## Part {i}\n\ntext of part {i}\n\n" for i in range(30)]
    before = chunks("".join(sections))
    sections[3] = sections[3].replace("text", "words")
    after = chunks("".join(sections))
    same = {(chunk.id, chunk.embedding_text) for chunk in before} & {(c.id, c.embedding_text) for c in after}
    assert len(same) == 29


def test_a_document_without_sections_and_blocks_is_cut_too() -> None:
    """Other parsers may not draw any lines."""
    document = replace(read("one line\n" * 50), sections=(), blocks=())
    found = MarkdownChunker(100).chunk(document)
    check_chunks(document, found)
    assert all(chunk.text.startswith("one") and chunk.text.endswith("line") for chunk in found)
