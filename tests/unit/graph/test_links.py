"""Which note a link means."""

from __future__ import annotations

import pytest

from second_brain.graph.links import LinkResolver, Resolution

VAULT = (
    ("Index.md", ()),
    ("Pump A.md", ("P-1",)),
    ("a/Index.md", ()),
    ("a/Note.md", ()),
    ("a/b/Note.md", ("The Note",)),
    ("a/b/deep/Seal.md", ()),
    ("c/Seal.md", ()),
    ("d/Seal.md", ("Gasket",)),
    ("d/Gasket ring.md", ("gasket",)),
    ("d/v1.2.md", ()),
    ("d/drawing.canvas", ()),
    ("e/断水 手順.md", ()),
    ("e/Café.md", ()),
    ("e/50% plan #2 [draft].md", ()),
)


@pytest.fixture(scope="module")
def vault() -> LinkResolver:
    return LinkResolver(VAULT)


@pytest.mark.parametrize(
    ("target", "source", "path"),
    [
        ("Index", "c/x.md", "Index.md"),
        ("a/Index", "c/x.md", "a/Index.md"),
        ("Index", "a/x.md", "Index.md"),
        ("Note", "a/b/x.md", "a/b/Note.md"),
        ("b/Note", "c/x.md", "a/b/Note.md"),
        ("b/Note", "a/x.md", "a/b/Note.md"),
        ("Note", "a/b/deep/x.md", "a/Note.md"),
        ("/a/Note", "a/b/x.md", "a/Note.md"),
        ("./Note", "a/b/x.md", "a/b/Note.md"),
        ("../Note.md", "a/b/x.md", "a/Note.md"),
        ("../../c/Seal", "a/b/x.md", "c/Seal.md"),
        ("a/../c/Seal", "x.md", "c/Seal.md"),
        ("pump a", "x.md", "Pump A.md"),
        ("PUMP A.MD", "x.md", "Pump A.md"),
        ("v1.2", "x.md", "d/v1.2.md"),
        ("drawing.canvas", "x.md", "d/drawing.canvas"),
        ("断水 手順", "x.md", "e/断水 手順.md"),
        ("cafe\u0301", "x.md", "e/Café.md"),
        ("50% plan #2 [draft]", "x.md", "e/50% plan #2 [draft].md"),
        ("", "a/Note.md", "a/Note.md"),
    ],
)
def test_one_note_answers(vault: LinkResolver, target: str, source: str, path: str) -> None:
    """Root, own folder, then the end of a path; letter case, Unicode form and ``.md`` do not matter."""
    assert vault.resolve(target, source).path == path


@pytest.mark.parametrize(
    ("target", "source"),
    [
        ("Missing", "x.md"),
        ("ote", "x.md"),
        ("./Note", "c/x.md"),
        ("../../../Index", "a/x.md"),
        ("drawing", "x.md"),
        ("a", "x.md"),
        ("..", "a/x.md"),
        ("https://example.org/Note", "x.md"),
        ("", ""),
    ],
)
def test_none_answers(vault: LinkResolver, target: str, source: str) -> None:
    """Half a segment, a relative path that misses, and other files' names without extension lead nowhere."""
    assert vault.resolve(target, source) == Resolution(None)


def test_several_answers_are_listed(vault: LinkResolver) -> None:
    """The shortest path is taken, of equals the first in order; a note beside the source leaves no doubt."""
    seals = ("c/Seal.md", "d/Seal.md", "a/b/deep/Seal.md")
    assert vault.resolve("Seal", "x.md") == Resolution("c/Seal.md", seals)
    assert vault.resolve("Seal", "d/x.md") == Resolution("d/Seal.md")
    assert vault.resolve("deep/Seal") == Resolution("a/b/deep/Seal.md")


def test_aliases_come_last_and_are_flagged(vault: LinkResolver) -> None:
    """Obsidian would not resolve them; several notes with one alias are listed."""
    assert vault.resolve("p-1", "x.md") == Resolution("Pump A.md", by_alias=True)
    assert vault.resolve("the note") == Resolution("a/b/Note.md", by_alias=True)
    assert vault.resolve("Gasket") == Resolution("d/Seal.md", ("d/Seal.md", "d/Gasket ring.md"), by_alias=True)


def test_a_file_beats_an_alias() -> None:
    """A note that has the name is meant, however deep it lies."""
    resolver = LinkResolver([("Large Pump.md", ("LP-9",)), ("far/down/LP-9.md", ())])
    assert resolver.resolve("lp-9") == Resolution("far/down/LP-9.md")


def test_files_that_differ_in_letter_case_stay_apart() -> None:
    """On disks that allow both, the spelling decides; another spelling fits both."""
    resolver = LinkResolver([("x/a.md", ()), ("x/A.md", ()), ("y/b.md", ()), ("Y/b.md", ())])
    assert resolver.resolve("A", "x/z.md") == Resolution("x/A.md")
    assert resolver.resolve("a.md", "z.md") == Resolution("x/a.md")
    assert resolver.resolve("y/b", "z.md") == Resolution("y/b.md")
    assert resolver.resolve("Y/B", "z.md") == Resolution("Y/b.md", ("Y/b.md", "y/b.md"))


def test_the_order_of_files_does_not_matter() -> None:
    """The same answers from the same files."""
    forward, backward = LinkResolver(VAULT), LinkResolver(reversed(VAULT))
    for target in ("Seal", "Note", "Gasket", "Index", "b/Note"):
        assert forward.resolve(target, "z/x.md") == backward.resolve(target, "z/x.md")
