"""Sections, blocks and links of a text."""

from __future__ import annotations

import pytest

from second_brain.parsing import commonmark
from second_brain.parsing.commonmark import MAX_LINKS, Structure, read_structure
from second_brain.types import Link, Section


def blocks(text: str) -> list[tuple[str, str]]:
    """Kind and quote of each block."""
    return [(block.kind, text[block.start : block.end]) for block in read_structure(text).blocks]


def outline(text: str, start: int = 0) -> list[tuple[int, str, str]]:
    """Level, path and quote of each section."""
    return [
        (section.level, "/".join(section.path), text[section.start : section.end])
        for section in read_structure(text, start).sections
    ]


def test_sections_nest_by_level_and_cover_the_text() -> None:
    """Text before the first heading has level 0; a skipped level leaves no gap in the path."""
    assert outline("before\n\n# A\na\n## B\nb\n#### C\n\n## D ##\n\n# E\n") == [
        (0, "", "before\n\n"),
        (1, "A", "# A\na\n"),
        (2, "A/B", "## B\nb\n"),
        (4, "A/B/C", "#### C\n\n"),
        (2, "A/D", "## D ##\n\n"),
        (1, "E", "# E\n"),
    ]


def test_blank_lines_before_the_first_heading_are_no_section() -> None:
    """Nothing stands there."""
    assert outline("\n\n# A\n") == [(1, "A", "# A\n")]
    assert read_structure("\n \n") == read_structure("\u00a0\n\n\u3000\n") == Structure((), ())


def test_offsets_count_from_the_beginning_of_the_whole_text() -> None:
    """Also behind frontmatter in another script."""
    text = "---\ntitle: 海\n---\n前書き\n\n  # 見出し\n本文"
    start = text.index("前")
    assert outline(text, start) == [(0, "", "前書き\n\n"), (1, "見出し", "  # 見出し\n本文")]
    assert read_structure(text, start).sections[0] == Section(0, (), start, text.index("  #"))


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("# A *b* `c` **d** ~~e~~", "A b c d e"),
        ("# [[Note#x|shown]] and [text](x.md)", "shown and text"),
        ("# A &amp; \\# <b>x</b> $y$ [^1]\n\n[^1]: n", "A & # x y"),
        ("#   spaced    out   #", "spaced out"),
        ("Setext\nover two lines\n===", "Setext over two lines"),
        ("#", ""),
        ("# " + "x" * 1000, "x" * 300),
    ],
)
def test_a_path_holds_plain_text(written: str, plain: str) -> None:
    """Marks, HTML and footnotes are gone; a heading of a thousand characters is cut."""
    assert read_structure(written).sections[0].path == (plain,)


@pytest.mark.parametrize(
    "text",
    [
        "```sh\n# mount\n```",
        "~~~\n# a\n~~~",
        "    # indented code",
        "> # in a quote",
        "- # in a list",
        "#no-blank",
        "<div>\n# html\n</div>",
        "text\n\\# escaped",
    ],
)
def test_what_looks_like_a_heading_is_none(text: str) -> None:
    """Fences, quotes, lists and HTML open no section."""
    assert [section.level for section in read_structure(text).sections] == [0]


def test_every_kind_of_block() -> None:
    """Blocks are quotes from the beginnings of their lines, without blanks at their ends."""
    text = (
        "# Heading\npara\ngraph  \n\n- item\n  - inner\n\n  more\n- [ ] task\n\n1. one\n2. two\n\n"
        "```sh\n# code\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quote\nlazy\n\n> [!note]- Title\n> text\n\n"
        "***\n<div>\n*html*\n</div>\n\n[ref]: x.md\n[ref2]: y.md\n\n[^1]: note\n\n    indented\n\n%%\ncomment\n%%\n"
    )
    assert blocks(text) == [
        ("heading", "# Heading"),
        ("paragraph", "para\ngraph"),
        ("item", "- item\n  - inner\n\n  more"),
        ("item", "- [ ] task"),
        ("item", "1. one"),
        ("item", "2. two"),
        ("code", "```sh\n# code\n```"),
        ("table", "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("quote", "> quote\nlazy"),
        ("callout", "> [!note]- Title\n> text"),
        ("rule", "***"),
        ("html", "<div>\n*html*\n</div>"),
        ("definition", "[ref]: x.md\n[ref2]: y.md"),
        ("footnote", "[^1]: note\n\n    indented"),
        ("paragraph", "%%\ncomment\n%%"),
    ]


def test_an_indented_block_begins_with_its_indent() -> None:
    """So that a quote of code keeps its shape."""
    assert blocks("a\n\n    code\n      more\n") == [("paragraph", "a"), ("code", "    code\n      more")]


def test_links_of_every_form() -> None:
    """Wikilinks, embeds and Markdown links count, in order, with offsets in code points."""
    text = (
        "会 [[A]] [[B#h|b]] ![[c.png|9]] [d *e*](D%20E.md#f) ![g](<h i.png>) [j] [k](https://example.org)\n\n"
        "| x | [[Pump A\\|pump]] |\n|---|---|\n| [![l](m.png)](n.md) | %%[[O]]%% |\n\n"
        "[j]: J.md 'title'\n"
    )
    assert list(read_structure(text).links) == [
        Link("A", "", "A", "wikilink", text.index("[[A")),
        Link("B", "h", "b", "wikilink", text.index("[[B")),
        Link("c.png", "", "", "embed", text.index("![[c")),
        Link("D E.md", "f", "d e", "markdown", text.index("[d")),
        Link("h i.png", "", "g", "embed", text.index("![g")),
        Link("J.md", "", "j", "markdown", text.index("[j]")),
        Link("Pump A", "", "pump", "wikilink", text.index("[[Pump")),
        Link("n.md", "", "l", "markdown", text.index("[![l")),
        Link("m.png", "", "l", "embed", text.index("![l")),
        Link("O", "", "O", "wikilink", text.index("[[O")),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "`[[x]]`",
        "```\n[[x]]\n```",
        "    [[x]]",
        "<div>\n[[x]]\n</div>",
        "$[[x]]$",
        "\\[[x]]",
        "[[a\nb]]",
        "[[]]",
        "[[#part]]",
        "[x](#part)",
        "<https://example.org>",
        "[x](mailto:a@example.org)",
        "[a](b c.md)",
    ],
)
def test_what_is_no_link(text: str) -> None:
    """Code, math, HTML, escapes, addresses outside, and links within the note."""
    assert read_structure(text).links == ()


