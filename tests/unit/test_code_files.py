"""What a file of a repository is, by its name alone."""

from __future__ import annotations

import pytest

from second_brain.code_files import is_prose, language_of, type_of


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a/b.py", "python"),
        ("a/B.PY", "python"),
        ("a.tsx", "tsx"),
        ("Makefile", "make"),
        ("deploy/Dockerfile", "docker"),
        ("Dockerfile.prod", "docker"),
        ("package.json", "json"),
        ("data.json", ""),
        ("LICENSE", ""),
        ("a.md", ""),
        (".py/readme", ""),
    ],
)
def test_the_language_is_found_by_suffix_or_whole_name(path: str, language: str):
    """Letter case ignored; JSON is data unless its name is known."""
    assert language_of(path) == language


@pytest.mark.parametrize(
    ("path", "type"),
    [
        ("src/valve.py", "code"),
        ("tests/valve.py", "test"),
        ("src/test_valve.py", "test"),
        ("src/valve_test.go", "test"),
        ("src/valve.spec.ts", "test"),
        ("src/ValveTest.java", "test"),
        ("src/latest.py", "code"),
        ("src/contest.go", "code"),
        ("pyproject.toml", "config"),
        ("Makefile", "config"),
        ("README.md", "readme"),
        ("docs/README.ja.md", "readme"),
        ("CLAUDE.md", "agent-instructions"),
        ("pkg/AGENTS.md", "agent-instructions"),
        ("CHANGELOG.md", "changelog"),
        ("docs/adr/0001-x.md", "decision"),
        ("docs/Decisions/x.md", "decision"),
        ("docs/guide.md", "doc"),
    ],
)
def test_the_type_says_what_a_file_is_for(path: str, type: str):
    """By its name and the folders that it lies in."""
    assert type_of(path) == type


def test_prose_is_markdown_and_restructuredtext():
    """In any letter case; other texts are none."""
    assert [name for name in ("a.md", "a.MARKDOWN", "a.rst", "a.mdx", "a.txt", "a.py") if is_prose(name)] == [
        "a.md",
        "a.MARKDOWN",
        "a.rst",
        "a.mdx",
    ]
