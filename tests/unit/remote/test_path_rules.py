"""A folder of the box is a folder of this machine, by rules."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from second_brain.remote.paths import PathRules


@pytest.mark.parametrize(
    ("rules", "path", "here"),
    [
        ([("/data/vault", "/home/me/vault")], "/data/vault/a/b.md", "/home/me/vault/a/b.md"),
        ([("/data/vault/", "/home/me/vault/")], "/data/vault//a/./b.md", "/home/me/vault/a/b.md"),
        ([("/data/vault", "/home/me/vault")], "/data/vaults/b.md", None),
        ([("/data/vault", "/home/me/vault")], "/data/Vault/b.md", None),
        ([("/data", "/x"), ("/data/vault", "/y")], "/data/vault/b.md", "/y/b.md"),
        ([("/data/vault", "/y"), ("/data", "/x")], "/data/other/b.md", "/x/other/b.md"),
        ([("/data/vault", "/home/me/vault")], "/data/vault/../../etc/passwd", None),
        ([("/data/vault", "/home/me/vault")], "/data/vault/a/../../b.md", None),
        ([("/", "/mnt/box")], "/data/b.md", "/mnt/box/data/b.md"),
        ([(r"C:\Data\Vault", "/home/me/vault")], r"c:\data\vault\a\b.md", "/home/me/vault/a/b.md"),
        ([(r"C:\Data\Vault", "/home/me/vault")], r"C:\Data\Vault\..\b.md", None),
        ([("/data/vault", r"D:\Notes")], "/data/vault/a/b.md", r"D:\Notes\a\b.md"),
        ([("/data/vault", r"D:\Notes")], "/data/vault/E:/b.md", None),
        ([("/data/vault", r"D:\Notes")], r"/data/vault/..\..\b.md", None),
        ([("/data/vault", "/home/me/vault")], r"C:\data\vault\b.md", None),
        (
            [(unicodedata.normalize("NFD", "/data/がく"), "/y")],
            unicodedata.normalize("NFC", "/data/がく/b.md"),
            "/y/b.md",
        ),
    ],
)
def test_the_longest_rule_that_fits_holds_and_none_leads_out(
    rules: list[tuple[str, str]], path: str, here: str | None
) -> None:
    """Of a path below a rule's folder the rest is kept; nothing that climbs out of it is translated."""
    assert PathRules(rules).here(path) == here


def test_a_path_of_this_machine_is_one_of_the_box_again() -> None:
    """What a hit was shown as names the same file when it is asked for."""
    rules = PathRules([("/data/vault", "/home/me/vault"), (r"C:\box", "/mnt/box")])
    assert rules.there("/home/me/vault/a/b.md") == "/data/vault/a/b.md"
    assert rules.there("/mnt/box/a/b.md") == r"C:\box\a\b.md"
    assert rules.there("/home/me/vault/../secret") is None
    assert rules.there("a/b.md") is None


def test_a_file_is_found_in_either_unicode_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The box may spell a name composed that this disk spells decomposed; what is no file is none."""
    monkeypatch.setenv("HOME", str(tmp_path))
    stored = tmp_path / unicodedata.normalize("NFD", "ガク.md")
    stored.write_text("x")
    rules = PathRules([("/data", "~")])
    assert rules.file(unicodedata.normalize("NFC", "/data/ガク.md")) == stored
    assert rules.file("/data/none.md") is None
    assert rules.file("/data/\0.md") is None
    assert rules.file("/data") is None