def test_the_innermost_of_nested_brackets_is_the_link() -> None:
    """As in Obsidian, ``[[a [[b]]`` leads to b."""
    assert [link.target for link in read_structure("[[a [[b]]").links] == ["b"]


def test_opaque_spans_are_code_math_html_and_links() -> None:
    """They are in order and do not overlap; what touches is one."""
    text = "a `b` $c$ <i>d</i> [`e`](f.md)[[g]] h\n\n```\ni\n```\n\n<div>\nj\n</div>\n"
    assert [text[start:end] for start, end in read_structure(text).opaque] == [
        "`b`",
        "$c$",
        "<i>",
        "</i>",
        "[`e`](f.md)[[g]]",
        "```\ni\n```",
        "<div>\nj\n</div>\n",
    ]


@pytest.mark.parametrize("opening", [">" * 200_000, "- " * 200_000, "1. > " * 50_000, " " * 2000])
def test_a_text_nested_beyond_reason_is_read_as_paragraphs(opening: str) -> None:
    """pulldown-cmark takes depth times lines: 200,000 quote marks before as many lines took 24 s."""
    text = "# A\n\nfirst [[x]]\n\n" + opening + "x\n" + "a\n" * 200_000
    structure = read_structure(text)
    assert structure.warnings == ("line 5: nested deeper than 100 levels; read as plain text",)
    assert structure.sections == (Section(0, (), 0, len(text)),)
    assert [text[block.start : block.end][:9] for block in structure.blocks[:2]] == ["# A", "first [[x"]
    assert len(structure.blocks) == 3


def test_links_are_kept_up_to_a_limit() -> None:
    """A megabyte of links is no note; what was left out is told."""
    structure = read_structure("[[a]] " * (MAX_LINKS + 5))
    assert len(structure.links) == MAX_LINKS
    assert structure.warnings == ("only the first 20000 links are kept, of 20005",)


def test_blocks_are_told_apart_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit the rest is one block, so that nothing is lost and memory stays bounded."""
    monkeypatch.setattr(commonmark, "MAX_BLOCKS", 3)
    text = "# A\n\none\n\n# B\n\n# C\n\ntwo\n"
    structure = read_structure(text)
    assert [text[block.start : block.end] for block in structure.blocks] == ["# A", "one", "# B", "# C\n\ntwo"]
    assert [section.path for section in structure.sections] == [("A",), ("B",)]
    assert structure.warnings == ("only the first 3 blocks are told apart; the rest has no headings and links",)


def test_a_panic_of_the_parser_costs_structure_and_not_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rust panics reach Python as a BaseException of this name, which would end the whole run."""
    PanicException = type("PanicException", (BaseException,), {})

    class Panicking:
        def events_with_range(self, text: str) -> None:
            raise PanicException("index out of bounds")

    monkeypatch.setattr(commonmark, "_MARKDOWN", Panicking())
    structure = read_structure("# A\n\ntext\n")
    assert structure.warnings == ("the Markdown parser failed (index out of bounds); read as plain text",)
    assert [(block.start, block.end) for block in structure.blocks] == [(0, 3), (5, 9)]


def test_an_interrupt_is_no_panic(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends the run."""

    class Interrupted:
        def events_with_range(self, text: str) -> None:
            raise KeyboardInterrupt

    monkeypatch.setattr(commonmark, "_MARKDOWN", Interrupted())
    with pytest.raises(KeyboardInterrupt):
        read_structure("# A\n")
