"""Faults with links and tags that users of such products met, as far as parser and resolver can show them."""

from __future__ import annotations

from second_brain.chunking.markdown import MarkdownChunker
from second_brain.graph.links import LinkResolver, Resolution
from second_brain.parsing.markdown import MarkdownParser
from second_brain.testing.parser_contract import make_blob
from second_brain.types import Document


def read(text: str, uri: str = "notes/note.md") -> Document:
    (document,) = MarkdownParser().parse(make_blob(text, uri))
    return document


def test_lk_1_escaped_pipe_in_tables() -> None:
    """The backslash belongs to neither side: two links to one note, each with its text."""
    note = read("| a | b |\n|---|---|\n| a | [[Pump A\\|pump]] |\n\nAnd [[Pump A|pump]] in prose.\n")
    assert [(link.target, link.text) for link in note.links] == [("Pump A", "pump")] * 2
    resolver = LinkResolver([("Pump A.md", ())])
    assert [resolver.resolve(link.target, "note.md").path for link in note.links] == ["Pump A.md"] * 2


def test_lk_2_two_notes_of_one_name() -> None:
    """A path is exact, a name means the note beside the source, and who asks by name sees both."""
    resolver = LinkResolver([("a/todo.md", ()), ("b/deep/todo.md", ()), ("b/deep/src.md", ())])
    beside, exact = (link.target for link in read("[[todo]] and [[a/todo]]").links)
    assert resolver.resolve(beside, "b/deep/src.md") == Resolution("b/deep/todo.md")
    assert resolver.resolve(exact, "b/deep/src.md") == Resolution("a/todo.md")
    assert resolver.resolve("todo").candidates == ("a/todo.md", "b/deep/todo.md")


def test_lk_4_percent_encoded_markdown_links() -> None:
    """Three links found, the anchor kept apart, brackets in names whole."""
    note = read("[x](People/Mika%20Ono.md), [y](<Plan (old).md>), [z](../Notes%20(CC).md#Part%202)")
    resolver = LinkResolver((path, ()) for path in ("in/People/Mika Ono.md", "in/Plan (old).md", "Notes (CC).md"))
    assert [(resolver.resolve(link.target, "in/note.md").path, link.anchor) for link in note.links] == [
        ("in/People/Mika Ono.md", ""),
        ("in/Plan (old).md", ""),
        ("Notes (CC).md", "Part 2"),
    ]


def test_lk_5_aliases_and_letter_case() -> None:
    """All three spellings lead to the note; a file of that name would win over the alias."""
    pump = read("---\naliases: [LP-9, 大型ポンプ]\n---\n", "notes/Large Pump.md")
    targets = [link.target for link in read("[[lp-9]], [[large pump]], [[大型ポンプ]]").links]
    resolver = LinkResolver([("Large Pump.md", pump.aliases)])
    found = [resolver.resolve(target, "note.md") for target in targets]
    assert [(resolution.path, resolution.by_alias) for resolution in found] == [
        ("Large Pump.md", True),
        ("Large Pump.md", False),
        ("Large Pump.md", True),
    ]
    with_file = LinkResolver([("Large Pump.md", pump.aliases), ("LP-9.md", ())])
    assert with_file.resolve("lp-9", "note.md") == Resolution("LP-9.md")


def test_lk_8_names_without_ascii_letters_stay_apart() -> None:
    """Identities are made from the whole name: four notes have four titles, links and chunk ids."""
    names = ["断水手順", "停電手順", "🚰", "On-Off switch"]
    notes = [read("Same text.", f"notes/{name}.md") for name in names]
    resolver = LinkResolver((f"{name}.md", ()) for name in names)
    assert [note.title for note in notes] == names
    assert [resolver.resolve(name).path for name in names] == [f"{name}.md" for name in names]
    assert len({MarkdownChunker().chunk(note)[0].id for note in notes}) == 4
