"""The privacy label of a note: never lost, never read laxer than it is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from second_brain.config import Settings, SourceSettings
from second_brain.parsing.frontmatter import SIZE_LIMIT
from second_brain.parsing.markdown import MarkdownParser
from second_brain.testing.parser_contract import make_blob
from second_brain.types import Document

PROSE = "one\ntwo\nthree\nfour\nfive\n"


def read(block: str, end: str = "---\nBody\n") -> Document:
    (document,) = MarkdownParser().parse(make_blob(f"---\n{block}\n{end}", "notes/a.md"))
    return document


def holds(document: Document) -> str:
    """The label that holds for it in a public source, with the labels that we begin with."""
    source = SourceSettings("notes", "markdown", Path("/n"), "public")
    settings = Settings(home=Path("/h"), index=Path("/h/i"), model_cache=Path("/h/m"), sources=(source,))
    return settings.label("notes", document.privacy)


@pytest.mark.parametrize(
    "block",
    [
        "privacy: secret",
        "Privacy: ' SECRET '",
        "PRIVACY : secret  # not for others",
        "privacy: [secret]",
        "privacy:\n- secret",
        "privacy: # who\n  - secret",
        "privacy: >\n  secret\n",
        "privacy: secret\nPrivacy: Secret",
        "privacy: secret\nprivacy: secret",
        '{"privacy": "secret", "title": "x"}',
        '{\n  "title": "x",\n  "privacy": "secret"\n}',
        "meta:\n  privacy: secret",
        "title: x: y\nprivacy: secret",
    ],
)
def test_one_label_is_that_label(block: str) -> None:
    """However it is spelt, repeated or nested, in lower case; nothing is said of it."""
    document = read(block)
    assert document.privacy == "secret"
    assert not any("privacy is" in warning for warning in document.warnings)


@pytest.mark.parametrize(
    ("block", "line"),
    [
        ("privacy: secret\ndescription: he said: this\n" + PROSE, 2),
        (f"Note: he said: this\n{PROSE}privacy: secret", 8),
        ("privacy:secret", 2),
        ("title: x\nprivacy:secret", 3),
        ("privacy\uff1asecret\ntitle: x", 2),
        ("- a\nprivacy: secret", 3),
        ("- privacy: secret\n- other: x", 2),
        ("- a\n- privacy:secret", 3),
        (PROSE + "privacy: secret", 7),
        (f"{{title: a: b, privacy: secret}}\n{PROSE}", 2),
        ("privacy: secret\n" + "word " * SIZE_LIMIT, 1),
        ("word " * SIZE_LIMIT + "\nprivacy: secret", 3),
        ("title: x\nprivacy:\n- secret\n@\n" + PROSE, 3),
    ],
)
def test_a_label_in_a_block_that_is_read_as_text_counts(block: str, line: int) -> None:
    """A broken line elsewhere, a missing blank or a list costs properties, but not this one."""
    document = read(block)
    assert document.privacy == "secret"
    assert holds(document) == "secret"
    assert any(warning.startswith(f"line {line}: ") for warning in document.warnings)


@pytest.mark.parametrize("end", ["", "Body without another rule.\n"])
def test_a_label_in_a_block_that_is_never_closed_counts(end: str) -> None:
    """Also below a line that is no property."""
    assert read("privacy: secret", end).privacy == "secret"
    assert read("title: x\nand a line of text\nprivacy: secret", end).privacy == "secret"


@pytest.mark.parametrize("top", ["\n---\n", " ---\n", "----\n"])
def test_a_label_below_a_fence_that_is_none_counts(top: str) -> None:
    """A blank line on top, an indent or a dash too many: the block is body, its label holds."""
    (document,) = MarkdownParser().parse(make_blob(f"{top}title: x\nprivacy: secret\n---\nBody\n", "notes/a.md"))
    assert (document.title, document.body_start, document.privacy) == ("a", 0, "secret")


@pytest.mark.parametrize(
    "block",
    [
        "privacy: [public, secret]",
        "privacy: secret\nPrivacy: public",
        "privacy: secret\nprivacy: public",
        "privacy:\n- secret\nprivacy: public",
        "privacy: public\nmeta:\n  privacy: secret",
        "privacy: {level: secret}",
        "privacy: {level: public}",
        "privacy:\n  level: secret",
        "privacy: {public: false}",
        "privacy: [public, @mika]",
        "privacy: public\n  and more: than that",
        "privacy: public\ntitle: x: y\nprivacy: secret",
        "title: x: y\n" + PROSE + "privacy: public\nprivacy: secret",
        "privacy: public\n" + "word " * SIZE_LIMIT + "\nprivacy: secret",
    ],
)
def test_labels_that_differ_are_taken_as_the_strictest(block: str) -> None:
    """So is anything but one plain text: no setting knows such a label. The writer is told, with the line."""
    document = read(block)
    assert document.privacy not in ("", "public", "work", "personal")
    assert holds(document) == "secret"
    assert any("privacy is" in warning and warning.startswith("line ") for warning in document.warnings)


@pytest.mark.parametrize(
    "block",
    ["title: x", "privacy:", "privacy: ''", "privacy: null", "privacy: []", "# privacy: secret", "about: privacy"],
)
def test_no_label_is_none(block: str) -> None:
    """The source's own holds then."""
    document = read(block)
    assert (document.privacy, document.warnings) == ("", ())


def test_text_below_the_block_is_no_property() -> None:
    """A sentence on privacy in the body labels nothing."""
    assert read("title: x", "---\nprivacy: secret\n").privacy == ""
